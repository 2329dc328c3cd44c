// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// UPDATE of the peer's: RFC 3311, in early dialogs and in those that stand.
final class UpdateTests: XCTestCase {
    private let reliable: [(HeaderName, ByteString)] = [(.require, "100rel"), (.rseq, "1")]
    private static let changed = Script.description + "a=changed\r\n"

    /// A call of ours whose offer a reliable 183 answered.
    private func early(_ script: Script) -> (handle: CallHandle, invite: SIPMessage) {
        let handle = script.call()
        let invite = script.next()
        script.answer(invite, 183, body: Script.description, headers: self.reliable)
        script.answer(script.expect("PRACK")[0], 200)
        script.expectEvents("earlyMedia 183")
        return (handle, invite)
    }

    private func update(_ script: Script, _ invite: SIPMessage, _ number: Int = 1) -> String {
        script.inDialog("UPDATE", of: invite, number: number, branch: "u\(number)", body: Self.changed)
    }

    func testOfferInAnEarlyDialogIsToldAndAnsweredOnceOursIs() {
        let script = Script()
        let (handle, invite) = self.early(script)
        script.receive(self.update(script, invite))
        script.expectEvents("reoffered")
        script.answer(invite, 180)
        script.expectEvents("ringing 180")
        script.input(.respond(handle, .ok, body: World.answer))
        let answer = script.expect("200")[0]
        XCTAssertEqual(answer.body, World.answer)
        XCTAssertNil(answer.sessionExpires)
        script.answer(invite, 200)
        script.expect("ACK")
        guard case .answered(let description)? = script.events.last?.event else { return XCTFail("not answered") }
        XCTAssertEqual(description, Array(Self.changed.utf8), "what the peer offered last stands")
    }

    func testRefreshAfterAnEarlyUpdateCarriesWhatWasAnsweredThere() {
        let script = Script()
        let (handle, invite) = self.early(script)
        script.receive(self.update(script, invite))
        script.input(.respond(handle, .ok, body: World.answer))
        script.answer(
            invite, 200, headers: [(.sessionExpires, "90;refresher=uac"), (.allow, "INVITE, BYE")])
        script.expect("200", "ACK")
        script.pass(ms: 45_000)
        XCTAssertEqual(script.expect("INVITE")[0].body, World.answer)
    }

    func testRefusedOfferInAnEarlyDialogChangesNothing() {
        let script = Script()
        let (handle, invite) = self.early(script)
        script.receive(self.update(script, invite))
        script.input(.respond(handle, .notAcceptableHere, body: []))
        script.expect("488")
        script.answer(invite, 200)
        script.expect("ACK")
        guard case .answered(let description)? = script.events.last?.event else { return XCTFail("not answered") }
        XCTAssertEqual(description, Array(Script.description.utf8))
    }

    func testOfferBeforeOursWasAnsweredGets491() {
        let script = Script()
        _ = script.call()
        let invite = script.next()
        script.answer(invite, 183, body: Script.description)
        script.receive(self.update(script, invite))
        script.expect("491")
        script.expectEvents("earlyMedia 183")
    }

    func testSecondOfferWhileOneWaitsGets500WithRetryAfter() {
        let script = Script()
        let (_, invite) = self.early(script)
        script.receive(self.update(script, invite))
        script.receive(self.update(script, invite, 2))
        XCTAssertNotNil(script.expect("500")[0].retryAfter)
        script.expectEvents("reoffered")
    }

    func testAnswerOvertakesAnEarlyOffer() {
        let script = Script()
        let (handle, invite) = self.early(script)
        script.receive(self.update(script, invite))
        script.answer(invite, 200)
        script.expect("ACK", "500")
        script.input(.respond(handle, .ok, body: World.answer))
        script.expect()
        script.expectEvents("reoffered", "answered")
    }

    func testEndOfTheCallRefusesAnEarlyOffer() {
        let hungUp = Script()
        let (handle, invite) = self.early(hungUp)
        hungUp.receive(self.update(hungUp, invite))
        hungUp.input(.hangUp(handle, .normal))
        hungUp.expect("487", "CANCEL")
        let refused = Script()
        let (_, other) = self.early(refused)
        refused.receive(self.update(refused, other))
        refused.answer(other, 486)
        refused.expect("ACK", "487")
        refused.expectEvents("reoffered", "ended refused 486 Busy Here")
        let left = Script()
        let (_, last) = self.early(left)
        left.receive(self.update(left, last))
        left.receive(left.inDialog("BYE", of: last, number: 2, branch: "bye"))
        left.expect("200", "487", "CANCEL")
    }

    /// After 64*T1 the peer has given its UPDATE up: nothing is answered (RFC 4320), and the next one is taken.
    func testEarlyOfferThatNobodyDecidesIsForgottenAndTheCallGoesOn() {
        let script = Script()
        let (_, invite) = self.early(script)
        script.receive(self.update(script, invite))
        script.pass(ms: 32_000)
        script.expect()
        script.receive(self.update(script, invite, 2))
        script.expectEvents("reoffered", "reoffered")
    }

    // MARK: - As the callee

    func testOfferBeforeWeAnsweredTheFirstGets500() {
        let script = Script()
        script.receive(script.stranger())
        script.input(.respond(script.incoming(), .ringing, body: []))
        script.receive(script.within("UPDATE", number: 2, branch: "u1", body: Script.description))
        XCTAssertNotNil(script.expect("180", "500")[1].retryAfter)
        script.receive(script.within("UPDATE", number: 3, branch: "u2"))
        script.expect("200")
    }

    func testOfferInASessionWithoutOffersOpenIsAnswered() {
        let script = Script()
        let handle = script.connectedIncoming()
        script.receive(script.within("UPDATE", number: 2, branch: "u1", body: Script.description))
        script.expectEvents("reoffered")
        script.input(.respond(handle, .ok, body: World.answer))
        let answer = script.expect("200")[0]
        XCTAssertEqual(answer.body, World.answer)
        XCTAssertEqual(answer.contacts?.count, 1)
        script.pass(ms: 5_000)
        script.expect()
    }

    func testBodyThatIsNoDescriptionGets415() {
        let script = Script()
        _ = script.connectedIncoming()
        script.receive(script.within("UPDATE", number: 2, branch: "u1", body: "x", type: "text/plain"))
        script.expect("415")
    }
}
