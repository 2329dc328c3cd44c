// SPDX-License-Identifier: Apache-2.0

import Bytes
import KioskEngine
import MediaEngine

/// What the sound thread is told.
public enum SoundOrder {
    /// A call's sound begins; the playout buffer starts empty.
    case start(AudioPlan)
    /// The call goes on otherwise: hold, another codec.
    case update(AudioPlan)
    case stop
    /// Silence is sent in place of the microphone.
    case mute(Bool)
    /// Silence is heard in place of the far end.
    case deafen(Bool)
    /// Said to the far end in place of the microphone, over and over, at 48 kHz; empty: no more.
    case announce([Int16])
    /// A digit for the far end, as tones in what is sent.
    case digit(UInt8, milliseconds: Int)
    case tone(Tone)
    case chime(Chime)
    /// A prompt, at 48 kHz; it takes the place of the one that is spoken.
    case speak([Int16])
    /// No prompt any more.
    case hush
    /// A packet came.
    case packet(AudioPacket)
}

/// What the sound thread tells.
public enum SoundOutput {
    case encoded(EncodedSound)
    /// The first received sound of the call that can be heard; it is heard at that time.
    case firstSoundPlayed(Instant)
    /// A device is not there, or went away; it is tried again every two seconds.
    case failed(SoundDirection, ByteString)
    case restored(SoundDirection)
    /// A device is there and does not work, after it had worked for so long; the number of its card.
    case broken(SoundDirection, card: Int32, workedMs: Int)
    /// Once a second in a call.
    case statistics(SoundStatistics)
}

/// Counts of the loop's life, and what it measures now.
public struct SoundStatistics: Equatable, Sendable {
    public var overruns: UInt64 = 0
    public var underruns: UInt64 = 0
    /// Packets whose sound was made up.
    public var concealed: UInt64 = 0
    public var damaged: UInt64 = 0
    /// The loudest sample of the last second, 0 to 32768.
    public var capturePeak = 0
    public var playbackPeak = 0
    /// Received sound that waits, and what is aimed at.
    public var bufferedMs = 0
    public var targetMs = 0
    /// Sound queued in the loudspeaker.
    public var playbackQueuedMs = 0

    public init() {}
}
