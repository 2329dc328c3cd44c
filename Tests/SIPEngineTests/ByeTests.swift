// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// The end of a call that stood.
final class ByeTests: XCTestCase {
    func testPeerHangsUpAndItsReasonIsTold() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.expect("ACK")
        let reason = "Reason: Q.850;cause=16;text=\"Fine\", SIP;cause=200;text=\"Call completed elsewhere\"\r\n"
        let bye = script.inDialog("BYE", of: invite, number: 1, branch: "x", headers: reason)
        script.receive(bye)
        script.receive(bye)
        script.expect("200", "200")
        script.expectEvents("answered", "ended remoteHangUp 200 Call completed elsewhere")
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    /// A stream that is refused takes the BYE with it; the peer, whose 2xx was acknowledged late, is still in the call.
    func testByeThatReachedNobodyIsSaidAgainToWhoRepeatsTheAnswer() {
        let script = Script(.tcp)
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.input(.hangUp(handle, .normal))
        let lost = script.expect("ACK", "BYE")[1]
        script.input(.flowFailed(script.flow))
        script.expectEvents("answered", "ended localHangUp")
        script.answer(invite, 200, body: Script.description)
        let bye = script.expect("ACK", "BYE")[1]
        XCTAssertEqual(bye.cseq?.number, (lost.cseq?.number ?? 0) + 1)
        XCTAssertNotEqual(bye.topVia, lost.topVia)
        XCTAssertEqual(bye.to, lost.to)
        script.answer(bye, 200)
        script.answer(invite, 200, body: Script.description)
        script.expect("ACK")
        script.pass(ms: 70_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    /// A proxy whose own stream was reset has lost the BYE, and nothing repeats what went over a stream.
    func testByeThatIsNeverAnsweredOverAStreamIsSaidOnceMore() {
        let script = Script(.tcp)
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.input(.hangUp(handle, .normal))
        let lost = script.expect("ACK", "BYE")[1]
        script.pass(ms: 32_000)
        script.expectEvents("answered", "ended localHangUp")
        let bye = script.expect("BYE")[0]
        XCTAssertEqual(bye.cseq?.number, (lost.cseq?.number ?? 0) + 1)
        XCTAssertNotEqual(bye.topVia, lost.topVia)
        script.pass(ms: 32_000)
        script.expect()
        XCTAssertTrue(script.engine.isIdle)
    }

    func testByesThatCrossEndTheCallOnce() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.input(.hangUp(handle, .normal))
        let bye = script.expect("ACK", "BYE")[1]
        script.receive(script.inDialog("BYE", of: invite, number: 1, branch: "x"))
        script.expect("200")
        script.answer(bye, 481)
        script.expectEvents("answered", "ended localHangUp")
        script.pass(ms: 40_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testByeThatNobodyAnswersEndsAfter64T1() {
        let script = Script()
        let handle = script.connectedCall()
        script.input(.hangUp(handle, .normal))
        script.pass(ms: 32_000)
        script.expect(
            "BYE", "BYE", "BYE", "BYE", "BYE", "BYE", "BYE", "BYE", "BYE", "BYE", "BYE")
        script.expectEvents("ended localHangUp")
        script.pass(ms: 1)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testByeTowardsAClosedPortEndsAtOnce() {
        let script = Script()
        let handle = script.connectedCall()
        script.input(.hangUp(handle, .normal))
        script.input(.flowFailed(script.flow))
        script.expectEvents("ended localHangUp")
    }

    func testPeerThatLeavesWhileItRingsIsCancelled() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.receive(script.inDialog("BYE", of: invite, number: 1, branch: "x"))
        script.expect("200", "CANCEL")
        script.answer(invite, 487)
        script.expect("ACK")
        script.expectEvents("ringing 180", "ended remoteHangUp ")
    }
}
