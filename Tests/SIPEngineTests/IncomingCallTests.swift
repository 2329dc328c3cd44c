// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Calls that others place to us, and their races.
final class IncomingCallTests: XCTestCase {
    /// The handle of the call that came in last.
    private func incoming(_ script: Script, file: StaticString = #filePath, line: UInt = #line) -> CallHandle {
        guard let last = script.events.last, case .incoming = last.event else {
            XCTFail("no call came in", file: file, line: line)
            return CallHandle(number: 0)
        }
        return last.handle
    }

    /// A call that was answered and acknowledged.
    private func connected(_ script: Script) -> CallHandle {
        script.receive(script.stranger())
        let handle = self.incoming(script)
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.receive(self.acknowledge(script, script.next()))
        script.expectEvents("incoming", "confirmed")
        return handle
    }

    /// The ACK for a 2xx of the engine's.
    private func acknowledge(
        _ script: Script, _ answer: SIPMessage, branch: String = "ack", number: Int = 1, body: String = ""
    ) -> String {
        script.stranger(
            "ACK", branch: branch, toTag: answer.to?.tag?.string ?? "", number: number, body: body)
    }

    private func within(
        _ script: Script, _ method: String, number: Int, branch: String, body: String = "", headers: String = "",
        type: String = "application/sdp"
    ) -> String {
        let tag = script.engine.calls.first?.localTag.string ?? "gone"
        return script.stranger(
            method, branch: branch, toTag: tag, number: number, body: body, headers: headers, type: type)
    }

    // MARK: - Taking and refusing

    func testIncomingCallTellsWhoAndWhat() {
        let script = Script()
        script.receive(script.stranger(headers: "Call-Info: <sip:x>;answer-after=0\r\n"))
        guard case .incoming(let call)? = script.events.last?.event else { return XCTFail("no call came in") }
        XCTAssertEqual(call.from.displayName, "Desk")
        XCTAssertEqual(call.target.printed, "sip:kiosk@192.0.2.1")
        XCTAssertEqual(call.offer, Array(Script.description.utf8))
        XCTAssertTrue(call.wantsAutomaticAnswer)
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
        other.input(.respond(self.incoming(other), .ringing, body: []))
        other.pass(ms: 1000)
        other.expect("180")
    }

    func testCallIsRungAnsweredAcknowledgedAndHungUpByUs() {
        let script = Script()
        script.receive(script.stranger())
        let handle = self.incoming(script)
        script.input(.respond(handle, .ringing, body: []))
        let ringing = script.next()
        XCTAssertEqual(ringing.contacts?.first?.uri.printed, "sip:kiosk@192.0.2.1:5060")
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        XCTAssertEqual(answer.to?.tag, ringing.to?.tag)
        XCTAssertEqual(answer.contentType?.isSDP, true)
        XCTAssertEqual(answer.body, Array(Script.description.utf8))
        script.receive(self.acknowledge(script, answer))
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
        script.input(.respond(self.incoming(script), .temporarilyUnavailable, body: []))
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
        script.input(.respond(self.incoming(script), .busyHere, body: []))
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
        XCTAssertEqual(script.outbox.count, 11)
    }

