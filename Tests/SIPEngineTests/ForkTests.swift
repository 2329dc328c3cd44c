// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// One INVITE and more than one 2xx: copies, forks, tags that change.
final class ForkTests: XCTestCase {
    func testRepeated200IsAcknowledgedWithTheSameAck() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        let ack = script.next()
        script.answer(invite, 200, body: Script.description)
        XCTAssertEqual(script.next(), ack)
        script.expectEvents("answered")
    }

    func testRepeated200IsAcknowledgedAfterTheCallEnded() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.input(.hangUp(handle, .normal))
        script.answer(script.expect("ACK", "BYE")[1], 200)
        script.answer(invite, 200, body: Script.description)
        script.expect("ACK")
    }

    func testDialogIsMadeByThe200AndNotByThe180WithAnotherTag() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 180, tag: "a")
        script.answer(invite, 200, tag: "b", body: Script.description)
        XCTAssertEqual(script.next().to?.tag, "b")
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.next().to?.tag, "b")
        script.expectEvents("ringing 180", "answered")
    }

    func testLosersOfAForkAreAcknowledgedAndEnded() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 200, tag: "a", body: Script.description)
        script.expect("ACK")
        script.pass(ms: 20)
        script.answer(invite, 200, tag: "b", body: Script.description)
        let loser = script.expect("ACK", "BYE")
        XCTAssertEqual(loser.map { $0.to?.tag }, ["b", "b"])
        script.pass(ms: 480)
        script.answer(invite, 200, tag: "b", body: Script.description)
        XCTAssertEqual(script.outbox.map { $0.message.name }.filter { $0 == "ACK" }, ["ACK"])
        script.expectEvents("answered")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testForkThatAnswersAfterTheCallEndedIsEnded() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 200, tag: "a", body: Script.description)
        script.input(.hangUp(handle, .normal))
        script.answer(script.expect("ACK", "BYE")[1], 200)
        script.answer(invite, 200, tag: "b", body: Script.description)
        let late = script.expect("ACK", "BYE")
        XCTAssertEqual(late[1].to?.tag, "b")
    }

    func testMoreForksThanWeCanHoldAreCountedAndDropped() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        for fork in 0..<20 { script.answer(invite, 200, tag: "t\(fork)", body: Script.description) }
        XCTAssertEqual(script.outbox.filter { $0.message.name == "ACK" }.count, Limits.forksMax)
        XCTAssertEqual(script.engine.counters[.tooManyForks], UInt64(20 - Limits.forksMax))
    }

    func testAnswerWithoutDescriptionUsesTheOneOfTheSameBranch() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 183, body: Script.description)
        script.answer(invite, 200)
        script.expect("ACK")
        script.expectEvents("earlyMedia 183", "answered")
    }

    func testAnswerThatDescribesNothingIsAcknowledgedAndEnded() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 183, tag: "other", body: Script.description)
        script.answer(invite, 200)
        let bye = script.expect("ACK", "BYE")[1]
        XCTAssertEqual(bye.reasons.first?.cause, 488)
        script.answer(bye, 200)
        guard case .ended(.protocolFault)? = script.events.last?.event else { return XCTFail("no fault told") }
    }

    // MARK: - Early dialogs

    func testCase17DialogAndMediaFollowTheTagOfThe200() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        let other = Script.description + "a=b\r\n"
        script.answer(invite, 183, tag: "a", body: Script.description, contact: "<sip:a@192.0.2.11>")
        script.answer(invite, 200, tag: "b", body: other, contact: "<sip:b@192.0.2.12>")
        let ack = script.expect("ACK")[0]
        XCTAssertEqual(ack.to?.tag, "b")
        XCTAssertEqual(ack.requestURI?.printed, "sip:b@192.0.2.12")
        guard case .answered(let answer)? = script.events.last?.event else { return XCTFail("not answered") }
        XCTAssertEqual(answer, Array(other.utf8))
        // The early dialog of the other tag is gone.
        script.receive(script.inDialog("INFO", of: invite, number: 1, branch: "i1", tag: "a"))
        script.expect("481")
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.expect("BYE")[0].to?.tag, "b")
    }

    /// Case 16: two 200 with different tags, and again the second one later.
    func testCase16EveryBranchIsAcknowledgedAndALoserIsEndedOnce() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 180, tag: "a")
        script.answer(invite, 180, tag: "b")
        script.answer(invite, 200, tag: "a", body: Script.description)
        script.pass(ms: 20)
        script.answer(invite, 200, tag: "b", body: Script.description)
        let sent = script.expect("ACK", "ACK", "BYE")
        XCTAssertEqual(sent.map { $0.to?.tag }, ["a", "b", "b"])
        script.answer(sent[2], 200)
        script.pass(ms: 500)
        script.answer(invite, 200, tag: "b", body: Script.description)
        XCTAssertEqual(script.expect("ACK"), [sent[1]])
        script.pass(ms: 64_000)
        script.expect()
        XCTAssertEqual(script.engine.callCount, 1)
    }

    /// The loser's BYE goes on from the numbers of its early dialog, after the end of the call too.
    func testLoserThatHadAPrackIsEndedWithTheNextNumber() {
        for isOver in [false, true] {
            let script = Script()
            let handle = script.call()
            let invite = script.next()
            script.answer(invite, 180, tag: "b", headers: [(.require, "100rel"), (.rseq, "1")])
            script.answer(script.expect("PRACK")[0], 200)
            script.answer(invite, 200, tag: "a", body: Script.description)
            script.expect("ACK")
            if isOver {
                script.input(.hangUp(handle, .normal))
                script.answer(script.expect("BYE")[0], 200)
            }
            script.answer(invite, 200, tag: "b", body: Script.description)
            XCTAssertEqual(script.expect("ACK", "BYE").map { $0.cseq?.number }, [1, 3])
        }
    }

    func testRequestsOfEveryBranchFindTheirEarlyDialog() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 183, tag: "a")
        script.answer(invite, 183, tag: "b")
        script.receive(script.inDialog("UPDATE", of: invite, number: 9, branch: "u1", tag: "a"))
        script.receive(script.inDialog("UPDATE", of: invite, number: 5, branch: "u2", tag: "b"))
        script.receive(script.inDialog("UPDATE", of: invite, number: 8, branch: "u3", tag: "a"))
        script.receive(script.inDialog("UPDATE", of: invite, number: 6, branch: "u4", tag: "c"))
        script.expect("200", "200", "500", "481")
    }

    func testTargetThatAnEarlyUpdateMovedIsThatOfTheAnswerInTheEnd() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(
            invite, 180, contact: "<sip:old@192.0.2.2:5070>", headers: [(.require, "100rel"), (.rseq, "1")])
        script.expect("PRACK")
        let text = script.inDialog("UPDATE", of: invite, number: 1, branch: "u1")
        script.receive(text.replacingOccurrences(of: "<sip:desk@192.0.2.2:5070>", with: "<sip:new@192.0.2.9>"))
        script.expect("200")
        script.answer(
            invite, 180, contact: "<sip:old@192.0.2.2:5070>", headers: [(.require, "100rel"), (.rseq, "2")])
        XCTAssertEqual(script.expect("PRACK")[0].requestURI?.printed, "sip:new@192.0.2.9")
        script.answer(invite, 200, body: Script.description, contact: "<sip:last@192.0.2.10>")
        script.expect("ACK")
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.expect("BYE")[0].requestURI?.printed, "sip:last@192.0.2.10")
    }

    func testMoreEarlyDialogsThanWeCanHoldRingAllTheSame() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        for fork in 0..<20 { script.answer(invite, 180, tag: "t\(fork)") }
        XCTAssertEqual(script.events.count, 20)
        XCTAssertEqual(script.engine.calls[0].early.count, Limits.earlyDialogsMax)
        script.answer(invite, 200, tag: "t19", body: Script.description)
        XCTAssertEqual(script.expect("ACK")[0].to?.tag, "t19")
    }

    /// An answer after the call was given up is acknowledged and ended: no far end stays alone in a call.
    func testCase11AnswerAfterTimerBIsAcknowledgedAndEnded() {
        for isHungUp in [false, true] {
            let script = Script()
            let handle = script.call()
            let invite = script.next()
            if isHungUp { script.input(.hangUp(handle, .normal)) }
            script.pass(ms: 32_000)
            script.outbox = []
            script.events = []
            script.pass(ms: 10_000)
            script.answer(invite, 200, body: Script.description)
            let late = script.expect("ACK", "BYE")
            script.answer(late[1], 200)
            script.answer(invite, 200, body: Script.description)
            XCTAssertEqual(script.expect("ACK"), [late[0]])
            script.expectEvents()
            script.pass(ms: 64_000)
            XCTAssertTrue(script.engine.isIdle)
        }
    }

    func testRefusalAfterTimerBIsAcknowledged() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.pass(ms: 33_000)
        script.outbox = []
        script.answer(invite, 486)
        script.answer(invite, 486)
        script.expect("ACK", "ACK")
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testAnswerAfterTheConnectionWasLostWhileItRangIsEnded() {
        let script = Script(.tcp)
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.input(.flowFailed(script.flow))
        script.expectEvents("ringing 180", "ended flowFailed")
        script.answer(invite, 200, body: Script.description)
        script.expect("ACK", "BYE")
    }
}
