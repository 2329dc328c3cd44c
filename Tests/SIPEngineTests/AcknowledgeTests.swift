// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Our 2xx and its ACK.
final class AcknowledgeTests: XCTestCase {
    func testAnswerIsSentAgainUntilTheAck() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        var times: [Int] = []
        for ms in 1...12_000 {
            script.pass(ms: 1)
            if !script.outbox.isEmpty {
                times.append(ms)
                XCTAssertEqual(script.next(), answer)
            }
        }
        XCTAssertEqual(times, [500, 1500, 3500, 7500, 11_500])
        script.receive(script.acknowledge(answer))
        script.pass(ms: 20_000)
        script.expect()
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testAnswerIsSentAgainOverTCPToo() {
        let script = Script(.tcp)
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ok, body: Array(Script.description.utf8)))
        script.pass(ms: 1600)
        script.expect("200", "200", "200")
    }

    func testNoAckFor64T1EndsTheCallByBye() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ok, body: Array(Script.description.utf8)))
        script.pass(ms: 32_000)
        let bye = script.outbox.last!.message
        XCTAssertEqual(bye.name, "BYE")
        XCTAssertEqual(script.outbox.filter { $0.message.name == "BYE" }.count, 1)
        script.answer(bye, 200)
        script.expectEvents("incoming", "ended timedOut")
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testHangUpBeforeTheAckHoldsTheByeUntilTheAck() {
        let script = Script()
        script.receive(script.stranger())
        let handle = script.incoming()
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        script.input(.hangUp(handle, .normal))
        script.expect()
        script.receive(script.acknowledge(answer))
        script.answer(script.expect("BYE")[0], 200)
        script.expectEvents("incoming", "ended localHangUp")
    }

    func testHangUpBeforeAnAckThatNeverComesSendsByeAfter64T1() {
        let script = Script()
        script.receive(script.stranger())
        let handle = script.incoming()
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.input(.hangUp(handle, .normal))
        script.pass(ms: 32_000)
        XCTAssertEqual(script.outbox.last?.message.name, "BYE")
        script.answer(script.outbox.last!.message, 200)
        script.expectEvents("incoming", "ended localHangUp")
    }

    func testAckWithTheBranchOfTheInviteIsTakenToo() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ok, body: Array(Script.description.utf8)))
        script.receive(script.acknowledge(script.next(), branch: "b1"))
        script.expectEvents("incoming", "confirmed")
    }

    func testAckWithAnotherNumberOrTagIsNotTaken() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ok, body: Array(Script.description.utf8)))
        script.receive(script.acknowledge(script.next(), number: 2))
        script.receive(script.stranger("ACK", branch: "ack", toTag: "other"))
        script.expectEvents("incoming")
        XCTAssertEqual(script.engine.counters[.strayAcknowledge], 2)
    }

    func testOfferlessInviteGetsItsAnswerInTheAck() {
        let script = Script()
        script.receive(script.stranger(body: ""))
        let handle = script.incoming()
        guard case .incoming(let call)? = script.events.last?.event else { return }
        XCTAssertNil(call.offer)
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.receive(script.acknowledge(script.next(), body: Script.description))
        script.expectEvents("incoming", "confirmed with answer")
    }
}
