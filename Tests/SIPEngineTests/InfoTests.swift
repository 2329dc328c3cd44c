// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// INFO: digits and key frames in, whatever is asked for out.
final class InfoTests: XCTestCase {
    /// What one INFO within a call leads to: the answer, and the event.
    private func receive(_ body: String, _ type: String, headers: String = "") -> (answer: SIPMessage, event: String?) {
        let script = Script()
        _ = script.connectedIncoming()
        let info = script.within("INFO", number: 2, branch: "i", body: body, headers: headers, type: type)
        script.receive(info)
        let answer = script.next()
        script.receive(info)
        script.expect(answer.name)
        XCTAssertLessThanOrEqual(script.events.count, 1, "a copy is not told")
        return (answer, script.events.first?.event.name)
    }

    func testCaseG116WhetherTheFarEndTakesINFOIsWhatItSaysInAllow() {
        for (allow, takes) in [
            ("INVITE, ACK, BYE, INFO", true), ("INVITE, ACK, BYE", false), (nil, nil),
        ] as [(ByteString?, Bool?)] {
            let script = Script()
            let call = script.connected(headers: allow.map { [(.allow, $0)] } ?? [])
            XCTAssertEqual(script.engine.takesInfo(call.handle), takes)
            XCTAssertNil(script.engine.takesInfo(CallHandle(number: 999)))
        }
    }

    // MARK: - Digits (case G115)

    func testDigitsInEveryDialect() {
        let bodies = [
            ("Signal=5\r\nDuration=160", "digit 5 160"), ("Signal=5\r\nDuration=160\r\n", "digit 5 160"),
            (" Signal = 5 \r\n duration = 250", "digit 5 250"), ("Signal= 5", "digit 5 100"),
            ("SIGNAL=a", "digit A 100"),
            ("Signal=*", "digit * 100"), ("Signal=#\nDuration=9", "digit # 100"), ("Signal=10", "digit * 100"),
            ("Signal=11\r\nDuration=60000", "digit # 5000"), ("Signal=15", "digit D 100"), ("d=5", "digit 5 100"),
            ("5", "digit 5 100"), ("\r\n5\r\n", "digit 5 100"),
            ("Duration=200\r\nSignal=0\r\nFoo=bar\r\n", "digit 0 200"),
        ]
        for (body, expected) in bodies {
            for type in ["application/dtmf-relay", "application/dtmf", "Application/DTMF-Relay;x=y"] {
                let (answer, event) = self.receive(body, type)
                XCTAssertEqual(answer.name, "200", body)
                XCTAssertEqual(event, expected, body)
            }
        }
    }

    func testWhatIsNoDigitIsRefused() {
        let bodies = [
            "Signal=", "Signal", "Signal=55", "Signal=16", "Signal=-1", "Signal=E", "Signal=!", "Duration=160", "x",
            "55",
            "Signal=5\r\nSignal=6", "Signal=5\r\nDuration=", "Signal=5\r\nDuration=-1",
            "Signal=5\r\nDuration=99999999999",
            "\u{0}", "Signal=5\u{0}", "\r\n", String(repeating: "Foo=bar\r\n", count: 100),
        ]
        for body in bodies {
            let (answer, event) = self.receive(body, "application/dtmf-relay")
            XCTAssertEqual(answer.name, "400", body)
            XCTAssertNil(event)
        }
    }

    // MARK: - Other bodies

    func testPictureControl() {
        let update =
            "<media_control><vc_primitive><to_encoder><picture_fast_update/>"
            + "</to_encoder></vc_primitive></media_control>"
        XCTAssertEqual(self.receive(update, "application/media_control+xml").event, "keyFrameRequested")
        let error = self.receive("<media_control><general_error>x</general_error>", "application/media_control+xml")
        XCTAssertEqual(error.answer.name, "200")
        XCTAssertNil(error.event)
    }

    func testUnknownBodiesAndPackages() {
        let (answer, event) = self.receive("x", "text/html")
        XCTAssertEqual(answer.name, "415")
        XCTAssertEqual(answer.first(.accept), InfoBody.accepted)
        XCTAssertNil(event)
        XCTAssertEqual(self.receive("5", "application/dtmf", headers: "Content-Encoding: gzip\r\n").answer.name, "415")
        let package = self.receive("5", "application/dtmf", headers: "Info-Package: infoDtmf\r\n").answer
        XCTAssertEqual(package.name, "469")
        XCTAssertEqual(package.recvInfo, [])
        XCTAssertEqual(self.receive("", "").answer.name, "200")
    }

    // MARK: - Out

    private func inform(_ script: Script, _ call: CallHandle, _ digit: String) {
        let body = Array("Signal=\(digit)\r\n".utf8)
        script.input(.inform(call, contentType: "application/dtmf-relay", body: body))
    }

    func testDigitsGoOneAfterAnother() {
        let script = Script()
        let call = script.connectedIncoming()
        for digit in ["1", "2", "3"] { self.inform(script, call, digit) }
        let first = script.expect("INFO")[0]
        XCTAssertEqual(first.contentType?.printed, "application/dtmf-relay")
        XCTAssertEqual(first.body, Array("Signal=1\r\n".utf8))
        script.answer(first, 100)
        script.expect()
        script.answer(first, 200)
        let second = script.expect("INFO")[0]
        XCTAssertEqual(second.body, Array("Signal=2\r\n".utf8))
        script.answer(second, 415)
        let third = script.expect("INFO")[0]
        XCTAssertEqual(third.cseq?.number, 3)
        script.answer(third, 200)
        script.expectEvents("informed true", "informed false", "informed true")
        self.inform(script, call, "4")
        script.expect("INFO")
    }

    /// Case A26: a peer that does not know the dialog, or says nothing for 32 s, is gone.
    func testDigitThatFindsNobodyEndsTheCall() {
        for code in [481, 408, nil] as [Int?] {
            let script = Script()
            let call = script.connectedIncoming()
            for digit in ["1", "2"] { self.inform(script, call, digit) }
            let first = script.next()
            if let code { script.answer(first, code) } else { script.pass(ms: 32_000) }
            XCTAssertEqual(script.outbox.last?.message.name, "BYE")
            XCTAssertEqual(script.events.dropLast().map { $0.event.name }, ["informed false", "informed false"])
            guard case .ended? = script.events.last?.event else { return XCTFail("the call goes on") }
            XCTAssertEqual(script.engine.callCount, 0)
        }
    }

    func testOnlyWithinACallThatStands() {
        let script = Script()
        let call = script.call()
        self.inform(script, call, "1")
        script.expectEvents("informed false")
        script.expect("INVITE")
        self.inform(script, CallHandle(number: 999), "1")
        XCTAssertEqual(script.engine.counters[.lateOrder], 1)
    }

    func testTheQueueIsBounded() {
        let script = Script()
        let call = script.connectedIncoming()
        for _ in 0...SIPEngine.informsMax { self.inform(script, call, "1") }
        script.expectEvents("informed false")
    }

    func testWhatWaitsWhenTheCallEndsIsToldAsLost() {
        let script = Script()
        let call = script.connectedIncoming()
        for digit in ["1", "2", "3"] { self.inform(script, call, digit) }
        let first = script.next()
        script.input(.hangUp(call, .normal))
        script.expect("BYE")
        script.answer(first, 481)
        script.expectEvents("informed false", "informed false", "informed false")
        script.expect()
    }
}
