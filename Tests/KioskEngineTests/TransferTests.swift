// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire
import XCTest

@testable import KioskEngine
@testable import SIPEngine

/// The far end hands the person over to somebody else.
final class TransferTests: XCTestCase {
    private let bye = CallEvent.ended(.remoteHangUp(cause: nil, q850: nil, text: ""))

    private func referral(_ uri: String = "sip:next@far", headers: [Header] = []) -> CallEvent {
        guard let target = SIPURI(ByteString(utf8Of: uri)) else { preconditionFailure("written by hand") }
        return .referred(Referral(target: target, headers: headers))
    }

    /// In a call whose far end has asked us to call somebody else, who is being called.
    private func transferring(_ settings: String = "") -> (Scene, former: CallHandle, successor: CallHandle) {
        let scene = Scene.inCall(settings)
        scene.forget()
        let former = scene.handle
        scene.sipTells(self.referral(), of: former)
        return (scene, former, scene.kiosk.machine.state.transferHandle ?? CallHandle(number: 0))
    }

    private func transferStates(_ scene: Scene) -> [String] {
        scene.events("transfer").compactMap { $0["state"] as? String }
    }

    func testTheCallGoesOnUntilTheOtherIsAnsweredThenItsMediaTakeOver() {
        let (scene, former, successor) = self.transferring()
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INVITE") }, ["INVITE sip:next@far SIP/2.0"])
        XCTAssertEqual(scene.state, "transferring")
        XCTAssertEqual(scene.orderNames, [], "the far end is heard meanwhile")
        XCTAssertEqual(scene.screen?.detail, "Please wait")
        scene.farAnswers(.ringing)
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.handle, successor)
        XCTAssertNotEqual(former, successor)
        XCTAssertEqual(scene.orderNames, ["stop", "mute false", "sendVideo true", "start"])
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("BYE") }.count, 1, "the former far end is told goodbye")
        XCTAssertEqual(self.transferStates(scene), ["trying", "done"])
        XCTAssertEqual(scene.events("call").last?["uri"] as? String, "sip:next@far")
        scene.pass(1_000)
        XCTAssertEqual(scene.state, "connected")
        scene.press(.hook)
        XCTAssertEqual(scene.endReason, "hangup")
    }

    /// The whole way of an attended transfer on the wire.
    func testAReferIsAcceptedFollowedAndItsProgressTold() {
        let scene = Scene.inCall()
        scene.forget()
        scene.farRefers(
            to: "<sip:next@far?Replaces=abc%3Bto-tag%3D1%3Bfrom-tag%3D2>", headers: ["Referred-By: <sip:far@far>"])
        XCTAssertTrue(scene.sent.contains("SIP/2.0 202 Accepted"), "\(scene.sent)")
        XCTAssertTrue(scene.sent.contains { $0.hasPrefix("NOTIFY ") })
        XCTAssertTrue(scene.sent.contains("INVITE sip:next@far SIP/2.0"))
        XCTAssertEqual(self.transferStates(scene).first, "trying")
        let busy = Scene.inCall("transfer = refuse")
        busy.forget()
        busy.farRefers(to: "<sip:next@far>")
        XCTAssertEqual(busy.sent, ["SIP/2.0 603 Decline"])
    }

    func testWhatGoesIntoTheInviteBesideTheAddressIsTaken() {
        let scene = Scene.inCall()
        scene.forget()
        let headers = [Header(.other("Replaces"), "abc;to-tag=1;from-tag=2"), Header(.require, "replaces")]
        scene.sipTells(self.referral(headers: headers), of: scene.handle)
        let invite = scene.outputs.compactMap { output -> String? in
            guard case .send(let bytes, _) = output else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }.first { $0.hasPrefix("INVITE") }
        XCTAssertTrue(invite?.contains("Replaces: abc;to-tag=1;from-tag=2\r\n") ?? false, invite ?? "")
        XCTAssertTrue(invite?.contains("Require: replaces\r\n") ?? false)
    }

    func testWhereTheOtherDoesNotWantToTheCallGoesOn() {
        let (scene, former, successor) = self.transferring()
        scene.sipTells(.ended(.refused(.busyHere, phrase: "", q850: nil)), of: successor)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.handle, former)
        XCTAssertEqual(self.transferStates(scene), ["trying", "failed"])
        XCTAssertEqual(scene.events("transfer").last?["code"] as? Int, 486)
        XCTAssertEqual(scene.screen?.detail, "")
        XCTAssertEqual(scene.orderNames, [])
        XCTAssertEqual(scene.callStates, [])
    }

    func testWhereTheOtherOnlyRingsItIsGivenUpAndTheCallGoesOn() {
        let (scene, former, _) = self.transferring()
        scene.farAnswers(.ringing)
        scene.pass(60_100)
        XCTAssertEqual(scene.handle, former)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.farEnd(of: scene.atFar), .cancelled)
        XCTAssertEqual(scene.events("transfer").last?["reason"] as? String, "not-answered")
    }

    /// In a call whose far end names somebody whose name has a first address where nobody is.
    private func transferringToTwo() -> Scene {
        let scene = Scene.inCall()
        scene.addresses = [.v4(0x0A00_0008), Scene.farAddress.address]
        scene.dead = [.v4(0x0A00_0008)]
        scene.forget()
        scene.sipTells(self.referral("sip:next@elsewhere"), of: scene.handle)
        return scene
    }

    func testASilentServerOfTheOtherIsLeftWhileTheCallGoesOn() {
        let scene = self.transferringToTwo()
        let former = scene.handle
        scene.pass(1_990)
        XCTAssertEqual(scene.events("failover").count, 0)
        scene.pass(100)
        XCTAssertEqual(scene.events("failover").first?["from"] as? String, "udp:10.0.0.8:5060")
        XCTAssertEqual(scene.state, "transferring")
        XCTAssertEqual(scene.orderNames, [], "the far end is heard meanwhile")
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
        XCTAssertNotEqual(scene.handle, former)
        XCTAssertEqual(self.transferStates(scene), ["trying", "done"])
    }

    func testAServerOfTheOtherThatRefusesIsLeftAtOnceAndTheLastOneCounts() {
        let scene = self.transferringToTwo()
        let former = scene.handle
        let first = scene.kiosk.machine.state.transferHandle ?? former
        scene.sipTells(.ended(.refused(.serviceUnavailable, phrase: "", q850: nil)), of: first)
        XCTAssertEqual(scene.events("failover").count, 1)
        let second = scene.kiosk.machine.state.transferHandle ?? former
        XCTAssertNotEqual(first, second)
        scene.sipTells(.ended(.refused(.serviceUnavailable, phrase: "", q850: nil)), of: second)
        XCTAssertEqual(scene.handle, former)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(self.transferStates(scene), ["trying", "failed"])
        let busy = self.transferringToTwo()
        let asked = busy.kiosk.machine.state.transferHandle ?? former
        busy.sipTells(.ended(.refused(.busyHere, phrase: "", q850: nil)), of: asked)
        XCTAssertEqual(busy.events("failover").count, 0, "who is busy is busy by every way")
        XCTAssertEqual(self.transferStates(busy), ["trying", "failed"])
    }

    func testWhereTheOtherIsNotFoundTheFarEndIsTold() {
        let scene = Scene.inCall()
        scene.resolver = .knowsNothing
        scene.sipTells(self.referral("sip:next@nowhere"), of: scene.handle)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.events("transfer").last?["reason"] as? String, "unknown-host")
        scene.resolver = .isSilent
        scene.sipTells(self.referral("sip:next@silent"), of: scene.handle)
        XCTAssertEqual(scene.state, "transferring")
        scene.pass(2_100)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(self.transferStates(scene), ["trying", "failed", "trying", "failed"])
    }

    func testAFarEndThatLeavesAtOnceLeavesThePersonWaitingForTheOther() {
        let (scene, former, successor) = self.transferring()
        scene.farAnswers(.ringing)
        scene.sipTells(self.bye, of: former)
        XCTAssertEqual(scene.state, "ringing")
        XCTAssertEqual(scene.handle, successor)
        XCTAssertEqual(scene.orderNames, ["stop"])
        XCTAssertEqual(scene.screen?.detail, Texts.english.states.transferring.detail)
        XCTAssertEqual(scene.tones.last, .ringback)
        scene.pass(20_000)
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.callStates, ["ringing", "connected"])
        XCTAssertEqual(self.transferStates(scene), ["trying", "done"])
        XCTAssertEqual(scene.screen?.headline, "Connecting")
    }

    func testAFarEndThatLeavesBeforeTheOtherIsFound() {
        let scene = Scene.inCall()
        scene.pass(61_000)
        scene.resolver = .isSilent
        scene.sipTells(self.referral(headers: [Header(.other("Referred-By"), "<sip:x@y>")]), of: scene.handle)
        scene.sipTells(self.bye, of: scene.handle)
        XCTAssertEqual(scene.state, "lookingUp")
        scene.resolves(to: Scene.farAddress.address)
        XCTAssertEqual(scene.state, "calling")
        scene.farAnswers(.busyHere, [])
        XCTAssertEqual(scene.endReason, "refused", "nobody is left: the person is told")
    }

    func testTheHookEndsBoth() {
        let (scene, _, _) = self.transferring()
        scene.farAnswers(.ringing)
        scene.press(.hook)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("BYE") }.count, 1)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("CANCEL") }.count, 1)
        scene.pass(3_000)
        XCTAssertEqual(scene.state, "idle")
        XCTAssertEqual(scene.endReason, "hangup")
        XCTAssertEqual(scene.callStates.filter { $0 == "ended" }.count, 1)
    }

    func testTerminateEndsBoth() {
        let (scene, _, _) = self.transferring()
        scene.farAnswers(.ringing)
        scene.feed(.terminate)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("BYE") }.count, 1)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("CANCEL") }.count, 1)
        scene.pass(401)
        XCTAssertEqual(scene.exits, [0])
    }

    func testSilenceMeanwhileEndsNothingAndCountsAnewAfterwards() {
        let (scene, _, successor) = self.transferring()
        scene.farAnswers(.ringing)
        let last = scene.now
        scene.feed(.media(.silent(.audio, since: last)))
        scene.feed(.media(.silent(.video, since: last)))
        scene.pass(30_000)
        XCTAssertEqual(scene.state, "transferring")
        scene.sipTells(.ended(.refused(.busyHere, phrase: "", q850: nil)), of: successor)
        scene.pass(9_900)
        XCTAssertEqual(scene.state, "connected")
        scene.pass(200)
        XCTAssertEqual(scene.endReason, "vanished")
    }

    func testAnAnswerThatMakesNoSenseCostsOnlyTheTransfer() {
        let (scene, former, _) = self.transferring()
        scene.farAnswers(.ok, Array("garbage".utf8))
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.handle, former)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("BYE") }.count, 1, "to the other")
        XCTAssertEqual(self.transferStates(scene), ["trying", "failed"])
    }

    func testTheFileMayForbidIt() {
        let scene = Scene.inCall("transfer = refuse")
        scene.forget()
        scene.sipTells(self.referral(), of: scene.handle)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("INVITE") }, [])
        XCTAssertEqual(scene.events("transfer").count, 0)
    }

    func testWishesOfThePersonAreKept() {
        let (scene, _, _) = self.transferring()
        scene.press(.mute)
        scene.farAnswers()
        XCTAssertEqual(scene.orderNames.suffix(4), ["stop", "mute true", "sendVideo true", "start"])
        XCTAssertEqual(scene.screen?.muted, true)
    }

    // MARK: - Cells

    func testReferredInEveryState() {
        guard let target = SIPURI("sip:next@far") else { return XCTFail("an address") }
        let referral = Referral(target: target, headers: [])
        let rows = States.all.map { name, _ -> KioskMachineTests.Row in
            name == "connected" ? (name, "lookUp", "transferring") : (name, "refuse", name)
        }
        KioskMachineTests.check(rows) {
            $0.referred(States.handle, referral, policy: .follow, now: States.now)
        }
        KioskMachineTests.check(States.all.map { ($0.name, "refuse", $0.name) }) {
            $0.referred(States.handle, referral, policy: .refuse, now: States.now)
        }
    }

    func testOneTransferAtATimeAndOnlyToWhereWeCanCall() {
        var machine = States.machine(States.transferring)
        guard let target = SIPURI("sip:next@far"), let secure = SIPURI("sips:next@far;transport=udp") else {
            return XCTFail("addresses")
        }
        XCTAssertEqual(
            machine.referred(
                States.handle, Referral(target: target, headers: []), policy: .follow, now: States.now),
            .refuse(.requestPending))
        machine = States.machine(States.connected)
        XCTAssertEqual(
            machine.referred(
                States.handle, Referral(target: secure, headers: []), policy: .follow, now: States.now),
            .refuse(.unsupportedURIScheme))
    }

    /// What the successor's call does in each state: it exists in one only.
    func testTheSuccessorsEventsInEveryState() {
        KioskMachineTests.check(States.all.map { ($0.name, "ignore", $0.name) }) {
            $0.progressed(States.successor, .ringing, now: States.now)
        }
        KioskMachineTests.check(
            States.all.map {
                $0.name == "transferring" ? ($0.name, "switchMedia", "connected") : ($0.name, "ignore", $0.name)
            }
        ) { $0.answered(States.successor, States.talk, now: States.now) }
        let failing = States.all.map { name, _ -> KioskMachineTests.Row in
            name == "transferring" ? (name, "transferFailed", "connected") : (name, "ignore", name)
        }
        KioskMachineTests.check(failing) { $0.failed(States.successor, .unusableMedia, now: States.now) }
        KioskMachineTests.check(failing) { $0.ended(States.successor, .timedOut, now: States.now) }
    }
}
