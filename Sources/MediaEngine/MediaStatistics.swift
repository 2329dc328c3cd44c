// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Counts of one stream since `.start`.
public struct StreamStatistics: Hashable, Sendable {
    public var packetsSent: UInt64 = 0
    public var bytesSent: UInt64 = 0
    public var packetsReceived: UInt64 = 0
    public var bytesReceived: UInt64 = 0
    /// Expected less received (RFC 3550 A.3), never negative.
    public var packetsLost: UInt64 = 0
    public var packetsDuplicated: UInt64 = 0
    /// Came after the reorder buffer had given them up.
    public var packetsLate: UInt64 = 0
    /// Not RTP or RTCP, wrong payload type, wrong source, former call.
    public var packetsDropped: UInt64 = 0
    /// Of secure streams, and never seen here: not made with the key; came already; without a key to go or come by.
    public var packetsForged: UInt64 = 0
    public var packetsReplayed: UInt64 = 0
    public var packetsUnkeyed: UInt64 = 0
    /// Interarrival jitter (RFC 3550 A.8).
    public var jitterMs: Int = 0
    /// Latest round trip from our sender reports; nil before the first.
    public var roundTripMs: Int?
    /// What the peer reports about our stream, in 1/256 and in packets.
    public var remoteFractionLost: UInt8 = 0
    public var remotePacketsLost: Int32 = 0
    public var reportsSent: UInt64 = 0
    public var reportsReceived: UInt64 = 0
    /// Access units (video) sent and received whole.
    public var framesSent: UInt64 = 0
    public var framesReceived: UInt64 = 0
    /// Access units not delivered: incomplete, or waiting for a key frame.
    public var framesHeld: UInt64 = 0
    public var keyFramesSent: UInt64 = 0
    public var keyFramesReceived: UInt64 = 0
    public var pliSent: UInt64 = 0
    public var pliReceived: UInt64 = 0
    public var firSent: UInt64 = 0
    public var firReceived: UInt64 = 0
    public var nackReceived: UInt64 = 0
    public var tmmbrReceived: UInt64 = 0
    public var rembReceived: UInt64 = 0
    /// What the encoder was told last, in kbit/s; nil where nothing was.
    public var encodeRateKbps: Int?

    public init() {}
}

public struct MediaStatistics: Hashable, Sendable {
    public var audio = StreamStatistics()
    public var video = StreamStatistics()

    public init() {}
}
