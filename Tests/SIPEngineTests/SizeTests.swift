// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Requests too large for one datagram (RFC 3261 section 18.1.1, case A28).
final class SizeTests: XCTestCase {
    private static let large = Script.description + String(repeating: "a=x\r\n", count: 250)

    private func expectWay(
        _ transport: SIPTransport, _ script: Script, _ name: String, line: UInt = #line
    ) -> SIPMessage? {
        guard let (message, flow) = script.outbox.first else {
            XCTFail("nothing was sent", line: line)
            return nil
        }
        script.outbox.removeFirst()
        XCTAssertEqual(message.name, name, line: line)
        XCTAssertEqual(flow.transport, transport, line: line)
        XCTAssertEqual(flow.remote, Script.there, line: line)
        XCTAssertEqual(message.topVia?.transport, transport.token, line: line)
        return message
    }

    private func streamFlow(_ script: Script) -> Flow {
        Flow(transport: .tcp, local: script.flow.local, remote: script.flow.remote)
    }

    // MARK: - How large

    func testSizeIsThatOfTheInviteThatIsSent() {
        let script = Script()
        for lines in [0, 1, 100, 300] {
            let handle = script.engine.newHandle()
            let request = InviteRequest(
                target: SIPURI("sip:desk@192.0.2.2:5070")!, flow: script.flow,
                offer: Array(String(repeating: "a=x\r\n", count: lines).utf8),
                extraHeaders: [Header(.subject, "door 4")])
            let size = script.engine.size(of: request)
            script.input(.invite(handle, request))
            XCTAssertEqual(script.next().printed().count, size)
        }
    }

    func testBoundIsTheLastByteThatFits() {
        for (excess, transport) in [(0, SIPTransport.udp), (1, .tcp)] {
            let script = Script()
            let flow = script.flow
            let target = SIPURI("sip:desk@192.0.2.2:5070")!
            // Three digits of Content-Length in both.
            let empty = InviteRequest(target: target, flow: flow, offer: [UInt8](repeating: 0x61, count: 100))
            let room = SIPEngine.datagramSizeSafe - script.engine.size(of: empty) + 100
            let offer = [UInt8](repeating: 0x61, count: room + excess)
            let handle = script.engine.newHandle()
            script.input(.invite(handle, InviteRequest(target: target, flow: flow, offer: offer)))
            XCTAssertEqual(script.outbox.map { $0.flow.transport }, [transport])
        }
    }

    // MARK: - Which way

    func testLargeInviteGoesByTCPAndTheCallIsStillReachedByUDP() {
        let script = Script()
        _ = script.call(offer: Self.large)
        guard let invite = self.expectWay(.tcp, script, "INVITE") else { return }
        XCTAssertNil(invite.contacts?.first?.uri.sip?.transport)
        XCTAssertEqual(script.engine.counters[.largeRequest], 1)
        // Nothing is repeated on a stream.
        script.pass(ms: 10_000)
        script.expect()
        let answer = SIPMessage(respondingTo: invite, .ok, toTag: "there")
        let text = String(decoding: answer.printed(), as: UTF8.self)
            .replacingOccurrences(
                of: "Content-Length: 0\r\n\r\n",
                with: "Contact: <sip:desk@192.0.2.2:5070>\r\nContent-Type: application/sdp\r\n"
                    + "Content-Length: \(Script.description.utf8.count)\r\n\r\n\(Script.description)")
        script.receive(text, on: self.streamFlow(script))
        script.expectEvents("answered")
        _ = self.expectWay(.udp, script, "ACK")
        script.input(.hangUp(script.engine.calls[0].handle, .normal))
        _ = self.expectWay(.udp, script, "BYE")
    }

    func testSmallInviteAndOneByTCPKeepTheirWay() {
        let small = Script()
        _ = small.call()
        _ = self.expectWay(.udp, small, "INVITE")
        let stream = Script(.tcp)
        _ = stream.call(offer: Self.large)
        _ = self.expectWay(.tcp, stream, "INVITE")
        XCTAssertEqual(stream.engine.counters[.largeRequest], 0)
        // Its failure is the call's, as ever.
        stream.input(.flowFailed(stream.flow))
        stream.expectEvents("ended flowFailed")
    }

