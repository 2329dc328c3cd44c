// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Calls that we place, and their races.
final class OutgoingCallTests: XCTestCase {
    func testInviteCarriesWhatTheRFCAsksFor() {
        let script = Script()
        _ = script.call()
        let flow = script.outbox[0].flow
        let invite = script.next()
        XCTAssertEqual(flow, script.flow)
        XCTAssertEqual(invite.requestURI?.printed, "sip:desk@192.0.2.2:5070")
        XCTAssertEqual(invite.maxForwards, 70)
        XCTAssertEqual(invite.from?.displayName, "Gate")
        XCTAssertEqual(invite.from?.uri.printed, "sip:kiosk@192.0.2.1")
        XCTAssertEqual(invite.from?.tag?.count, 16)
        XCTAssertEqual(invite.to?.printed, "<sip:desk@192.0.2.2>")
        XCTAssertEqual(invite.contacts?.first?.uri.printed, "sip:kiosk@192.0.2.1:5060")
        XCTAssertTrue(invite.topVia?.asksRport ?? false)
        XCTAssertNotNil(invite.topVia?.transactionBranch)
        XCTAssertEqual(invite.contentType?.isSDP, true)
        XCTAssertEqual(invite.allow, [.invite, .ack, .cancel, .bye, .options, .info, .update])
        XCTAssertEqual(invite.body, Array(Script.description.utf8))
    }

    func testAddressThatNoMessageCanHoldIsNotCalled() {
        let script = Script()
        let handle = script.engine.newHandle()
        let target = SIPURI(user: "desk", host: .name("two words>"))
        script.input(.invite(handle, InviteRequest(target: target, flow: script.flow, offer: [])))
        script.expect()
        XCTAssertEqual(script.rawOutbox, [])
        script.expectEvents("ended protocolFault the address cannot be written")
        XCTAssertTrue(script.engine.isIdle)
    }

    func testNamesOfAnyBytesMakeAnInviteThatCanBeRead() {
        for byte in UInt8.min...UInt8.max {
            var configuration = SIPConfiguration.standard
            configuration.displayName = ByteString([0x41, byte, 0x42])
            configuration.contactUser = ByteString([0x41, byte, 0x42])
            var engine = SIPEngine(configuration: configuration, seed: 1)
            let target = SIPURI(user: "desk", host: .name("example.org"))
            let request = InviteRequest(target: target, flow: Script().flow, offer: [])
            engine.handle(.invite(engine.newHandle(), request), now: .zero)
            guard case .send(let bytes, _) = engine.pollOutput() else { return XCTFail("byte \(byte)") }
            let invite = try? SIPMessage.parse(bytes, framing: .datagram)
            XCTAssertNotNil(invite?.envelope, "byte \(byte)")
            XCTAssertEqual(invite?.contacts?.count, 1, "byte \(byte)")
        }
    }

