// SPDX-License-Identifier: Apache-2.0
import Bytes
import Foundation
import MediaEngine
import SDPWire
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Calls whose sound and picture are encrypted, or should be.
final class SecureCallTests: XCTestCase {
    private static let theirs = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0e"
    private static let others = "HhwdGhsYGRYXFBUSExAREA8ODQwLCgkIBwYFBAMC"
    private static let print = "sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":")

    /// A description with sound alone.
    private func description(_ profile: String, _ lines: [String], version: Int = 1) -> [UInt8] {
        let text =
            [
                "v=0", "o=- 1 \(version) IN IP4 10.0.0.1", "s=-", "c=IN IP4 10.0.0.1", "t=0 0",
                "m=audio 20000 \(profile) 0",
            ] + lines + ["m=video 0 \(profile) 102", ""]
        return Array(text.joined(separator: "\r\n").utf8)
    }

    private func crypto(_ tag: Int, _ key: String = SecureCallTests.theirs) -> String {
        "a=crypto:\(tag) AES_CM_128_HMAC_SHA1_80 inline:\(key)"
    }

    private func scene(_ settings: String, hasCertificate: Bool = true) -> Scene {
        let scene = Scene("[media]\n" + settings) {
            $0.fingerprint = hasCertificate ? Fingerprint(.sha256, [UInt8](repeating: 9, count: 32)) : nil
        }
        scene.press(.call)
        return scene
    }

    /// The last order's protection of the sound.
    private func protection(_ scene: Scene) -> NegotiatedProtection? {
        for order in scene.orders.reversed() {
            if case .start(_, _, let protection) = order { return protection.audio }
            if case .update(_, _, let protection) = order { return protection.audio }
        }
        return nil
    }

    private func keys(_ scene: Scene) -> NegotiatedKeys? {
        guard case .sdes(let keys)? = self.protection(scene) else { return nil }
        return keys
    }

    private func lines(_ text: String, _ start: String) -> [String] {
        text.components(separatedBy: "\r\n").filter { $0.hasPrefix(start) }
    }

    // MARK: - Offers

    func testKeysThatAllCouldReadAreOfferedOnlyWhereTheFileInsists() {
        let cases: [(String, String, Int, Bool)] = [
            ("", "RTP/AVP", 0, false), ("encryption = off\nkeying = both", "RTP/AVP", 0, false),
            ("keying = sdes", "RTP/AVP", 2, false), ("keying = dtls", "RTP/AVP", 0, true),
            ("keying = both", "RTP/AVP", 0, true), ("encryption = required", "UDP/TLS/RTP/SAVPF", 0, true),
            ("encryption = required\nkeying = both", "UDP/TLS/RTP/SAVPF", 0, true),
            ("encryption = required\nkeying = sdes", "RTP/SAVP", 2, false),
        ]
        for (settings, profile, keys, hasHandshake) in cases {
            let offer = self.scene(settings).offerAtFar
            XCTAssertTrue(self.lines(offer, "m=audio")[0].contains(" \(profile) "), settings)
            XCTAssertEqual(self.lines(offer, "a=crypto:").count, keys, settings)
            XCTAssertEqual(!self.lines(offer, "a=fingerprint:").isEmpty, hasHandshake, settings)
        }
        let none = self.scene("encryption = required", hasCertificate: false).offerAtFar
        XCTAssertTrue(self.lines(none, "m=audio")[0].contains("RTP/SAVP"), "rather no call than an open one")
    }

    func testAServerThatRefusesTheFeedbackProfileIsOfferedTheOtherOnceAndNeverPlainRTP() {
        for status in [StatusCode.notAcceptableHere, StatusCode(606)] {
            let scene = self.scene("encryption = required")
            XCTAssertTrue(self.lines(scene.offerAtFar, "m=audio")[0].contains(" UDP/TLS/RTP/SAVPF "))
            scene.farAnswers(status, [])
            XCTAssertEqual(scene.callStates, ["dialling"], "the person notices nothing")
            XCTAssertTrue(self.lines(scene.offerAtFar, "m=audio")[0].contains(" UDP/TLS/RTP/SAVP "))
            XCTAssertEqual(self.lines(scene.offerAtFar, "a=fingerprint:").count, 2)
            scene.farAnswers(status, [])
            XCTAssertEqual(scene.endReason, "refused")
        }
        for settings in ["encryption = required\nkeying = sdes", "keying = dtls", ""] {
            let scene = self.scene(settings)
            scene.farAnswers(.notAcceptableHere, [])
            XCTAssertEqual(scene.endReason, "refused", settings)
        }
        let rung = self.scene("encryption = required")
        rung.farAnswers(.ringing)
        rung.farAnswers(.notAcceptableHere, [])
        XCTAssertEqual(rung.endReason, "refused", "somebody was alerted: that call is not placed again")
    }

