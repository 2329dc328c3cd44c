// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine

/// What the media threads do.
public enum MediaOrder: Equatable {
    /// A call's media begin. `EncoderPlan` is nil where no video is sent.
    case start(MediaPlan, EncoderPlan?, MediaProtection)
    /// Offer and answer changed what runs. Protection that stays goes on where it was.
    case update(MediaPlan, EncoderPlan?, MediaProtection)
    case stop
    /// Send silence instead of the microphone; the stream goes on. Ordered before each `.start` and when it changes.
    case mute(Bool)
    /// Let nothing be heard of what comes, or let it again. Ordered before each `.start` where it changes.
    case deafen(Bool)
    /// Send the camera, or nothing; RTCP goes on. Ordered before each `.start` and when it changes.
    case sendVideo(Bool)
    /// The next encoded picture must be an IDR: the peer asked by SIP INFO.
    case encodeKeyFrame
    /// Send a key press (ASCII digit, `*`, `#`, `A`–`D`) after those before it.
    case sendDigit(UInt8, durationMs: Int)
    /// Find out by which ways media can come to us, in place of what was looked for before. Answer with `.ice`.
    case findWays(ICESearch)
    /// Nobody uses the ways that were found any more.
    case forgetWays
    /// The same as tones in the sound that is sent.
    case playDigit(UInt8, durationMs: Int)
}

/// What the encoder may send, so that the far end's decoder follows.
public struct EncoderPlan: Equatable, Sendable {
    public var size: PictureSize
    public var fps: Int
    public var bitrateKbps: Int
    /// Bytes of the largest NAL unit, where the packetization mode does not cut them (RFC 6184 section 6.2).
    public var nalSizeMax: Int?
}

/// What the media threads tell. Reports count for the media started last; late ones of a former call must be dropped
/// by the sender.
public enum MediaReport: Equatable {
    /// The first RTP packet since `.start`.
    case firstPacket(StreamKind)
    /// The first decoded picture since `.start` is on the screen (or, without a screen, was decoded).
    case firstFrameShown
    /// The first received sound since `.start` that can be heard went to the loudspeaker.
    case firstSoundPlayed
    /// No RTP since then, where some should come. Once, until it resumes.
    case silent(StreamKind, since: Instant)
    case resumed(StreamKind)
    /// The peer ended its stream (RTCP BYE).
    case byeReceived(StreamKind)
    /// The peer pressed a key (RFC 4733): the ASCII character, once a press.
    case digit(UInt8)
    /// The decoder needs a key frame and the peer takes no request for one by RTCP.
    case keyFrameWanted
    /// Keys came of the handshake: media flow from now on.
    case secured(StreamKind)
    /// The handshake failed, or was with somebody else. A sentence for the log.
    case notSecured(StreamKind, ByteString)
    /// The keys that the descriptions gave have been used nearly as often as they may be.
    case keysWearOut
    /// Once a second while media run.
    case counters(MediaCounters)
}

/// Counts since `.start`.
public struct MediaCounters: Equatable, Sendable {
    public var streams = MediaStatistics()
    public var framesCaptured: UInt64 = 0
    public var framesEncoded: UInt64 = 0
    public var framesDecoded: UInt64 = 0
    public var framesShown: UInt64 = 0
    /// Decoded, but replaced by a newer one before it could be shown.
    public var framesDropped: UInt64 = 0
    /// Length of the playout buffer now.
    public var playoutDelayMs: UInt64 = 0
    /// Packets of sound that were made up for.
    public var soundConcealed: UInt64 = 0
    /// Overruns and underruns of the sound card.
    public var soundXruns: UInt64 = 0

    public init() {}
}
