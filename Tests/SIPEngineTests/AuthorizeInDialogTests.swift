// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Challenges to what is sent beside the INVITE that makes a call.
final class AuthorizeInDialogTests: XCTestCase {
    private let server = DigestServer()
    private let updates: [(HeaderName, ByteString)] = [
        (.allow, "INVITE, ACK, BYE, UPDATE"), (.sessionExpires, "1800;refresher=uac"),
    ]

    /// Challenges the request that was just sent, and checks the one that comes in its place.
    private func challenged(_ script: Script, number: UInt32, line: UInt = #line) -> SIPMessage {
        let request = script.next(line: line)
        let again = script.challenge(request, self.server.challenge, line: line)
        XCTAssertEqual(self.server.count(in: again), "00000001", line: line)
        XCTAssertEqual(again.cseq?.number, number, line: line)
        XCTAssertEqual(again.callID, request.callID, line: line)
        XCTAssertEqual(again.from, request.from, line: line)
        XCTAssertEqual(again.to, request.to, line: line)
        XCTAssertEqual(again.body, request.body, line: line)
        XCTAssertEqual(again.fields(.via).count, 1, line: line)
        XCTAssertNotEqual(again.topVia?.branch, request.topVia?.branch, line: line)
        return again
    }

    func testBye() {
        let script = Script.withPassword()
        let handle = script.connectedCall()
        script.input(.hangUp(handle, .normal))
        let bye = self.challenged(script, number: 3)
        script.expectEvents()
        script.answer(bye, 200)
        script.expectEvents("ended localHangUp")
    }

    func testAByeThatIsNotAcceptedEndsTheCallAllTheSame() {
        let script = Script.withPassword()
        let handle = script.connectedCall()
        script.input(.hangUp(handle, .normal))
        let bye = self.challenged(script, number: 3)
        script.answer(bye, 401, headers: [(.wwwAuthenticate, self.server.challenge)])
        script.expect()
        script.expectEvents("ended localHangUp")
        XCTAssertEqual(script.verdicts, ["refused Mufasa example.com"])
    }