    func testByTLSKeysAreOfferedInTheMessages() {
        var generator = Generator(seed: 1)
        let flow = Flow(transport: .tls, local: Scene.kioskAddress, remote: Scene.farAddress)
        for (keying, ways) in [
            (MediaSettings.KeyingChoice.automatic, [Keying.sdes]), (.both, [.sdes, .dtls]), (.dtls, [.dtls]),
        ] {
            let settings = MediaSettings(encryption: .optional, keying: keying)
            let session = MediaSession(flow, settings, generator: &generator, makeSecret: Scene.secrets(seed: 2))
            let local = session.security.local(.audio, Fingerprint(.sha256, [UInt8](repeating: 1, count: 32)))
            XCTAssertEqual(local.offers, ways)
            XCTAssertEqual(local.preferred, .sdes)
            XCTAssertEqual(session.security.local(.audio, nil).offers, ways.filter { $0 == .sdes })
        }
    }

    func testEveryStreamSuiteAndCallHasAKeyOfItsOwn() {
        var generator = Generator(seed: 1)
        let flow = Flow(transport: .tls, local: Scene.kioskAddress, remote: Scene.farAddress)
        let source = Scene.secrets(seed: 2)
        let secrets = (0..<2).flatMap { _ in
            let session = MediaSession(flow, MediaSettings(), generator: &generator, makeSecret: source)
            return session.security.local(.audio, nil).secrets + session.security.local(.video, nil).secrets
        }
        XCTAssertEqual(Set(secrets.map { $0.secret }).count, 4 * CryptoSuite.usable.count)
    }

    // MARK: - Answers

    func testTheAnswersKeysAreThePlansAndTheEventsSaySoWithoutThem() throws {
        let scene = self.scene("encryption = required\nkeying = sdes")
        scene.farAnswers(.ok, self.description("RTP/SAVP", [self.crypto(1)]))
        let keys = try XCTUnwrap(self.keys(scene))
        XCTAssertEqual(keys.suite, .aesCM128SHA180)
        XCTAssertEqual(keys.receive[0].secret, Array(1...30))
        let connected = try XCTUnwrap(scene.events("call").last)
        XCTAssertEqual(connected["secure"] as? String, "sdes")
        XCTAssertEqual(connected["keys_exposed"] as? Bool, true)
        scene.feed(.control(Scene.client, line: "status"))
        scene.feed(
            .localCounters(Scene.client, LocalCounters(descriptors: 1, threads: 1, residentKiB: 1, framebuffers: 1)))
        let call = try XCTUnwrap(scene.replies.last?["call"] as? [String: Any])
        XCTAssertEqual(call["secure"] as? String, "sdes")
        scene.feed(.control(Scene.client, line: "trace messages"))
        let mine = Data(keys.send).base64EncodedString()
        XCTAssertTrue(scene.offerAtFar.contains(mine))
        for output in scene.outputs {
            let text: ByteString
            switch output {
            case .event(let line), .reply(_, let line): text = line
            default: continue
            }
            XCTAssertFalse(text.string.contains(mine) || text.string.contains(Self.theirs), text.string)
        }
    }

    func testAPlainAnswerWhereItMustBeSecureEndsTheCallBeforeAnythingIsSent() throws {
        for settings in ["encryption = required\nkeying = sdes", "encryption = required"] {
            let scene = self.scene(settings)
            scene.farAnswers(.sessionProgress, self.description("RTP/AVP", []))
            scene.farAnswers(.ok, self.description("RTP/AVP", []))
            XCTAssertEqual(scene.endReason, "not-private")
            XCTAssertEqual(
                scene.events("call").last?["text"] as? String,
                "The call would not be private, so it was ended. Please tell the staff.")
            XCTAssertFalse(scene.orderNames.contains("start"))
        }
    }

    func testKeysThatAreUsedUpAreReplacedInTheCall() throws {
        let scene = self.scene("encryption = required\nkeying = sdes")
        scene.farAnswers(.ok, self.description("RTP/SAVP", [self.crypto(1)]))
        let before = try XCTUnwrap(self.keys(scene))
        scene.forget()
        scene.feed(.media(.keysWearOut))
        let lines = self.lines(scene.offers.last ?? "", "a=crypto:1")
        XCTAssertEqual(scene.offers.count, 1)
        XCTAssertFalse(lines.isEmpty)
        XCTAssertFalse(lines.contains { $0.contains(Data(before.send).base64EncodedString()) })
        XCTAssertEqual(scene.orderNames, [], "the former ones go on until the answer")
        scene.farAnswers(.ok, self.description("RTP/SAVP", [self.crypto(1, Self.others)], version: 2))
        let after = try XCTUnwrap(self.keys(scene))
        XCTAssertNotEqual(after.send, before.send)
        XCTAssertNotEqual(after.receive, before.receive)
        XCTAssertEqual(scene.orderNames, ["mute false", "sendVideo true", "update"])
        XCTAssertEqual(scene.state, "connected")
    }

    func testAPlainAnswerToAnOptionalOfferIsAPlainCall() throws {
        let scene = self.scene("keying = sdes")
        scene.farAnswers()
        XCTAssertEqual(self.protection(scene), NegotiatedProtection.none)
        XCTAssertEqual(scene.events("call").last?["secure"] as? String, "no")
        XCTAssertNil(scene.events("call").last?["keys_exposed"])
    }

