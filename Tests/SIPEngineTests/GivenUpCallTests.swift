// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Callers that give up: CANCEL and early BYE.
final class GivenUpCallTests: XCTestCase {
    func testCancelOfACallThatWaitsIsAnsweredAndTheInviteGets487() {
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

    func testCancelAfterOur200ChangesNothingAndByeIsHonoured() {
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
}
