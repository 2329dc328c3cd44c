// SPDX-License-Identifier: Apache-2.0

import Bytes

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
    /// The decoder needs a key frame, and the peer did not say that it understands requests by RTCP: ask it by SIP INFO
    /// (RFC 5168). At once, then ever less often until the picture is back.
    case keyFrameWanted
}
