// SPDX-License-Identifier: Apache-2.0

import Bytes
import RTPWire

/// What happened to the media of a call, for the kiosk.
public enum MediaEvent: Hashable, Sendable {
    /// The first RTP packet of a stream since `.start`.
    case firstPacket(StreamKind)
    /// No RTP for `MediaLimits.silenceMs`, where some should come. Once, until it resumes.
    case silent(StreamKind, since: Instant)
    /// RTP again after `.silent`.
    case resumed(StreamKind)
    /// The peer ended its stream (RTCP BYE). Its call may go on.
    case byeReceived(StreamKind)
    /// A new source took over the stream.
    case sourceChanged(StreamKind)
    /// The peer pressed a key (RFC 4733): the ASCII character, once a press.
    case digit(UInt8)
}

/// The media of one call at a time: RTP and RTCP of an audio and a video stream.
///
/// One mutation, then drain: `handle(input, now)`, then `pollOutput()` until it gives `.wait`. No clock, no socket, no randomness
/// but the seed.
public struct MediaEngine {
    public enum Input {
        /// Begins a call's media; what ran before is forgotten without a word.
        case start(MediaPlan)
        /// Applies a new offer/answer to the running streams.
        case update(MediaPlan)
        /// Ends the media with RTCP BYE.
        case stop
        /// One datagram from the socket of that stream and channel.
        case received([UInt8], StreamKind, Channel, from: SocketAddress)
        /// One encoded packet; `samples` is its length at the codec's RTP clock.
        case audioEncoded([UInt8], samples: UInt32, captured: Instant)
        /// One encoded picture as NAL units without start codes.
        case videoEncoded([[UInt8]], isKeyFrame: Bool, captured: Instant)
        /// Send a key press (ASCII digit, `*`, `#`, `A`–`D`) as telephone-event. Dropped where not agreed.
        case sendDigit(UInt8, durationMs: Int)
        /// The decoder gave a picture from the last key frame delivered.
        case keyFrameDecoded
        /// The decoder failed: hold pictures and ask for a key frame.
        case pictureBroken
        case timeout
    }

    public enum Output {
        case send([UInt8], StreamKind, Channel, to: SocketAddress)
        /// For the playout buffer.
        case audio(AudioPacket)
        /// For the decoder: complete, in order, never after a loss without a key frame.
        case video(AccessUnit)
        /// The encoder's next picture must be an IDR.
        case encodeKeyFrame
        case event(MediaEvent)
        /// The last output: nothing to do until then (or, if nil, until the next input).
        case wait(until: Instant?)
    }

    public var statistics: MediaStatistics { MediaStatistics() }

    public init(seed: UInt64) {}

    public mutating func handle(_ input: Input, now: Instant) {}

    public mutating func pollOutput() -> Output {
        .wait(until: nil)
    }
}
