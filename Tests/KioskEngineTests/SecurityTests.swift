// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Calls by TLS: which are, how they stay so, and what is said where they cannot be.
final class SecurityTests: XCTestCase {
    private static let pin = String(repeating: "AB:", count: 31) + "AB"

    private func calling(_ uri: String, _ settings: String = "") -> Scene {
        let scene = Scene(settings, address: "uri = \(uri)")
        scene.isCut = true
        scene.press(.call)
        return scene
    }

    private func flow(_ scene: Scene) -> Flow? {
        for case .send(_, let flow) in scene.outputs { return flow }
        return nil
    }

    private func message(_ scene: Scene) -> String {
        for case .send(let bytes, _) in scene.outputs { return String(decoding: bytes, as: UTF8.self) }
        return ""
    }

    private var record: CertificateRecord {
        CertificateRecord(
            name: "far", fingerprint: "AB:CD", subject: "CN=\"x\"", issuer: "CN=ca", notBefore: "a", notAfter: "b",
            reasons: [.expired, .otherName], chain: ["CN=x", "CN=ca"])
    }

    // MARK: - Flows

    func testTheAddressSaysWhetherTLSIsWanted() {
        let cases: [(String, String, SIPTransport)] = [
            ("sip:help@far", "", .udp), ("sip:help@far;transport=tls", "", .tls), ("sips:help@far", "", .tls),
            ("sips:help@far;transport=tcp", "", .tls), ("sip:help@far", "[sip]\ntransport = tls", .tls),
            ("sip:help@far;transport=tcp", "[sip]\ntransport = tls", .tcp),
        ]
        for (uri, settings, transport) in cases {
            let scene = self.calling(uri, settings)
            XCTAssertEqual(self.flow(scene)?.transport, transport, uri)
            XCTAssertEqual(self.flow(scene)?.name, transport == .tls ? "far" : "", uri)
            XCTAssertEqual(self.flow(scene)?.local.port, transport == .tls ? 5061 : 5060, uri)
            for case .resolve(_, _, let port, let asked) in scene.outputs {
                XCTAssertEqual(port, transport.standardPort)
                XCTAssertEqual(asked, transport)
            }
        }
    }

    func testTheCertificateMustNameTheHostAndNotWhereMaddrLeads() {
        XCTAssertEqual(self.flow(self.calling("sips:help@far;maddr=elsewhere"))?.name, "far")
        XCTAssertEqual(self.flow(self.calling("sips:help@[2001:db8::1]"))?.name, "2001:db8::1")
    }

    func testContactIsAsSecureAsTheAddress() {
        XCTAssertTrue(self.message(self.calling("sips:help@far")).contains("Contact: <sips:callbox@10.0.0.2:5061>\r\n"))
        XCTAssertTrue(
            self.message(self.calling("sip:help@far;transport=tls")).contains(
                "Contact: <sip:callbox@10.0.0.2:5061;transport=tls>\r\n"))
        XCTAssertTrue(self.message(self.calling("sips:help@far")).contains("Via: SIP/2.0/TLS 10.0.0.2:5061;"))
    }

    // MARK: - No way down

    private func redirected(_ from: String, to: String...) -> String? {
        let scene = self.calling(from)
        scene.forget()
        let uris = to.compactMap { SIPURI(ByteString(utf8Of: $0)) }
        scene.sipTells(.ended(.redirected(StatusCode(302), uris)), of: scene.handle)
        return scene.events("redirected").first?["uri"] as? String
    }

    func testARedirectionNeverLeadsOutOfTLS() {
        let tls = "sip:help@far;transport=tls"
        XCTAssertEqual(self.redirected(tls, to: "sip:a@far", "sip:b@far;transport=tls"), "sip:b@far;transport=tls")
        XCTAssertEqual(self.redirected(tls, to: "sip:a@far;transport=udp", "sips:b@far"), "sips:b@far")
        XCTAssertNil(self.redirected(tls, to: "sip:a@far"))
        XCTAssertNil(self.redirected("sips:help@far", to: "sip:a@far;transport=tls"))
        XCTAssertEqual(self.redirected("sip:help@far", to: "sips:a@far"), "sips:a@far")
    }

    func testAReferralNeverLeadsOutOfTLS() {
        for (uri, target, isFollowed) in [
            ("sip:help@far;transport=tls", "sip:next@far", false),
            ("sip:help@far;transport=tls", "sips:next@far", true),
            ("sip:help@far", "sip:next@far", true),
        ] {
            let scene = Scene(address: "uri = \(uri)")
            scene.press(.call)
            scene.farAnswers()
            XCTAssertEqual(scene.state, "connected", uri)
            scene.farRefers(to: "<\(target)>", headers: [])
            XCTAssertEqual(scene.events("transfer").isEmpty, !isFollowed, "\(uri) \(target)")
            XCTAssertEqual(scene.sent.contains("SIP/2.0 603 Decline"), !isFollowed, "\(uri) \(target)")
        }
    }

