// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// What is kept of the last messages, and how it is drawn.
final class TraceTests: XCTestCase {
    private func text(_ script: Script, withMessages: Bool = false) -> [String] {
        script.engine.trace.lines(withMessages: withMessages).map { $0.string }
    }

    // MARK: - What is kept

    func testMessagesBothWaysAreKeptAndStrangersAreNot() {
        let script = Script(.udp, .withAccess { $0.allowed = [AddressRange("192.0.2.2")!] })
        script.receive(script.stranger("OPTIONS"))
        var other = script.flow
        other.remote = SocketAddress(.v4(0xCB00_7105), port: 5060)
        script.receive(script.stranger("OPTIONS", callID: "x"), on: other)
        XCTAssertEqual(script.engine.trace.entries.map { $0.isSent }, [false, true])
        XCTAssertEqual(script.engine.trace.entries.map { $0.flow.remote }, [Script.there, Script.there])
    }

    func testMemoryIsBounded() {
        let script = Script()
        let long = String(repeating: "X-Long: \(String(repeating: "a", count: 100))\r\n", count: 30)
        for number in 0..<300 { script.receive(script.stranger("OPTIONS", branch: "b\(number)", headers: long)) }
        let entries = script.engine.trace.entries
        XCTAssertLessThanOrEqual(entries.count, Limits.traceEntriesMax)
        XCTAssertLessThanOrEqual(entries.reduce(0) { $0 + $1.text.count }, Limits.traceBytesMax)
        XCTAssertTrue(entries.allSatisfy { $0.text.count <= Limits.traceTextBytesMax })
        XCTAssertGreaterThan(entries.map { $0.size }.max() ?? 0, 3_000)
        let lines = script.engine.trace.lines(withMessages: true)
        XCTAssertLessThan(lines.reduce(0) { $0 + $1.count + 4 }, 200_000)
    }

    func testLinesForALogAreThoseSinceACountAndStillKept() {
        let script = Script()
        script.receive(script.stranger("OPTIONS"))
        let count = script.engine.trace.count
        XCTAssertEqual(script.engine.trace.lines(since: 0).map { $0.label.string }, ["OPTIONS 1", "200 OPTIONS 1"])
        XCTAssertEqual(script.engine.trace.lines(since: count).count, 0)
        for number in 0..<300 { script.receive(script.stranger("OPTIONS", branch: "b\(number)")) }
        XCTAssertEqual(script.engine.trace.count, count + 600)
        XCTAssertEqual(script.engine.trace.lines(since: count).count, script.engine.trace.entries.count)
    }

    func testNothingIsKeptWhereNoneIsWanted() {
        var configuration = SIPConfiguration.standard
        configuration.keepsTrace = false
        let script = Script(.udp, configuration)
        script.receive(script.stranger("OPTIONS"))
        XCTAssertEqual(self.text(script), [])
    }

    // MARK: - The ladder

