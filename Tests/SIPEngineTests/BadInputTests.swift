// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Messages that are broken, huge, or meant to hurt. After each, the next call works.
final class BadInputTests: XCTestCase {
    private func expectNextCall(_ script: Script, _ what: String, line: UInt = #line) {
        script.receive(script.stranger(callID: "next", branch: "next", tag: "next"))
        guard let last = script.events.last, case .incoming = last.event else {
            return XCTFail("no call comes in after \(what)", line: line)
        }
        script.outbox = []
        script.input(.respond(last.handle, .ok, body: Array(Script.description.utf8)))
        XCTAssertEqual(script.outbox.map { $0.message.name }, ["200"], what, line: line)
    }

    private func answers(_ script: Script) -> [String] {
        script.outbox.map { $0.message.name }
            + script.rawOutbox.map { String(String(decoding: $0, as: UTF8.self).prefix(11).suffix(3)) }
    }

    /// One datagram, its only answer, and a call afterwards.
    private func expect(_ status: String?, _ bytes: [UInt8], _ what: String, line: UInt = #line) {
        let script = Script()
        script.input(.received(bytes, on: script.flow))
        XCTAssertEqual(self.answers(script), status.map { [$0] } ?? [], what, line: line)
        XCTAssertEqual(script.events.count, 0, what, line: line)
        self.expectNextCall(script, what, line: line)
    }

    private func expect(_ status: String?, _ text: String, line: UInt = #line) {
        self.expect(status, Array(text.utf8), String(text.prefix(200)), line: line)
    }

    private let base = Script()

    private func invite(_ change: (String) -> String) -> String { change(self.base.stranger()) }

    private func replacing(_ field: String, with other: String) -> String {
        self.invite { text in
            text.components(separatedBy: "\r\n").map { $0.hasPrefix(field + ":") ? other : $0 }
                .joined(separator: "\r\n")
        }
    }

    // MARK: - Fields

    func testMissingAndRepeatedFields() {
        for field in ["From", "To", "Call-ID", "CSeq"] {
            self.expect(
                "400",
                self.invite { text in
                    text.components(separatedBy: "\r\n").filter { !$0.hasPrefix(field + ":") }.joined(separator: "\r\n")
                })
        }
        for field in ["From", "To", "Call-ID", "CSeq", "Max-Forwards", "Content-Length", "Content-Type"] {
            self.expect(
                "400",
                self.invite { text in
                    text.components(separatedBy: "\r\n").flatMap { $0.hasPrefix(field + ":") ? [$0, $0] : [$0] }
                        .joined(separator: "\r\n")
                })
        }
        // Without a Via there is no way back.
        self.expect(
            nil,
            self.invite { text in
                text.components(separatedBy: "\r\n").filter { !$0.hasPrefix("Via:") }.joined(separator: "\r\n")
            })
        self.expect("400", self.replacing("Contact", with: "Contact: *"))
    }

    func testNumbersOutOfRange() {
        for number in ["4294967296", "-1", "99999999999999999999", "", "1.5", "0x1"] {
            self.expect("400", self.replacing("CSeq", with: "CSeq: \(number) INVITE"))
            self.expect("400", self.replacing("Content-Length", with: "Content-Length: \(number)"))
        }
        for port in ["0", "65536", "99999999999999999999", "-5"] {
            self.expect("400", self.replacing("Contact", with: "Contact: <sip:a@192.0.2.2:\(port)>"))
            self.expect("400", self.base.stranger("OPTIONS", uri: "sip:kiosk@192.0.2.1:\(port)"))
        }
        // Max-Forwards is a proxy's affair.
        for hops in ["256", "-1", "x", "0"] {
            let script = Script()
            script.receive(self.replacing("Max-Forwards", with: "Max-Forwards: \(hops)"))
            script.expectEvents("incoming")
        }
    }

