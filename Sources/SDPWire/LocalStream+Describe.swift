// SPDX-License-Identifier: Apache-2.0

import Bytes

extension LocalStream {
    /// Feedback that this product understands: key-frame requests, which it also sends, and bounds of what it sends.
    /// Lost packets are not sent again, so nothing is said of `nack` alone.
    static let feedback: [RtcpFeedback.Kind] = [.pli, .fir, .tmmbr, .remb]

    /// Everything we can do with this medium, or the best of it; `place` is where it lies in a session that stands.
    func offered(
        as kind: MediaKind, _ size: OfferAnswer.Size, in place: Place?, address: IPAddress
    ) -> MediaDescription {
        var stream = place.map { self.renumbered(in: $0) } ?? self
        if size == .trimmed { stream.codecs = stream.codecs.trimmed }
        let event = stream.telephoneEventPayloadType.map {
            RTPMap(payloadType: $0, name: "telephone-event", clockRate: stream.telephoneEventRate)
        }
        let feedback = kind == .video ? Self.feedback.map { RtcpFeedback($0) } : []
        let (profile, security) = self.security.offered(size, in: place)
        var media = stream.described(
            kind: kind, profile: profile, formats: stream.codecs.map { ($0.payloadType, $0.codec) }, event: event,
            direction: self.wish, feedback: feedback, size: size)
        if let image = self.image, size == .full { media.attributes.append(Attribute("imageattr", image.printed)) }
        media.attributes += security
        // What was agreed upon goes on.
        if place?.ours.has("rtcp-mux") ?? (self.ice != nil), !media.has("rtcp-mux") {
            media.attributes.append(Attribute("rtcp-mux"))
        }
        if let ice = self.ice {
            media.attributes += ice.lines(isMuxed: false, size)
            media.point(to: ice, address: address, asked: nil)
        }
        return media
    }

    func described(
        kind: MediaKind, profile: TransportProfile, formats: [(UInt8, NegotiatedCodec)], event: RTPMap?,
        direction: Direction, feedback: [RtcpFeedback], size: OfferAnswer.Size = .full
    ) -> MediaDescription {
        let types = formats.map { $0.0 } + (event.map { [$0.payloadType] } ?? [])
        var media = MediaDescription(
            kind: kind, port: self.port, profile: profile, formats: types.map { ByteString(decimal: $0) })
        if let bandwidth = self.bandwidthKbps {
            media.otherLines.append(OtherLine(type: UInt8(ascii: "b"), value: "AS:" + ByteString(decimal: bandwidth)))
        }
        for (type, codec) in formats { media.attributes += codec.attributes(payloadType: type, size) }
        if let event { media.attributes.append(Attribute("rtpmap", event.printed)) }
        media.attributes += feedback.map { Attribute("rtcp-fb", $0.printed) }
        if self.rtcpPort != self.port &+ 1 {
            media.attributes.append(Attribute("rtcp", ByteString(decimal: self.rtcpPort)))
        }
        switch size {
        case .full:
            if let event {
                media.attributes.append(Attribute("fmtp", ByteString(decimal: event.payloadType) + " 0-15"))
            }
            if kind == .audio { media.attributes.append(Attribute("ptime", "20")) }
            media.attributes.append(Attribute("ssrc", ByteString(decimal: self.ssrc) + " cname:" + self.cname))
            media.attributes.append(Attribute(direction.name))
        case .trimmed:
            // All that the full form says is so where nothing is said (RFC 4733 section 2.5.1.1, RFC 8866 section 6.7).
            if direction != .sendrecv { media.attributes.append(Attribute(direction.name)) }
        }
        return media
    }
}

extension [CodecOffer] {
    /// The best of each codec, and one of the two that are G.711.
    fileprivate var trimmed: [CodecOffer] {
        var kept: [CodecOffer] = []
        for offer in self where !kept.contains(where: { $0.codec.canReplace(offer.codec) }) { kept.append(offer) }
        return kept
    }
}

extension NegotiatedCodec {
    fileprivate func canReplace(_ other: NegotiatedCodec) -> Bool {
        switch (self, other) {
        case (.opus, .opus), (.h264, .h264), (.pcmu, .pcmu), (.pcmu, .pcma), (.pcma, .pcmu), (.pcma, .pcma): return true
        case (.opus, _), (.h264, _), (.pcmu, _), (.pcma, _): return false
        }
    }

    /// The lines that say what a payload type is. Static types have theirs as well, for readers and odd peers.
    fileprivate func attributes(payloadType: UInt8, _ size: OfferAnswer.Size) -> [Attribute] {
        let map = RTPMap(payloadType: payloadType, name: self.name, clockRate: self.clockRate, channels: self.channels)
        let isStatic = RTPMap.fixed(payloadType) == map
        let lines = isStatic && size == .trimmed ? [] : [Attribute("rtpmap", map.printed)]
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
