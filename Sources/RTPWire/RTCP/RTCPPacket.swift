// SPDX-License-Identifier: Apache-2.0

import Bytes

/// What one receiver says about one source (RFC 3550 section 6.4.1).
public struct ReportBlock: Hashable, Sendable {
    public var source: SSRC
    /// Lost since the previous report, in 1/256.
    public var fractionLost: UInt8
    /// 24 bits, signed.
    public var cumulativeLost: Int32
    /// Cycles in the high 16 bits.
    public var highestSequence: UInt32
    /// In clock units of the source.
    public var jitter: UInt32
    /// `NTPTime.compact` of the last sender report; 0 when none came.
    public var lastSenderReport: UInt32
    /// Time since that report, in 1/65536 s.
    public var delaySinceLastSenderReport: UInt32

    public init(
        source: SSRC, fractionLost: UInt8, cumulativeLost: Int32, highestSequence: UInt32, jitter: UInt32,
        lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
    ) {
        self.source = source
        self.fractionLost = fractionLost
        self.cumulativeLost = cumulativeLost
        self.highestSequence = highestSequence
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }
}

/// A sender report (RFC 3550 section 6.4.1).
public struct SenderReport: Hashable, Sendable {
    public var ssrc: SSRC
    public var ntpTime: NTPTime
    /// The media clock at `ntpTime`.
    public var timestamp: RTPTimestamp
    public var packets: UInt32
    public var payloadBytes: UInt32
    public var blocks: [ReportBlock]

    public init(
        ssrc: SSRC, ntpTime: NTPTime, timestamp: RTPTimestamp, packets: UInt32, payloadBytes: UInt32,
        blocks: [ReportBlock]
    ) {
        self.ssrc = ssrc
        self.ntpTime = ntpTime
        self.timestamp = timestamp
        self.packets = packets
        self.payloadBytes = payloadBytes
        self.blocks = blocks
    }
}

/// One chunk of a source description: of its items only CNAME is kept (RFC 3550 section 6.5.1).
public struct SourceDescription: Hashable, Sendable {
    public var ssrc: SSRC
    public var cname: ByteString?

    public init(ssrc: SSRC, cname: ByteString?) {
        self.ssrc = ssrc
        self.cname = cname
    }
}

/// One full intra request (RFC 5104 section 4.3.1).
public struct FullIntraRequest: Hashable, Sendable {
    public var source: SSRC
    public var commandSequence: UInt8

    public init(source: SSRC, commandSequence: UInt8) {
        self.source = source
        self.commandSequence = commandSequence
    }
}

/// One packet of an RTCP compound.
public enum RTCPPacket: Hashable, Sendable {
    /// PT 200.
    case senderReport(SenderReport)
    /// PT 201.
    case receiverReport(SSRC, [ReportBlock])
    /// PT 202.
    case sourceDescription([SourceDescription])
    /// PT 203.
    case bye([SSRC], reason: ByteString?)
    /// PT 204, kept raw (RFC 3550 section 6.7).
    case application(subtype: UInt8, body: [UInt8])
    /// PT 205 format 1 (RFC 4585 section 6.2.1): the sequence numbers asked for again.
    case nack(sender: SSRC, media: SSRC, [SequenceNumber])
    /// PT 206 format 1 (RFC 4585 section 6.3.1).
    case pictureLoss(sender: SSRC, media: SSRC)
    /// PT 206 format 4 (RFC 5104 section 4.3.1); also, without entries, PT 192 of RFC 2032 section 5.2.1, which some
    /// peers still send.
    case fullIntra(sender: SSRC, [FullIntraRequest])
    /// PT 205 format 3 (RFC 5104 section 4.2.1, TMMBR): whom it is asked of is named by each bound.
    case rateRequest(sender: SSRC, [RateBound])
    /// PT 205 format 4 (RFC 5104 section 4.2.2, TMMBN): the bounds that hold; each names who asked for it.
    case rateNotice(sender: SSRC, [RateBound])
    /// PT 206 format 15 with the word REMB (draft-alvestrand-rmcat-remb-03): what the sources together may send.
    case receivableRate(sender: SSRC, bitsPerSecond: UInt64, [SSRC])
    /// Any other transport (205) or payload-specific (206) feedback, kept raw.
    case feedback(isTransport: Bool, format: UInt8, sender: SSRC, media: SSRC, body: [UInt8])
    /// A packet of a type not known here.
    case unknown(type: UInt8)
}
