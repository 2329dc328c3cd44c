// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Hanging up before the answer, and what crosses it.
final class CancelTests: XCTestCase {
    func testHangUpBeforeAnyAnswerHoldsTheCancelUntilTheFirst1xx() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.input(.hangUp(handle, .normal))
        script.expect()
        script.answer(invite, 100)
        let cancel = script.next()
        XCTAssertEqual(cancel.name, "CANCEL")
        XCTAssertEqual(cancel.topVia, invite.topVia)
        XCTAssertEqual(cancel.cseq, CSeq(1, .cancel))
        XCTAssertEqual(cancel.requestURI, invite.requestURI)
        XCTAssertNil(cancel.to?.tag)
        script.answer(cancel, 200)
        script.expectEvents()
        script.answer(invite, 487)
        script.expect("ACK")
        script.expectEvents("ended cancelled")
        script.pass(ms: 40_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testHangUpBeforeAnyAnswerWithoutA1xxIsAcknowledgedAndEndedByBye() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.input(.hangUp(handle, .normal))
        script.answer(invite, 200, body: Script.description)
        let bye = script.expect("ACK", "BYE")[1]
        script.answer(bye, 200)
        script.expectEvents("ended cancelled")
    }

    func testHangUpTowardsASilentPeerIsOverAfter64T1AndNeverCancels() {
        let script = Script()
        let handle = script.call()
        script.input(.hangUp(handle, .normal))
        script.pass(ms: 32_000)
        XCTAssertTrue(script.expect("INVITE", "INVITE", "INVITE", "INVITE", "INVITE", "INVITE", "INVITE").count == 7)
        script.expectEvents("ended cancelled")
        XCTAssertEqual(script.engine.callCount, 0)
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
        script.expect()
    }

    func testAnswerThatCrossesTheCancelIsAcknowledgedAndEndedByBye() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.input(.hangUp(handle, .fault(.requestTimeout, text: "nobody came")))
        let cancel = script.next()
        XCTAssertEqual(cancel.reasons.first?.cause, 408)
        script.answer(invite, 200, body: Script.description)
        let bye = script.expect("ACK", "BYE")[1]
        XCTAssertEqual(bye.reasons.first?.text, "nobody came")
        script.answer(cancel, 200)
        script.answer(bye, 200)
        script.expectEvents("ringing 180", "ended cancelled")
    }

    func testRefusalThatCrossesTheCancelEndsTheCall() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.input(.hangUp(handle, .normal))
        script.answer(invite, 486)
        script.expect("CANCEL", "ACK")
        script.expectEvents("ringing 180", "ended cancelled")
    }

    func testCancelThatNobodyHeedsEndsAfter64T1() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.input(.hangUp(handle, .normal))
        script.answer(script.next(), 200)
        script.pass(ms: 31_999)
        script.expectEvents("ringing 180")
        script.pass(ms: 1)
        script.expectEvents("ended cancelled")
        XCTAssertEqual(script.engine.callCount, 0)
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
        script.answer(invite, 200, body: Script.description)
        script.expect()
        XCTAssertEqual(script.engine.counters[.strayResponse], 1)
    }

    func testHangUpTwiceSendsOneCancel() {
        let script = Script()
        let handle = script.call()
        script.answer(script.next(), 180)
        script.input(.hangUp(handle, .normal))
        script.input(.hangUp(handle, .normal))
        script.expect("CANCEL")
    }

    func testCase11AThousandHurriedHangUpsLeaveNoCallBehind() {
        let script = Script()
        for _ in 0..<1000 {
            let handle = script.call()
            script.pass(ms: 5)
            let invite = script.next()
            script.input(.hangUp(handle, .normal))
            script.answer(invite, 200, body: Script.description)
            script.answer(script.expect("ACK", "BYE")[1], 200)
            XCTAssertEqual(script.engine.callCount, 0)
        }
        XCTAssertLessThanOrEqual(script.engine.clients.count, Limits.clientTransactionsMax)
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    // MARK: - Every other race

    func testHeldCancelGoesOutWithTheFirst1xxAndOnlyOnce() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.input(.hangUp(handle, .normal))
        script.answer(invite, 100)
        script.answer(invite, 180)
        script.answer(invite, 183, body: Script.description)
        script.expect("CANCEL")
        script.expectEvents()
    }

    func testLostCancelIsSentAgainUntilItsAnswer() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.input(.hangUp(handle, .normal))
        let cancel = script.next()
        script.pass(ms: 1_600)
        XCTAssertEqual(script.expect("CANCEL", "CANCEL"), [cancel, cancel])
        script.answer(cancel, 200)
        script.answer(invite, 487)
        script.expect("ACK")
        script.expectEvents("ringing 180", "ended cancelled")
        script.pass(ms: 64_000)
        script.expect()
        XCTAssertTrue(script.engine.isIdle)
    }

    /// The 487 was lost: its copies end the call, or the time does.
    func testLost487IsTakenFromItsCopy() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.input(.hangUp(handle, .normal))
        script.answer(script.next(), 200)
        script.pass(ms: 4_000)
        script.answer(invite, 487)
        script.answer(invite, 487)
        script.expect("ACK", "ACK")
        script.expectEvents("ringing 180", "ended cancelled")
    }

    /// 481: the far end has answered the INVITE meanwhile, or lost it. Its answer, or the time, ends the call.
    func testCancelThatIsAnsweredWith481WaitsForTheInvite() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.input(.hangUp(handle, .normal))
        script.answer(script.next(), 481)
        script.expectEvents("ringing 180")
        script.answer(invite, 200, body: Script.description)
        script.answer(script.expect("ACK", "BYE")[1], 200)
        script.expectEvents("ended cancelled")
    }

    func testAnswerLongAfterAnUnheededCancelIsAcknowledgedAndEnded() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.input(.hangUp(handle, .normal))
        script.answer(script.next(), 200)
        script.pass(ms: 40_000)
        script.expectEvents("ringing 180", "ended cancelled")
        script.answer(invite, 200, body: Script.description)
        script.answer(script.expect("ACK", "BYE")[1], 200)
        script.expectEvents()
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testCancelTellsWhy() {
        let script = Script()
        let handle = script.call()
        script.answer(script.next(), 180)
        script.input(.hangUp(handle, .fault(.busyHere, text: "taken elsewhere")))
        let reasons = script.next().reasons
        XCTAssertEqual(reasons.map { $0.protocolName }, ["SIP", "Q.850"])
        XCTAssertEqual(reasons.map { $0.cause }, [486, 17])
    }
}
