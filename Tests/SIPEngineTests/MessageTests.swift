// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Texts in and out (RFC 3428).
final class MessageTests: XCTestCase {
    private func receive(
        _ script: Script, _ text: String, type: String = "text/plain", headers: String = "", branch: String = "m"
    ) {
        script.receive(script.stranger("MESSAGE", branch: branch, body: text, headers: headers, type: type))
    }

    // MARK: - In

    func testTextIsToldOnceAndItsCopiesAreAnswered() {
        let script = Script()
        for _ in 0..<3 { self.receive(script, "Grüß Gott,\r\nTor 4\t!") }
        let answers = script.expect("200", "200", "200")
        XCTAssertEqual(answers[0], answers[2])
        XCTAssertNotNil(answers[0].to?.tag)
        XCTAssertNil(answers[0].first(.contact))
        XCTAssertEqual(script.messages.count, 1)
        XCTAssertEqual(script.messages.first?.text, ByteString(utf8Of: "Grüß Gott,\r\nTor 4\t!"))
        XCTAssertEqual(script.messages.first?.from.displayName, "Desk")
        XCTAssertNil(script.messages.first?.call)
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testTextWithinACallNamesIt() {
        let script = Script()
        let call = script.connectedIncoming()
        let text = script.within("MESSAGE", number: 2, branch: "m", body: "hello", type: "text/plain;charset=UTF-8")
        script.receive(text)
        script.receive(text)
        script.expect("200", "200")
        XCTAssertEqual(script.messages, [IncomingMessage(call: call, from: script.messages[0].from, text: "hello")])
    }

    func testWhatCannotBeShownIsRefused() {
        let long = String(repeating: "a", count: SIPEngine.messageBytesMax)
        let cases: [(String, String, String, String)] = [
            ("200", long, "text/plain", ""), ("413", long + "a", "text/plain", ""),
            ("415", "<p>", "text/html", ""), ("415", "x", "text/plain;charset=utf-16", ""),
            ("415", "x", "text/plain", "Content-Encoding: gzip\r\n"), ("415", "x", "message/cpim", ""),
            ("400", "a\u{0}b", "text/plain", ""), ("400", "a\u{1B}[2J", "text/plain", ""),
            ("400", "a\u{9B}2J", "text/plain", ""), ("400", "\u{7F}", "text/plain", ""),
        ]
        for (code, text, type, headers) in cases {
            let script = Script()
            self.receive(script, text, type: type, headers: headers)
            XCTAssertEqual(script.outbox.map { $0.message.name }, [code], "\(type) \(text.prefix(10))")
            XCTAssertEqual(script.messages.count, code == "200" ? 1 : 0)
        }
        let script = Script()
        self.receive(script, "x", type: "text/html")
        XCTAssertEqual(script.next().first(.accept), "text/plain;charset=utf-8")
    }

    func testBytesThatAreNotUTF8AreRefused() {
        for bytes in [[0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x61, 0xE2, 0x82], [0x80]]
            as [[UInt8]]
        {
            let script = Script()
            let head = script.stranger("MESSAGE", headers: "Content-Type: text/plain\r\n")
                .replacingOccurrences(of: "Content-Length: 0", with: "Content-Length: \(bytes.count)")
            script.input(.received(Array(head.utf8) + bytes, on: script.flow))
            script.expect("400")
            XCTAssertEqual(script.messages, [])
        }
    }

    func testTextOfNothingIsTakenAndNotTold() {
        let script = Script()
        script.receive(script.stranger("MESSAGE"))
        script.expect("200")
        XCTAssertEqual(script.messages, [])
    }

    func testTextsFillOnlyTheStrangersPartOfTheTable() {
        let script = Script()
        for number in 0..<100 {
            script.receive(
                script.stranger("MESSAGE", callID: "c\(number)", branch: "b\(number)", body: "x", type: "text/plain"))
        }
        let kept = Limits.serverTransactionsMax - Limits.serverTransactionsForDialogs
        XCTAssertEqual(script.messages.count, kept)
        XCTAssertEqual(script.outbox.filter { $0.message.name == "503" }.count, 100 - kept)
    }

    // MARK: - Out

    private func send(_ script: Script, _ id: UInt64 = 1, _ text: String = "hello", to call: CallHandle? = nil) {
        let address = MessageDestination.address(SIPURI("sip:desk@192.0.2.2:5070;transport=udp")!, script.flow)
        script.input(
            .message(MessageID(id), call.map { .call($0) } ?? address, text: ByteString(utf8Of: text)))
    }

    private func expectFinished(_ script: Script, _ statuses: [Int], line: UInt = #line) {
        XCTAssertEqual(script.finishedMessages.map { $0.status.value }, statuses, line: line)
    }

    func testTextGoesToAnAddress() {
        let script = Script()
        self.send(script, 7, "Tür auf")
        let message = script.next()
        XCTAssertEqual(message.name, "MESSAGE")
        XCTAssertEqual(message.requestURI?.printed, "sip:desk@192.0.2.2:5070;transport=udp")
        XCTAssertEqual(message.to?.printed, "<sip:desk@192.0.2.2>")
        XCTAssertEqual(message.from?.displayName, "Gate")
        XCTAssertEqual(message.contentType?.printed, "text/plain;charset=utf-8")
        XCTAssertEqual(message.body, Array("Tür auf".utf8))
        XCTAssertNil(message.first(.contact))
        script.answer(message, 202)
        XCTAssertEqual(script.finishedMessages.first?.id, MessageID(7))
        self.expectFinished(script, [202])
        script.answer(message, 202)
        self.expectFinished(script, [202])
        script.pass(ms: 10_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testTextGoesWithinACall() {
        let script = Script()
        let call = script.connectedIncoming()
        self.send(script, to: call)
        let message = script.next()
        XCTAssertEqual(message.callID?.text, "c1")
        XCTAssertEqual(message.to?.tag, "f1")
        script.answer(message, 404)
        self.expectFinished(script, [404])
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testTextThatIsNotAnsweredOrCannotBeSent() {
        let script = Script()
        self.send(script)
        script.pass(ms: 32_000)
        self.expectFinished(script, [408])
        self.send(script, 2)
        script.input(.flowFailed(script.flow))
        self.expectFinished(script, [408, 503])
        self.send(script, 3, to: CallHandle(number: 999))
        self.send(script, 4, String(repeating: "a", count: SIPEngine.messageBytesMax + 1))
        self.send(script, 5, "\u{0}")
        self.expectFinished(script, [408, 503, 481, 413, 400])
        XCTAssertTrue(script.engine.isIdle)
    }

    func testTextsWithoutAnswerAreBounded() {
        let script = Script()
        for id in 0...UInt64(Limits.messagesMax) { self.send(script, id) }
        self.expectFinished(script, [503])
        XCTAssertEqual(script.finishedMessages.first?.id, MessageID(UInt64(Limits.messagesMax)))
        script.answer(script.next(), 200)
        self.send(script, 99)
        self.expectFinished(script, [503, 200])
    }
}
