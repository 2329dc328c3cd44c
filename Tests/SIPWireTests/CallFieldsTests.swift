// SPDX-License-Identifier: Apache-2.0

import Bytes
import SIPWire
import XCTest

/// The fields that PRACK, session timers, transfers, subscriptions and identities brought.
final class CallFieldsTests: XCTestCase {
    private func message(_ headers: (HeaderName, ByteString)...) -> SIPMessage {
        SIPMessage(startLine: .response(.ok, reason: ""), headers: headers.map { Header($0.0, $0.1) })
    }

    func testRSeqAndRAckTakeTheirRangeAndNoMore() {
        XCTAssertEqual(RSeq("1")?.number, 1)
        XCTAssertEqual(RSeq("4294967295")?.number, 4_294_967_295)
        for value in ["", "0", "-1", "4294967296", "1 2", "1;x"] {
            XCTAssertNil(RSeq(ByteString(utf8Of: value)), value)
        }
        XCTAssertEqual(RAck("776656 \t 1 INVITE"), RAck(RSeq(776_656), CSeq(1, .invite)))
        XCTAssertEqual(RAck(RSeq(3), CSeq(2, .invite)).printed, "3 2 INVITE")
        for value in ["", "1", "1 2", "0 1 INVITE", "1 4294967296 INVITE", "1INVITE", "1 1 IN VITE", "1,1 INVITE"] {
            XCTAssertNil(RAck(ByteString(utf8Of: value)), value)
        }
        XCTAssertEqual(self.message((.rseq, "7")).rseq?.number, 7)
        XCTAssertNil(self.message((.rseq, "7"), (.rseq, "8")).rseq, "two of them say nothing")
        XCTAssertEqual(self.message((.rack, "7 1 INVITE")).rack?.rseq, RSeq(7))
    }

    func testSessionExpiresKeepsWhoRefreshes() {
        XCTAssertEqual(SessionExpires("1800"), SessionExpires(seconds: 1_800))
        XCTAssertEqual(
            SessionExpires("90 ; x=\"y\" ;Refresher=UAS"), SessionExpires(seconds: 90, refresher: .uas))
        XCTAssertEqual(SessionExpires("0;refresher=nobody"), SessionExpires(seconds: 0))
        for value in ["", "x", "4294967296", "-1", "90;", "90 seconds"] {
            XCTAssertNil(SessionExpires(ByteString(utf8Of: value)), value)
        }
        XCTAssertEqual(SessionExpires(seconds: 90, refresher: .uac).printed, "90;refresher=uac")
        XCTAssertEqual(HeaderName("x"), .sessionExpires)
        XCTAssertEqual(self.message((.minSE, "120;note=1")).minSESeconds, 120)
        XCTAssertNil(self.message((.minSE, "4294967296")).minSESeconds)
    }

    func testReplacesNeedsEachTagOnce() throws {
        let replaces = try XCTUnwrap(Replaces("98732@sip.example.com;from-tag=r33th4x0r;To-Tag=ff87ff;early-only"))
        XCTAssertEqual(replaces.callID.text, "98732@sip.example.com")
        XCTAssertEqual([replaces.toTag, replaces.fromTag], ["ff87ff", "r33th4x0r"])
        XCTAssertTrue(replaces.isEarlyOnly)
        XCTAssertEqual(Replaces(replaces.printed), replaces)
        XCTAssertEqual(Replaces("a;to-tag=0;from-tag=0")?.isEarlyOnly, false)
        for value in [
            "", "a", "a;to-tag=1", "a;from-tag=1", "a;to-tag;from-tag=1", "a;to-tag=1;to-tag=1;from-tag=1",
            ";to-tag=1;from-tag=2", "a b;to-tag=1;from-tag=2", "a@b@c;to-tag=1;from-tag=2",
        ] {
            XCTAssertNil(Replaces(ByteString(utf8Of: value)), value)
        }
    }

    func testAReferToGivesItsTargetAndWhatItsURIReplaces() throws {
        let header: ByteString =
            "<sip:b@h?Replaces=98732%40h%3Bto-tag%3D1%3Bfrom-tag%3D2&Require=replaces>;method=INVITE"
        let target = try XCTUnwrap(self.message((.referTo, header)).referTo)
        let uri = try XCTUnwrap(target.uri.sip)
        XCTAssertEqual(uri.header("replaces"), "98732@h;to-tag=1;from-tag=2")
        XCTAssertEqual(uri.header("replaces").flatMap { Replaces($0) }?.toTag, "1")
        XCTAssertEqual(target.parameters.value("method"), "INVITE")
        XCTAssertNil(uri.header("Subject"))
        XCTAssertNil(SIPURI("sip:b@h?Subject=a%0D%0AVia:x")?.header("subject"), "no field gets a line end from a URI")
        XCTAssertNil(self.message((.referTo, "<sip:a@h>"), (.referTo, "<sip:b@h>")).referTo)
        XCTAssertNil(self.message((.referTo, "<sip:a@h>, <sip:b@h>")).referTo)
        XCTAssertEqual(HeaderName("r"), .referTo)
        XCTAssertEqual(HeaderName("B"), .referredBy)
        XCTAssertEqual(
            self.message((.referredBy, "<sip:r@h>;cid=\"2@h\"")).referredBy?.parameters.text(of: "cid"), "2@h")
    }

