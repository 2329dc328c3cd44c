// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Requests outside of any call, the way of answers, and bounds.
final class StrangerTests: XCTestCase {
    func testOptionsAreAnsweredWithWhatWeCanDo() {
        let script = Script()
        script.receive(script.stranger("OPTIONS"))
        let answer = script.expect("200")[0]
        XCTAssertEqual(answer.allow, SIPEngine.allowed)
        XCTAssertEqual(answer.first(.accept), "application/sdp, text/plain, " + InfoBody.accepted)
        XCTAssertEqual(answer.supported, SIPEngine.extensions)
        XCTAssertNotNil(answer.to?.tag)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testCopiesGetTheSameAnswerWithoutAnyState() {
        let script = Script()
        script.receive(script.stranger("OPTIONS"))
        script.receive(script.stranger("OPTIONS"))
        let answers = script.expect("200", "200")
        XCTAssertEqual(answers[0], answers[1])
        script.receive(script.stranger("OPTIONS", branch: "b2"))
        XCTAssertNotEqual(script.next().to?.tag, answers[0].to?.tag)
    }

    func testRefusalsByTheirKind() {
        let cases: [(String, (Script) -> String)] = [
            ("405", { $0.stranger("REGISTER") }), ("405", { $0.stranger("PUBLISH") }),
            ("405", { $0.stranger("SUBSCRIBE") }), ("603", { $0.stranger("REFER") }),
            ("501", { $0.stranger("FROB") }), ("481", { $0.stranger("BYE") }), ("481", { $0.stranger("INFO") }),
            ("481", { $0.stranger("BYE", toTag: "x") }), ("481", { $0.stranger(toTag: "x") }),
            ("420", { $0.stranger(headers: "Require: foo\r\n") }),
            ("416", { $0.stranger(uri: "tel:+4912345") }), ("415", { $0.stranger(type: "text/plain") }),
            ("415", { $0.stranger(headers: "Content-Encoding: gzip\r\n") }),
        ]
        for (code, make) in cases {
            let script = Script()
            script.receive(make(script))
            XCTAssertEqual(script.outbox.map { $0.message.name }, [code], make(script))
            script.expectEvents()
            XCTAssertTrue(script.engine.isIdle)
        }
    }

    func testBadExtensionNamesWhatWeDoNotKnow() {
        let script = Script()
        script.receive(script.stranger(headers: "Require: foo, bar\r\n"))
        XCTAssertEqual(script.expect("420")[0].unsupported, ["foo", "bar"])
    }

    func testUnwantedBodyNamesWhatWeTake() {
        let script = Script()
        script.receive(script.stranger(type: "text/plain"))
        XCTAssertEqual(script.expect("415")[0].first(.accept), "application/sdp")
    }

    func testRequestThatComesByTwoWaysIsMerged() {
        let script = Script()
        script.receive(script.stranger(branch: "way1"))
        script.receive(script.stranger(branch: "way2"))
        script.expect("482")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testInviteWithoutContactIsFaulty() {
        let script = Script()
        let text = script.stranger().replacingOccurrences(of: "Contact: <sip:desk@192.0.2.2:5070>\r\n", with: "")
        script.receive(text)
        script.expect("400")
        XCTAssertTrue(script.engine.isIdle)
    }

    func testAckOfNothingIsNotAnswered() {
        let script = Script()
        script.receive(script.stranger("ACK"))
        script.receive(script.stranger("ACK", toTag: "x"))
        script.expect()
        XCTAssertEqual(script.engine.counters[.strayAcknowledge], 2)
    }

    func testMultipartInviteIsTaken() {
        let script = Script()
        let body =
            "--x\r\nContent-Type: text/plain\r\n\r\nhello\r\n--x\r\nContent-Type: application/sdp\r\n\r\n"
            + Script.description + "\r\n--x--\r\n"
        script.receive(script.stranger(body: body, type: "multipart/mixed;boundary=x"))
        guard case .incoming(let call)? = script.events.last?.event else { return XCTFail("no call came in") }
        XCTAssertEqual(call.offer, Array(Script.description.utf8))
    }

    // MARK: - The way of answers

    private func way(of via: String) -> SocketAddress? {
        let script = Script()
        script.receive(script.stranger("OPTIONS", via: via))
        return script.outbox.first?.flow.remote
    }

    func testAnswersGoWhereTheViaAndTheSourceSay() {
        let source = Script.there
        XCTAssertEqual(self.way(of: "SIP/2.0/UDP 10.0.0.9:5099;rport;branch=z9hG4bK1"), source)
        XCTAssertEqual(
            self.way(of: "SIP/2.0/UDP 10.0.0.9:5099;branch=z9hG4bK1"), SocketAddress(source.address, port: 5099))
        XCTAssertEqual(
            self.way(of: "SIP/2.0/UDP 192.0.2.2;branch=z9hG4bK1"), SocketAddress(source.address, port: 5060))
        XCTAssertEqual(
            self.way(of: "SIP/2.0/UDP pc.example.org:5077;branch=z9hG4bK1"),
            SocketAddress(source.address, port: 5077))
        // Nobody aims our answers at somebody else.
        XCTAssertEqual(
            self.way(of: "SIP/2.0/UDP 192.0.2.2;maddr=203.0.113.5;branch=z9hG4bK1")?.address, source.address)
        XCTAssertEqual(
            self.way(of: "SIP/2.0/UDP 192.0.2.2;received=203.0.113.5;rport=9;branch=z9hG4bK1")?.address,
            source.address)
    }

    func testViaWithoutCookieIsMatchedAsRFC2543Asks() {
        let script = Script()
        let via = "SIP/2.0/UDP 192.0.2.2:5070"
        script.receive(script.stranger(via: via))
        script.receive(script.stranger(via: via))
        XCTAssertEqual(script.events.count, 1)
        script.receive(script.stranger("CANCEL", via: via))
        script.expect("200", "487")
        script.receive(script.stranger("ACK", via: via))
        script.pass(ms: 6000)
        script.expect()
        XCTAssertTrue(script.engine.isIdle)
    }

    func testSameBranchFromTwoHostsAreTwoRequests() {
        let script = Script()
        script.receive(script.stranger())
        let via = "SIP/2.0/UDP 192.0.2.3:5070;rport;branch=z9hG4bKb1"
        script.receive(script.stranger(callID: "c2", tag: "f2", via: via))
        script.expectEvents("incoming", "incoming")
    }

    func testRequestsOfRFC2543DifferByAnyOfTheirFields() {
        let via = "SIP/2.0/UDP 192.0.2.2:5070"
        let script = Script()
        script.receive(script.stranger(via: via))
        script.receive(script.stranger(callID: "c2", via: via))
        script.receive(script.stranger(tag: "f2", via: via))
        script.receive(script.stranger(number: 2, via: via))
        script.receive(script.stranger(uri: "sip:other@192.0.2.1", via: via))
        script.receive(script.stranger(via: "SIP/2.0/UDP 192.0.2.2:5071"))
        // The last two are the first one come by other ways.
        script.expect("482", "482")
        script.expectEvents("incoming", "incoming", "incoming", "incoming")
    }

    // MARK: - Bounds

    func testStrangersFillOnlyTheirPartOfTheTable() {
        let script = Script()
        for number in 0..<100 {
            script.receive(script.stranger(callID: "c\(number)", branch: "b\(number)", tag: "f\(number)"))
            if case .incoming? = script.events.last?.event {
                script.input(.respond(script.events.last!.handle, .temporarilyUnavailable, body: []))
            }
        }
        let kept = Limits.serverTransactionsMax - Limits.serverTransactionsForDialogs
        XCTAssertEqual(script.engine.servers.count, kept)
        XCTAssertEqual(script.outbox.filter { $0.message.name == "503" }.count, 100 - kept)
        XCTAssertEqual(script.engine.callCount, 0)
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testCallBeyondTheBoundIsBusy() {
        let script = Script()
        for number in 0..<Limits.callsMax + 2 {
            script.receive(script.stranger(callID: "c\(number)", branch: "b\(number)", tag: "f\(number)"))
        }
        script.expect("486", "486")
        XCTAssertEqual(script.engine.counters[.tooManyCalls], 2)
        let handle = script.call()
        XCTAssertEqual(script.events.last?.handle, handle)
        XCTAssertEqual(script.events.last?.event.name, "ended tooManyCalls")
    }

    func testOwnCallTakesTheRoomOfOneThatWaitsForADeadPeer() {
        let script = Script()
        var handles: [CallHandle] = []
        for _ in 0..<Limits.callsMax {
            handles.append(script.call())
            script.input(.hangUp(handles.last!, .normal))
        }
        let press = script.call()
        XCTAssertEqual(script.events.map { $0.handle }, [handles[0]])
        script.expectEvents("ended cancelled")
        XCTAssertEqual(script.engine.callCount, Limits.callsMax)
        XCTAssertNotNil(script.engine.callIndex(press))
        script.outbox = []
        script.pass(ms: 500)
        XCTAssertEqual(script.outbox.count, Limits.callsMax, "the forgotten call's INVITE is not sent again")
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testByeIsHonouredWhenTheTableIsFull() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.expect("ACK")
        for number in 0..<70 {
            script.receive(script.inDialog("OPTIONS", of: invite, number: number + 1, branch: "o\(number)"))
        }
        let kinds = script.outbox.map { $0.message.name }
        XCTAssertEqual(kinds.filter { $0 == "503" }.count, 70 - Limits.serverTransactionsMax)
        script.receive(script.inDialog("BYE", of: invite, number: 200, branch: "bye"))
        XCTAssertEqual(script.outbox.last?.message.name, "200")
        XCTAssertEqual(script.engine.callCount, 0)
    }

    func testHandlesAreNeverGivenTwice() {
        let script = Script()
        var seen = Set<CallHandle>()
        for number in 0..<50 {
            XCTAssertTrue(seen.insert(script.engine.newHandle()).inserted)
            script.receive(script.stranger(callID: "c\(number)", branch: "b\(number)", tag: "f\(number)"))
            if case .incoming? = script.events.last?.event {
                XCTAssertTrue(seen.insert(script.events.last!.handle).inserted)
                script.input(.respond(script.events.last!.handle, .busyHere, body: []))
            }
        }
    }

    func testOrdersForUnknownCallsAreCountedAndDropped() {
        let script = Script()
        script.input(.hangUp(CallHandle(number: 999), .normal))
        script.input(.respond(CallHandle(number: 999), .ok, body: []))
        script.input(.timeout)
        script.expect()
        XCTAssertEqual(script.engine.counters[.lateOrder], 2)
    }
}
