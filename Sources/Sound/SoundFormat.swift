// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The one format in which sound is handled here: 48 kHz, one channel, 16 bits, in steps of 10 ms.
public enum SoundFormat {
    public static let rate = 48_000
    /// Frames of one period.
    public static let periodFrames = 480
    public static let periodMs = 10

    static func duration(frames: Int) -> Duration {
        Duration(nanoseconds: Int64(frames) * 1_000_000_000 / Int64(Self.rate))
    }
}

/// The two directions of a sound card.
public enum SoundDirection: Hashable, Sendable {
    case capture
    case playback

    var name: ByteString { self == .capture ? "microphone" : "loudspeaker" }
}

/// Why a sound device cannot be used; `text` is a plain sentence for the person who installs the board.
public struct SoundError: Error {
    public enum Kind: Equatable, Sendable {
        /// No such device.
        case missing
        /// Another program has it.
        case busy
        /// It is there, but cannot do what is needed.
        case unusable
        /// It went away, or stopped, while in use.
        case lost
    }

    public let kind: Kind
    public let text: ByteString

    init(_ kind: Kind, _ text: ByteString) {
        self.kind = kind
        self.text = text
    }
}
