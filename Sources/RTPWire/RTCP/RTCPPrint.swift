// SPDX-License-Identifier: Apache-2.0

import Bytes

extension RTCPCompound {
    /// The packets as one datagram. `.unknown` prints as nothing: its body was not kept.
    public static func print(_ packets: [RTCPPacket]) -> [UInt8] {
        var writer = ByteWriter(reserving: 128)
        for packet in packets { packet.print(to: &writer) }
        return writer.bytes
    }
}

extension RTCPPacket {
    fileprivate func print(to writer: inout ByteWriter) {
        switch self {
        case .senderReport(let report): Self.put(report, to: &writer)
        case .receiverReport(let ssrc, let blocks):
            Self.frame(count: blocks.count, type: RTCPType.receiverReport, to: &writer) { body in
                body.put(ssrc.value)
                Self.put(blocks, to: &body)
            }
        case .sourceDescription(let chunks):
            Self.frame(count: chunks.count, type: RTCPType.sourceDescription, to: &writer) { body in
                for chunk in chunks.prefix(31) { Self.put(chunk, to: &body) }
            }
        case .bye(let sources, let reason): Self.put(sources, reason: reason, to: &writer)
        case .application(let subtype, let bytes):
            Self.frame(count: Int(subtype), type: RTCPType.application, to: &writer) { $0.put(bytes) }
        case .nack(let sender, let media, let sequences):
            Self.frame(count: Int(RTCPType.formatNACK), type: RTCPType.transportFeedback, to: &writer) { body in
                body.put(sender.value)
                body.put(media.value)
                Self.put(sequences, to: &body)
            }
        case .pictureLoss(let sender, let media):
            Self.frame(count: Int(RTCPType.formatPictureLoss), type: RTCPType.payloadFeedback, to: &writer) { body in
                body.put(sender.value)
                body.put(media.value)
            }
        case .fullIntra(let sender, let requests): Self.put(requests, sender: sender, to: &writer)
        case .rateRequest(let sender, let bounds):
            Self.put(bounds, sender: sender, format: RTCPType.formatRateRequest, to: &writer)
        case .rateNotice(let sender, let bounds):
            Self.put(bounds, sender: sender, format: RTCPType.formatRateNotice, to: &writer)
        case .receivableRate(let sender, let rate, let sources):
            Self.frame(
                count: Int(RTCPType.formatApplication), type: RTCPType.payloadFeedback, to: &writer
            ) { body in
                body.put(sender.value)
                // The media source is not used: those that are meant are listed.
                body.put(UInt32(0))
                ReceivableRate.put(rate, sources, to: &body)
            }
        case .feedback(let isTransport, let format, let sender, let media, let bytes):
            let type = isTransport ? RTCPType.transportFeedback : RTCPType.payloadFeedback
            Self.frame(count: Int(format), type: type, to: &writer) { body in
                body.put(sender.value)
                body.put(media.value)
                body.put(bytes)
            }
        case .unknown: break
        }
    }

    /// Writes the common header, the body padded with zeros to whole words, and the length that results.
    private static func frame(
        count: Int, type: UInt8, to writer: inout ByteWriter, _ body: (inout ByteWriter) -> Void
    ) {
        let start = writer.count
        writer.put(UInt8(0x80 | UInt8(min(count, 31))))
        writer.put(type)
        writer.put(UInt16(0))
        body(&writer)
        while (writer.count - start) % 4 != 0 { writer.put(UInt8(0)) }
        writer.patch(UInt16(truncatingIfNeeded: (writer.count - start) / 4 - 1), at: start + 2)
    }

    private static func put(_ report: SenderReport, to writer: inout ByteWriter) {
        self.frame(count: report.blocks.count, type: RTCPType.senderReport, to: &writer) { body in
            body.put(report.ssrc.value)
            body.put(report.ntpTime.value)
            body.put(report.timestamp.value)
            body.put(report.packets)
            body.put(report.payloadBytes)
            self.put(report.blocks, to: &body)
        }
    }

    private static func put(_ blocks: [ReportBlock], to writer: inout ByteWriter) {
        for block in blocks.prefix(31) {
            writer.put(block.source.value)
            writer.put(block.fractionLost)
            writer.put(uint24: UInt32(bitPattern: block.cumulativeLost))
            writer.put(block.highestSequence)
            writer.put(block.jitter)
            writer.put(block.lastSenderReport)
            writer.put(block.delaySinceLastSenderReport)
        }
    }

    private static func put(_ chunk: SourceDescription, to writer: inout ByteWriter) {
        writer.put(chunk.ssrc.value)
        if let cname = chunk.cname {
            let text = cname.slice(0..<255)
            writer.put(RTCPType.itemCNAME)
            writer.put(UInt8(text.count))
            writer.put(text)
        }
        // At least one zero ends the list; every packet before began on a word boundary, so the total is the measure.
        repeat { writer.put(RTCPType.itemEnd) } while writer.count % 4 != 0
    }

    private static func put(_ sources: [SSRC], reason: ByteString?, to writer: inout ByteWriter) {
        self.frame(count: sources.count, type: RTCPType.bye, to: &writer) { body in
            for source in sources.prefix(31) { body.put(source.value) }
            if let reason {
                let text = reason.slice(0..<255)
                body.put(UInt8(text.count))
                body.put(text)
            }
        }
    }

    /// Ascending sequence numbers share an entry with the first of every seventeen.
    private static func put(_ sequences: [SequenceNumber], to writer: inout ByteWriter) {
        var index = 0
        while index < sequences.count {
            let first = sequences[index]
            var mask: UInt16 = 0
            index += 1
            while index < sequences.count {
                let ahead = sequences[index].distance(from: first)
                guard ahead >= 1, ahead <= 16 else { break }
                mask |= UInt16(1) << UInt16(ahead - 1)
                index += 1
            }
            writer.put(first.value)
            writer.put(mask)
        }
    }

    private static func put(_ requests: [FullIntraRequest], sender: SSRC, to writer: inout ByteWriter) {
        self.frame(count: Int(RTCPType.formatFullIntra), type: RTCPType.payloadFeedback, to: &writer) { body in
            body.put(sender.value)
            // The media source is not used: each entry names its own.
            body.put(UInt32(0))
            for request in requests {
                body.put(request.source.value)
                body.put(request.commandSequence)
                body.put(uint24: 0)
            }
        }
    }

    private static func put(_ bounds: [RateBound], sender: SSRC, format: UInt8, to writer: inout ByteWriter) {
        self.frame(count: Int(format), type: RTCPType.transportFeedback, to: &writer) { body in
            body.put(sender.value)
            body.put(UInt32(0))
            for bound in bounds { bound.put(to: &body) }
        }
    }
}