    func testCallIsAnsweredAndHungUpByUs() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 100)
        script.answer(invite, 180)
        script.answer(invite, 200, body: Script.description)
        let ack = script.next()
        XCTAssertEqual(ack.name, "ACK")
        XCTAssertEqual(ack.cseq, CSeq(1, .ack))
        XCTAssertEqual(ack.to?.tag, "there")
        XCTAssertNotEqual(ack.topVia?.branch, invite.topVia?.branch)
        script.expectEvents("trying", "ringing 180", "answered")
        script.input(.hangUp(handle, .normal))
        let bye = script.next()
        XCTAssertEqual(bye.name, "BYE")
        XCTAssertEqual(bye.cseq, CSeq(2, .bye))
        XCTAssertNil(bye.first(.reason))
        script.expectEvents()
        script.answer(bye, 200)
        script.expectEvents("ended localHangUp")
        script.pass(ms: 40_000)
        XCTAssertTrue(script.engine.isIdle)
        script.expect()
    }

    func testNoAnswerAtAllEndsAfter32Seconds() {
        let script = Script()
        _ = script.call()
        script.pass(ms: 31_999)
        script.expect("INVITE", "INVITE", "INVITE", "INVITE", "INVITE", "INVITE", "INVITE")
        script.expectEvents()
        script.pass(ms: 1)
        script.expectEvents("ended timedOut")
        XCTAssertTrue(script.engine.isIdle)
    }

    func testInviteIsSentAgainAtDoublingIntervals() {
        let script = Script()
        _ = script.call()
        var times: [Int] = []
        for ms in 1...32_000 {
            let before = script.outbox.count
            script.pass(ms: 1)
            if script.outbox.count > before { times.append(ms) }
        }
        XCTAssertEqual(times, [500, 1500, 3500, 7500, 15_500, 31_500])
    }

    func testInviteIsNotSentAgainOnceSomethingCameBack() {
        let script = Script()
        _ = script.call()
        script.answer(script.next(), 100)
        script.pass(ms: 120_000)
        script.expect()
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testInviteIsNotSentAgainOverTCP() {
        let script = Script(.tcp)
        _ = script.call()
        script.pass(ms: 32_000)
        script.expect("INVITE")
        script.expectEvents("ended timedOut")
    }

    func testRefusalIsAcknowledgedOnTheSameBranchAndItsCopiesToo() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 486)
        let ack = script.next()
        XCTAssertEqual(ack.name, "ACK")
        XCTAssertEqual(ack.topVia, invite.topVia)
        XCTAssertEqual(ack.requestURI, invite.requestURI)
        XCTAssertEqual(ack.to?.tag, "there")
        script.expectEvents("ended refused 486 Busy Here")
        script.answer(invite, 486)
        XCTAssertEqual(script.next(), ack)
        script.expectEvents()
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testRedirectionAndChallengeAreRefusals() {
        for code in [300, 302, 401, 407, 408, 404, 503, 600] {
            let script = Script()
            _ = script.call()
            script.answer(script.next(), code)
            script.expect("ACK")
            guard case .ended(.refused(let status, _))? = script.events.last?.event else {
                XCTFail("\(code) is no refusal")
                continue
            }
            XCTAssertEqual(status.value, code)
        }
    }

    func testNobodyThereIsToldAtOnce() {
        let script = Script()
        _ = script.call()
        script.input(.flowFailed(script.flow))
        script.expectEvents("ended flowFailed")
        XCTAssertTrue(script.engine.isIdle)
    }

    func testFailureOfAnotherFlowChangesNothing() {
        let script = Script()
        _ = script.call()
        var other = script.flow
        other.remote.port = 9
        script.input(.flowFailed(other))
        script.expectEvents()
        XCTAssertEqual(script.engine.callCount, 1)
    }

    // MARK: - CANCEL

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
        XCTAssertTrue(script.engine.isIdle)
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

    func testAThousandHurriedHangUpsLeaveNoCallBehind() {
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

    // MARK: - 2xx

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

    // MARK: - BYE

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

    // MARK: - Stray answers

    func testAnswersThatAreNotForUsAreDropped() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        var twoVias = SIPMessage(respondingTo: invite, .ok, toTag: "there")
        twoVias.prepend(.via, "SIP/2.0/UDP 192.0.2.9;branch=z9hG4bKother")
        script.receive(twoVias)
        XCTAssertEqual(script.engine.counters[.misdirectedResponse], 1)
        var otherBranch = SIPMessage(respondingTo: invite, .ok, toTag: "there")
        otherBranch.set(.via, "SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKother")
        script.receive(otherBranch)
        var otherMethod = SIPMessage(respondingTo: invite, .ok, toTag: "there")
        otherMethod.set(.cseq, "1 BYE")
        script.receive(otherMethod)
        XCTAssertEqual(script.engine.counters[.strayResponse], 2)
        script.expect()
        script.expectEvents()
    }

    func testLargeInviteOverUDPIsCounted() {
        let script = Script()
        _ = script.call(offer: Script.description + String(repeating: "a=x\r\n", count: 300))
        XCTAssertEqual(script.engine.counters[.largeInvite], 1)
        let stream = Script(.tcp)
        _ = stream.call(offer: Script.description + String(repeating: "a=x\r\n", count: 300))
        XCTAssertEqual(stream.engine.counters[.largeInvite], 0)
    }
}
