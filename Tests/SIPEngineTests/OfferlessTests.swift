// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// INVITEs without an offer, of ours and of the peer's: RFC 3261 section 13.2.1.
final class OfferlessTests: XCTestCase {
    // MARK: - Ours

    func testAckWaitsForOurAnswerAndCarriesIt() {
        let script = Script()
        let handle = script.call(offer: "")
        let invite = script.next()
        XCTAssertEqual(invite.body, [])
        XCTAssertNil(invite.contentType)
        XCTAssertFalse(invite.supported.contains("100rel"))
        script.answer(invite, 180)
        script.answer(invite, 200, body: Script.description)
        script.expect()
        script.expectEvents("ringing 180", "answeredWithOffer")
        script.answer(invite, 200, body: Script.description)
        script.expect()
        script.input(.acknowledge(handle, answer: World.answer))
        let ack = script.expect("ACK")[0]
        XCTAssertEqual(ack.body, World.answer)
        XCTAssertEqual(ack.contentType?.isSDP, true)
        XCTAssertEqual(ack.cseq, CSeq(1, .ack))
        script.answer(invite, 200, body: Script.description)
        XCTAssertEqual(script.expect("ACK"), [ack])
        script.input(.acknowledge(handle, answer: World.answer))
        script.expect()
        XCTAssertEqual(script.engine.counters[.lateOrder], 1)
        script.input(.hangUp(handle, .normal))
        script.expect("BYE")
    }

    func testDescriptionIn1xxIsNoAnswerToAnything() {
        let script = Script()
        _ = script.call(offer: "")
        let invite = script.next()
        script.answer(invite, 183, body: Script.description)
        script.expectEvents("ringing 183")
        script.answer(invite, 200)
        script.expect("ACK", "BYE")
    }

    func testAnswerWithoutAnOfferIsAcknowledgedAndEndedWithAReason() {
        let script = Script()
        _ = script.call(offer: "")
        script.answer(script.next(), 200)
        let bye = script.expect("ACK", "BYE")[1]
        XCTAssertEqual(bye.reasons.first?.cause, 488)
        script.answer(bye, 200)
        guard case .ended(.protocolFault)? = script.events.last?.event else { return XCTFail("no fault told") }
    }

    func testHangUpBeforeOurAnswerAcknowledgesWithoutABodyAndSendsBye() {
        let script = Script()
        let handle = script.call(offer: "")
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.input(.hangUp(handle, .normal))
        let sent = script.expect("ACK", "BYE")
        XCTAssertEqual(sent[0].body, [])
        script.answer(invite, 200, body: Script.description)
        XCTAssertEqual(script.expect("ACK"), [sent[0]])
        script.answer(sent[1], 200)
        script.expectEvents("answeredWithOffer", "ended localHangUp")
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testOurAnswerThatNeverComesEndsTheCall() {
        let script = Script()
        _ = script.call(offer: "")
        script.answer(script.next(), 200, body: Script.description)
        script.pass(ms: 15_999)
        script.expect()
        script.pass(ms: 1)
        script.answer(script.expect("ACK", "BYE")[1], 200)
        script.expectEvents("answeredWithOffer", "ended timedOut")
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testByeBeforeOurAnswerIsHonouredAndThe200Acknowledged() {
        let script = Script()
        _ = script.call(offer: "")
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.receive(script.inDialog("BYE", of: invite, number: 1, branch: "bye"))
        script.expect("200", "ACK")
        script.expectEvents("answeredWithOffer", "ended remoteHangUp ")
    }

    func testOffersOfThePeerWaitForOurAnswerToItsFirst() {
        let script = Script()
        let handle = script.call(offer: "")
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.receive(script.inDialog("INVITE", of: invite, number: 1, branch: "r1", body: Script.description))
        script.receive(script.inDialog("UPDATE", of: invite, number: 2, branch: "u1", body: Script.description))
        XCTAssertEqual(script.expect("500", "500").map { $0.retryAfter != nil }, [true, true])
        script.input(.acknowledge(handle, answer: World.answer))
        script.expect("ACK")
    }

    func testOtherBranchesOfAForkAreEndedWhileOurAnswerIsAwaited() {
        let script = Script()
        let handle = script.call(offer: "")
        let invite = script.next()
        script.answer(invite, 200, tag: "a", body: Script.description)
        script.answer(invite, 200, tag: "b", body: Script.description)
        XCTAssertEqual(script.expect("ACK", "BYE").map { $0.to?.tag }, ["b", "b"])
        script.input(.acknowledge(handle, answer: World.answer))
        XCTAssertEqual(script.expect("ACK")[0].to?.tag, "a")
    }

    func testRefreshCarriesOurAnswer() {
        let script = Script()
        let handle = script.call(offer: "")
        script.answer(
            script.next(), 200, body: Script.description,
            headers: [(.sessionExpires, "90;refresher=uac"), (.allow, "INVITE, BYE")])
        script.input(.acknowledge(handle, answer: World.answer))
        script.expect("ACK")
        script.pass(ms: 45_000)
        XCTAssertEqual(script.expect("INVITE")[0].body, World.answer)
    }

    // MARK: - Case 4: the peer's

    private func offerless(_ script: Script) -> (handle: CallHandle, answer: SIPMessage) {
        script.receive(script.stranger(body: ""))
        let handle = script.incoming()
        script.input(.respond(handle, .ok, body: World.offer))
        script.events = []
        return (handle, script.next())
    }

    func testCase4AckWithTheAnswer() {
        let script = Script()
        let (_, answer) = self.offerless(script)
        XCTAssertEqual(answer.body, World.offer)
        script.receive(script.acknowledge(answer, body: Script.description))
        script.expectEvents("confirmed with answer")
    }

    func testCase4AckWithoutAnAnswerIsToldAndTheCallCanBeHungUp() {
        let script = Script()
        let (handle, answer) = self.offerless(script)
        script.receive(script.acknowledge(answer))
        script.expectEvents("confirmed")
        script.input(.hangUp(handle, .fault(.notAcceptableHere, text: "no answer in ACK")))
        XCTAssertEqual(script.expect("BYE")[0].reasons.first?.cause, 488)
    }

    func testCase4LostAckEndsTheCallWithByeAfter64T1() {
        let script = Script()
        _ = self.offerless(script)
        script.pass(ms: 32_000)
        XCTAssertEqual(script.outbox.last?.message.name, "BYE")
        script.pass(ms: 32_000)
        script.expectEvents("ended timedOut")
    }

    func testCase4HangUpBeforeTheAckWaitsForIt() {
        let script = Script()
        let (handle, answer) = self.offerless(script)
        script.input(.hangUp(handle, .normal))
        script.expect()
        script.receive(script.acknowledge(answer, body: Script.description))
        script.answer(script.expect("BYE")[0], 200)
        script.expectEvents("ended localHangUp")
    }

    /// Case 20: "ACK lost, callee hangs up: BYE never sent".
    func testCase20HangUpWithoutAnyAckSendsByeAfter64T1() {
        let script = Script()
        let (handle, _) = self.offerless(script)
        script.input(.hangUp(handle, .normal))
        script.pass(ms: 31_999)
        XCTAssertFalse(script.outbox.contains { $0.message.name == "BYE" })
        script.outbox = []
        script.pass(ms: 1)
        script.answer(script.expect("BYE")[0], 200)
        script.expectEvents("ended localHangUp")
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }
}
