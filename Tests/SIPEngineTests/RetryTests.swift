// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// INVITEs that are refused for what they ask, and sent again in other words; and redirections.
final class RetryTests: XCTestCase {
    /// Sends the refusal for an INVITE; gives the INVITE that follows.
    private func retry(
        _ script: Script, _ invite: SIPMessage, _ code: Int, _ headers: [(HeaderName, ByteString)],
        line: UInt = #line
    ) -> SIPMessage {
        script.answer(invite, code, headers: headers)
        return script.expect("ACK", "INVITE", line: line)[1]
    }

    func testTooShortAnIntervalIsRaisedInTheSameCall() {
        let script = Script()
        let handle = script.call()
        let invite = script.next()
        let again = self.retry(script, invite, 422, [(.minSE, "3600")])
        XCTAssertEqual(again.callID, invite.callID)
        XCTAssertEqual(again.from, invite.from)
        XCTAssertEqual(again.to, invite.to)
        XCTAssertEqual(again.cseq, CSeq(2, .invite))
        XCTAssertNotEqual(again.topVia?.branch, invite.topVia?.branch)
        XCTAssertEqual(again.sessionExpires, SessionExpires(seconds: 3600))
        XCTAssertEqual(again.minSESeconds, 3600)
        XCTAssertEqual(again.body, invite.body)
        script.answer(again, 200, body: Script.description)
        XCTAssertEqual(script.expect("ACK")[0].cseq, CSeq(2, .ack))
        script.expectEvents("answered")
        script.input(.hangUp(handle, .normal))
        XCTAssertEqual(script.expect("BYE")[0].cseq, CSeq(3, .bye))
    }

    func testIntervalIsRaisedTwiceAndOnlyForAReason() {
        let script = Script()
        _ = script.call()
        var invite = self.retry(script, script.next(), 422, [(.minSE, "2000")])
        invite = self.retry(script, invite, 422, [(.minSE, "3000")])
        script.answer(invite, 422, headers: [(.minSE, "4000")])
        script.expect("ACK")
        script.expectEvents("ended refused 422 Session Interval Too Small")
        for value in ["90", "x", "99999999999"] {
            let other = Script()
            _ = other.call()
            other.answer(other.next(), 422, headers: [(.minSE, ByteString(utf8Of: value))])
            other.expect("ACK")
        }
    }

    func testExtensionsThatAreRefusedAreLeftOut() {
        let script = Script()
        _ = script.call()
        let again = self.retry(script, script.next(), 420, [(.unsupported, "timer, foo")])
        XCTAssertFalse(again.supported.contains("timer"))
        XCTAssertTrue(again.supported.contains("100rel"))
        XCTAssertNil(again.sessionExpires)
        let last = self.retry(script, again, 420, [(.unsupported, "100REL")])
        XCTAssertFalse(last.supported.contains("100rel"))
        script.answer(last, 420, headers: [(.unsupported, "100rel, timer, foo")])
        script.expect("ACK")
        script.expectEvents("ended refused 420 Bad Extension")
    }

    func testExtensionThatTheUserDemandsIsNotLeftOut() {
        let script = Script()
        let handle = script.engine.newHandle()
        let headers = [Header(.replaces, "c;to-tag=a;from-tag=b"), Header(.require, "replaces")]
        let target = SIPURI("sip:desk@192.0.2.2:5070")!
        let request = InviteRequest(
            target: target, flow: script.flow, offer: Array(Script.description.utf8), extraHeaders: headers)
        script.input(.invite(handle, request))
        script.answer(script.next(), 420, headers: [(.unsupported, "replaces")])
        script.expect("ACK")
        script.expectEvents("ended refused 420 Bad Extension")
    }

    func testExtensionsThatAreDemandedAreAdded() {
        let script = Script()
        _ = script.call()
        let again = self.retry(script, script.next(), 421, [(.require, "100rel, timer")])
        XCTAssertEqual(again.require, ["100rel", "timer"])
        script.answer(again, 421, headers: [(.require, "100rel")])
        script.expect("ACK")
        script.expectEvents("ended refused 421 Extension Required")
        let unknown = Script()
        _ = unknown.call()
        unknown.answer(unknown.next(), 421, headers: [(.require, "100rel, foo")])
        unknown.expect("ACK")
    }

    func testDemandAndRefusalInTurnsComeToAnEnd() {
        let script = Script()
        _ = script.call()
        var invite = script.next()
        for round in 0..<10 {
            let isDemand = round % 2 == 0
            script.answer(invite, isDemand ? 421 : 420, headers: [(isDemand ? .require : .unsupported, "timer")])
            guard script.outbox.count == 2 else { break }
            invite = script.expect("ACK", "INVITE")[1]
        }
        script.expect("ACK")
        XCTAssertLessThanOrEqual(invite.cseq!.number, UInt32(Limits.inviteRetriesMax + 1))
        XCTAssertEqual(script.events.count, 1)
    }

