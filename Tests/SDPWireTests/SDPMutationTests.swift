// SPDX-License-Identifier: Apache-2.0

import Bytes
import SDPWire
import XCTest

/// Descriptions damaged at random, from a seed: nothing traps, and our answers keep to their shape.
final class SDPMutationTests: XCTestCase {
    private static let seeds: [String] = [
        String(decoding: Fixture.offer.printed(), as: UTF8.self),
        """
        v=0
        o=- 20518 0 IN IP4 203.0.113.1
        s=
        c=IN IP4 203.0.113.1
        b=AS:900
        t=0 0
        a=sendonly
        m=audio 54400 RTP/SAVPF 0 96
        a=rtpmap:96 opus/48000/2
        a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:abc|2^31|1:1
        m=video 55400/2 RTP/AVPF 97 98 35
        b=TIAS:500000
        c=IN IP6 2001:db8::1
        a=rtcp:53020 IN IP4 126.16.64.4
        a=rtpmap:97 H264/90000
        a=fmtp:97 profile-level-id=4d0028;packetization-mode=1;max-fs=8192;sprop-parameter-sets=Z0IACpZTBYmI,aMljiA==
        a=rtpmap:98 VP8/90000
        a=rtpmap:35 H264/90000
        a=rtcp-fb:* nack pli
        a=rtcp-fb:97 ccm fir
        m=application 5070 UDP/BFCP *
        m=text 11000 RTP/AVP 98 100
        """,
        """
        v=0
        o=- 1 1 IN IP4 203.0.113.1
        s=-
        c=IN IP4 203.0.113.1
        t=0 0
        m=audio 54400 RTP/AVP 0
        a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(key)|2^20|1:4;inline:\(key)|2^20|2:4
        a=crypto:2 AEAD_AES_128_GCM inline:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGw== WSH=64
        a=setup:actpass
        a=fingerprint:sha-256 \(fingerprint)
        a=rtcp-mux
        m=video 55400 UDP/TLS/RTP/SAVPF 97
        a=rtpmap:97 H264/90000
        a=setup:passive
        a=tls-id:abc
        a=fingerprint:sha-256 \(fingerprint)
        """,
        """
        v=0
        o=- 1 1 IN IP4 203.0.113.1
        s=-
        c=IN IP4 203.0.113.1
        t=0 0
        a=ice-lite
        a=ice-options:ice2 trickle
        m=audio 54400 RTP/AVP 0
        a=ice-ufrag:abcd
        a=ice-pwd:0123456789012345678901
        a=candidate:1 1 UDP 2130706431 203.0.113.1 54400 typ host
        a=candidate:2 2 UDP 1694498815 203.0.113.7 9 typ srflx raddr 10.0.0.1 rport 9
        a=remote-candidates:1 192.0.2.99 16388 2 192.0.2.99 16389
        a=end-of-candidates
        """,
    ]
    private static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd"
    private static let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")

    private func damaged(_ bytes: [UInt8], _ generator: inout Generator) -> [UInt8] {
        var bytes = bytes
        let delimiters = Array("\r\n =:;/,*.-0123456789acmov\u{00}".utf8) + [0xFF]
        for _ in 0...generator.below(5) where !bytes.isEmpty {
            let index = Int(generator.below(UInt64(bytes.count)))
            switch generator.below(4) {
            case 0: bytes[index] = UInt8(truncatingIfNeeded: generator.next())
            case 1: bytes[index] = delimiters[Int(generator.below(UInt64(delimiters.count)))]
            case 2: bytes.removeSubrange(index..<min(bytes.count, index + 1 + Int(generator.below(6))))
            default:
                let end = min(bytes.count, index + Int(generator.below(60)))
                bytes.insert(contentsOf: bytes[index..<end], at: Int(generator.below(UInt64(bytes.count))))
            }
        }
        return bytes
    }

    private func check(_ bytes: [UInt8]) throws {
        guard let offer = try? SessionDescription.parse(bytes) else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        let again = try SessionDescription.parse(offer.printed())
        XCTAssertEqual(again.media.map { $0.kind }, offer.media.map { $0.kind }, text)
        try self.check(offer, text, Fixture.local())
        try self.check(offer, text, ICETests.local(video: .sendrecv))
        for policy in [LocalSecurity.Policy.optional, .required] {
            try self.check(offer, text, Fixture.secured(Fixture.local(), policy, [.sdes, .dtls]))
        }
    }

    private func check(_ offer: SessionDescription, _ text: String, _ local: LocalMedia) throws {
        let answer = OfferAnswer.makeAnswer(to: offer, local: local, sessionID: 1, sessionVersion: 1)
        XCTAssertEqual(answer.description.media.map { $0.kind }, offer.media.map { $0.kind }, text)
        XCTAssertEqual(answer.description.media.map { $0.profile }, offer.media.map { $0.profile }, text)
        let printed = try SessionDescription.parse(answer.description.printed())
        XCTAssertEqual(printed.media.map { $0.port }, answer.description.media.map { $0.port }, text)
        for (offered, answered) in zip(offer.media, answer.description.media) {
            if offered.port == 0 { XCTAssertEqual(answered.port, 0, text) }
            for type in answered.payloadTypes { XCTAssertTrue(offered.payloadTypes.contains(type), text) }
        }
        for stream in [answer.session.audio, answer.session.video].compactMap({ $0 }) {
            XCTAssertNotEqual(stream.remoteRTP.port, 0)
            if stream.direction.sends { XCTAssertFalse(stream.remoteRTP.address.isUnspecified, text) }
            XCTAssertTrue([10, 20, 40, 60].contains(stream.ptimeMs))
            if local.audio.security.policy == .required { XCTAssertFalse(stream.protection.isNone, text) }
        }
        let agreed = OfferAnswer.Agreed(local: answer.description, remote: offer)
        let ours = Fixture.reoffer(local, following: agreed)
        XCTAssertEqual(ours.media.prefix(offer.media.count).map { $0.kind }, offer.media.map { $0.kind }, text)
        XCTAssertTrue(ours.media.allSatisfy { Set($0.payloadTypes).count == $0.formats.count || $0.port == 0 }, text)
        _ = Fixture.reoffer(local, following: OfferAnswer.Agreed(local: offer, remote: answer.description))
        let own = OfferAnswer.makeOffer(local, sessionID: 1, sessionVersion: 2)
        _ = try? OfferAnswer.acceptAnswer(offer, to: own)
        _ = try? OfferAnswer.acceptAnswer(own, to: offer)
    }

    func testDamagedDescriptionsNeverTrapAndAnswersKeepTheirShape() throws {
        var generator = Generator(seed: 8_866)
        for seed in Self.seeds {
            for _ in 0..<400 { try self.check(self.damaged(Array(seed.utf8), &generator)) }
        }
    }

    func testEveryPrefixIsHandled() throws {
        for seed in Self.seeds {
            let bytes = Array(seed.utf8)
            for end in 0...bytes.count { try self.check(Array(bytes[..<end])) }
        }
    }
}
