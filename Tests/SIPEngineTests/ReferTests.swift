// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Being transferred: REFER and what is told about it.
final class ReferTests: XCTestCase {
    private func refer(
        _ script: Script, to target: String = "Refer-To: <sip:other@192.0.2.3>\r\n", number: Int = 2,
        branch: String = "r", headers: String = ""
    ) {
        script.receive(script.within("REFER", number: number, branch: branch, headers: target + headers))
    }

    /// A call that came in, and a REFER in it that is followed by the handle.
    private func followed(_ script: Script, headers: String = "") -> (call: CallHandle, by: CallHandle) {
        let call = script.connectedIncoming()
        self.refer(script, headers: headers)
        script.expectEvents("referred sip:other@192.0.2.3")
        script.expect()
        let by = script.engine.newHandle()
        script.input(.followReferral(call, by: by))
        return (call, by)
    }

    private func place(_ script: Script, _ handle: CallHandle) -> SIPMessage {
        let target = SIPURI("sip:other@192.0.2.3")!
        script.input(.invite(handle, InviteRequest(target: target, flow: script.flow, offer: [0x76])))
        return script.next()
    }

    private func expectNotify(
        _ script: Script, _ fragment: String, _ state: String, event: String = "refer", line: UInt = #line
    ) -> SIPMessage {
        let notify = script.next(line: line)
        XCTAssertEqual(notify.name, "NOTIFY", line: line)
        XCTAssertEqual(String(decoding: notify.body, as: UTF8.self), "SIP/2.0 \(fragment)\r\n", line: line)
        XCTAssertEqual(notify.first(.subscriptionState)?.string, state, line: line)
        XCTAssertEqual(notify.first(.event)?.string, event, line: line)
        XCTAssertEqual(notify.first(.contentType), "message/sipfrag;version=2.0", line: line)
        XCTAssertNotNil(notify.contacts?.first, line: line)
        return notify
    }

    // MARK: - The good way

    func testReferralIsFollowedAndItsProgressTold() {
        let script = Script()
        let (call, by) = self.followed(script)
        let accepted = script.next()
        XCTAssertEqual(accepted.name, "202")
        XCTAssertNotNil(accepted.contacts?.first)
        let first = self.expectNotify(script, "100 Trying", "active;expires=240")
        XCTAssertEqual(first.to?.tag, "f1")
        let invite = self.place(script, by)
        script.answer(invite, 180)
        // One NOTIFY after another.
        script.expect()
        script.answer(first, 200)
        let second = self.expectNotify(script, "180 Ringing", "active;expires=240")
        XCTAssertEqual(second.cseq?.number, (first.cseq?.number ?? 0) + 1)
        script.answer(second, 200)
        script.answer(invite, 180)
        script.answer(invite, 180, tag: "elsewhere")
        script.expect()
        script.answer(invite, 200, body: Script.description)
        XCTAssertEqual(script.next().name, "ACK")
        let last = self.expectNotify(script, "200 OK", "terminated;reason=noresource")
        script.answer(last, 200)
        XCTAssertTrue(script.engine.referrals.isEmpty)
        script.input(.hangUp(by, .normal))
        script.answer(script.next(), 200)
        script.expect()
        XCTAssertEqual(script.engine.callIndex(call), 0)
    }

    func testOfTheNewsOfOneNotifyOnlyTheLastIsTold() {
        let script = Script()
        let (_, by) = self.followed(script)
        script.outbox.removeFirst()
        let first = script.next()
        let invite = self.place(script, by)
        script.answer(invite, 180)
        script.answer(invite, 182)
        script.expect()
        script.answer(first, 200)
        _ = self.expectNotify(script, "182 Queued", "active;expires=240")
        script.expect()
    }

    func testTheFailureOfACallThatIsNotTheLastIsNotTold() {
        let script = Script()
        let call = script.connectedIncoming()
        self.refer(script)
        script.expectEvents("referred sip:other@192.0.2.3")
        let first = script.engine.newHandle()
        script.input(.followReferral(call, by: first, isLast: false))
        XCTAssertEqual(script.next().name, "202")
        script.answer(self.expectNotify(script, "100 Trying", "active;expires=240"), 200)
        script.answer(self.place(script, first), 503)
        XCTAssertEqual(script.next().name, "ACK")
        script.expect()
        let second = script.engine.newHandle()
        script.input(.followReferral(call, by: second))
        let invite = self.place(script, second)
        script.answer(invite, 180)
        script.answer(self.expectNotify(script, "180 Ringing", "active;expires=240"), 200)
        script.answer(invite, 486)
        XCTAssertEqual(script.next().name, "ACK")
        script.answer(self.expectNotify(script, "486 Busy Here", "terminated;reason=noresource"), 200)
        XCTAssertTrue(script.engine.referrals.isEmpty)
    }