    func testReinvite() {
        let script = Script.withPassword()
        let handle = script.connectedCall()
        script.input(.reoffer(handle, offer: Array("offer".utf8)))
        let again = self.challenged(script, number: 3)
        script.answer(again, 200, body: Script.description)
        let ack = script.expect("ACK")[0]
        XCTAssertEqual(ack.cseq, CSeq(3, .ack))
        XCTAssertEqual(ack.credentials, again.credentials)
        script.expectEvents("changed")
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.next().cseq, CSeq(4, .bye))
    }

    func testAReinviteThatIsRefusedLeavesTheSession() {
        let script = Script.withPassword()
        let handle = script.connectedCall()
        script.input(.reoffer(handle, offer: Array("offer".utf8)))
        let again = self.challenged(script, number: 3)
        script.answer(again, 401, headers: [(.wwwAuthenticate, self.server.challenge)])
        XCTAssertEqual(script.expect("ACK")[0].credentials, again.credentials)
        script.expectEvents("changeRefused 401")
    }

    func testUpdate() {
        let script = Script.withPassword()
        _ = script.connected(headers: self.updates)
        script.pass(ms: 900_000)
        let again = self.challenged(script, number: 3)
        XCTAssertEqual(again.method, .update)
        script.answer(again, 200, headers: self.updates)
        script.pass(ms: 900_000)
        let next = script.next()
        XCTAssertEqual(next.cseq, CSeq(4, .update))
        XCTAssertEqual(self.server.count(in: next), "00000002")
    }

    func testInform() {
        let script = Script.withPassword()
        let handle = script.connectedCall()
        for body in [[0x31], [0x32]] as [[UInt8]] {
            script.input(.inform(handle, contentType: "application/dtmf", body: body))
        }
        let first = self.challenged(script, number: 3)
        XCTAssertEqual(first.body, [0x31])
        script.answer(first, 200)
        XCTAssertEqual(script.next().body, [0x32])
        script.expectEvents("informed true")
    }

    func testMessageWithinACallAndOutside() {
        let script = Script.withPassword()
        let handle = script.connectedCall()
        script.input(.message(MessageID(1), .call(handle), text: "in"))
        script.answer(self.challenged(script, number: 3), 200)
        script.input(.credentials([]))
        script.input(.credentials([Script.credential]))
        let target = SIPURI("sip:desk@192.0.2.2:5070")!
        script.input(.message(MessageID(2), .address(target, script.flow), text: "out"))
        let out = self.challenged(script, number: 2)
        script.answer(out, 404)
        XCTAssertEqual(script.finishedMessages.map { $0.status }, [.ok, .notFound])
    }

    func testPrackAndTheNumbersAfterIt() {
        let script = Script.withPassword()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 180, headers: [(.require, "100rel"), (.rseq, "1")])
        let prack = self.challenged(script, number: 3)
        XCTAssertEqual(prack.rack, RAck(RSeq(1), CSeq(1, .invite)))
        script.answer(prack, 200)
        script.answer(invite, 200, body: Script.description)
        script.expect("ACK")
        script.input(.hangUp(script.events[0].handle, .normal))
        XCTAssertEqual(script.next().cseq, CSeq(4, .bye))
    }

    func testNotifyWithinACallAndAfterIt() {
        for isOver in [false, true] {
            let script = Script.withPassword()
            let call = script.connectedIncoming()
            script.receive(
                script.within("REFER", number: 2, branch: "r", headers: "Refer-To: <sip:other@192.0.2.3>\r\n"))
            script.input(.followReferral(call, by: script.engine.newHandle()))
            XCTAssertEqual(script.next().name, "202")
            if isOver {
                script.receive(script.within("BYE", number: 3, branch: "bye"))
                XCTAssertEqual(script.outbox.removeLast().message.name, "200")
            }
            let notify = self.challenged(script, number: 2)
            XCTAssertEqual(notify.method, .notify)
            script.answer(notify, 200)
        }
    }

    func testTheByeOfALostForkCountsForItself() {
        let script = Script.withPassword()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 200, tag: "one", body: Script.description)
        script.expect("ACK")
        script.answer(invite, 200, tag: "two", body: Script.description)
        XCTAssertEqual(script.next().name, "ACK")
        let bye = self.challenged(script, number: 3)
        XCTAssertEqual(bye.to?.tag, "two")
    }

    func testACancelHasTheCredentialsOfItsInviteAndIsNeverSentAgain() {
        let script = Script.withPassword()
        let handle = script.call()
        let again = self.challenged(script, number: 2)
        script.answer(again, 180)
        script.input(.hangUp(handle, .normal))
        let cancel = script.expect("CANCEL")[0]
        XCTAssertEqual(cancel.cseq, CSeq(2, .cancel))
        XCTAssertEqual(cancel.credentials, again.credentials)
        script.answer(cancel, 401, headers: [(.wwwAuthenticate, DigestServer(nonce: "n2").challenge)])
        script.expect()
        script.answer(again, 487)
        XCTAssertEqual(script.expect("ACK")[0].credentials, again.credentials)
        script.expectEvents("ringing 180", "ended cancelled")
    }

    /// The far end of a call that came in may ask for what it wants: it gets nothing.
    func testACallerGetsNoAnswerToItsChallenge() {
        let script = Script.withPassword()
        script.input(.trust([.v4(0xC000_0299)]))
        let handle = script.connectedIncoming()
        script.input(.hangUp(handle, .normal))
        script.answer(script.next(), 407, headers: [(.proxyAuthenticate, self.server.challenge)])
        script.expect()
        script.expectEvents("ended localHangUp")
    }

    func testALargeRequestTakesItsCredentialsAlongWhereTCPIsRefused() {
        let script = Script.withPassword()
        _ = script.call(offer: String(repeating: "x", count: 1_200))
        var (request, flow) = script.outbox.removeFirst()
        XCTAssertEqual(flow.transport, .tcp)
        script.input(
            .received(
                Array(self.refusal(of: request).printed()), on: flow))
        XCTAssertEqual(script.next().name, "ACK")
        (request, flow) = script.outbox.removeFirst()
        XCTAssertEqual(flow.transport, .tcp)
        script.input(.flowFailed(flow))
        let datagram = script.next()
        XCTAssertEqual(datagram.credentials, request.credentials)
        XCTAssertEqual(self.server.count(in: datagram), "00000001")
    }

    private func refusal(of request: SIPMessage) -> SIPMessage {
        var response = SIPMessage(respondingTo: request, .unauthorized, toTag: "there")
        response.add(.wwwAuthenticate, self.server.challenge)
        return response
    }
}
