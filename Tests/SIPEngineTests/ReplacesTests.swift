// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import SIPEngine

/// A call that takes another's place: RFC 3891, as its target.
final class ReplacesTests: XCTestCase {
    /// An INVITE of a third party's that wants to take the place of a dialog.
    private func takeover(
        _ script: Script, _ callID: ByteString, ours: ByteString, theirs: ByteString, suffix: String = "",
        required: Bool = true, again: String = ""
    ) -> String {
        let value = "\(callID.string);to-tag=\(ours.string);from-tag=\(theirs.string)\(suffix)"
        let require = required ? "Require: replaces\r\n" : ""
        return script.stranger(
            callID: "new", branch: "new", tag: "third", headers: "Replaces: \(value)\r\n\(again)\(require)")
    }

    private func takeover(_ script: Script, of invite: SIPMessage, suffix: String = "") -> String {
        self.takeover(
            script, invite.callID!.text, ours: invite.from!.tag!, theirs: "there", suffix: suffix)
    }

    private func incomingCall(_ script: Script) -> IncomingCall? {
        guard case .incoming(let call)? = script.events.last?.event else { return nil }
        return call
    }

    func testCallThatStandsIsReplacedOnceTheNewOneIsAnswered() {
        let script = Script()
        let (old, invite) = script.connected()
        script.receive(self.takeover(script, of: invite))
        XCTAssertEqual(self.incomingCall(script)?.replaces, old)
        let new = script.incoming()
        script.input(.respond(new, .ringing, body: []))
        script.expect("180")
        XCTAssertEqual(script.engine.callCount, 2)
        script.events = []
        script.input(.respond(new, .ok, body: World.answer))
        let sent = script.expect("200", "BYE")
        XCTAssertEqual(sent[1].callID, invite.callID)
        XCTAssertEqual(script.events.map { $0.handle }, [old])
        script.expectEvents("ended replaced")
        script.answer(sent[1], 200)
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testNewCallThatIsRefusedLeavesTheOldOneStanding() {
        let script = Script()
        let (_, invite) = script.connected()
        script.receive(self.takeover(script, of: invite))
        script.input(.respond(script.incoming(), .busyHere, body: []))
        script.expect("486")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testCallThatCameInIsReplacedToo() {
        let script = Script()
        let old = script.connectedIncoming()
        let tag = script.engine.calls[0].localTag
        script.receive(self.takeover(script, "c1", ours: tag, theirs: "f1"))
        XCTAssertEqual(self.incomingCall(script)?.replaces, old)
    }

    func testCallOfOursThatRingsIsCancelledOnceTheNewOneIsAnswered() {
        let script = Script()
        let old = script.call()
        let invite = script.next()
        script.answer(invite, 180)
        script.receive(self.takeover(script, of: invite, suffix: ";early-only"))
        XCTAssertEqual(self.incomingCall(script)?.replaces, old)
        script.input(.respond(script.incoming(), .ok, body: World.answer))
        let cancel = script.expect("200", "CANCEL")[1]
        script.answer(cancel, 200)
        script.answer(invite, 487)
        XCTAssertEqual(script.events.last?.handle, old)
        XCTAssertEqual(script.events.last?.event.name, "ended replaced")
    }

    func testWhatMatchesNothingGets481() {
        let script = Script()
        let (_, invite) = script.connected()
        let callID = invite.callID!.text
        let ours = invite.from!.tag!
        for text in [
            self.takeover(script, "other", ours: ours, theirs: "there"),
            self.takeover(script, callID, ours: "other", theirs: "there"),
            self.takeover(script, callID, ours: ours, theirs: "other"),
            self.takeover(script, callID, ours: "there", theirs: ours),
            self.takeover(script, callID, ours: ours, theirs: "0"),
        ] {
            script.receive(text)
            script.expect("481")
        }
        script.expectEvents()
    }

    func testCallThatRingsHereIsNotReplaced() {
        let script = Script()
        script.receive(script.stranger())
        let tag = script.engine.calls[0].localTag
        script.receive(self.takeover(script, "c1", ours: tag, theirs: "f1"))
        script.expect("481")
    }

    func testEarlyOnlyForACallThatStandsGets486() {
        let script = Script()
        let (_, invite) = script.connected()
        script.receive(self.takeover(script, of: invite, suffix: ";early-only"))
        script.expect("486")
    }

    func testCallThatIsEndingGets603() {
        let script = Script()
        let (handle, invite) = script.connected()
        script.input(.hangUp(handle, .normal))
        script.receive(self.takeover(script, of: invite))
        script.expect("BYE", "603")
    }

    func testFaultyFieldGets400() {
        let script = Script()
        let (_, invite) = script.connected()
        let callID = invite.callID!.text
        let ours = invite.from!.tag!
        script.receive(
            self.takeover(script, callID, ours: ours, theirs: "there", again: "Replaces: a;to-tag=b;from-tag=c\r\n"))
        script.receive(script.stranger(callID: "n2", branch: "n2", headers: "Replaces: a;to-tag=b\r\n"))
        script.receive(script.stranger(callID: "n3", branch: "n3", headers: "Replaces: \r\n"))
        script.expect("400", "400", "400")
    }

    func testCallThatEndsMeanwhileMakesTheNewOneAnOrdinaryCall() {
        let script = Script()
        let (_, invite) = script.connected()
        script.receive(self.takeover(script, of: invite))
        let new = script.incoming()
        script.receive(script.inDialog("BYE", of: invite, number: 3, branch: "bye"))
        script.expect("200")
        script.input(.respond(new, .ok, body: World.answer))
        script.expect("200")
        XCTAssertEqual(script.engine.callCount, 1)
    }

    func testCallWhoseAckIsMissingIsLeftAsSoonAsItMayBe() {
        let script = Script()
        script.receive(script.stranger())
        let old = script.incoming()
        script.input(.respond(old, .ok, body: World.answer))
        let answer = script.next()
        let tag = script.engine.calls[0].localTag
        script.receive(self.takeover(script, "c1", ours: tag, theirs: "f1"))
        script.input(.respond(script.incoming(), .ok, body: World.answer))
        script.expect("200")
        script.events = []
        script.receive(script.acknowledge(answer))
        script.answer(script.expect("BYE")[0], 200)
        script.expectEvents("ended replaced")
    }
}
