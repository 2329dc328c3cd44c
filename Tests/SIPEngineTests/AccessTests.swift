// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Who may talk to us: strangers get nothing back, dialogs of ours are taken from anywhere.
final class AccessTests: XCTestCase {
    private static let elsewhere = SocketAddress(.v4(0xCB00_7105), port: 5060)

    private func script(
        _ transport: SIPTransport = .udp, _ edit: (inout AccessPolicy) -> Void = { _ in }
    ) -> Script {
        Script(transport, .withAccess(edit))
    }

    private func elsewhere(_ script: Script, port: UInt16 = 5060) -> Flow {
        Flow(
            transport: script.flow.transport, local: script.flow.local,
            remote: SocketAddress(Self.elsewhere.address, port: port))
    }

    private func expectNothing(_ script: Script, strangers: UInt64, _ what: String = "", line: UInt = #line) {
        XCTAssertEqual(script.outbox.map { $0.message.name }, [], what, line: line)
        XCTAssertEqual(script.rawOutbox, [], what, line: line)
        XCTAssertEqual(script.events.map { $0.event.name }, [], what, line: line)
        XCTAssertEqual(script.engine.counters[.stranger], strangers, what, line: line)
    }

    // MARK: - Outside of any call

    func testStrangersGetNothingWhateverTheySend() {
        let faulty = "INVITE sip:a SIP/7.0\r\nVia: SIP/7.0/UDP 192.0.2.2;branch=z9hG4bKx\r\n\r\n"
        let methods = ["INVITE", "OPTIONS", "REGISTER", "MESSAGE", "BYE", "CANCEL", "ACK", "SUBSCRIBE", "REFER", "X"]
        for method in methods {
            let script = self.script()
            script.receive(script.stranger(method))
            self.expectNothing(script, strangers: 1, method)
        }
        for noise in [faulty, "GET / HTTP/1.1\r\n\r\n", "\0\0\0\0", String(repeating: "A", count: 65_000)] {
            let script = self.script()
            script.receive(noise)
            self.expectNothing(script, strangers: 1)
        }
    }

    func testWhoIsNamedMayTalk() {
        let one = self.script { $0.allowed = [AddressRange("192.0.2.0/24")!] }
        one.receive(one.stranger("OPTIONS"))
        one.expect("200")
        one.receive(one.stranger("OPTIONS"), on: self.elsewhere(one))
        self.expectNothing(one, strangers: 1)

        let server = self.script()
        server.input(.trust([Script.there.address]))
        server.receive(server.stranger())
        server.expectEvents("incoming")
        server.input(.trust([]))
        server.receive(server.stranger("OPTIONS", branch: "o"), on: self.elsewhere(server))
        self.expectNothing(server, strangers: 1)
    }

    func testTrustedAddressesAreBounded() {
        let script = self.script()
        script.input(.trust((0..<1000).map { .v4($0) }))
        XCTAssertEqual(script.engine.trusted.count, Limits.trustedMax)
    }

    func testTheOtherEndOfACallMayAskAsLongAsTheCallLives() {
        let script = self.script()
        let handle = script.connectedCall()
        script.receive(script.stranger("OPTIONS"))
        script.expect("200")
        script.input(.hangUp(handle, .normal))
        script.answer(script.next(), 200)
        script.pass(ms: 32_000)
        script.events = []
        script.receive(script.stranger("OPTIONS"))
        self.expectNothing(script, strangers: 1)
    }

    func testAnswersToOurRequestsAreTakenFromAnywhereAndForgedOnesAreNot() {
        let script = self.script()
        _ = script.call()
        let invite = script.next()
        var forged = SIPMessage(respondingTo: invite, .ringing, toTag: "x")
        var via = forged.topVia!
        via.parameters.set("branch", "z9hG4bKguessed")
        forged.replaceTopVia(via)
        script.receive(forged, on: self.elsewhere(script))
        self.expectNothing(script, strangers: 1)
        script.receive(SIPMessage(respondingTo: invite, .ringing, toTag: "x"), on: self.elsewhere(script))
        script.expectEvents("ringing 180")
    }

    // MARK: - Within a call

    func testRequestsWithinOurDialogAreTakenFromAnywhere() {
        let script = self.script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.expect("ACK")
        script.events = []
        let info = script.inDialog("INFO", of: invite, number: 1, branch: "i")
        script.receive(info, on: self.elsewhere(script))
        script.receive(info, on: self.elsewhere(script))
        script.expect("200", "200")
        // Knowing the Call-ID is not enough.
        let guess = script.inDialog("BYE", of: invite, number: 2, branch: "g")
        script.receive(
            guess.replacingOccurrences(of: ";tag=there", with: ";tag=guess"), on: self.elsewhere(script))
        self.expectNothing(script, strangers: 1)
        script.receive(script.inDialog("BYE", of: invite, number: 2, branch: "b"), on: self.elsewhere(script))
        script.expect("200")
        // The call is over; the copy of its BYE is still known.
        script.receive(script.inDialog("BYE", of: invite, number: 2, branch: "b"), on: self.elsewhere(script))
        script.expect("200")
    }

    func testCancelAndAckComeFromWhereTheInviteCame() {
        let script = self.script { $0.allowed = [AddressRange("192.0.2.2")!] }
        script.receive(script.stranger())
        script.expectEvents("incoming")
        script.receive(script.stranger("CANCEL"), on: self.elsewhere(script))
        self.expectNothing(script, strangers: 1)
        script.receive(script.stranger("CANCEL"))
        script.expect("200", "487")
        script.receive(script.stranger("ACK"))
        script.pass(ms: 6_000)
        script.expect()
    }