    func testHangUpOfACallThatWaitsForUsRefusesIt() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.hangUp(self.incoming(script), .normal))
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
        script.input(.respond(self.incoming(script), .ringing, body: []))
        script.receive(script.stranger())
        script.expect("180", "180")
        XCTAssertEqual(script.events.count, 1)
    }

    func testCopyOfTheInviteAfterOur200IsAbsorbed() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(self.incoming(script), .ok, body: Array(Script.description.utf8)))
        script.expect("200")
        script.receive(script.stranger())
        script.expect()
        XCTAssertEqual(script.engine.callCount, 1)
    }

    // MARK: - ACK

    func testAnswerIsSentAgainUntilTheAck() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(self.incoming(script), .ok, body: Array(Script.description.utf8)))
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
        script.receive(self.acknowledge(script, answer))
        script.pass(ms: 20_000)
        script.expect()
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testAnswerIsSentAgainOverTCPToo() {
        let script = Script(.tcp)
        script.receive(script.stranger())
        script.input(.respond(self.incoming(script), .ok, body: Array(Script.description.utf8)))
        script.pass(ms: 1600)
        script.expect("200", "200", "200")
    }

    func testNoAckFor64T1EndsTheCallByBye() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(self.incoming(script), .ok, body: Array(Script.description.utf8)))
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
        let handle = self.incoming(script)
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        script.input(.hangUp(handle, .normal))
        script.expect()
        script.receive(self.acknowledge(script, answer))
        script.answer(script.expect("BYE")[0], 200)
        script.expectEvents("incoming", "ended localHangUp")
    }

    func testHangUpBeforeAnAckThatNeverComesSendsByeAfter64T1() {
        let script = Script()
        script.receive(script.stranger())
        let handle = self.incoming(script)
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
        script.input(.respond(self.incoming(script), .ok, body: Array(Script.description.utf8)))
        script.receive(self.acknowledge(script, script.next(), branch: "b1"))
        script.expectEvents("incoming", "confirmed")
    }

    func testAckWithAnotherNumberOrTagIsNotTaken() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(self.incoming(script), .ok, body: Array(Script.description.utf8)))
        script.receive(self.acknowledge(script, script.next(), number: 2))
        script.receive(script.stranger("ACK", branch: "ack", toTag: "other"))
        script.expectEvents("incoming")
        XCTAssertEqual(script.engine.counters[.strayAcknowledge], 2)
    }

    func testOfferlessInviteGetsItsAnswerInTheAck() {
        let script = Script()
        script.receive(script.stranger(body: ""))
        let handle = self.incoming(script)
        guard case .incoming(let call)? = script.events.last?.event else { return }
        XCTAssertNil(call.offer)
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.receive(self.acknowledge(script, script.next(), body: Script.description))
        script.expectEvents("incoming", "confirmed with answer")
    }

    // MARK: - CANCEL and BYE

    func testCancelOfACallThatWaitsIsAnsweredAndTheInviteGets487() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(self.incoming(script), .ringing, body: []))
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
        let handle = self.incoming(script)
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        script.receive(script.stranger("CANCEL"))
        script.expect("200")
        script.receive(self.acknowledge(script, answer))
        script.expectEvents("incoming", "confirmed")
        script.receive(self.within(script, "BYE", number: 2, branch: "bye"))
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
        script.input(.respond(self.incoming(script), .ringing, body: []))
        script.receive(self.within(script, "BYE", number: 2, branch: "bye"))
        script.expect("180", "200", "487")
        script.expectEvents("incoming", "ended cancelled")
    }

    func testByeBeforeTheAckEndsTheCallAndTheRepeating() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(self.incoming(script), .ok, body: Array(Script.description.utf8)))
        script.receive(self.within(script, "BYE", number: 2, branch: "bye"))
        script.expect("200", "200")
        script.pass(ms: 10_000)
        script.expect()
        XCTAssertEqual(script.engine.callCount, 0)
    }

    func testCopyOfAByeIsAnsweredAgain() {
        let script = Script()
        _ = self.connected(script)
        let bye = self.within(script, "BYE", number: 2, branch: "bye")
        script.receive(bye)
        script.receive(bye)
        script.expect("200", "200")
    }

    // MARK: - Changes of the session

    func testReinviteIsReportedAndAnswered() {
        let script = Script()
        let handle = self.connected(script)
        script.receive(self.within(script, "INVITE", number: 2, branch: "re", body: Script.description))
        script.expectEvents("reoffered")
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        script.pass(ms: 600)
        XCTAssertEqual(script.next(), answer)
        script.receive(self.acknowledge(script, answer, branch: "ack2", number: 2))
        script.expectEvents("confirmed")
        script.pass(ms: 40_000)
        script.expect()
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testReinviteThatMovesThePeerMovesOurRequests() {
        let script = Script()
        let handle = self.connected(script)
        let text = self.within(script, "INVITE", number: 2, branch: "re", body: Script.description)
        script.receive(text.replacingOccurrences(of: "<sip:desk@192.0.2.2:5070>", with: "<sip:new@192.0.2.9:5090>"))
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        _ = script.next()
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.outbox[0].flow.remote, SocketAddress(.v4(0xC000_0209), port: 5090))
        XCTAssertEqual(script.next().requestURI?.printed, "sip:new@192.0.2.9:5090")
    }

    func testUpdateWithoutOfferMovesOurRequestsToo() {
        let script = Script()
        let handle = self.connected(script)
        let text = self.within(script, "UPDATE", number: 2, branch: "u1")
        script.receive(text.replacingOccurrences(of: "<sip:desk@192.0.2.2:5070>", with: "<sip:new@192.0.2.9:5090>"))
        script.expect("200")
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.next().requestURI?.printed, "sip:new@192.0.2.9:5090")
    }

    func testReinviteWhileOneWaitsGets500WithRetryAfterAndTheNextIsTaken() {
        let script = Script()
        let handle = self.connected(script)
        script.receive(self.within(script, "INVITE", number: 2, branch: "re1", body: Script.description))
        script.receive(self.within(script, "INVITE", number: 3, branch: "re2", body: Script.description))
        let refusal = script.expect("500")[0]
        XCTAssertLessThanOrEqual(refusal.retryAfter?.seconds ?? 99, 10)
        script.input(.respond(handle, .notAcceptableHere, body: []))
        script.expect("488")
        script.receive(self.within(script, "INVITE", number: 4, branch: "re3", body: Script.description))
        script.expectEvents("reoffered", "reoffered")
    }

    func testReinviteBeforeTheAckIsTakenAsTheAck() {
        let script = Script()
        script.receive(script.stranger())
        let handle = self.incoming(script)
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.receive(self.within(script, "INVITE", number: 2, branch: "re", body: Script.description))
        script.expectEvents("incoming", "confirmed", "reoffered")
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.expect("200", "200")
    }

    func testReinviteBeforeTheAckThatOwesUsAnAnswerGets491AndLeavesNothingBehind() {
        let script = Script()
        script.receive(script.stranger(body: ""))
        script.input(.respond(self.incoming(script), .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        script.receive(self.within(script, "INVITE", number: 2, branch: "re", body: Script.description))
        script.expect("491")
        script.receive(self.acknowledge(script, answer, body: Script.description))
        script.receive(self.within(script, "INVITE", number: 3, branch: "re2", body: Script.description))
        script.expectEvents("incoming", "confirmed with answer", "reoffered")
    }

    func testReinviteWithoutOfferAsksForOurs() {
        let script = Script()
        let handle = self.connected(script)
        script.receive(self.within(script, "INVITE", number: 2, branch: "re"))
        script.expectEvents("reoffered empty")
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        let answer = script.next()
        script.receive(self.acknowledge(script, answer, branch: "ack2", number: 2, body: Script.description))
        script.expectEvents("confirmed with answer")
    }

    func testCancelledReinviteGets487AndTheCallGoesOn() {
        let script = Script()
        let handle = self.connected(script)
        script.receive(self.within(script, "INVITE", number: 2, branch: "re", body: Script.description))
        script.receive(self.within(script, "CANCEL", number: 2, branch: "re"))
        script.expect("200", "487")
        script.input(.respond(handle, .ok, body: []))
        script.expect()
        XCTAssertEqual(script.engine.counters[.lateOrder], 1)
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testHangUpWhileAReinviteWaitsRefusesItAndSendsBye() {
        let script = Script()
        let handle = self.connected(script)
        script.receive(self.within(script, "INVITE", number: 2, branch: "re", body: Script.description))
        script.input(.hangUp(handle, .normal))
        script.expect("487", "BYE")
    }

    func testUpdateIsAnsweredAtOnceWithoutAndByTheCallWithAnOffer() {
        let script = Script()
        let handle = self.connected(script)
        script.receive(self.within(script, "UPDATE", number: 2, branch: "u1"))
        script.expect("200")
        script.receive(self.within(script, "UPDATE", number: 3, branch: "u2", body: Script.description))
        script.expectEvents("reoffered")
        script.input(.respond(handle, .ok, body: Array(Script.description.utf8)))
        script.pass(ms: 1000)
        script.expect("200")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testRequestWithALowerNumberGets500() {
        let script = Script()
        _ = self.connected(script)
        script.receive(self.within(script, "OPTIONS", number: 9, branch: "o1"))
        script.receive(self.within(script, "OPTIONS", number: 8, branch: "o2"))
        script.expect("200", "500")
    }

    func testInfoIsPassedOnOrRefusedButNotSwallowed() {
        let script = Script()
        _ = self.connected(script)
        let control = "<media_control><vc_primitive><to_encoder><picture_fast_update/></to_encoder></vc_primitive>"
        script.receive(
            self.within(
                script, "INFO", number: 2, branch: "i1", body: control, type: "application/media_control+xml"))
        script.expectEvents("keyFrameRequested")
        script.receive(
            self.within(script, "INFO", number: 3, branch: "i2", body: "Signal=5\r\n", type: "application/dtmf-relay"))
        script.receive(self.within(script, "INFO", number: 4, branch: "i3"))
        script.expect("200", "415", "200")
        script.expectEvents()
    }

    func testUnknownRequestsInTheCallAreRefusedAndTheCallGoesOn() {
        let script = Script()
        _ = self.connected(script)
        script.receive(self.within(script, "REFER", number: 2, branch: "r1"))
        script.receive(self.within(script, "FROB", number: 3, branch: "r2"))
        script.expect("405", "501")
        XCTAssertEqual(script.engine.callCount, 1)
    }
}