    // MARK: - Faults

    func testARefusedCertificateEndsTheCallWithItsOwnSentenceAndARecord() throws {
        let scene = self.calling("sips:help@far")
        scene.feed(.insecure(try XCTUnwrap(self.flow(scene)), .refused(self.record)))
        XCTAssertEqual(scene.endReason, "insecure")
        XCTAssertEqual(
            scene.events("call").last?["phrase"] as? String, "certificate refused: expired and other-name")
        XCTAssertEqual(scene.screen?.headline, "Not secure")
        let event = try XCTUnwrap(scene.events("certificate").first)
        XCTAssertEqual(event["verdict"] as? String, "refused")
        XCTAssertEqual(event["name"] as? String, "far")
        XCTAssertEqual(event["fingerprint"] as? String, "AB:CD")
        XCTAssertEqual(event["subject"] as? String, "CN=\"x\"")
        XCTAssertEqual(event["reasons"] as? [String], ["expired", "other-name"])
        XCTAssertEqual(event["chain"] as? [String], ["CN=x", "CN=ca"])
    }

    func testACertificateThatWaitsForTheTimeSaysSo() throws {
        let scene = self.calling("sips:help@far")
        scene.feed(.insecure(try XCTUnwrap(self.flow(scene)), .waitsForTime(self.record)))
        XCTAssertEqual(scene.endReason, "waits-for-time")
        XCTAssertEqual(scene.screen?.headline, "Waiting for the time")
    }

    func testAHandshakeThatFailsIsToldWithItsWords() throws {
        let scene = self.calling("sips:help@far")
        scene.feed(.insecure(try XCTUnwrap(self.flow(scene)), .handshake("wrong version number")))
        XCTAssertEqual(scene.endReason, "insecure")
        XCTAssertEqual(scene.events("tls").first?["text"] as? String, "wrong version number")
        // The next failure has its own reason.
        scene.press(.call)
        scene.feed(.flowFailed(try XCTUnwrap(self.flow(scene))))
        XCTAssertEqual(scene.endReason, "unreachable")
    }

    func testATakenCertificateIsToldAndEndsNothing() {
        let scene = Scene()
        scene.feed(.certificate(self.record, .endsSoon))
        XCTAssertEqual(scene.events("certificate").first?["verdict"] as? String, "ends-soon")
        XCTAssertEqual(scene.state, "idle")
    }

    // MARK: - Settings

    func testEverySettingOfTLSIsRead() {
        let (conf, problems) = Configuration.parse(
            Array(
                """
                [call]
                uri = sips:a@b
                [tls]
                verify = pin
                pins = \(Self.pin), \(String(repeating: "01", count: 32))
                wildcard = yes
                ca = /boot/callbox/ca.pem
                certificate = /boot/callbox/own.pem
                key = /boot/callbox/own.key
                listen = 192.0.2.1
                ask = /usr/bin/ask
                """.utf8))
        XCTAssertEqual(problems.map { $0.sentence.string }, [])
        XCTAssertEqual(conf.tls.verify, .pin)
        XCTAssertEqual(conf.tls.pins.map { $0.count }, [32, 32])
        XCTAssertEqual(CertificateFingerprint.printed(conf.tls.pins[0]).string, Self.pin)
        XCTAssertTrue(conf.tls.allowsWildcard)
        XCTAssertEqual(conf.tls.authorities, "/boot/callbox/ca.pem")
        XCTAssertEqual(conf.tls.certificate, "/boot/callbox/own.pem")
        XCTAssertEqual(conf.tls.key, "/boot/callbox/own.key")
        XCTAssertEqual(conf.tls.listen.text, "192.0.2.1:5061")
        XCTAssertEqual(conf.tls.ask, "/usr/bin/ask")
    }

    func testWrongSettingsOfTLSAreProblemsAndHaveTheirDefaults() {
        for line in [
            "verify = maybe", "pins = abc", "pins = \(Self.pin.dropLast())", "pins = ,", "wildcard = perhaps",
            "ca = ca.pem", "certificate = ./own.pem", "listen = :0", "ask = ask",
            "pins = \((0..<9).map { _ in String(repeating: "01", count: 32) }.joined(separator: ","))",
        ] {
            let (conf, problems) = Configuration.parse(Array("[call]\nuri = sip:a@b\n[tls]\n\(line)\n".utf8))
            XCTAssertEqual(problems.map { $0.line }, [4], line)
            XCTAssertEqual(conf.tls, TLSSettings(), line)
        }
    }
}