    func testAFailureThatWasHeldBackIsToldWhereNoOtherCallIsPlaced() {
        let script = Script()
        let call = script.connectedIncoming()
        self.refer(script)
        script.expectEvents("referred sip:other@192.0.2.3")
        let by = script.engine.newHandle()
        script.input(.followReferral(call, by: by, isLast: false))
        XCTAssertEqual(script.next().name, "202")
        script.answer(self.expectNotify(script, "100 Trying", "active;expires=240"), 200)
        script.answer(self.place(script, by), 486)
        XCTAssertEqual(script.next().name, "ACK")
        script.expect()
        script.input(.concludeReferral(call, .busyHere))
        script.answer(self.expectNotify(script, "486 Busy Here", "terminated;reason=noresource"), 200)
        script.input(.concludeReferral(call, .busyHere))
        script.expect()
        XCTAssertTrue(script.engine.referrals.isEmpty)
    }

    /// Whoever got our BYE may no longer know of a subscription.
    func testOutcomeIsToldAtOnceSoThatItComesBeforeTheBye() {
        let script = Script()
        let (call, by) = self.followed(script)
        script.outbox.removeFirst()
        let first = script.next()
        script.answer(self.place(script, by), 200, body: Script.description)
        XCTAssertEqual(script.next().name, "ACK")
        script.input(.hangUp(call, .normal))
        let last = self.expectNotify(script, "200 OK", "terminated;reason=noresource")
        let bye = script.next()
        XCTAssertEqual(bye.name, "BYE")
        for request in [first, bye, last] { script.answer(request, 200) }
        XCTAssertTrue(script.engine.referrals.isEmpty)
    }

    func testNotifysGoOnWhenTheReferrerHangsUpFirst() {
        let script = Script()
        let (_, by) = self.followed(script)
        script.outbox.removeFirst()
        script.answer(script.next(), 200)
        let invite = self.place(script, by)
        script.receive(script.within("BYE", number: 3, branch: "bye"))
        script.expect("200")
        script.answer(invite, 200, body: Script.description)
        XCTAssertEqual(script.next().name, "ACK")
        let last = self.expectNotify(script, "200 OK", "terminated;reason=noresource")
        XCTAssertEqual(last.callID?.text, "c1")
        XCTAssertEqual(last.cseq?.number, 2)
        script.answer(last, 200)
        XCTAssertTrue(script.engine.referrals.isEmpty)
    }

    /// A BYE over a stream is said once more when nobody answers; NOTIFYs of the same dialog were sent meanwhile.
    func testByeThatIsSaidAgainCountsOnAfterTheNotifys() {
        let script = Script(.tcp)
        let (call, by) = self.followed(script)
        XCTAssertEqual(script.next().name, "202")
        script.answer(self.expectNotify(script, "100 Trying", "active;expires=240"), 200)
        let invite = self.place(script, by)
        script.input(.hangUp(call, .normal))
        let bye = script.next()
        script.pass(ms: 31_000)
        script.answer(invite, 180)
        let notify = script.next()
        XCTAssertEqual(notify.name, "NOTIFY")
        script.pass(ms: 1_000)
        let again = script.next()
        XCTAssertEqual([bye.name, again.name], ["BYE", "BYE"])
        XCTAssertGreaterThan(again.cseq?.number ?? 0, notify.cseq?.number ?? .max)
        script.answer(notify, 200)
        script.answer(invite, 486)
        XCTAssertEqual(script.next().name, "ACK")
        let last = script.next()
        XCTAssertEqual(last.name, "NOTIFY")
        XCTAssertGreaterThan(last.cseq?.number ?? 0, again.cseq?.number ?? .max)
    }

    func testPeerThatKnowsNothingOfItIsToldNoMore() {
        for code in [481, 408, 489] {
            let script = Script()
            let (_, by) = self.followed(script)
            script.outbox.removeFirst()
            script.answer(script.next(), code)
            XCTAssertTrue(script.engine.referrals.isEmpty)
            script.answer(self.place(script, by), 180)
            script.expect()
        }
    }

