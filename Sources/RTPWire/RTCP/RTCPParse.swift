// SPDX-License-Identifier: Apache-2.0

import Bytes

/// RTCP packets as they travel together in one datagram (RFC 3550 section 6.1).
public enum RTCPCompound {
    /// Reads one datagram. Only a report may come first, unless `reducedSize` (RFC 5506).
    ///
    /// One wrong length spoils the datagram: after it nothing can be trusted to be where it seems to be.
    public static func parse(_ bytes: [UInt8], reducedSize: Bool = false) throws(RTPParseError) -> [RTCPPacket] {
        guard bytes.count <= RTPLimits.datagramBytesMax else { throw .tooLong }
        guard bytes.count >= 4 else { throw .tooShort }
        var reader = ByteReader(bytes)
        var packets: [RTCPPacket] = []
        while !reader.isAtEnd && packets.count < RTPLimits.compoundPacketsMax {
            let header = try RTCPHeader.read(&reader)
            if packets.isEmpty && !reducedSize && !header.isReport { throw .badCompound }
            guard let packet = RTCPBody.parse(header) else { throw .badLength }
            packets.append(packet)
        }
        return packets
    }

    /// On a port that carries both, tells RTCP (true) from RTP (RFC 5761 section 4).
    public static func isRTCP(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 2 && bytes[1] >= 192 && bytes[1] <= 223
    }
}

/// The common header with the body it bounds.
struct RTCPHeader {
    /// Report count, source count, subtype or feedback format: five bits.
    var count: UInt8
    var type: UInt8
    /// Without padding.
    var body: ArraySlice<UInt8>

    var isReport: Bool { self.type == RTCPType.senderReport || self.type == RTCPType.receiverReport }

    static func read(_ reader: inout ByteReader) throws(RTPParseError) -> RTCPHeader {
        guard let first = reader.uint8(), let type = reader.uint8(), let words = reader.uint16() else {
            throw .tooShort
        }
        guard first >> 6 == 2 else { throw .wrongVersion }
        guard var body = reader.take(Int(words) * 4) else { throw .badLength }
        if first & 0x20 != 0 {
            // Only the last of a compound may be padded (RFC 3550 section 6.4.1).
            guard reader.isAtEnd, let padding = body.last, padding > 0, Int(padding) <= body.count else {
                throw .badPadding
            }
            body = body.dropLast(Int(padding))
        }
        return RTCPHeader(count: first & 0x1F, type: type, body: body)
    }
}

/// The bodies of the packet types; nil where one does not hold what its header says.
enum RTCPBody {
    static func parse(_ header: RTCPHeader) -> RTCPPacket? {
        var reader = ByteReader(header.body)
        switch header.type {
        case RTCPType.senderReport: return self.senderReport(&reader, count: header.count)
        case RTCPType.receiverReport: return self.receiverReport(&reader, count: header.count)
        case RTCPType.sourceDescription: return self.sourceDescription(&reader, count: header.count)
        case RTCPType.bye: return self.bye(&reader, count: header.count)
        case RTCPType.application: return .application(subtype: header.count, body: Array(header.body))
        case RTCPType.legacyFullIntra: return reader.uint32().map { .fullIntra(sender: SSRC($0), []) }
        case RTCPType.transportFeedback, RTCPType.payloadFeedback: return self.feedback(&reader, header)
        default: return .unknown(type: header.type)
        }
    }

    private static func senderReport(_ reader: inout ByteReader, count: UInt8) -> RTCPPacket? {
        guard let ssrc = reader.uint32(), let ntpTime = reader.uint64(), let timestamp = reader.uint32(),
            let packets = reader.uint32(), let payloadBytes = reader.uint32(),
            let blocks = self.blocks(&reader, count: count)
        else { return nil }
        return .senderReport(
            SenderReport(
                ssrc: SSRC(ssrc), ntpTime: NTPTime(ntpTime), timestamp: RTPTimestamp(timestamp), packets: packets,
                payloadBytes: payloadBytes, blocks: blocks))
    }

    private static func receiverReport(_ reader: inout ByteReader, count: UInt8) -> RTCPPacket? {
        guard let ssrc = reader.uint32(), let blocks = self.blocks(&reader, count: count) else { return nil }
        return .receiverReport(SSRC(ssrc), blocks)
    }

