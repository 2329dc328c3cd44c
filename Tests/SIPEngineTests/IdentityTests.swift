// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// Who the far end is now: RFC 4916, P-Asserted-Identity, Remote-Party-ID.
final class IdentityTests: XCTestCase {
    private static let asserted = HeaderName.pAssertedIdentity

    func testIdentityInTheAnswerIsToldOnce() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        XCTAssertTrue(invite.supported.contains("from-change"))
        let headers: [(HeaderName, ByteString)] = [
            (Self.asserted, "\"Night desk\" <sip:+4930@192.0.2.2>"), (Self.asserted, "<tel:+4930>"),
        ]
        script.answer(invite, 200, body: Script.description, headers: headers)
        script.expectEvents("answered", "identified \"Night desk\" <sip:+4930@192.0.2.2>")
        script.receive(
            script.inDialog(
                "UPDATE", of: invite, number: 1, branch: "u1",
                headers: "P-Asserted-Identity: \"Night desk\" <sip:+4930@192.0.2.2>\r\n"))
        script.expectEvents()
    }

    func testWhoWasCalledIsNoNews() {
        let script = Script()
        _ = script.call()
        script.answer(
            script.next(), 200, body: Script.description, headers: [(Self.asserted, "<sip:desk@192.0.2.2>")])
        script.expectEvents("answered")
    }

    func testRemotePartyIDCountsWhereNothingIsAsserted() {
        let script = Script()
        let (_, invite) = script.connected()
        script.receive(
            script.inDialog(
                "UPDATE", of: invite, number: 1, branch: "u1",
                headers: "Remote-Party-ID: \"Ann\" <sip:ann@192.0.2.2>;party=called;privacy=off\r\n"))
        script.expectEvents("identified \"Ann\" <sip:ann@192.0.2.2>")
    }

    private func renamed(_ request: String, _ from: String) -> String {
        request.split(separator: "\r\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("From: ") ? "From: " + from : String($0) }.joined(separator: "\r\n")
    }

    func testChangedFromIsToldAndBecomesOurToWhereBothSaidSo() {
        for agreed in [true, false] {
            let script = Script()
            let (handle, invite) = script.connected(headers: agreed ? [(.supported, "timer, From-Change")] : [])
            let update = script.inDialog("UPDATE", of: invite, number: 1, branch: "u1")
            script.receive(self.renamed(update, "\"Ann\" <sip:ann@192.0.2.2>;tag=there"))
            script.expect("200")
            script.expectEvents("identified \"Ann\" <sip:ann@192.0.2.2>")
            script.receive(
                self.renamed(
                    script.inDialog("INVITE", of: invite, number: 2, branch: "r1", body: Script.description),
                    "\"Ann\" <sip:ann@192.0.2.2>;tag=there"))
            script.expectEvents("reoffered")
            script.input(.hangUp(handle, .normal))
            let bye = script.expect("487", "BYE")[1]
            XCTAssertEqual(bye.to?.uri.printed, agreed ? "sip:ann@192.0.2.2" : "sip:desk@192.0.2.2")
            XCTAssertEqual(bye.to?.tag, "there")
            XCTAssertEqual(bye.from, invite.from)
        }
    }

    func testChangedCallerIsTold() {
        let script = Script()
        _ = script.connectedIncoming()
        let update = script.within("UPDATE", number: 2, branch: "u1")
        script.receive(self.renamed(update, "<sip:other@192.0.2.2>;tag=f1"))
        script.expectEvents("identified <sip:other@192.0.2.2>")
    }

    func testIdentityInARefusedChangeIsNotTold() {
        let script = Script()
        let (handle, invite) = script.connected()
        script.input(.reoffer(handle, offer: World.offer))
        script.expect("INVITE")
        let reinvite = script.inDialog("INVITE", of: invite, number: 1, branch: "r1", body: Script.description)
        script.receive(self.renamed(reinvite, "<sip:ann@192.0.2.2>;tag=there"))
        script.expect("491")
        script.expectEvents()
    }

    func testFaultyIdentitiesAreLeftOut() {
        let script = Script()
        let (_, invite) = script.connected()
        script.receive(
            script.inDialog(
                "UPDATE", of: invite, number: 1, branch: "u1",
                headers: "P-Asserted-Identity: <<>>, ,\r\nRemote-Party-ID: \r\n"))
        script.expect("200")
        script.expectEvents()
    }
}