    func testCallsFromOutsideAreSecureAsTheyOfferIt() throws {
        let handshake = ["a=fingerprint:" + Self.print, "a=setup:actpass", "a=rtcp-mux"]
        let cases: [(String, [String], String?)] = [
            ("RTP/SAVP", [self.crypto(1)], "sdes"), ("RTP/AVP", [self.crypto(1)], "sdes"),
            ("UDP/TLS/RTP/SAVPF", handshake, "dtls"), ("RTP/AVP", handshake, "dtls"),
            ("RTP/AVP", handshake + [self.crypto(1)], "dtls"), ("RTP/AVP", [], "no"), ("RTP/SAVP", [], nil),
        ]
        for (profile, lines, secure) in cases {
            let scene = Scene("incoming = answer\nincoming_from = anyone") {
                $0.fingerprint = Fingerprint(.sha256, [UInt8](repeating: 9, count: 32))
            }
            scene.farCalls(self.description(profile, lines))
            scene.passAnnouncement()
            XCTAssertEqual(scene.events("call").last?["secure"] as? String, secure, profile)
            XCTAssertEqual(scene.plan?.audio?.stream.rtcpMux ?? false, lines.contains("a=rtcp-mux"))
            if secure == nil { XCTAssertEqual(scene.events("incoming_refused").last?["code"] as? Int, 488) }
        }
        let strict = Scene("incoming = answer\nincoming_from = anyone\n[media]\nencryption = required")
        strict.farCalls(self.description("RTP/AVP", []))
        XCTAssertEqual(strict.events("incoming_refused").last?["code"] as? Int, 488)
    }

    // MARK: - Changes

    func testHoldAndResumeKeepTheKeys() throws {
        let scene = self.scene("encryption = required\nkeying = sdes")
        scene.farAnswers(.ok, self.description("RTP/SAVP", [self.crypto(1)]))
        let before = try XCTUnwrap(self.keys(scene))
        scene.farReinvites(self.description("RTP/SAVP", [self.crypto(1), "a=sendonly"], version: 2))
        XCTAssertEqual(self.keys(scene), before)
        XCTAssertEqual(scene.plan?.audio?.stream.sends, false)
        let answer = try XCTUnwrap(scene.answers.last)
        XCTAssertTrue(self.lines(answer, "a=crypto:1 ")[0].hasSuffix(Data(before.send).base64EncodedString()))
    }

    func testAnotherKeyOfTheFarEndIsAnsweredByAnotherOfOurs() throws {
        let scene = self.scene("encryption = required\nkeying = sdes")
        scene.farAnswers(.ok, self.description("RTP/SAVP", [self.crypto(1)]))
        let before = try XCTUnwrap(self.keys(scene))
        scene.farReinvites(self.description("RTP/SAVP", [self.crypto(1, Self.others)], version: 2))
        let after = try XCTUnwrap(self.keys(scene))
        XCTAssertNotEqual(after.receive, before.receive)
        XCTAssertNotEqual(after.send, before.send)
        let answer = try XCTUnwrap(scene.answers.last)
        XCTAssertTrue(self.lines(answer, "a=crypto:1 ")[0].hasSuffix(Data(after.send).base64EncodedString()))
    }

    func testAPlainOfferInASecureCallIsRefusedWhereItMustBeSecure() throws {
        let scene = self.scene("encryption = required\nkeying = sdes")
        scene.farAnswers(.ok, self.description("RTP/SAVP", [self.crypto(1)]))
        let before = try XCTUnwrap(self.keys(scene))
        scene.farReinvites(self.description("RTP/AVP", [], version: 2))
        XCTAssertTrue(try XCTUnwrap(scene.answers.last).hasPrefix("SIP/2.0 488"))
        XCTAssertEqual(self.keys(scene), before)
        XCTAssertEqual(scene.state, "connected")
    }

    // MARK: - Handshakes

    func testAHandshakeThatFailsEndsTheCall() throws {
        let lines = ["a=fingerprint:" + Self.print, "a=setup:passive"]
        let scene = self.scene("encryption = required")
        scene.farAnswers(.ok, self.description("UDP/TLS/RTP/SAVPF", lines))
        guard case .dtls(let handshake)? = self.protection(scene) else { return XCTFail("no handshake") }
        XCTAssertTrue(handshake.isClient)
        scene.feed(.media(.secured(.audio)))
        XCTAssertEqual(scene.events("secured").last?["media"] as? String, "audio")
        XCTAssertEqual(scene.state, "connected")
        scene.feed(.media(.notSecured(.audio, "the certificate is another")))
        XCTAssertEqual(scene.events("not_secured").last?["text"] as? String, "the certificate is another")
        XCTAssertEqual(scene.endReason, "not-private")
        scene.feed(.media(.notSecured(.audio, "late")))
        XCTAssertEqual(scene.events("not_secured").count, 1)
    }
}
