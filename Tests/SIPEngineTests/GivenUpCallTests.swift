// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Callers that give up: CANCEL and early BYE.
final class GivenUpCallTests: XCTestCase {
    func testCase14CancelOfACallThatWaitsIsAnsweredAndTheInviteGets487() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ringing, body: []))
        script.receive(script.stranger("CANCEL"))
        let answers = script.expect("180", "200", "487")
        XCTAssertEqual(answers[1].cseq, CSeq(1, .cancel))
        XCTAssertEqual(answers[1].to?.tag, answers[0].to?.tag)
        XCTAssertEqual(answers[2].cseq, CSeq(1, .invite))
        script.expectEvents("incoming", "ended cancelled")
        script.receive(script.stranger("CANCEL"))
        script.expect("200")
        script.receive(script.stranger("ACK", toTag: answers[2].to!.tag!.string))
        script.pass(ms: 5000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testCase13CancelAfterOur200ChangesNothingAndByeIsHonoured() {
        let script = Script()
        script.receive(script.stranger())
        let handle = script.incoming()
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        script.receive(script.stranger("CANCEL"))
        script.expect("200")
        script.receive(script.acknowledge(answer))
        script.expectEvents("incoming", "confirmed")
        script.receive(script.within("BYE", number: 2, branch: "bye"))
        script.expect("200")
        script.expectEvents("ended remoteHangUp ")
    }

    func testCancelOfNothingGets481() {
        let script = Script()
        script.receive(script.stranger("CANCEL"))
        script.expect("481")
    }

    func testByeBeforeOurAnswerEndsTheInviteWith487() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ringing, body: []))
        script.receive(script.within("BYE", number: 2, branch: "bye"))
        script.expect("180", "200", "487")
        script.expectEvents("incoming", "ended cancelled")
    }

    func testByeBeforeTheAckEndsTheCallAndTheRepeating() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ok, body: Array(Script.description.utf8)))
        script.receive(script.within("BYE", number: 2, branch: "bye"))
        script.expect("200", "200")
        script.pass(ms: 10_000)
        script.expect()
        XCTAssertEqual(script.engine.callCount, 0)
    }

    func testCopyOfAByeIsAnsweredAgain() {
        let script = Script()
        _ = script.connectedIncoming()
        let bye = script.within("BYE", number: 2, branch: "bye")
        script.receive(bye)
        script.receive(bye)
        script.expect("200", "200")
    }

    // MARK: - Every other race

    func testCase13CancelAfterOur200IsAnsweredAndByeHonouredBeforeTheAck() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ok, body: World.answer))
        let answer = script.next()
        script.receive(script.stranger("CANCEL"))
        XCTAssertEqual(script.expect("200")[0].to?.tag, answer.to?.tag)
        script.receive(script.within("BYE", number: 2, branch: "bye"))
        script.expect("200")
        script.expectEvents("incoming", "ended remoteHangUp ")
        script.pass(ms: 64_000)
        script.expect()
        XCTAssertTrue(script.engine.isIdle)
    }

    func testCase14CancelBeforeOur180Gives487() {
        let script = Script()
        script.receive(script.stranger())
        script.receive(script.stranger("CANCEL"))
        script.expect("200", "487")
        script.expectEvents("incoming", "ended cancelled")
        script.input(.respond(script.events.last?.handle ?? CallHandle(number: 1), .ringing, body: []))
        script.expect()
    }

    func testCancelOfAnotherBranchGets481AndTheCallRingsOn() {
        let script = Script()
        script.receive(script.stranger())
        script.receive(script.stranger("CANCEL", branch: "other"))
        script.expect("481")
        script.expectEvents("incoming")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    /// "Completed elsewhere": another phone of the fork took the call (RFC 3326 section 3.1).
    func testCancelWithAReasonIsACancelAllTheSame() {
        let script = Script()
        script.receive(script.stranger())
        script.receive(
            script.stranger("CANCEL", headers: "Reason: SIP;cause=200;text=\"Call completed elsewhere\"\r\n"))
        script.expect("200", "487")
        script.expectEvents("incoming", "ended cancelled")
    }

    func testCancelOfAReinviteAfterOur200ChangesNothing() {
        let script = Script()
        let handle = script.connectedIncoming()
        script.receive(script.within("INVITE", number: 2, branch: "re", body: Script.description))
        script.input(.respond(handle, .ok, body: World.answer))
        let answer = script.next()
        script.receive(script.within("CANCEL", number: 2, branch: "re"))
        script.expect("200")
        script.receive(script.acknowledge(answer, branch: "ack2", number: 2))
        script.expectEvents("reoffered", "confirmed")
    }

    func testByeTellsBothCausesOfItsReason() {
        let script = Script()
        _ = script.connectedIncoming()
        script.receive(
            script.within(
                "BYE", number: 2, branch: "bye",
                headers: "Reason: Q.850;cause=16;text=\"Terminated\"\r\nReason: SIP;cause=480\r\n"))
        guard case .ended(.remoteHangUp(let cause, let q850, _))? = script.events.last?.event else {
            return XCTFail("not hung up")
        }
        XCTAssertEqual(cause, .temporarilyUnavailable)
        XCTAssertEqual(q850, 16)
    }

    func testRequestThatMayNotBeForwardedAnyMoreIsForUsAllTheSame() {
        let script = Script()
        script.receive(
            script.stranger().replacingOccurrences(of: "Max-Forwards: 70", with: "Max-Forwards: 0"))
        script.expectEvents("incoming")
    }
}