    func testReferSubIsTrueFalseOrNothing() {
        XCTAssertEqual(self.message((.referSub, "False")).referSub, false)
        XCTAssertEqual(self.message((.referSub, "true;x=y")).referSub, true)
        for value: ByteString in ["", "no", "false;", "false true"] {
            XCTAssertNil(self.message((.referSub, value)).referSub, value.string)
        }
        XCTAssertNil(self.message().referSub)
    }

    func testEventsAreComparedByPackageAndId() {
        XCTAssertEqual(Event("refer;id=93809824"), Event(package: "refer", id: "93809824"))
        XCTAssertEqual(Event("presence.winfo ;x=1"), Event(package: "presence.winfo"))
        XCTAssertNotEqual(Event("refer"), Event("refer;id=1"))
        XCTAssertEqual(Event(package: "refer", id: "2").printed, "refer;id=2")
        for value in ["", ";id=1", "a b", "refer;"] { XCTAssertNil(Event(ByteString(utf8Of: value)), value) }
        XCTAssertEqual(HeaderName("o"), .event)
    }

    func testSubscriptionStatesAreReadAndPrinted() {
        XCTAssertEqual(
            SubscriptionState("active;expires=60"), SubscriptionState(.active, expiresSeconds: 60))
        XCTAssertEqual(
            SubscriptionState("Terminated;reason=noresource"), SubscriptionState(.terminated, reason: "noresource"))
        XCTAssertEqual(SubscriptionState("pending;expires=99999999999")?.expiresSeconds, nil)
        XCTAssertEqual(SubscriptionState("terminated;reason=probation;retry-after=9")?.retryAfterSeconds, 9)
        XCTAssertEqual(SubscriptionState("odd")?.state, .other("odd"))
        for value in ["active;expires=60", "terminated;reason=probation;retry-after=9", "odd"] {
            let text = ByteString(utf8Of: value)
            XCTAssertEqual(SubscriptionState(text)?.printed, text)
        }
        for value in ["", ";expires=1", "active;", "a b"] {
            XCTAssertNil(SubscriptionState(ByteString(utf8Of: value)), value)
        }
    }

    func testIdentitiesThatCannotBeReadCostOnlyThemselves() {
        let message = self.message(
            (.pAssertedIdentity, "\"Cullen, J\" <sip:fluffy@example.com>, tel:+14085264000"),
            (.pAssertedIdentity, "<"), (.remotePartyID, "<sip:a@h>;party=called;screen=yes"))
        XCTAssertEqual(message.assertedIdentities.map { $0.displayName }, ["Cullen, J", ""])
        XCTAssertEqual(message.assertedIdentities.last?.uri, .other("tel:+14085264000"))
        XCTAssertEqual(message.remotePartyIDs.first?.parameters.value("party"), "called")
        XCTAssertEqual(self.message().assertedIdentities, [])
    }

    func testInfoPackagesAreTokens() {
        XCTAssertEqual(self.message((.infoPackage, "foo;x=1")).infoPackage, "foo")
        XCTAssertNil(self.message((.infoPackage, "foo bar")).infoPackage)
        XCTAssertEqual(self.message((.recvInfo, "foo, bar"), (.recvInfo, "baz")).recvInfo, ["foo", "bar", "baz"])
        XCTAssertEqual(self.message((.recvInfo, "")).recvInfo, [])
        XCTAssertNil(self.message().recvInfo)
    }

    func testAnswerModesAskForAutomaticAnswerOnlyInSoManyWords() {
        XCTAssertEqual(AnswerMode("auto ;Require"), AnswerMode(isAutomatic: true, isRequired: true))
        XCTAssertEqual(AnswerMode("Manual"), AnswerMode(isAutomatic: false))
        XCTAssertEqual(AnswerMode("automatic")?.isAutomatic, false)
        XCTAssertNil(AnswerMode(""))
        XCTAssertEqual(AnswerMode(isAutomatic: true, isRequired: true).printed, "Auto;require")
        let both = self.message((.answerMode, "Manual"), (.privAnswerMode, "Auto"))
        XCTAssertEqual(both.answerMode?.isAutomatic, true)
        XCTAssertNil(self.message().answerMode)
    }

    func testWarningsAreReadAndPrinted() {
        let warning = Warning("307 isi.edu:5060 \"parameter 'foo' \\\"bad\\\"\"")
        XCTAssertEqual(warning, Warning(307, agent: "isi.edu:5060", text: "parameter 'foo' \"bad\""))
        XCTAssertEqual(warning.flatMap { Warning($0.printed) }, warning)
        for value in ["", "30 a \"b\"", "3070 a \"b\"", "307 \"b\"", "307 a b", "307 a \"b", "307 a \"b\" c"] {
            XCTAssertNil(Warning(ByteString(utf8Of: value)), value)
        }
        XCTAssertEqual(self.message((.warning, "301 a \"x\", 302 b \"y,z\"")).warnings.map { $0.code }, [301, 302])
    }
}