    func testNobodyCallsAgainAfterHangingUp() {
        for code in [180, 0] {
            let script = Script()
            let handle = script.call()
            let invite = script.next()
            if code > 0 { script.answer(invite, code) }
            script.input(.hangUp(handle, .normal))
            script.outbox = []
            script.answer(invite, 422, headers: [(.minSE, "3600")])
            script.expect("ACK")
            XCTAssertEqual(script.events.last?.event.name, "ended cancelled")
        }
    }

    func testHangUpAfterASecondInviteCancelsThatOne() {
        let script = Script()
        let handle = script.call()
        let first = script.next()
        script.answer(first, 180, tag: "a")
        let again = self.retry(script, first, 422, [(.minSE, "3600")])
        script.input(.hangUp(handle, .normal))
        script.expect()
        script.answer(again, 180, tag: "b")
        let cancel = script.expect("CANCEL")[0]
        XCTAssertEqual(cancel.topVia, again.topVia)
        XCTAssertEqual(cancel.cseq, CSeq(2, .cancel))
        // A copy of the first refusal belongs to the first INVITE.
        script.answer(first, 422)
        XCTAssertEqual(script.expect("ACK")[0].cseq, CSeq(1, .ack))
        script.answer(again, 487)
        script.expect("ACK")
        script.expectEvents("ringing 180", "ended cancelled")
        script.answer(cancel, 200)
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testRefusalTellsTheQ850CauseOfItsReason() {
        let script = Script()
        _ = script.call()
        script.answer(
            script.next(), 503, headers: [(.reason, "SIP;cause=503, Q.850;cause=34;text=\"No circuit\"")])
        guard case .ended(.refused(_, phrase: _, let q850))? = script.events.last?.event else {
            return XCTFail("not refused")
        }
        XCTAssertEqual(q850, 34)
    }

    // MARK: - 3xx

    private func redirected(_ code: Int = 302, _ contacts: String...) -> String {
        let script = Script()
        _ = script.call()
        script.answer(script.next(), code, headers: contacts.map { (.contact, ByteString(utf8Of: $0)) })
        script.expect("ACK")
        return script.events.last?.event.name ?? "nothing"
    }

    func testRedirectionTellsItsTargetsBestFirst() {
        XCTAssertEqual(
            self.redirected(
                302, "<sip:c@192.0.2.3>;q=0.1, <sip:a@192.0.2.3>", "<sip:b@192.0.2.3>;q=0.75, <sip:d@192.0.2.3>;q=0",
                "<sip:b2@192.0.2.3>;q=0.75"),
            "ended redirected 302 sip:a@192.0.2.3 sip:b@192.0.2.3 sip:b2@192.0.2.3 sip:c@192.0.2.3 sip:d@192.0.2.3")
    }

    func testWhatCannotBeCalledIsNoTarget() {
        XCTAssertEqual(
            self.redirected(
                301, "<tel:+49123>, <mailto:a@192.0.2.3>, nonsense", "<sip:b@192.0.2.3?Replaces=x>;q=nan",
                "<sip:b@192.0.2.3>, <http://example.org>"), "ended redirected 301 sip:b@192.0.2.3")
        XCTAssertEqual(self.redirected(302, "<tel:+49123>"), "ended refused 302 Moved Temporarily")
        XCTAssertEqual(self.redirected(302, "*"), "ended refused 302 Moved Temporarily")
        XCTAssertEqual(self.redirected(486, "<sip:b@192.0.2.3>"), "ended refused 486 Busy Here")
    }

    func testRedirectionToAHundredTargetsTellsTheFirstFew() {
        let contacts = (0..<60).map { "<sip:t\($0)@192.0.2.3>" }.joined(separator: ", ")
        let targets = self.redirected(300, contacts).split(separator: " ").dropFirst(3)
        XCTAssertEqual(targets.count, SIPEngine.redirectsMax)
        XCTAssertEqual(targets.first, "sip:t0@192.0.2.3")
    }

    func testWeightsAreReadAsTheyAreWritten() {
        for (q, weight) in [
            ("1", 1000), ("1.0", 1000), ("0", 0), ("0.", 0), ("0.5", 500), ("0.05", 50), ("0.123", 123),
            ("0.1239", 123), ("2", 1000), ("x", 1000), ("0.x", 1000), ("", 1000),
        ] {
            let contact = NameAddr(ByteString(utf8Of: "<sip:a@192.0.2.3>;q=\(q)"))
            XCTAssertEqual(contact?.weight ?? 1000, weight, q)
        }
    }
}
