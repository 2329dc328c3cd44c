// SPDX-License-Identifier: Apache-2.0

import Bytes
import XCTest

@testable import SDPWire

/// Offer and answer of secure RTP.
final class SecureOfferTests: XCTestCase {
    private static let hex = Array(repeating: "AB", count: 32).joined(separator: ":")
    private static let theirPrint = "a=fingerprint:sha-256 \(hex)\n"

    private func key(_ fill: UInt8, _ suite: CryptoSuite = .aesCM128SHA180) -> String {
        Base64.encoded([UInt8](repeating: fill, count: suite.secretBytes)).string
    }

    private func crypto(_ tag: Int, _ suite: CryptoSuite, fill: UInt8 = 7, _ more: String = "") -> String {
        "a=crypto:\(tag) \(suite.name.string) inline:\(self.key(fill, suite))\(more)\n"
    }

    private func local(
        _ policy: LocalSecurity.Policy, _ offers: [Keying] = [.sdes], preferred: Keying = .sdes,
        hasCertificate: Bool = true
    ) -> LocalMedia {
        Fixture.secured(
            Fixture.local(video: nil), policy, offers, preferred: preferred, hasCertificate: hasCertificate)
    }

    private func offer(_ local: LocalMedia, following former: OfferAnswer.Agreed? = nil) -> SessionDescription {
        OfferAnswer.makeOffer(local, following: former, sessionID: 1, sessionVersion: 2)
    }

    private func security(_ description: SessionDescription) -> [String] {
        Fixture.lines(description).filter {
            $0.hasPrefix("m=") || $0.contains("crypto") || $0.contains("finger") || $0.contains("setup")
                || $0.contains("mux") || $0.contains("tls-id")
        }
    }

    private func keys(_ session: NegotiatedSession) -> NegotiatedKeys? {
        guard case .sdes(let keys)? = session.audio?.protection else { return nil }
        return keys
    }

    private func handshake(_ session: NegotiatedSession) -> NegotiatedHandshake? {
        guard case .dtls(let handshake)? = session.audio?.protection else { return nil }
        return handshake
    }

    // MARK: - Offers

    func testOptionalSecurityIsOfferedInPlainRTP() {
        let offer = self.offer(self.local(.optional))
        XCTAssertEqual(
            self.security(offer),
            [
                "m=audio 16384 RTP/AVP 96 0 8 101",
                "a=crypto:1 AEAD_AES_128_GCM inline:" + self.key(1, .aeadAES128GCM),
                "a=crypto:2 AEAD_AES_256_GCM inline:" + self.key(1, .aeadAES256GCM),
                "a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:" + self.key(1),
                "a=crypto:4 AES_256_CM_HMAC_SHA1_80 inline:" + self.key(1, .aesCM256SHA180),
            ])
        let both = self.security(self.offer(self.local(.optional, [.sdes, .dtls])))
        XCTAssertEqual(both.filter { $0.contains("crypto") }.count, 4)
        XCTAssertTrue(both.contains("a=setup:actpass") && both.contains("a=rtcp-mux"))
        XCTAssertEqual(self.security(self.offer(self.local(.optional, []))).count, 1)
    }

    func testRequiredSecurityIsOfferedInOneWay() {
        let sdes = self.security(self.offer(self.local(.required, [.sdes, .dtls])))
        XCTAssertEqual(sdes[0], "m=audio 16384 RTP/SAVP 96 0 8 101")
        XCTAssertFalse(sdes.contains { $0.contains("setup") })
        let dtls = self.security(self.offer(self.local(.required, [.dtls])))
        XCTAssertEqual(
            dtls,
            [
                "m=audio 16384 UDP/TLS/RTP/SAVPF 96 0 8 101",
                "a=fingerprint:sha-256 " + Array(repeating: "09", count: 32).joined(separator: ":"), "a=setup:actpass",
                "a=rtcp-mux",
            ])
    }

