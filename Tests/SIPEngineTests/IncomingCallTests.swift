// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Calls that others place to us, and their races.
final class IncomingCallTests: XCTestCase {
    // MARK: - Taking and refusing

    func testIncomingCallTellsWhoAndWhat() {
        let script = Script()
        script.receive(script.stranger())
        guard case .incoming(let call)? = script.events.last?.event else { return XCTFail("no call came in") }
        XCTAssertEqual(call.from.displayName, "Desk")
        XCTAssertEqual(call.target.printed, "sip:kiosk@192.0.2.1")
        XCTAssertEqual(call.offer, Array(Script.description.utf8))
        XCTAssertFalse(call.isAnsweredAutomatically)
        script.expect()
    }

    func testTryingGoesOutAfter200MsAndNotWhenSomethingElseDid() {
        let script = Script()
        script.receive(script.stranger())
        script.pass(ms: 199)
        script.expect()
        script.pass(ms: 1)
        XCTAssertNil(script.expect("100")[0].to?.tag)
        let other = Script()
        other.receive(other.stranger())
        other.input(.respond(other.incoming(), .ringing, body: []))
        other.pass(ms: 1000)
        other.expect("180")
    }

    func testCallIsRungAnsweredAcknowledgedAndHungUpByUs() {
        let script = Script()
        script.receive(script.stranger())
        let handle = script.incoming()
        script.input(.respond(handle, .ringing, body: []))
        let ringing = script.next()
        XCTAssertEqual(ringing.contacts?.first?.uri.printed, "sip:kiosk@192.0.2.1:5060")
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        XCTAssertEqual(answer.to?.tag, ringing.to?.tag)
        XCTAssertEqual(answer.contentType?.isSDP, true)
        XCTAssertEqual(answer.body, Array(Script.description.utf8))
        script.receive(script.acknowledge(answer))
        script.expectEvents("incoming", "confirmed")
        script.input(.hangUp(handle, .normal))
        let bye = script.next()
        XCTAssertEqual(bye.requestURI?.printed, "sip:desk@192.0.2.2:5070")
        XCTAssertEqual(bye.from?.tag, answer.to?.tag)
        XCTAssertEqual(bye.to?.tag, "f1")
        script.answer(bye, 200)
        script.expectEvents("ended localHangUp")
        script.pass(ms: 40_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testRefusalIsSentAgainUntilItsAck() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .temporarilyUnavailable, body: []))
        script.expectEvents("incoming", "ended localHangUp")
        let refusal = script.next()
        script.pass(ms: 1600)
        script.expect("480", "480")
        script.receive(script.stranger())
        script.expect("480")
        script.receive(script.stranger("ACK", toTag: refusal.to!.tag!.string))
        script.pass(ms: 5000)
        script.expect()
        XCTAssertTrue(script.engine.isIdle)
    }

    func testRefusalWithoutAckIsForgottenAfter64T1() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .busyHere, body: []))
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
        XCTAssertEqual(script.outbox.count, 11)
    }

    func testHangUpOfACallThatWaitsForUsRefusesIt() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.hangUp(script.incoming(), .normal))
        script.expect("480")
        script.expectEvents("incoming", "ended localHangUp")
    }

    func testCallThatNobodyDecidesAboutIsRefusedAfterThreeMinutes() {
        let script = Script()
        script.receive(script.stranger())
        script.pass(ms: 180_000)
        XCTAssertEqual(script.outbox.last?.message.name, "480")
        script.expectEvents("incoming", "ended timedOut")
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testCopyOfTheInviteGetsTheLastProvisionalAgain() {
        let script = Script()
        script.receive(script.stranger())
        script.receive(script.stranger())
        script.expect()
        script.input(.respond(script.incoming(), .ringing, body: []))
        script.receive(script.stranger())
        script.expect("180", "180")
        XCTAssertEqual(script.events.count, 1)
    }

    func testCopyOfTheInviteAfterOur200IsAbsorbed() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ok, body: Array(Script.description.utf8)))
        script.expect("200")
        script.receive(script.stranger())
        script.expect()
        XCTAssertEqual(script.engine.callCount, 1)
    }
}