    func testLadderOfACall() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.pass(ms: 500)
        script.outbox = []
        script.answer(invite, 180)
        script.pass(ms: 1_000)
        script.answer(invite, 200, body: Script.description)
        script.answer(invite, 200, body: Script.description)
        script.input(.hangUp(handle, .normal))
        let callID = invite.callID!.text.string
        XCTAssertEqual(
            self.text(script),
            [
                "Call-ID \(callID)",
                "       ms  us                         192.0.2.2:5070 udp",
                "        0  |-- INVITE 1 (SDP) ------------------------>|",
                "      500  |-- INVITE 1 (SDP) again ------------------>|",
                "      500  |<-- 180 INVITE 1 --------------------------|",
                "     1500  |<-- 200 INVITE 1 (SDP) --------------------|",
                "     1500  |-- ACK 1 --------------------------------->|",
                "     1500  |<-- 200 INVITE 1 (SDP) again --------------|",
                "     1500  |-- ACK 1 again --------------------------->|",
                "     1500  |-- BYE 2 --------------------------------->|",
            ])
    }

    func testEachPeerHasAColumn() {
        let script = Script()
        for number in 1...6 {
            var flow = script.flow
            flow.remote = SocketAddress(.v4(0xC000_0210 + UInt32(number)), port: 5060)
            script.receive(
                script.stranger(
                    "BYE", branch: "b\(number)", via: "SIP/2.0/UDP a.example;rport;branch=z9hG4bK\(number)"), on: flow)
        }
        let lines = self.text(script)
        XCTAssertEqual(
            Array(lines[1...6]),
            [
                "       ms  us  192.0.2.17:5060 udp   192.0.2.18:5060 udp   192.0.2.19:5060 udp   192.0.2.20:5060 udp",
                "        0  |<-- BYE 1 -----------|                     |                     |                     |",
                "        0  |-- 481 BYE 1 ------->|                     |                     |                     |",
                "        0  |<-- BYE 1 ---------------------------------|                     |                     |",
                "        0  |-- 481 BYE 1 ----------------------------->|                     |                     |",
                "        0  |<-- BYE 1 -------------------------------------------------------|                     |",
            ])
    }

    func testDialogsAreBoundedAndApart() {
        let script = Script()
        for number in 0..<12 { script.receive(script.stranger("OPTIONS", callID: "c\(number)", branch: "b\(number)")) }
        let headings = self.text(script).filter { $0.hasPrefix("Call-ID") }
        XCTAssertEqual(headings, (4..<12).map { "Call-ID c\($0)" })
    }

    func testMessagesFollowWhereWanted() {
        let script = Script()
        script.receive(script.stranger("OPTIONS", headers: "X-Long: \(String(repeating: "ü", count: 120))\r\n"))
        let lines = self.text(script, withMessages: true)
        XCTAssertTrue(lines.contains("        0 ms from 192.0.2.2:5070, \(script.engine.trace.entries[0].size) bytes"))
        XCTAssertTrue(lines.contains("    CSeq: 1 OPTIONS"))
        XCTAssertEqual(lines.joined().components(separatedBy: "ü").count, 121, "a character is not cut")
    }

    func testLinesAreShortAndHaveNoControlCharacters() {
        let script = Script()
        var generator = Generator(seed: 3)
        for number in 0..<200 {
            var bytes = Array(script.stranger("OPTIONS", callID: "c\(number % 9)", branch: "b\(number)").utf8)
            for _ in 0..<8 { bytes[Int(generator.below(UInt64(bytes.count)))] = UInt8(generator.below(256)) }
            var flow = script.flow
            flow.remote = SocketAddress(.v6(high: generator.next(), low: generator.next()), port: 65_535)
            script.input(.received(bytes, on: flow))
        }
        for line in script.engine.trace.lines(withMessages: true) {
            XCTAssertLessThanOrEqual(line.count, 100, line.string)
            XCTAssertTrue(UTF8Text.isPlain(line.bytes[...]), line.string)
            XCTAssertFalse(line.contains(ASCII.lineFeed))
        }
    }
}

/// Secrets are not kept.
final class RedactionTests: XCTestCase {
    private func redacted(_ text: String, bytesMax: Int = 2_048) -> String {
        String(decoding: Redaction.redacted(Array(text.utf8), bytesMax: bytesMax), as: UTF8.self)
    }

    private func head(_ line: String) -> String { "INVITE sip:a SIP/2.0\r\n\(line)\r\nTo: b\r\n\r\n" }

    func testSecretHeadersKeepTheirNameAndScheme() {
        let fields = [
            ("Authorization: Digest username=\"a\", response=\"secret\"", "Authorization: Digest ***"),
            (
                "proxy-authorization : Digest\r\n response=\"secret\",\r\n\tqop=secret",
                "proxy-authorization : ***"
            ),
            ("WWW-Authenticate: Digest nonce=\"secret\"", "WWW-Authenticate: Digest ***"),
            ("Proxy-Authenticate:Basic secret", "Proxy-Authenticate:Basic ***"),
            ("Authentication-Info: nextnonce=\"secret\"", "Authentication-Info: ***"),
            ("P-Access-Token: secret", "P-Access-Token: ***"), ("X-Auth-Token:secret", "X-Auth-Token:***"),
            ("Authorization:\r\n Digest secret", "Authorization:***"),
        ]
        for (field, expected) in fields { XCTAssertEqual(self.redacted(self.head(field)), self.head(expected)) }
    }