    private static func blocks(_ reader: inout ByteReader, count: UInt8) -> [ReportBlock]? {
        var blocks: [ReportBlock] = []
        for _ in 0..<count {
            guard let source = reader.uint32(), let fraction = reader.uint8(), let lost = reader.uint24(),
                let highest = reader.uint32(), let jitter = reader.uint32(), let last = reader.uint32(),
                let delay = reader.uint32()
            else { return nil }
            // Shifted up and down again: the sign is in bit 23.
            let signed = Int32(bitPattern: lost << 8) >> 8
            blocks.append(
                ReportBlock(
                    source: SSRC(source), fractionLost: fraction, cumulativeLost: signed, highestSequence: highest,
                    jitter: jitter, lastSenderReport: last, delaySinceLastSenderReport: delay))
        }
        return blocks
    }

    private static func sourceDescription(_ reader: inout ByteReader, count: UInt8) -> RTCPPacket? {
        var chunks: [SourceDescription] = []
        for _ in 0..<count {
            guard let ssrc = reader.uint32(), let cname = self.items(&reader) else { return nil }
            chunks.append(SourceDescription(ssrc: SSRC(ssrc), cname: cname))
        }
        return .sourceDescription(chunks)
    }

    /// The items of one chunk, to the end of its padding. Nil where broken; nil inside where there is no CNAME.
    private static func items(_ reader: inout ByteReader) -> ByteString?? {
        var cname: ByteString?
        while let type = reader.uint8() {
            if type == RTCPType.itemEnd {
                // A chunk ends on a word boundary; the body's length is whole words, so what remains tells where that
                // is.
                return reader.skip(reader.remaining % 4) ? .some(cname) : nil
            }
            guard let length = reader.uint8(), let text = reader.take(Int(length)) else { return nil }
            if type == RTCPType.itemCNAME { cname = ByteString(text) }
        }
        return nil
    }

    private static func bye(_ reader: inout ByteReader, count: UInt8) -> RTCPPacket? {
        var sources: [SSRC] = []
        for _ in 0..<count {
            guard let source = reader.uint32() else { return nil }
            sources.append(SSRC(source))
        }
        var reason: ByteString?
        if let length = reader.uint8() {
            guard let text = reader.take(Int(length)) else { return nil }
            reason = ByteString(text)
        }
        return .bye(sources, reason: reason)
    }

    private static func feedback(_ reader: inout ByteReader, _ header: RTCPHeader) -> RTCPPacket? {
        guard let senderBits = reader.uint32(), let mediaBits = reader.uint32() else { return nil }
        let sender = SSRC(senderBits)
        let media = SSRC(mediaBits)
        let isTransport = header.type == RTCPType.transportFeedback
        switch (isTransport, header.count) {
        case (true, RTCPType.formatNACK):
            return .nack(sender: sender, media: media, self.nacked(&reader))
        case (false, RTCPType.formatPictureLoss):
            return .pictureLoss(sender: sender, media: media)
        case (false, RTCPType.formatFullIntra):
            return .fullIntra(sender: sender, self.intraRequests(&reader))
        case (true, RTCPType.formatRateRequest):
            return .rateRequest(sender: sender, RateBound.list(&reader))
        case (true, RTCPType.formatRateNotice):
            return .rateNotice(sender: sender, RateBound.list(&reader))
        case (false, RTCPType.formatApplication):
            if let rate = ReceivableRate.parse(reader, sender: sender) { return rate }
        default: break
        }
        return .feedback(
            isTransport: isTransport, format: header.count, sender: sender, media: media, body: Array(reader.rest))
    }

    /// Each entry names one packet and, by a bit mask, any of the sixteen after it.
    private static func nacked(_ reader: inout ByteReader) -> [SequenceNumber] {
        var sequences: [SequenceNumber] = []
        while let first = reader.uint16(), let mask = reader.uint16(), sequences.count < RTPLimits.nackedMax {
            sequences.append(SequenceNumber(first))
            for bit in 0..<16 where mask & (UInt16(1) << UInt16(bit)) != 0 {
                sequences.append(SequenceNumber(first).advanced(by: bit + 1))
            }
        }
        return sequences
    }

    private static func intraRequests(_ reader: inout ByteReader) -> [FullIntraRequest] {
        var requests: [FullIntraRequest] = []
        while let source = reader.uint32(), let sequence = reader.uint8(), reader.skip(3) {
            requests.append(FullIntraRequest(source: SSRC(source), commandSequence: sequence))
        }
        return requests
    }
}
