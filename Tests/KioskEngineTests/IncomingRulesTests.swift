// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import KioskEngine

/// Who may call the help point, and whom it answers by itself.
final class IncomingRulesTests: XCTestCase {
    private func uri(_ text: String) -> URI {
        guard let uri = URI(ByteString(utf8Of: text)) else { preconditionFailure("written by hand") }
        return uri
    }

    private func treatment(_ settings: String, _ caller: String, isOpen: Bool = false) -> CallSettings.Incoming {
        let (conf, _) = Configuration.parse(Array("[call]\nuri = sip:a@b\n\(settings)\n".utf8))
        return conf.call.treatment(of: self.uri(caller), isOpen: isOpen)
    }

    func testPatterns() throws {
        let cases: [(pattern: String, yes: [String], no: [String])] = [
            ("desk", ["sip:desk@x", "sips:desk@y"], ["sip:desk2@x", "sip:x", "sip:Desk@x", "tel:1"]),
            ("desk@x", ["sip:desk@x", "sip:desk@X:5070"], ["sip:desk@y"]),
            ("*@x", ["sip:desk@x", "sip:x"], ["sip:desk@y"]),
            ("1*9", ["sip:19@x", "sip:1239@x", "sip:1999@x"], ["sip:1@x", "sip:198@x"]),
            ("*a*b*", ["sip:ab@x", "sip:1a2b3@x"], ["sip:ba@x"]), ("sip:%64esk", [], ["sip:desk@x"]),
            ("anyone", ["sip:desk@x", "sip:x", "tel:1"], []),
        ]
        for (pattern, yes, no) in cases {
            let callers = try ConfigurationValue.callers(ByteString(utf8Of: pattern))
            for caller in yes { XCTAssertTrue(callers[0].matches(self.uri(caller)), "\(pattern) \(caller)") }
            for caller in no { XCTAssertFalse(callers[0].matches(self.uri(caller)), "\(pattern) \(caller)") }
        }
    }

    func testAHostilePatternOfStarsIsOverSoon() throws {
        let callers = try ConfigurationValue.callers(ByteString(utf8Of: String(repeating: "*a", count: 400)))
        XCTAssertFalse(callers[0].matches(self.uri("sip:" + String(repeating: "a", count: 4000) + "b@x")))
    }

    func testTreatments() {
        let cases: [(String, String, CallSettings.Incoming)] = [
            ("", "sip:desk@x", .refuse), ("incoming = never\nincoming_from = anyone", "sip:desk@x", .refuse),
            ("incoming = ring", "sip:desk@x", .ring), ("incoming = ring\nincoming_from = desk", "sip:desk@x", .ring),
            ("incoming = ring\nincoming_from = desk", "sip:bob@x", .refuse), ("incoming = answer", "sip:desk@x", .ring),
            ("incoming = answer\nincoming_from = desk, 1*", "sip:12@x", .answer),
            ("incoming = answer\nincoming_from = desk", "sip:bob@x", .refuse),
            ("incoming = answer\nincoming_from = anyone", "sip:bob@x", .answer),
        ]
        for (settings, caller, treatment) in cases {
            XCTAssertEqual(self.treatment(settings, caller), treatment, "\(settings) \(caller)")
        }
    }

    /// A name in From is what the caller likes it to be: it counts only where we know the server that passes it on.
    func testWhereEverybodyMayTalkToUsANameIsNoRightToListen() {
        let listed = "incoming = answer\nincoming_from = desk"
        XCTAssertEqual(self.treatment(listed, "sip:desk@x", isOpen: true), .ring)
        XCTAssertEqual(
            self.treatment("incoming = answer\nincoming_from = anyone", "sip:desk@x", isOpen: true), .answer)
        let open = "[call]\nuri = sip:a@b\n\(listed)\n[sip]\naccept_from = anyone\n"
        XCTAssertEqual(Configuration.parse(Array(open.utf8)).1.map { $0.line }, [3])
    }

    func testAnswerWithoutAListIsAProblemThatIsSaid() {
        let (_, problems) = Configuration.parse(Array("[call]\nuri = sip:a@b\nincoming = answer\n".utf8))
        XCTAssertEqual(problems.map { $0.line }, [3])
    }

    func testBadCallers() {
        for text in ["", "a b", "@x", "a@", "a@x@y", "a,,b", Array(repeating: "a", count: 33).joined(separator: ",")] {
            XCTAssertThrowsError(try ConfigurationValue.callers(ByteString(utf8Of: text)), text)
        }
    }

    func testCallBacks() {
        var window = CallBacks()
        let address = IPAddress.v4(0x0A00_0001)
        let now = Instant.zero
        let desk = SIPURI(user: "desk", host: .name("x"))
        window.called(desk, at: address, window: .zero, now: now)
        XCTAssertEqual(window.addresses, [], "not wanted")
        window.called(desk, at: address, window: .seconds(60), now: now)
        XCTAssertNil(window.endsAt, "the call goes on")
        XCTAssertFalse(window.expire(now: now + .seconds(600)))
        window.finished(window: .seconds(60), now: now + .seconds(600))
        XCTAssertEqual(window.endsAt, now + .seconds(660))
        XCTAssertTrue(window.contains(self.uri("sip:desk@10.0.0.1"), from: address))
        XCTAssertTrue(window.contains(self.uri("sip:desk@x"), from: .v4(7)))
        XCTAssertFalse(window.contains(self.uri("sip:bob@x"), from: address))
        XCTAssertFalse(window.contains(self.uri("sip:desk@y"), from: .v4(7)))
        XCTAssertTrue(window.expire(now: now + .seconds(660)))
        XCTAssertFalse(window.contains(self.uri("sip:desk@x"), from: address))
        for number in 0..<100 {
            window.called(
                SIPURI(user: ByteString(decimal: number), host: .name("x")), at: address, window: .seconds(60), now: now
            )
        }
        XCTAssertEqual(window.addresses.count, CallBacks.countMax)
    }
}
