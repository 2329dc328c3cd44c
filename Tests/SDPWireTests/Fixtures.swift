// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

/// Descriptions as text, and a kiosk as the product sets it up.
enum Fixture {
    static let here = IPAddress.v4(0xC000_0263)

    static func local(
        audio: Direction = .sendrecv, video: Direction? = .sendrecv, codecs: [CodecOffer]? = nil,
        address: IPAddress = Fixture.here
    ) -> LocalMedia {
        let sound = LocalStream(
            port: 16_384, rtcpPort: 16_385,
            codecs: codecs ?? [
                CodecOffer(.opus(OpusParameters()), payloadType: 96), CodecOffer(.pcmu, payloadType: 0),
                CodecOffer(.pcma, payloadType: 8),
            ],
            wish: audio, telephoneEventPayloadType: 101, ssrc: 0xDEAD_BEEF, cname: "0123456789abcdef")
        let picture = video.map {
            LocalStream(
                port: 16_386, rtcpPort: 16_387,
                codecs: [
                    CodecOffer(.h264(H264Parameters(packetizationMode: 1)), payloadType: 102),
                    CodecOffer(.h264(H264Parameters(packetizationMode: 0)), payloadType: 103),
                ],
                wish: $0, ssrc: 0xCAFE_F00D, cname: "0123456789abcdef")
        }
        return LocalMedia(address: address, audio: sound, video: picture)
    }

    /// The same kiosk with keys and a certificate.
    static func secured(
        _ local: LocalMedia, _ policy: LocalSecurity.Policy, _ offers: [Keying], preferred: Keying = .sdes,
        hasCertificate: Bool = true
    ) -> LocalMedia {
        let security = LocalSecurity(
            policy: policy, offers: offers, preferred: preferred,
            secrets: CryptoSuite.usable.map { CryptoSecret($0, [UInt8](repeating: 1, count: $0.secretBytes)) },
            fingerprint: hasCertificate ? Fingerprint(.sha256, [UInt8](repeating: 9, count: 32)) : nil,
            tlsID: "mine")
        var local = local
        local.audio.security = security
        local.video?.security = security
        return local
    }

    static func description(_ media: String, session: String = "") throws -> SessionDescription {
        let text = "v=0\no=- 1 1 IN IP4 192.0.2.1\ns=-\nc=IN IP4 192.0.2.1\nt=0 0\n" + session + media
        return try SessionDescription.parse(Array(text.replacingOccurrences(of: "\n", with: "\r\n").utf8))
    }

    static func answer(_ media: String, session: String = "", local: LocalMedia? = nil) throws -> OfferAnswer.Answer {
        OfferAnswer.makeAnswer(
            to: try self.description(media, session: session), local: local ?? self.local(), sessionID: 7,
            sessionVersion: 8)
    }

    /// The lines of our answer to an offer.
    static func answerLines(_ media: String, session: String = "", local: LocalMedia? = nil) throws -> [String] {
        self.lines(try self.answer(media, session: session, local: local).description)
    }

    static func lines(_ description: SessionDescription) -> [String] {
        String(decoding: description.printed(), as: UTF8.self).components(separatedBy: "\r\n").filter { !$0.isEmpty }
    }

    static var offer: SessionDescription { OfferAnswer.makeOffer(self.local(), sessionID: 1, sessionVersion: 2) }

    /// A session that stands after we answered this offer.
    static func answered(_ media: String, local: LocalMedia? = nil) throws -> OfferAnswer.Agreed {
        OfferAnswer.Agreed(
            local: try self.answer(media, local: local).description, remote: try self.description(media))
    }

    /// Our own offer in a session that stands.
    static func reoffer(
        _ local: LocalMedia, following former: OfferAnswer.Agreed, size: OfferAnswer.Size = .full
    ) -> SessionDescription {
        OfferAnswer.makeOffer(local, following: former, size: size, sessionID: 7, sessionVersion: 9)
    }

    static func accept(_ media: String) throws -> NegotiatedSession {
        try OfferAnswer.acceptAnswer(try self.description(media), to: self.offer)
    }
}

extension NegotiatedCodec {
    var h264: H264Parameters? {
        guard case .h264(let parameters) = self else { return nil }
        return parameters
    }
}