    func testATrimmedOfferHasTheSuiteThatAllHave() {
        let offer = OfferAnswer.makeOffer(
            self.local(.optional), size: .trimmed, sessionID: 1, sessionVersion: 2)
        XCTAssertEqual(
            self.security(offer).dropFirst(), ["a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:" + self.key(1)])
    }

    // MARK: - Answers to our offers

    private func accept(
        _ media: String, to offer: SessionDescription, required: Bool = false
    ) throws -> NegotiatedSession {
        try OfferAnswer.acceptAnswer(
            try Fixture.description(media), to: offer, securityIsRequired: required)
    }

    func testTheAnswersKeyGoesWithOurLineOfItsTag() throws {
        let offer = self.offer(self.local(.optional))
        let taken = try self.accept("m=audio 5000 RTP/AVP 0\n" + self.crypto(3, .aesCM128SHA180), to: offer)
        XCTAssertEqual(self.keys(taken)?.suite, .aesCM128SHA180)
        XCTAssertEqual(self.keys(taken)?.send, [UInt8](repeating: 1, count: 30))
        XCTAssertEqual(self.keys(taken)?.receive.map { $0.secret }, [[UInt8](repeating: 7, count: 30)])
        let inKind = try self.accept("m=audio 5000 RTP/SAVP 0\n" + self.crypto(3, .aesCM128SHA180), to: offer)
        XCTAssertNotNil(self.keys(inKind), "another profile, but keys that fit")
        let plain = try self.accept("m=audio 5000 RTP/AVP 0\n", to: offer)
        XCTAssertEqual(plain.audio?.protection, NegotiatedProtection.none)
        let foreign = try self.accept("m=audio 5000 RTP/AVP 0\n" + self.crypto(1, .aesCM128SHA180), to: offer)
        XCTAssertNil(self.keys(foreign), "the tag is of another suite")
    }

    func testWhatHasToBeSecureIsNothingWithoutAKey() throws {
        let answers = [
            "m=audio 5000 RTP/AVP 0\n", "m=audio 5000 RTP/SAVP 0\n",
            "m=audio 5000 RTP/SAVP 0\na=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:AAAA\n",
            "m=audio 5000 RTP/SAVP 0\n" + self.crypto(9, .aesCM128SHA180),
        ]
        for media in answers {
            for offer in [self.offer(self.local(.required)), self.offer(self.local(.required, [.dtls]))] {
                XCTAssertThrowsError(try self.accept(media, to: offer), media) {
                    XCTAssertEqual($0 as? OfferAnswer.Fault, .notSecure(.audio))
                }
            }
        }
        // Keys were offered in plain RTP, as in a call that began so.
        let plain = self.offer(self.local(.optional))
        XCTAssertThrowsError(try self.accept(answers[0], to: plain, required: true))
    }

    func testWhoBeginsTheHandshakeIsWhatTheAnswerLeavesToUs() throws {
        let offer = self.offer(self.local(.required, [.dtls]))
        for (setup, isClient) in [("a=setup:passive\n", true), ("a=setup:active\n", false), ("", true)] {
            let media = "m=audio 5000 UDP/TLS/RTP/SAVPF 0\n" + Self.theirPrint + setup + "a=rtcp-mux\n"
            let session = try self.accept(media, to: offer)
            XCTAssertEqual(self.handshake(session)?.isClient, isClient, setup)
            XCTAssertEqual(session.audio?.isMuxed, true)
            XCTAssertEqual(session.audio?.remoteRTCP, session.audio?.remoteRTP)
        }
        let apart = try self.accept(
            "m=audio 5000 UDP/TLS/RTP/SAVPF 0\na=setup:active\n" + Self.theirPrint, to: offer)
        XCTAssertEqual(apart.audio?.isMuxed, false)
        XCTAssertThrowsError(
            try self.accept("m=audio 5000 UDP/TLS/RTP/SAVPF 0\na=setup:holdconn\n" + Self.theirPrint, to: offer))
    }

    // MARK: - Answers of ours

    private func answer(
        _ media: String, _ local: LocalMedia, following former: OfferAnswer.Agreed? = nil, session: String = ""
    ) throws -> OfferAnswer.Answer {
        OfferAnswer.makeAnswer(
            to: try Fixture.description(media, session: session), local: local, following: former, sessionID: 7,
            sessionVersion: 8)
    }