    /// Case I127.
    func testOddCSeqWithoutBranch() {
        let long = String(repeating: "A", count: 4_000)
        self.expect(
            "400", self.base.stranger(number: 4_294_967_295, cseqMethod: long, via: "SIP/2.0/UDP 192.0.2.2:5070"))
        let script = Script()
        let text = script.stranger("OPTIONS", number: 4_294_967_295, via: "SIP/2.0/UDP 192.0.2.2:5070")
        script.receive(text)
        script.receive(text)
        script.expect("200", "200")
        self.expectNextCall(script, "two OPTIONS")
    }

    /// Case I128.
    func testHugeIdentifiers() {
        for count in [4_096, 8_200, 60_000] {
            self.expect("400", self.base.stranger(callID: String(repeating: "c", count: count)))
            self.expect("400", self.base.stranger(tag: String(repeating: "t", count: count)))
        }
        let script = Script()
        script.receive(script.stranger(callID: String(repeating: "c", count: 1_024)))
        script.expectEvents("incoming")
    }

    func testHeaderBombs() {
        self.expect("400", self.base.stranger(headers: String(repeating: "X: y\r\n", count: 5_000)))
        self.expect("400", self.base.stranger(headers: String(repeating: "Via: SIP/2.0/UDP h\r\n", count: 120)))
        self.expect("400", self.base.stranger(headers: "X: " + String(repeating: "y", count: 20_000) + "\r\n"))
        self.expect("400", self.base.stranger(headers: "X: y\r\n" + String(repeating: " y\r\n", count: 9_000)))
        let contacts = String(repeating: "<sip:a@b>,", count: 3_000)
        self.expect("400", self.base.stranger(headers: "Contact: \(contacts)<sip:a@b>\r\n"))
    }

    func testNULBytesAndBadUTF8() {
        for (field, byte) in [("From", 0), ("To", 0), ("Call-ID", 0), ("CSeq", 0), ("Contact", 0)] as [(String, UInt8)]
        {
            let text = self.invite { $0.replacingOccurrences(of: "\(field): ", with: "\(field): \u{1}") }
            self.expect("400", Array(text.utf8).map { $0 == 1 ? byte : $0 }, "NUL in \(field)")
        }
        let script = Script()
        let named = script.stranger().replacingOccurrences(of: "\"Desk\"", with: "\"De\u{1}sk\"")
        script.input(.received(Array(named.utf8).map { $0 == 1 ? 0xFF : $0 }, on: script.flow))
        script.expectEvents("incoming")
    }

    // MARK: - Bodies (case A29)

    func testBodyShorterThanSaidIsFaultyAndSurplusIsIgnored() {
        let count = Script.description.utf8.count
        self.expect("400", self.replacing("Content-Length", with: "Content-Length: \(count + 1)"))
        self.expect("400", self.replacing("Content-Length", with: "Content-Length: 99999999"))
        let script = Script()
        script.receive(self.replacing("Content-Length", with: "Content-Length: \(count - 2)"))
        guard case .incoming(let call)? = script.events.last?.event else { return XCTFail("no call came in") }
        XCTAssertEqual(call.offer, Array(Script.description.utf8.dropLast(2)))
        let surplus = Script()
        surplus.receive(surplus.stranger() + "INVITE sip:x SIP/2.0\r\n\r\n")
        surplus.expectEvents("incoming")
        surplus.expect()
    }

    func testHugeBody() {
        let script = Script()
        script.receive(script.stranger(body: String(repeating: "a=x\r\n", count: 12_000)))
        script.expectEvents("incoming")
        self.expect(nil, [UInt8](repeating: 0x61, count: 65_535), "64 KB of nothing")
        self.expect(nil, Array(self.base.stranger(body: String(repeating: "a", count: 66_000)).utf8), "too large")
    }

