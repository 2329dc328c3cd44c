// SPDX-License-Identifier: Apache-2.0

import Bytes

extension LocalStream {
    /// Feedback that this product sends and understands: key-frame requests. Lost packets are not sent again, so
    /// nothing is said of `nack` alone.
    static let feedback: [RtcpFeedback.Kind] = [.pli, .fir]

    /// Everything we can do with this medium.
    func offered(as kind: MediaKind) -> MediaDescription {
        let event = self.telephoneEventPayloadType.map {
            RTPMap(payloadType: $0, name: "telephone-event", clockRate: 8_000)
        }
        let feedback = kind == .video ? Self.feedback.map { RtcpFeedback($0) } : []
        return self.described(
            kind: kind, profile: .avp, formats: self.codecs.map { ($0.payloadType, $0.codec) }, event: event,
            direction: self.wish, feedback: feedback)
    }

    func described(
        kind: MediaKind, profile: TransportProfile, formats: [(UInt8, NegotiatedCodec)], event: RTPMap?,
        direction: Direction, feedback: [RtcpFeedback]
    ) -> MediaDescription {
        let types = formats.map { $0.0 } + (event.map { [$0.payloadType] } ?? [])
        var media = MediaDescription(
            kind: kind, port: self.port, profile: profile, formats: types.map { ByteString(decimal: $0) })
        if let bandwidth = self.bandwidthKbps {
            media.otherLines.append(OtherLine(type: UInt8(ascii: "b"), value: "AS:" + ByteString(decimal: bandwidth)))
        }
        for (type, codec) in formats { media.attributes += codec.attributes(payloadType: type) }
        if let event {
            media.attributes.append(Attribute("rtpmap", event.printed))
            media.attributes.append(Attribute("fmtp", ByteString(decimal: event.payloadType) + " 0-15"))
        }
        if kind == .audio { media.attributes.append(Attribute("ptime", "20")) }
        media.attributes += feedback.map { Attribute("rtcp-fb", $0.printed) }
        if self.rtcpPort != self.port &+ 1 {
            media.attributes.append(Attribute("rtcp", ByteString(decimal: self.rtcpPort)))
        }
        media.attributes.append(Attribute("ssrc", ByteString(decimal: self.ssrc) + " cname:" + self.cname))
        media.attributes.append(Attribute(direction.name))
        return media
    }
}

extension NegotiatedCodec {
    /// The lines that say what a payload type is. Static types have theirs as well, for readers and odd peers.
    fileprivate func attributes(payloadType: UInt8) -> [Attribute] {
        let map = RTPMap(payloadType: payloadType, name: self.name, clockRate: self.clockRate, channels: self.channels)
        let lines = [Attribute("rtpmap", map.printed)]
        guard let parameters = self.parameters else { return lines }
        return lines + [Attribute("fmtp", ByteString(decimal: payloadType) + " " + parameters)]
    }

    private var name: ByteString {
        switch self {
        case .opus: return "opus"
        case .pcmu: return "PCMU"
        case .pcma: return "PCMA"
        case .h264: return "H264"
        }
    }

    private var channels: UInt8 {
        switch self {
        case .opus: return 2
        case .pcmu, .pcma, .h264: return 1
        }
    }

    private var parameters: ByteString? {
        switch self {
        case .opus(let opus): return opus.usesInbandFEC ? "useinbandfec=1" : nil
        case .pcmu, .pcma: return nil
        case .h264(let parameters): return parameters.printed
        }
    }
}