    func testWithoutASubscriptionNothingIsTold() {
        let script = Script()
        let (_, by) = self.followed(script, headers: "Refer-Sub: false\r\nRequire: norefersub\r\n")
        XCTAssertEqual(script.expect("202")[0].first(.referSub), "false")
        XCTAssertTrue(script.engine.referrals.isEmpty)
        script.answer(self.place(script, by), 180)
        script.expect()
    }

    func testSecondReferralInACallIsNamedByItsNumber() {
        let script = Script()
        let (call, by) = self.followed(script)
        self.refer(script, number: 3, branch: "r3")
        script.outbox.removeFirst(2)
        script.expect("491")
        let invite = self.place(script, by)
        script.answer(invite, 404)
        _ = script.next()
        script.pass(ms: 40_000)
        script.outbox = []
        XCTAssertTrue(script.engine.referrals.isEmpty, "nobody answered the NOTIFY")
        self.refer(script, number: 4, branch: "r4")
        script.input(.followReferral(call, by: script.engine.newHandle()))
        XCTAssertEqual(script.next().name, "202")
        _ = self.expectNotify(script, "100 Trying", "active;expires=240", event: "refer;id=4")
    }

    // MARK: - What goes into the new INVITE

    private func headers(_ target: String, _ more: String = "") -> [String]? {
        let script = Script()
        _ = script.connectedIncoming()
        self.refer(script, to: "Refer-To: \(target)\r\n", headers: more)
        guard case .referred(let referral)? = script.events.last?.event else {
            XCTAssertEqual(script.outbox.map { $0.message.name }, ["400"], target)
            return nil
        }
        XCTAssertEqual(referral.target.printed, "sip:b@192.0.2.3")
        return referral.headers.map { ($0.name.token + ": " + $0.value).string }
    }

    func testReplacesIsUnescapedAndRequired() {
        XCTAssertEqual(
            self.headers("<sip:b@192.0.2.3?Replaces=a%40b%3Bfrom-tag%3D1%3Bto-tag%3D2>"),
            ["Replaces: a@b;to-tag=2;from-tag=1", "Require: replaces"])
        XCTAssertEqual(
            self.headers("\"B\" <sip:b@192.0.2.3;method=INVITE?replaces=a%3Bto-tag%3D2%3Bfrom-tag%3D1%3Bearly-only>"),
            ["Replaces: a;to-tag=2;from-tag=1;early-only", "Require: replaces"])
    }

    func testReferredByIsPassedOn() {
        XCTAssertEqual(
            self.headers("sip:b@192.0.2.3", "Referred-By: <sip:a@192.0.2.2>;cid=\"1\"\r\n"),
            ["Referred-By: <sip:a@192.0.2.2>;cid=\"1\""])
        XCTAssertEqual(self.headers("<sip:b@192.0.2.3>", "Referred-By: what is this\r\n"), [])
        XCTAssertEqual(
            self.headers("<sip:b@192.0.2.3>", "b: <sip:\(String(repeating: "a", count: 600))@192.0.2.2>\r\n"), [])
    }

    func testOtherHeadersOfTheAddressAreNotTaken() {
        XCTAssertEqual(
            self.headers("<sip:b@192.0.2.3?Via=x&Route=%3Csip:evil%3E&From=y&Call-ID=z&Subject=hi&body=a&Require=q>"),
            [])
    }

    func testHeadersCannotBeSmuggledIn() {
        XCTAssertNil(self.headers("<sip:b@192.0.2.3?Replaces=a%3Bto-tag%3D2%3Bfrom-tag%3D1%0D%0ARoute:%20%3Csip:x%3E>"))
        XCTAssertNil(self.headers("<sip:b@192.0.2.3?Replaces=a%00%3Bto-tag%3D2%3Bfrom-tag%3D1>"))
        XCTAssertNil(self.headers("<sip:b@192.0.2.3?Replaces=a>"))
        XCTAssertNil(self.headers("<sip:b@192.0.2.3?Replaces>"))
        let one = "Replaces=a%3Bto-tag%3D2%3Bfrom-tag%3D1"
        XCTAssertNil(self.headers("<sip:b@192.0.2.3?\(one)&\(one)>"))
    }

    // MARK: - Refusals