    func testPasswordsInAddressesAreTakenOut() {
        let fields = [
            ("From: \"A\" <sip:alice:secret@h:5060>;tag=1", "From: \"A\" <sip:alice:***@h:5060>;tag=1"),
            ("From: SIPS:alice:secret@h", "From: SIPS:alice:***@h"),
            ("Call-Info: <https://u:secret@h/x>", "Call-Info: <https://u:***@h/x>"),
            ("Route: <sip:a@h;lr>,<sip:b:secret@h>", "Route: <sip:a@h;lr>,<sip:b:***@h>"),
            ("Contact: <sip:[2001:db8::1]:5060>", "Contact: <sip:[2001:db8::1]:5060>"),
            ("Call-ID: a:b:c@h", "Call-ID: a:b:c@h"), ("From: <sip:alice@h>", "From: <sip:alice@h>"),
        ]
        for (field, expected) in fields { XCTAssertEqual(self.redacted(self.head(field)), self.head(expected)) }
        XCTAssertEqual(self.redacted("INVITE sip:a:secret@h SIP/2.0\r\n\r\n"), "INVITE sip:a:***@h SIP/2.0\r\n\r\n")
    }

    func testWhatPeopleSayAndTypeIsTakenOut() {
        let message = "MESSAGE sip:a SIP/2.0\r\nContent-Type: text/plain\r\n\r\n"
        XCTAssertEqual(self.redacted(message + "secret"), message + "***")
        let info = "INFO sip:a SIP/2.0\r\nc: application/dtmf-relay\r\n\r\n"
        XCTAssertEqual(self.redacted(info + "Signal=5"), info + "***")
        let multipart = "INFO sip:a SIP/2.0\r\nContent-Type: multipart/mixed;boundary=x\r\n\r\n"
        XCTAssertEqual(self.redacted(multipart + "--x\r\n\r\n5\r\n--x--"), multipart + "***")
        let bare = "INFO sip:a SIP/2.0\r\n\r\n"
        XCTAssertEqual(self.redacted(bare + "5"), bare + "***")
    }

    func testKeysOfMediaAreTakenOutAndTheRestOfADescriptionStays() {
        let head = "INVITE sip:a SIP/2.0\r\nContent-Type: application/sdp\r\n\r\nv=0\r\nm=audio 1 RTP/SAVP 0\r\n"
        XCTAssertEqual(
            self.redacted(head + "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:secret\r\nk=clear:secret\na=sendrecv\r\n"),
            head + "a=crypto:***\r\nk=***\na=sendrecv\r\n")
    }

    func testWhatIsCutLeaksNothing() {
        let text =
            "\r\n\r\nINVITE sip:a SIP/2.0\r\nTo: b\r\nFrom: <sip:alice:secret@h>\r\n"
            + "Authorization: Digest secret\r\n\r\n"
        for count in 0...text.utf8.count {
            XCTAssertFalse(self.redacted(text, bytesMax: count).contains("sec"), "\(count)")
        }
    }

    func testNoiseIsHandledWithoutHarm() {
        var generator = Generator(seed: 11)
        let alphabet = Array("sip:a:b@<>\"\r\n\r\n Authorization: k=a=crypto:\0".utf8)
        for _ in 0..<5_000 {
            let count = Int(generator.below(90))
            let bytes = (0..<count).map { _ in alphabet[Int(generator.below(UInt64(alphabet.count)))] }
            _ = Redaction.redacted(bytes, bytesMax: Int(generator.below(100)))
        }
    }
}