    func testCaseD74TheFirstUsableLineIsAnsweredUnderItsTag() throws {
        let media =
            "m=audio 5000 RTP/SAVP 0\na=crypto:1 NEW_SUITE inline:x\n" + self.crypto(2, .f8128SHA180)
            + self.crypto(3, .aesCM256SHA180, " UNENCRYPTED_SRTCP")
            + "a=crypto:4 AES_CM_128_HMAC_SHA1_80 inline:AAAA\n"
            + self.crypto(5, .aesCM128SHA132, "|2^31|1:1") + self.crypto(6, .aesCM128SHA180)
        let answer = try self.answer(media + Self.theirPrint + "a=setup:actpass\n", self.local(.optional))
        XCTAssertEqual(
            self.security(answer.description),
            ["m=audio 16384 RTP/SAVP 0", "a=crypto:5 AES_CM_128_HMAC_SHA1_32 inline:" + self.key(1)],
            "the keying in use, and nothing of the other")
        let keys = try XCTUnwrap(self.keys(answer.session))
        XCTAssertEqual(keys.receive.map { $0.mki }, [[1]])
        XCTAssertEqual(keys.receive.map { $0.lifetimePackets }, [1 << 31])
    }

    func testCaseD76EveryProfileIsAnsweredInKind() throws {
        let crypto = self.crypto(1, .aesCM128SHA180)
        let handshake = Self.theirPrint + "a=setup:actpass\n"
        let cases: [(String, String, Keying?)] = [
            ("RTP/AVP", crypto, .sdes), ("RTP/AVPF", crypto, .sdes), ("RTP/SAVP", crypto, .sdes),
            ("RTP/SAVPF", crypto, .sdes), ("RTP/SAVPF", handshake, .dtls), ("UDP/TLS/RTP/SAVP", handshake, .dtls),
            ("UDP/TLS/RTP/SAVPF", handshake, .dtls), ("RTP/AVP", handshake, .dtls), ("RTP/AVP", "", nil),
            ("UDP/TLS/RTP/SAVPF", crypto + handshake, .dtls),
        ]
        for (profile, lines, keying) in cases {
            let answer = try self.answer("m=audio 5000 \(profile) 0\n" + lines, self.local(.optional))
            XCTAssertEqual(answer.description.media[0].profile.word.string, profile)
            XCTAssertEqual(answer.description.media[0].port, 16_384, profile + lines)
            XCTAssertEqual(self.keys(answer.session) != nil, keying == .sdes, profile + lines)
            XCTAssertEqual(self.handshake(answer.session) != nil, keying == .dtls, profile + lines)
        }
        let alternatives = "m=audio 5000 RTP/SAVP 0\n" + crypto + "m=audio 5000 RTP/AVP 0\n"
        let answer = try self.answer(alternatives, self.local(.optional))
        XCTAssertEqual(answer.description.media.map { $0.port }, [16_384, 0])
    }

    func testWithoutKeysThatFitASecureMediumIsRefused() throws {
        for (policy, media) in [
            (.off, "RTP/SAVP 0\n" + self.crypto(1, .aesCM128SHA180)), (.optional, "RTP/SAVP 0\n"),
            (.optional, "UDP/TLS/RTP/SAVP 0\n" + self.crypto(1, .aesCM128SHA180)),
            (.optional, "UDP/TLS/RTP/SAVP 0\na=setup:holdconn\n" + Self.theirPrint),
            (.optional, "UDP/TLS/RTP/SAVP 0\na=setup:active\na=fingerprint:sha-256 00:11\n"),
            (.required, "RTP/AVP 0\n"), (.required, "RTP/SAVP 0\na=crypto:1 X inline:y\n"),
        ] as [(LocalSecurity.Policy, String)] {
            let answer = try self.answer("m=audio 5000 " + media, self.local(policy))
            XCTAssertTrue(answer.session.isEmpty, media)
            XCTAssertEqual(answer.description.media.map { $0.port }, [0], media)
        }
        let certificateless = self.local(.optional, hasCertificate: false)
        XCTAssertTrue(
            try self.answer("m=audio 5000 UDP/TLS/RTP/SAVP 0\n" + Self.theirPrint, certificateless).session.isEmpty)
    }

