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
        XCTAssertEqual(invite.allow, SIPEngine.allowed)
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
        XCTAssertEqual(script.engine.callCount, 0)
        script.pass(ms: 32_000)
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
            guard case .ended(.refused(let status, _, _))? = script.events.last?.event else {
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
}