    /// Case I130.
    func testMultipartThatNeverEnds() {
        let type = "multipart/mixed;boundary=x"
        let part = "--x\r\nContent-Type: application/sdp\r\n\r\n" + Script.description
        for body in [part, part + "\r\n--x", part + "\r\n--x-", "--x", "--x--", "\r\n--x\r\n\r\n", part + "\r\n--xy--"]
        {
            self.expect("415", self.base.stranger(body: body, type: type))
        }
        for type in ["multipart/mixed", "multipart/mixed;boundary=", "multipart/mixed;boundary=\"\""] {
            self.expect("415", self.base.stranger(body: part + "\r\n--x--\r\n", type: type))
        }
    }

    // MARK: - Streams (cases B43, B44)

    func testLoneLineEndBetweenMessages() {
        let script = Script(.tcp)
        script.receive(script.stranger("OPTIONS", branch: "o1") + "\r\n")
        script.pass(ms: 1_000)
        script.receive(script.stranger("OPTIONS", branch: "o2"))
        for part in ["\r", "\n", script.stranger("OPTIONS", branch: "o3")] { script.receive(part) }
        script.receive("\r\n" + script.stranger("OPTIONS", branch: "o4"))
        script.expect("200", "200", "200", "200")
        XCTAssertEqual(script.rawOutbox, [])
        XCTAssertEqual(script.closed, [])
    }

    func testAnswerAfterALoneLineEnd() {
        let script = Script(.tcp)
        _ = script.call()
        let invite = script.next()
        let answer = SIPMessage(respondingTo: invite, .ringing, toTag: "there").printed()
        script.input(.received([0x0D, 0x0A] + answer, on: script.flow))
        script.expectEvents("ringing 180")
    }

    func testPingIsAnsweredWhereverItStands() {
        let script = Script(.tcp)
        let options = script.stranger("OPTIONS")
        script.receive("\r\n\r\n" + options + "\r\n\r\n")
        for byte in Array("\r\n\r\n".utf8) { script.input(.received([byte], on: script.flow)) }
        XCTAssertEqual(script.rawOutbox, [SIPStreamFramer.pong, SIPStreamFramer.pong, SIPStreamFramer.pong])
        script.expect("200")
    }

    func testThreeMessagesInOneSegment() {
        let script = Script(.tcp)
        script.receive((1...3).map { script.stranger("OPTIONS", branch: "o\($0)") }.joined())
        script.expect("200", "200", "200")
    }

    /// Whatever the cuts, the same messages come out.
    func testStreamInAnySegments() {
        let bodies = ["", "x", Script.description, String(repeating: "a=long\r\n", count: 300)]
        let parts = (0..<8).flatMap { number in
            [
                self.tcp("OPTIONS", number, bodies[number % 4]), ["", "\r\n", "\r\n\r\n", "\r\n\r\n\r\n"][number / 2],
            ]
        }
        let bytes = Array(parts.joined().utf8)
        let whole = self.outcome([bytes])
        XCTAssertEqual(whole.filter { $0 == "200" }.count, 8)
        for seed in 0..<100 as Range<UInt64> {
            var generator = Generator(seed: seed)
            // Small ones and large ones.
            let segmentMax: UInt64 = 1 << (1 + generator.below(12))
            var segments: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int(1 + generator.below(segmentMax))
                segments.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            XCTAssertEqual(self.outcome(segments), whole, "seed \(seed)")
        }
    }

    private func tcp(_ method: String, _ number: Int, _ body: String) -> String {
        Script(.tcp).stranger(method, branch: "b\(number)", body: body, type: "text/plain")
    }

    private func outcome(_ segments: [[UInt8]]) -> [String] {
        let script = Script(.tcp)
        var outcome: [String] = []
        for segment in segments {
            script.input(.received(segment, on: script.flow))
            outcome += script.outbox.map { $0.message.name }
            script.outbox = []
        }
        XCTAssertEqual(script.closed, [])
        return outcome + script.rawOutbox.map { _ in "pong" }
    }
}