    // MARK: - Streams

    func testStrangersStreamIsClosedWithoutAWord() {
        for text in ["\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", self.script(.tcp).stranger("OPTIONS")] {
            let script = self.script(.tcp)
            script.receive(text)
            self.expectNothing(script, strangers: 1, text)
            XCTAssertEqual(script.closed, [script.flow])
            XCTAssertEqual(script.engine.streams.count, 0)
        }
    }

    func testStrangersStreamsDoNotPushOutOurs() {
        let script = self.script(.tcp) { $0.allowed = [AddressRange("192.0.2.2")!] }
        script.receive("OPTIONS sip:")
        for port in 1...UInt16(100) { script.receive("OPTIONS sip:", on: self.elsewhere(script, port: port)) }
        XCTAssertEqual(script.engine.streams.count, 1 + Limits.strangerStreamsMax)
        XCTAssertEqual(script.closed.count, 100 - Limits.strangerStreamsMax)
        XCTAssertTrue(script.engine.streams.contains { $0.flow == script.flow })
    }

    func testPeerOfACallMayComeByANewStream() {
        let script = self.script(.tcp)
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.expect("ACK")
        let flow = self.elsewhere(script)
        script.receive(script.inDialog("INFO", of: invite, number: 1, branch: "i") + "\r\n\r\n", on: flow)
        script.expect("200")
        XCTAssertEqual(script.rawOutbox, [SIPStreamFramer.pong])
        XCTAssertEqual(script.closed, [])
    }

    // MARK: - Automatic answer (case I131)

    func testWishToBeAnsweredAutomaticallyIsHonouredFromTheListOnly() {
        let wishes = [
            "Call-Info: <sip:x>;answer-after=0\r\n", "Answer-Mode: Auto\r\n",
            "Alert-Info: <x>;info=alert-autoanswer\r\n",
        ]
        for (wish, range) in wishes.flatMap({ wish in ["192.0.2.2", "192.0.2.3"].map { (wish, $0) } }) {
            let script = self.script {
                $0.isOpen = true
                $0.automaticAnswer = [AddressRange(ByteString(utf8Of: range))!]
            }
            script.receive(script.stranger(headers: wish))
            guard case .incoming(let call)? = script.events.last?.event else { return XCTFail("no call came in") }
            XCTAssertEqual(call.isAnsweredAutomatically, range == "192.0.2.2", wish)
        }
    }

    // MARK: - A flood

    /// While calls are up and while none is, a flood changes nothing in the engine.
    func testFloodLeavesNoTrace() {
        for hasCall in [false, true] {
            let script = self.script()
            if hasCall { _ = script.connectedCall() }
            let before = (script.engine.clients.count, script.engine.servers.count, script.engine.callCount)
            for number in 0..<600 {
                let method = ["OPTIONS", "INVITE", "REGISTER"][number % 3]
                let text = script.stranger(method, callID: "c\(number)", branch: "b\(number)")
                script.receive(text, on: self.elsewhere(script))
            }
            self.expectNothing(script, strangers: 600)
            let after = (script.engine.clients.count, script.engine.servers.count, script.engine.callCount)
            XCTAssertTrue(before == after)
        }
    }
}

/// Fields found in raw bytes.
final class HeadScanTests: XCTestCase {
    private func callID(_ text: String, bytesMax: Int = 4_096) -> String? {
        HeadScan.value(of: "call-id", compact: UInt8(ascii: "i"), in: Array(text.utf8), bytesMax: bytesMax)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    func testTheCallIDIsFoundInEveryForm() {
        let forms = [
            "Call-ID: a@b\r\n", "CALL-ID:a@b\r\n", "call-id \t: \t a@b  \r\n", "i: a@b\n", "I :a@b\r\n",
            "Call-ID:\r\n a@b\r\n", "Call-ID: a@b", "To: x\r\nVia: y\r\ni:a@b\r\n\r\nbody",
        ]
        for form in forms { XCTAssertEqual(self.callID("OPTIONS sip:x SIP/2.0\r\n" + form), "a@b", form) }
        XCTAssertEqual(self.callID("\r\n\r\nOPTIONS sip:x SIP/2.0\r\ni: a@b\r\n"), "a@b")
    }

    func testNothingElseIsTakenForIt() {
        let texts = [
            "", "\r\n", "Call-ID: first line\r\n", "x\r\nCall-IDs: a\r\n", "x\r\nXCall-ID: a\r\n", "x\r\nCall-ID a\r\n",
            "x\r\nTo: y\r\n\r\nCall-ID: in the body\r\n", "x\r\ni\r\n", "x\r\nin: a\r\n", "x\r\nCall-", "x\r\n",
            "x\n\nCall-ID: a",
        ]
        for text in texts { XCTAssertNil(self.callID(text), text) }
        XCTAssertEqual(self.callID("x\r\nCall-ID:"), "")
        XCTAssertNil(self.callID("x\r\n" + String(repeating: "a", count: 5_000) + "\r\ni: a\r\n"))
    }

    func testAnyBytesAreScannedWithoutHarm() {
        var generator = Generator(seed: 7)
        let alphabet = Array("Call-ID: i\r\n\r\n \tx".utf8)
        for _ in 0..<20_000 {
            let count = Int(generator.below(60))
            let bytes = (0..<count).map { _ in alphabet[Int(generator.below(UInt64(alphabet.count)))] }
            _ = HeadScan.value(of: "call-id", compact: UInt8(ascii: "i"), in: bytes, bytesMax: Int(generator.below(70)))
        }
    }
}