    func testRefusedTCPMeansUDPAfterAll() {
        let script = Script()
        let handle = script.call(offer: Self.large)
        let first = self.expectWay(.tcp, script, "INVITE")
        script.input(.flowFailed(self.streamFlow(script)))
        script.expectEvents()
        guard let second = self.expectWay(.udp, script, "INVITE") else { return }
        XCTAssertEqual(script.engine.counters[.streamRefused], 1)
        XCTAssertNotEqual(first?.topVia?.branch, second.topVia?.branch)
        XCTAssertEqual(first?.cseq, second.cseq)
        XCTAssertEqual(first?.body, second.body)
        XCTAssertEqual(second.vias?.count, 1)
        script.pass(ms: 500)
        _ = self.expectWay(.udp, script, "INVITE")
        script.answer(second, 200, body: Script.description)
        script.expectEvents("answered")
        _ = self.expectWay(.udp, script, "ACK")
        // The call remembers: the next large request does not try again.
        XCTAssertEqual(script.engine.calls[0].streamsRefused, [Script.there])
        let words = ByteString([UInt8](repeating: 0x61, count: 1_200))
        script.input(.hangUp(handle, .fault(.notAcceptableHere, text: words)))
        _ = self.expectWay(.udp, script, "BYE")
    }

    func testLargeRequestWithinADialogTriesTCPToo() {
        let script = Script()
        let handle = script.connectedCall()
        let words = ByteString([UInt8](repeating: 0x61, count: 1_200))
        script.input(.hangUp(handle, .fault(.notAcceptableHere, text: words)))
        _ = self.expectWay(.tcp, script, "BYE")
        script.input(.flowFailed(self.streamFlow(script)))
        guard let bye = self.expectWay(.udp, script, "BYE") else { return }
        script.answer(bye, 200)
        script.expectEvents("ended localHangUp")
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testStreamThatFailsAfterAnAnswerIsNotTriedAgain() {
        let script = Script()
        _ = script.call(offer: Self.large)
        guard let invite = self.expectWay(.tcp, script, "INVITE") else { return }
        script.receive(SIPMessage(respondingTo: invite, .ringing, toTag: "there"), on: self.streamFlow(script))
        script.input(.flowFailed(self.streamFlow(script)))
        script.expect()
        script.expectEvents("ringing 180", "ended flowFailed")
    }

    func testWhoHungUpMeanwhileSendsNothingMore() {
        let script = Script()
        let handle = script.call(offer: Self.large)
        _ = self.expectWay(.tcp, script, "INVITE")
        script.input(.hangUp(handle, .normal))
        script.input(.flowFailed(self.streamFlow(script)))
        script.expect()
        script.expectEvents("ended cancelled")
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testLargeAnswerInAnAckGoesByTCPAndBackToUDP() {
        let script = Script()
        let handle = script.call(offer: "")
        let invite = script.next()
        script.answer(invite, 200, body: Script.description)
        script.expectEvents("answeredWithOffer")
        script.input(.acknowledge(handle, answer: Array(Self.large.utf8)))
        let first = self.expectWay(.tcp, script, "ACK")
        script.input(.flowFailed(self.streamFlow(script)))
        let second = self.expectWay(.udp, script, "ACK")
        XCTAssertEqual(first?.body, second?.body)
        // The copy of the 2xx gets what went last.
        script.answer(invite, 200, body: Script.description)
        XCTAssertEqual(self.expectWay(.udp, script, "ACK"), second)
        XCTAssertEqual(script.engine.calls[0].streamsRefused, [Script.there])
    }

    func testUDPThatFailsToo() {
        let script = Script()
        _ = script.call(offer: Self.large)
        script.input(.flowFailed(self.streamFlow(script)))
        script.input(.flowFailed(script.flow))
        script.expectEvents("ended flowFailed")
        XCTAssertTrue(script.engine.isIdle)
    }
}
