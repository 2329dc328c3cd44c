// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Session timers: RFC 4028, as either refresher.
final class SessionTimerTests: XCTestCase {
    private func expires(_ value: ByteString, allow: ByteString? = nil) -> [(HeaderName, ByteString)] {
        [(.sessionExpires, value)] + (allow.map { [(HeaderName.allow, $0)] } ?? [])
    }

    private let updates: ByteString = "INVITE, ACK, BYE, CANCEL, UPDATE"

    // MARK: - As the caller

    func testInviteAsksForTheIntervalOfTheConfiguration() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        XCTAssertEqual(invite.sessionExpires, SessionExpires(seconds: 1800))
        XCTAssertTrue(invite.supported.contains("timer"))
        XCTAssertNil(invite.minSESeconds)
        var configuration = SIPConfiguration.standard
        configuration.sessionExpiresSeconds = 0
        let silent = Script(.udp, configuration)
        _ = silent.call()
        let other = silent.next()
        XCTAssertNil(other.sessionExpires)
        XCTAssertTrue(other.supported.contains("timer"))
    }

    func testAnswerWithoutAnIntervalMeansNoTimer() {
        let script = Script()
        _ = script.connected()
        script.pass(ms: 10_000_000)
        script.expect()
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testRefreshByUpdateAtHalfOfTheIntervalAgainAndAgain() {
        let script = Script()
        let (_, invite) = script.connected(headers: self.expires("1800;refresher=uac", allow: self.updates))
        for number in 2...4 {
            script.pass(ms: 899_999)
            script.expect()
            script.pass(ms: 1)
            let update = script.expect("UPDATE")[0]
            XCTAssertEqual(update.cseq, CSeq(UInt32(number), .update))
            XCTAssertEqual(update.sessionExpires, SessionExpires(seconds: 1800, refresher: .uac))
            XCTAssertEqual(update.body, [])
            XCTAssertEqual(update.callID, invite.callID)
            XCTAssertNotNil(update.contacts?.first)
            script.answer(update, 200, headers: self.expires("1800;refresher=uac"))
        }
        script.expectEvents()
    }

    func testRefreshByReinviteWithTheDescriptionThatStands() {
        let script = Script()
        _ = script.connected(headers: self.expires("1800;refresher=uac", allow: "INVITE, ACK, BYE"))
        script.pass(ms: 900_000)
        let reinvite = script.expect("INVITE")[0]
        XCTAssertEqual(reinvite.body, Array(Script.description.utf8))
        XCTAssertEqual(reinvite.sessionExpires, SessionExpires(seconds: 1800, refresher: .uac))
        script.answer(reinvite, 200, body: Script.description, headers: self.expires("1800;refresher=uac"))
        script.expect("ACK")
        script.expectEvents("changed")
        script.pass(ms: 900_000)
        script.expect("INVITE")
    }

    func testRefreshCarriesTheOfferThatWasTakenLast() {
        let script = Script()
        let (handle, _) = script.connected(headers: self.expires("90;refresher=uac", allow: "INVITE"))
        let held = Array("v=0\r\no=- 7 8 IN IP4 192.0.2.1\r\ns=held\r\n".utf8)
        script.input(.reoffer(handle, offer: held))
        script.answer(script.next(), 200, body: Script.description, headers: self.expires("90;refresher=uac"))
        script.input(.reoffer(handle, offer: [1]))
        script.answer(script.expect("ACK", "INVITE")[1], 488)
        script.expect("ACK")
        script.pass(ms: 45_000)
        XCTAssertEqual(script.expect("INVITE")[0].body, held)
    }

    /// Case 25: "Phone puts Session-Expires in 200 unasked".
    func testCase25IntervalInTheAnswerThatWeDidNotAskForIsKept() {
        var configuration = SIPConfiguration.standard
        configuration.sessionExpiresSeconds = 0
        let script = Script(.udp, configuration)
        _ = script.connected(headers: self.expires("90;refresher=uac", allow: self.updates))
        script.pass(ms: 45_000)
        script.expect("UPDATE")
    }

    func testAnswerThatNamesNobodyLeavesTheRefreshToUs() {
        let script = Script()
        _ = script.connected(headers: self.expires("90", allow: self.updates))
        script.pass(ms: 45_000)
        script.expect("UPDATE")
    }

    /// Case 23, seen from the other side: nobody refreshes.
    func testCase23PeerThatDoesNotRefreshIsLeftBeforeTheEnd() {
        for (seconds, endMs) in [("90", 60_000), ("1800", 1_768_000), ("2147483648", 1_999_968_000)] {
            let script = Script()
            _ = script.connected(headers: self.expires(ByteString(utf8Of: seconds + ";refresher=uas")))
            script.pass(ms: endMs - 1)
            script.expect()
            script.pass(ms: 1)
            let bye = script.expect("BYE")[0]
            XCTAssertEqual(bye.reasons.first?.cause, 408)
            script.expectEvents("ended timedOut")
            script.answer(bye, 200)
            script.pass(ms: 64_000)
            XCTAssertTrue(script.engine.isIdle)
        }
    }

    func testPeerThatRefreshesIsKept() {
        for method in ["UPDATE", "INVITE"] {
            let script = Script()
            let (handle, invite) = script.connected(headers: self.expires("90;refresher=uas"))
            for number in 5...9 {
                script.pass(ms: 45_000)
                script.receive(
                    script.inDialog(
                        method, of: invite, number: number, branch: "r\(number)",
                        body: method == "INVITE" ? Script.description : "",
                        headers: "Supported: timer\r\nSession-Expires: 90;refresher=uac\r\n"))
                if method == "INVITE" { script.input(.respond(handle, .ok, body: World.answer)) }
                let answer = script.expect("200")[0]
                XCTAssertEqual(answer.sessionExpires, SessionExpires(seconds: 90, refresher: .uac))
                XCTAssertTrue(answer.require.contains("timer"))
                script.receive(script.inDialog("ACK", of: invite, number: number, branch: "a\(number)"))
            }
            XCTAssertEqual(script.engine.callCount, 1)
            script.pass(ms: 60_000)
            script.expect("BYE")
        }
    }

    // MARK: - Refreshes that fail

    func testCase23RefreshWithoutAnyAnswerEndsTheCallWithBye() {
        let script = Script()
        _ = script.connected(headers: self.expires("180;refresher=uac", allow: self.updates))
        script.pass(ms: 90_000 + 32_000)
        XCTAssertEqual(script.outbox.map { $0.message.name }.filter { $0 != "UPDATE" }, ["BYE"])
        script.expectEvents("ended timedOut")
        script.pass(ms: 64_000)
        XCTAssertTrue(script.engine.isIdle)
    }

    func testCase23RefreshOfAShortSessionWithoutAnyAnswerEndsItBeforeItsEnd() {
        let script = Script()
        _ = script.connected(headers: self.expires("90;refresher=uac", allow: self.updates))
        script.pass(ms: 59_999)
        script.expectEvents()
        script.pass(ms: 1)
        script.expectEvents("ended timedOut")
        XCTAssertEqual(script.outbox.last?.message.name, "BYE")
    }

    func testRefreshThatSaysThatTheDialogIsGoneEndsIt() {
        for (code, end) in [(408, "timedOut"), (481, "remoteHangUp 481 ")] {
            let script = Script()
            _ = script.connected(headers: self.expires("90;refresher=uac", allow: self.updates))
            script.pass(ms: 45_000)
            script.answer(script.expect("UPDATE")[0], code)
            script.expect("BYE")
            script.expectEvents("ended \(end)")
        }
    }

    func testOtherRefusalOfARefreshIsTriedAgainWhileThereIsTime() {
        let script = Script()
        _ = script.connected(headers: self.expires("1800;refresher=uac", allow: self.updates))
        script.pass(ms: 900_000)
        for _ in 0..<3 {
            script.answer(script.expect("UPDATE")[0], 500)
            script.pass(ms: 225_000)
        }
        script.answer(script.expect("UPDATE")[0], 200, headers: self.expires("1800;refresher=uac"))
        script.pass(ms: 900_000)
        script.expect("UPDATE")
        script.expectEvents()
    }

    func testPeerThatDoesNotTakeUpdateAfterAllIsRefreshedByReinviteAtOnce() {
        for code in [405, 501] {
            let script = Script()
            _ = script.connected(headers: self.expires("90;refresher=uac", allow: self.updates))
            script.pass(ms: 45_000)
            script.answer(script.expect("UPDATE")[0], code)
            script.answer(
                script.expect("INVITE")[0], 200, body: Script.description, headers: self.expires("90;refresher=uac"))
            script.expect("ACK")
            script.pass(ms: 45_000)
            script.expect("INVITE")
        }
    }

    func testReinviteThatCollidesIsTriedOnceMore() {
        let script = Script()
        _ = script.connected(headers: self.expires("90;refresher=uac", allow: "INVITE"))
        script.pass(ms: 45_000)
        script.answer(script.expect("INVITE")[0], 491)
        script.expect("ACK")
        while script.outbox.isEmpty { script.pass(ms: 10) }
        script.answer(
            script.expect("INVITE")[0], 200, body: Script.description, headers: self.expires("90;refresher=uac"))
        script.expectEvents("changed")
    }

    func testTooShortAnIntervalIsRaisedForTheNextRefresh() {
        let script = Script()
        _ = script.connected(headers: self.expires("90;refresher=uac", allow: self.updates))
        script.pass(ms: 45_000)
        script.answer(script.expect("UPDATE")[0], 422, headers: [(.minSE, "300")])
        script.pass(ms: 11_250)
        let again = script.expect("UPDATE")[0]
        XCTAssertEqual(again.sessionExpires?.seconds, 300)
        XCTAssertEqual(again.minSESeconds, 300)
    }

    // MARK: - As the callee

    private func answer(_ headers: String, transport: SIPTransport = .udp) -> (script: Script, answer: SIPMessage) {
        let script = Script(transport)
        script.receive(script.stranger(headers: "Allow: INVITE, UPDATE\r\n" + headers))
        script.input(.respond(script.incoming(), .ok, body: World.answer))
        let answer = script.next()
        script.receive(script.acknowledge(answer))
        script.expectEvents("incoming", "confirmed")
        return (script, answer)
    }

    func testCallerThatCanRefreshesUnlessItWantsUsTo() {
        let cases: [(headers: String, refresher: SessionExpires.Refresher, isRequired: Bool)] = [
            ("Supported: timer\r\nSession-Expires: 120\r\n", .uac, true),
            ("Supported: timer\r\nSession-Expires: 120;refresher=uac\r\n", .uac, true),
            ("k: timer\r\nx: 120;refresher=uas\r\n", .uas, false),
            ("Session-Expires: 120\r\n", .uas, false),
            ("Session-Expires: 120;refresher=uac\r\n", .uas, false),
        ]
        for (headers, refresher, isRequired) in cases {
            let (script, answer) = self.answer(headers)
            XCTAssertEqual(answer.sessionExpires, SessionExpires(seconds: 120, refresher: refresher), headers)
            XCTAssertEqual(answer.require.contains("timer"), isRequired, headers)
            script.pass(ms: 60_000)
            XCTAssertEqual(script.outbox.map { $0.message.name }, refresher == .uas ? ["UPDATE"] : [], headers)
        }
    }

    func testCallerWithoutAnIntervalGetsNone() {
        let (script, answer) = self.answer("Supported: timer\r\n")
        XCTAssertNil(answer.sessionExpires)
        script.pass(ms: 4_000_000)
        script.expect()
    }

    func testTooShortAnIntervalIsRefusedWhereTheCallerUnderstandsThat() {
        let script = Script()
        script.receive(script.stranger(headers: "Supported: timer\r\nSession-Expires: 60\r\n"))
        XCTAssertEqual(script.expect("422")[0].minSESeconds, 90)
        XCTAssertEqual(script.engine.callCount, 0)
        let (_, answer) = self.answer("Session-Expires: 60\r\n")
        XCTAssertEqual(answer.sessionExpires, SessionExpires(seconds: 90, refresher: .uas))
    }

    func testTooShortAnIntervalInAReinviteIsRefusedAndTheCallGoesOn() {
        let (script, _) = self.answer("Supported: timer\r\nSession-Expires: 120\r\n")
        let short = "Supported: timer\r\nSession-Expires: 30\r\n"
        script.receive(script.within("INVITE", number: 2, branch: "r", body: Script.description, headers: short))
        script.receive(script.within("UPDATE", number: 3, branch: "u", headers: short))
        XCTAssertEqual(script.expect("422", "422").map { $0.minSESeconds }, [90, 90])
        script.expectEvents()
    }

    /// Case 22: "Old Asterisk flips refresher role in its re-INVITE".
    func testCase22RoleIsThatOfTheLastTransaction() {
        let script = Script()
        let (handle, invite) = script.connected(headers: self.expires("90;refresher=uas", allow: self.updates))
        script.pass(ms: 30_000)
        script.receive(
            script.inDialog(
                "INVITE", of: invite, number: 5, branch: "r1", body: Script.description,
                headers: "Supported: timer\r\nSession-Expires: 90;refresher=uas\r\n"))
        script.input(.respond(handle, .ok, body: World.answer))
        XCTAssertEqual(script.expect("200")[0].sessionExpires?.refresher, .uas)
        script.receive(script.inDialog("ACK", of: invite, number: 5, branch: "a1"))
        script.pass(ms: 45_000)
        let update = script.expect("UPDATE")[0]
        XCTAssertEqual(update.sessionExpires?.refresher, .uac)
        script.answer(update, 200, headers: self.expires("90;refresher=uas"))
        script.pass(ms: 59_000)
        script.expect()
        script.pass(ms: 1_000)
        script.expect("BYE")
    }

    func testRequestWithoutAnIntervalEndsTheTimer() {
        let (script, _) = self.answer("Supported: timer\r\nSession-Expires: 120\r\n")
        script.receive(script.within("UPDATE", number: 2, branch: "u"))
        XCTAssertNil(script.expect("200")[0].sessionExpires)
        script.pass(ms: 4_000_000)
        script.expect()
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testIntervalsOutOfRangeTrapNothing() {
        for value in ["0", "4294967295", "4294967296", "99999999999999999999", "-5", "x", ""] {
            let (script, _) = self.answer("Session-Expires: \(value)\r\nMin-SE: \(value)\r\n")
            XCTAssertEqual(script.engine.callCount, 1, value)
            let caller = Script()
            _ = caller.connected(headers: self.expires(ByteString(utf8Of: value)))
            XCTAssertEqual(caller.engine.callCount, 1, value)
        }
    }

    func testHangUpStopsTheTimer() {
        let script = Script()
        let (handle, _) = script.connected(headers: self.expires("90;refresher=uac", allow: self.updates))
        script.input(.hangUp(handle, .normal))
        script.answer(script.expect("BYE")[0], 200)
        script.pass(ms: 100_000)
        script.expect()
        XCTAssertTrue(script.engine.isIdle)
    }
}