    func testFaultyAndUnwantedReferralsAreRefused() {
        let cases = [
            ("400", ""), ("400", "Refer-To: <sip:a@b>\r\nRefer-To: <sip:c@d>\r\n"),
            ("400", "r: <sip:a@b>, <sip:c@d>\r\n"),
            ("400", "Refer-To: <sip:>\r\n"), ("400", "Refer-To: sip:a@b?x=y\r\n"),
            ("400", "Refer-To: <sip:a@b>\r\nb: <sip:a@b>\r\nReferred-By: <sip:c@d>\r\n"),
            ("416", "Refer-To: <tel:+49123>\r\n"), ("416", "Refer-To: <http://a.example/>\r\n"),
            ("416", "Refer-To: <urn:service:sos>\r\n"), ("603", "Refer-To: <sip:a@b;method=BYE>\r\n"),
            ("420", "Refer-To: <sip:a@b>\r\nRequire: multiple-refer\r\n"),
        ]
        for (code, fields) in cases {
            let script = Script()
            _ = script.connectedIncoming()
            self.refer(script, to: fields)
            XCTAssertEqual(script.outbox.map { $0.message.name }, [code], fields)
            script.expectEvents()
        }
    }

    func testUserMayRefuse() {
        let script = Script()
        let call = script.connectedIncoming()
        self.refer(script)
        script.input(.refuseReferral(call, .decline))
        script.expect("603")
        script.input(.refuseReferral(call, .decline))
        script.input(.followReferral(call, by: script.engine.newHandle()))
        XCTAssertEqual(script.engine.counters[.lateOrder], 2)
        self.refer(script)
        script.expect("603")
    }

    func testNobodyDecides() {
        let script = Script()
        _ = script.connectedIncoming()
        self.refer(script)
        script.pass(ms: Limits.referralDecisionMs)
        script.expect("603")
        XCTAssertTrue(script.engine.referrals.isEmpty)
    }

    func testReferralThatWaitsIsAnsweredWhenTheCallEnds() {
        let script = Script()
        _ = script.connectedIncoming()
        self.refer(script)
        script.receive(script.within("BYE", number: 3, branch: "bye"))
        script.expect("200", "487")
        script.pass(ms: 32_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testOnlyACallThatStandsCanBeReferred() {
        let outside = Script()
        outside.receive(outside.stranger("REFER", headers: "Refer-To: <sip:a@b>\r\n"))
        outside.expect("603")
        let early = Script()
        early.receive(early.stranger())
        self.refer(early)
        early.expect("481")
        early.expectEvents("incoming")
    }

    func testSubscriptionEndsWhenTheNewCallTakesTooLong() {
        let script = Script()
        let (_, by) = self.followed(script)
        script.outbox.removeFirst()
        script.answer(script.next(), 200)
        let invite = self.place(script, by)
        script.pass(ms: 10_000)
        script.outbox = []
        script.answer(invite, 180)
        let ringing = self.expectNotify(script, "180 Ringing", "active;expires=230")
        script.answer(ringing, 200)
        script.pass(ms: Limits.referralSeconds * 1_000)
        let notify = script.outbox.map { $0.message }.last { $0.method == .notify }
        XCTAssertEqual(notify?.first(.subscriptionState), "terminated;reason=timeout")
    }

    func testNewCallThatIsNeverPlacedIsToldAsTooLate() {
        let script = Script()
        let (_, _) = self.followed(script)
        script.outbox.removeFirst()
        script.answer(script.next(), 200)
        script.pass(ms: Limits.referralSeconds * 1_000)
        script.answer(self.expectNotify(script, "100 Trying", "terminated;reason=timeout"), 200)
        XCTAssertTrue(script.engine.referrals.isEmpty)
    }

    // MARK: - Subscriptions that are none

    func testNotifyAndSubscribeOfThePeers() {
        let script = Script()
        _ = script.connectedIncoming()
        let state = "Event: refer\r\nSubscription-State: active\r\n"
        script.receive(script.within("NOTIFY", number: 2, branch: "n", headers: state))
        script.receive(script.within("SUBSCRIBE", number: 3, branch: "s", headers: "Event: refer\r\n"))
        script.receive(script.stranger("NOTIFY", callID: "c9", branch: "n9", headers: state))
        script.receive(script.stranger("SUBSCRIBE", callID: "c8", branch: "n8", headers: "Event: dialog\r\n"))
        script.expect("481", "405", "481", "405")
        XCTAssertEqual(script.engine.callCount, 1)
    }
}
