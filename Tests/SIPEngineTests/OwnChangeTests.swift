// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Re-INVITEs of ours: RFC 3261 section 14.1.
final class OwnChangeTests: XCTestCase {
    private static let offer = Array("v=0\r\no=- 7 8 IN IP4 192.0.2.1\r\ns=held\r\n".utf8)

    /// A call of ours that stands, and its re-INVITE.
    private func changing(_ script: Script) -> (handle: CallHandle, invite: SIPMessage, reinvite: SIPMessage) {
        let (handle, invite) = script.connected()
        script.input(.reoffer(handle, offer: Self.offer))
        return (handle, invite, script.expect("INVITE")[0])
    }

    func testReinviteCarriesTheOfferWithinTheDialog() {
        let script = Script()
        let (_, invite, reinvite) = self.changing(script)
        XCTAssertEqual(reinvite.body, Self.offer)
        XCTAssertEqual(reinvite.contentType?.isSDP, true)
        XCTAssertEqual(reinvite.callID, invite.callID)
        XCTAssertEqual(reinvite.cseq, CSeq(2, .invite))
        XCTAssertEqual(reinvite.to?.tag, "there")
        XCTAssertEqual(reinvite.maxForwards, 70)
        XCTAssertEqual(reinvite.contacts?.first?.uri.printed, "sip:kiosk@192.0.2.1:5060")
        XCTAssertEqual(reinvite.requestURI?.printed, "sip:desk@192.0.2.2:5070")
        XCTAssertFalse(reinvite.supported.contains("100rel"))
    }

    func testAnswerIsAcknowledgedAndToldAndCopiesGetTheSameAck() {
        let script = Script()
        let (_, _, reinvite) = self.changing(script)
        script.answer(reinvite, 100)
        script.answer(reinvite, 200, body: Script.description, contact: "<sip:moved@192.0.2.9:5099>")
        let flow = script.outbox[0].flow
        let ack = script.expect("ACK")[0]
        XCTAssertEqual(ack.cseq, CSeq(2, .ack))
        XCTAssertEqual(ack.requestURI?.printed, "sip:moved@192.0.2.9:5099")
        XCTAssertEqual(flow.remote, SocketAddress(.v4(0xC000_0209), port: 5099))
        script.expectEvents("changed")
        script.answer(reinvite, 200, body: Script.description)
        XCTAssertEqual(script.expect("ACK"), [ack])
        script.expectEvents()
        script.pass(ms: 40_000)
        XCTAssertEqual(script.engine.clients.count, 0)
        XCTAssertEqual(script.engine.callCount, 1)
    }