    func testOfBothWaysThePreferredIsTaken() throws {
        let media = "m=audio 5000 RTP/AVP 0\na=setup:actpass\n" + Self.theirPrint + self.crypto(1, .aesCM128SHA180)
        XCTAssertNotNil(self.keys(try self.answer(media, self.local(.optional)).session))
        XCTAssertNotNil(self.handshake(try self.answer(media, self.local(.optional, preferred: .dtls)).session))
    }

    func testRolesAndNamesOfHandshakesAreAnswered() throws {
        for (setup, ours, isClient) in [
            ("a=setup:actpass\n", "active", true), ("a=setup:active\n", "passive", false),
            ("a=setup:passive\n", "active", true), ("", "passive", false),
        ] {
            // The lines of the session count where the medium has none.
            let answer = try self.answer(
                "m=audio 5000 UDP/TLS/RTP/SAVPF 0\na=rtcp-mux\n", self.local(.optional),
                session: Self.theirPrint + setup + "a=tls-id:theirs\n")
            XCTAssertEqual(answer.description.media[0].first("setup")?.string, ours)
            XCTAssertEqual(answer.description.media[0].first("tls-id"), "mine")
            XCTAssertTrue(answer.description.media[0].has("rtcp-mux"))
            XCTAssertEqual(self.handshake(answer.session)?.isClient, isClient)
            XCTAssertEqual(self.handshake(answer.session)?.tlsID, "theirs")
        }
        let nameless = try self.answer(
            "m=audio 5000 UDP/TLS/RTP/SAVP 0\na=setup:actpass\n" + Self.theirPrint, self.local(.optional))
        XCTAssertNil(nameless.description.media[0].first("tls-id"))
    }

    // MARK: - Sessions that stand

    func testAReofferKeepsProfileKeysAndMux() throws {
        let media = "m=audio 5000 RTP/SAVP 0\na=rtcp-mux\n" + self.crypto(1, .aesCM128SHA180)
        let local = self.local(.optional, [])
        let former = OfferAnswer.Agreed(
            local: try self.answer(media, local).description, remote: try Fixture.description(media))
        let offer = self.offer(local, following: former)
        XCTAssertEqual(offer.media[0].profile, .savp)
        XCTAssertEqual(offer.media[0].cryptos.count, 4)
        XCTAssertTrue(offer.media[0].has("rtcp-mux"))
        XCTAssertTrue(offer.isSame(as: self.offer(local, following: former)))
        XCTAssertThrowsError(try self.accept("m=audio 5000 RTP/AVP 0\n", to: offer), "no way back to plain RTP")
    }

    func testAnOfferAnewKeepsTheRolesOfTheHandshake() throws {
        let media = "m=audio 5000 UDP/TLS/RTP/SAVP 0\n" + Self.theirPrint
        let local = self.local(.optional, [])
        for (first, isClient) in [("a=setup:active\n", false), ("a=setup:passive\n", true)] {
            let former = OfferAnswer.Agreed(
                local: try self.answer(media + first, local).description,
                remote: try Fixture.description(media + first))
            let again = try self.answer(media + "a=setup:actpass\n", local, following: former)
            XCTAssertEqual(self.handshake(again.session)?.isClient, isClient)
            XCTAssertEqual(self.offer(local, following: former).media[0].first("setup"), "actpass")
        }
        // The same after an offer of ours.
        let offer = self.offer(self.local(.required, [.dtls]))
        let answered = try Fixture.description(media + "a=setup:active\n")
        let former = OfferAnswer.Agreed(local: offer, remote: answered)
        let again = try self.answer(media + "a=setup:actpass\n", local, following: former)
        XCTAssertEqual(self.handshake(again.session)?.isClient, false)
    }
}