    /// The next request of the call goes to the Contact of the 2xx.
    func testAnswerRefreshesTheTarget() {
        let script = Script()
        let (handle, _, reinvite) = self.changing(script)
        script.answer(reinvite, 200, body: Script.description, contact: "<sip:moved@192.0.2.9:5099>")
        script.expect("ACK")
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.expect("BYE")[0].requestURI?.printed, "sip:moved@192.0.2.9:5099")
    }

    func testAnyRefusalIsToldAndTheCallGoesOn() {
        for code in [302, 401, 407, 403, 415, 488, 500, 503, 603] {
            let script = Script()
            let (handle, _, reinvite) = self.changing(script)
            script.answer(reinvite, code)
            script.expect("ACK")
            script.expectEvents("changeRefused \(code)")
            script.input(.reoffer(handle, offer: Self.offer))
            script.expect("INVITE")
            XCTAssertEqual(script.engine.callCount, 1, "\(code)")
        }
    }

    /// A 2xx that leaves our offer without an answer.
    func testSuccessWithoutADescriptionIsAcknowledgedAndCountsAsRefused() {
        let script = Script()
        let (_, _, reinvite) = self.changing(script)
        script.answer(reinvite, 200)
        script.expect("ACK")
        script.expectEvents("changeRefused 488")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    // MARK: - Glare

    /// The instant of the second try, in ms after the 491.
    private func retryDelay(_ script: Script, _ handle: CallHandle) -> Int? {
        script.input(.reoffer(handle, offer: Self.offer))
        let reinvite = script.expect("INVITE")[0]
        script.answer(reinvite, 491)
        script.expect("ACK")
        for ms in 0...4_010 {
            if script.outbox.first?.message.name == "INVITE" {
                let again = script.next()
                XCTAssertEqual(again.cseq?.number, reinvite.cseq!.number + 1)
                XCTAssertEqual(again.body, Self.offer)
                XCTAssertNotEqual(again.topVia?.branch, reinvite.topVia?.branch)
                script.answer(again, 200, body: Script.description)
                script.expect("ACK")
                script.expectEvents("changed")
                return ms
            }
            script.pass(ms: 1)
        }
        return nil
    }

    func testCase7WhoPlacedTheCallTriesAgainAfter2100To4000Ms() {
        var delays: Set<Int> = []
        for seed in 0..<UInt64(20) {
            let script = Script(seed: seed)
            let delay = self.retryDelay(script, script.connectedCall()) ?? -1
            XCTAssertTrue((2_100...4_000).contains(delay) && delay % 10 == 0, "\(delay)")
            delays.insert(delay)
        }
        XCTAssertGreaterThan(delays.count, 10)
    }

    func testCase7WhoWasCalledTriesAgainWithin2000Ms() {
        var delays: Set<Int> = []
        for seed in 0..<UInt64(20) {
            let script = Script(seed: seed)
            let delay = self.retryDelay(script, script.connectedIncoming()) ?? -1
            XCTAssertTrue((0...2_000).contains(delay) && delay % 10 == 0, "\(delay)")
            delays.insert(delay)
        }
        XCTAssertGreaterThan(delays.count, 10)
    }

    func testSecond491IsARefusal() {
        let script = Script()
        let (handle, _, reinvite) = self.changing(script)
        script.answer(reinvite, 491)
        script.expect("ACK")
        while script.outbox.isEmpty { script.pass(ms: 10) }
        script.answer(script.expect("INVITE")[0], 491)
        script.expectEvents("changeRefused 491")
        script.pass(ms: 20_000)
        script.expect("ACK")
        script.input(.reoffer(handle, offer: Self.offer))
        script.expect("INVITE")
    }

    func testCase8PeersReinviteGets491WhileOursIsOutAndLeavesNothingBehind() {
        let script = Script()
        let (handle, invite, reinvite) = self.changing(script)
        script.receive(script.inDialog("INVITE", of: invite, number: 5, branch: "r1", body: Script.description))
        script.receive(script.inDialog("UPDATE", of: invite, number: 6, branch: "u1", body: Script.description))
        script.expect("491", "491")
        script.answer(reinvite, 200, body: Script.description)
        script.expect("ACK")
        script.expectEvents("changed")
        script.receive(script.inDialog("INVITE", of: invite, number: 7, branch: "r2", body: Script.description))
        script.expectEvents("reoffered")
        script.input(.respond(handle, .ok, body: Self.offer))
        script.expect("200")
    }

    /// The peer waits less and comes first. Its offer makes ours void; the user's newer one goes out in its place.
    func testCase7BothHoldAtOnce() {
        let script = Script()
        let (handle, invite, reinvite) = self.changing(script)
        script.receive(script.inDialog("INVITE", of: invite, number: 5, branch: "r1", body: Script.description))
        script.receive(script.inDialog("ACK", of: invite, number: 5, branch: "r1"))
        script.answer(reinvite, 491)
        script.expect("491", "ACK")
        script.pass(ms: 1_000)
        let theirs = script.inDialog("INVITE", of: invite, number: 6, branch: "r2", body: Script.description)
        script.receive(theirs)
        script.expectEvents("reoffered")
        script.pass(ms: 3_100)
        script.expect("100")
        script.input(.respond(handle, .ok, body: World.answer))
        script.input(.reoffer(handle, offer: World.offer))
        script.expect("200")
        script.receive(script.inDialog("ACK", of: invite, number: 6, branch: "a2"))
        script.expectEvents("confirmed")
        let again = script.expect("INVITE")[0]
        XCTAssertEqual(again.body, World.offer)
        script.answer(again, 200, body: Script.description)
        script.expectEvents("changed")
    }

    // MARK: - The far end is gone

    func testCase26NoAnswerAtAllEndsTheCallWithBye() {
        let script = Script()
        _ = self.changing(script)
        script.pass(ms: 32_000)
        XCTAssertEqual(script.outbox.map { $0.message.name }.filter { $0 != "INVITE" }, ["BYE"])
        script.expectEvents("ended timedOut")
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testCase26RefusalsThatSayThatTheDialogIsGoneEndItWithBye() {
        for (code, end) in [(408, "timedOut"), (481, "remoteHangUp 481 ")] {
            let script = Script()
            let (_, _, reinvite) = self.changing(script)
            script.answer(reinvite, code)
            let bye = script.expect("ACK", "BYE")[1]
            XCTAssertEqual(bye.cseq, CSeq(3, .bye))
            XCTAssertEqual(bye.reasons.first?.cause, code)
            script.expectEvents("ended \(end)")
            script.answer(bye, 481)
            script.pass(ms: 40_000)
            XCTAssertTrue(script.engine.isIdle)
        }
    }

    func testOnly1xxFor180SecondsEndsTheCallAndALateAnswerIsAcknowledged() {
        let script = Script()
        let (_, _, reinvite) = self.changing(script)
        script.answer(reinvite, 100)
        script.pass(ms: 179_999)
        script.expect()
        script.pass(ms: 1)
        let bye = script.expect("BYE")[0]
        script.answer(bye, 200)
        script.expectEvents("ended timedOut")
        script.answer(reinvite, 200, body: Script.description)
        script.expect("ACK")
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testFailureOfTheFlowLeavesTheSessionStanding() {
        let script = Script(.tcp)
        let (_, _, _) = self.changing(script)
        script.input(.flowFailed(script.flow))
        script.expectEvents("changeRefused 503")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    /// The peer took what we gave up with the stream: without another word each would believe in its own session.
    func testPeerThatTookAGivenUpChangeIsKnownToHaveTakenIt() {
        let script = Script(.tcp)
        let (_, _, reinvite) = self.changing(script)
        script.answer(reinvite, 100)
        script.input(.flowFailed(script.flow))
        script.expectEvents("changeRefused 503")
        script.answer(reinvite, 200, body: Script.description)
        script.expect("ACK")
        script.expectEvents("changeTakenLate")
        script.answer(reinvite, 200, body: Script.description)
        script.expect("ACK")
        script.expectEvents()
    }

    /// The late 2xx is not the answer to the change that is out now.
    func testLate2xxOfAGivenUpChangeDoesNotAnswerTheNextOne() {
        let script = Script(.tcp)
        let (handle, _, reinvite) = self.changing(script)
        script.answer(reinvite, 100)
        script.input(.flowFailed(script.flow))
        script.expectEvents("changeRefused 503")
        script.input(.reoffer(handle, offer: Self.offer + Self.offer))
        let next = script.expect("INVITE")[0]
        script.answer(reinvite, 200, body: Script.description)
        script.expect("ACK")
        script.expectEvents("changeTakenLate")
        script.answer(next, 200, body: Script.description)
        script.expect("ACK")
        script.expectEvents("changed")
    }

    // MARK: - Together with hanging up

    func testHangUpSendsByeAtOnceAndTheLateAnswerIsAcknowledged() {
        let script = Script()
        let (handle, _, reinvite) = self.changing(script)
        script.input(.hangUp(handle, .normal))
        let bye = script.expect("BYE")[0]
        XCTAssertEqual(bye.cseq, CSeq(3, .bye))
        script.answer(reinvite, 200, body: Script.description)
        script.expect("ACK")
        script.answer(bye, 200)
        script.expectEvents("ended localHangUp")
        script.answer(reinvite, 200, body: Script.description)
        script.expect("ACK")
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testAnswerAfterTheCallIsGoneIsAcknowledged() {
        let script = Script()
        let (handle, _, reinvite) = self.changing(script)
        script.answer(reinvite, 100)
        script.input(.hangUp(handle, .normal))
        script.answer(script.expect("BYE")[0], 200)
        XCTAssertEqual(script.engine.callCount, 0)
        script.answer(reinvite, 200, body: Script.description)
        XCTAssertEqual(script.expect("ACK")[0].to?.tag, "there")
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testRefusalAfterHangUpIsAcknowledgedAndNotTold() {
        let script = Script()
        let (handle, _, reinvite) = self.changing(script)
        script.input(.hangUp(handle, .normal))
        script.answer(reinvite, 487)
        script.answer(script.expect("BYE", "ACK")[0], 200)
        script.expectEvents("ended localHangUp")
    }

    func testByeOfThePeerEndsACallWhoseReinviteIsOut() {
        let script = Script()
        let (_, invite, _) = self.changing(script)
        script.receive(script.inDialog("BYE", of: invite, number: 5, branch: "bye"))
        script.expect("200")
        script.expectEvents("ended remoteHangUp ")
        script.pass(ms: 64_000)
        script.expect()
        XCTAssertTrue(script.engine.isIdle)
    }

    // MARK: - Waiting for the session to be free

    func testNewestOfferWaitsForThePeersChangeToBeDone() {
        let script = Script()
        let (handle, invite) = script.connected()
        script.receive(script.inDialog("INVITE", of: invite, number: 5, branch: "r1", body: Script.description))
        script.input(.reoffer(handle, offer: [1]))
        script.input(.reoffer(handle, offer: Self.offer))
        script.expect()
        script.input(.respond(handle, .notAcceptableHere, body: []))
        let sent = script.expect("488", "INVITE")
        XCTAssertEqual(sent[1].body, Self.offer)
    }

    func testOfferIsVoidOnceAnOfferOfThePeersWasAnswered() {
        for method in ["INVITE", "UPDATE"] {
            let script = Script()
            let (handle, invite) = script.connected()
            script.receive(script.inDialog(method, of: invite, number: 5, branch: "r1", body: Script.description))
            script.input(.reoffer(handle, offer: Self.offer))
            script.input(.respond(handle, .ok, body: World.answer))
            script.receive(script.inDialog("ACK", of: invite, number: 5, branch: "a1"))
            script.expect("200")
            script.input(.reoffer(handle, offer: World.offer))
            XCTAssertEqual(script.expect("INVITE")[0].body, World.offer)
        }
    }

    func testOfferBeforeTheAckWaitsForIt() {
        let script = Script()
        script.receive(script.stranger())
        let handle = script.incoming()
        script.input(.respond(handle, .ok, body: Self.offer))
        let answer = script.next()
        script.input(.reoffer(handle, offer: Self.offer))
        script.expect()
        script.receive(script.acknowledge(answer))
        let reinvite = script.expect("INVITE")[0]
        XCTAssertEqual(reinvite.cseq, CSeq(1, .invite))
        XCTAssertEqual(reinvite.to?.tag, "f1")
        script.expectEvents("incoming", "confirmed")
    }

    func testSecondOfferWhileOneIsOutIsRefused() {
        let script = Script()
        let (handle, _, reinvite) = self.changing(script)
        script.input(.reoffer(handle, offer: [1]))
        script.expectEvents("changeRefused 491")
        script.answer(reinvite, 200, body: Script.description)
        script.expect("ACK")
        script.expectEvents("changed")
    }

    func testOfferWithoutASessionIsRefused() {
        let script = Script()
        let calling = script.call()
        script.receive(script.stranger())
        let offered = script.incoming()
        script.events.removeAll()
        script.input(.reoffer(calling, offer: Self.offer))
        script.input(.reoffer(offered, offer: Self.offer))
        script.input(.reoffer(CallHandle(number: 99), offer: Self.offer))
        script.expectEvents("changeRefused 491", "changeRefused 491")
        script.expect("INVITE")
        XCTAssertEqual(script.engine.counters[.lateOrder], 1)
    }
}
