// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Changes of the session within a call that we ask for.
final class ChangeTests: XCTestCase {
    private func say(_ scene: Scene, _ word: String) -> String {
        scene.feed(.control(Scene.client, line: ByteString(utf8Of: word)))
        let reply = scene.replies.last ?? [:]
        return reply["ok"] as? Bool == true ? "done" : reply["error"] as? String ?? ""
    }

    private func answers(_ scene: Scene, audio: String = "sendrecv", video: String = "sendrecv", port: Int = 20_002) {
        scene.farAnswers(.ok, Scene.description(audio: audio, video: video, videoPort: port))
    }

    func testBothSidesChangeAtOnceAndNeitherIsLost() {
        let scene = Scene.inCall()
        XCTAssertEqual(self.say(scene, "hold"), "done")
        scene.farReinvites(Scene.description(videoPort: 30_000, version: 2))
        XCTAssertTrue(scene.answers.last?.hasPrefix("SIP/2.0 491") ?? false)
        self.answers(scene, audio: "recvonly", video: "recvonly")
        XCTAssertEqual(scene.events("change").last?["holding"] as? Bool, true)
        scene.farReinvites(Scene.description(audio: "recvonly", videoPort: 30_000, version: 3), cseq: 1001)
        scene.farAcknowledges(cseq: 1001)
        XCTAssertEqual(scene.plan?.video?.stream.remoteRTP.port, 30_000)
        XCTAssertEqual(scene.screen?.headline, "On hold", "our hold stands")
    }

    func testHoldSilencesBothWaysAndResumeTakesItBack() {
        let scene = Scene.inCall()
        scene.forget()
        XCTAssertEqual(self.say(scene, "hold"), "done")
        XCTAssertEqual(scene.orderNames, [], "until the far end has agreed")
        XCTAssertEqual(self.say(scene, "resume"), "the call is being changed already")
        self.answers(scene, audio: "recvonly", video: "recvonly")
        XCTAssertEqual(scene.orderNames, ["mute true", "sendVideo false", "update"])
        XCTAssertEqual(scene.plan?.audio?.stream.receives, false)
        XCTAssertEqual(scene.screen?.headline, "On hold")
        XCTAssertEqual(scene.events("change").last?["holding"] as? Bool, true)
        XCTAssertEqual(scene.events("hold").count, 0, "nobody makes us wait")
        XCTAssertEqual(self.say(scene, "hold"), "it is so already")
        scene.press(.mute)
        XCTAssertEqual(scene.orderNames.last, "mute true")
        scene.press(.mute)
        XCTAssertEqual(scene.orderNames.last, "mute true", "no button lets anybody listen in")
        scene.pass(600_000)
        XCTAssertEqual(scene.state, "connected", "silence on hold ends nothing")
        XCTAssertEqual(self.say(scene, "resume"), "done")
        self.answers(scene)
        XCTAssertEqual(scene.orderNames.suffix(3), ["mute false", "sendVideo true", "update"])
        XCTAssertEqual(scene.plan?.audio?.stream.receives, true)
    }

    func testARefusedChangeLeavesEverythingAsItWas() {
        let scene = Scene.inCall()
        scene.forget()
        XCTAssertEqual(self.say(scene, "video remove"), "done")
        scene.farAnswers(.notAcceptableHere)
        XCTAssertEqual(scene.events("change").last?["code"] as? Int, 488)
        XCTAssertEqual(scene.events("change").last?["video"] as? Bool, true)
        XCTAssertEqual(scene.orderNames, [])
        XCTAssertEqual(self.say(scene, "hold"), "done", "the next may be tried")
        scene.farAnswers(.ok, Array("garbage".utf8))
        XCTAssertEqual(scene.events("change").last?["code"] as? Int, 488)
        XCTAssertEqual(scene.state, "connected")
    }

    /// Without another word each side would believe in a session of its own.
    func testAFarEndThatTookAGivenUpChangeIsToldAgainWhatStandsWithAHigherVersion() {
        let scene = Scene.inCall()
        XCTAssertEqual(self.say(scene, "video remove"), "done")
        scene.farAnswers(.serviceUnavailable)
        scene.sipTells(.changeTakenLate, of: scene.handle)
        XCTAssertEqual(self.say(scene, "hold"), "the call is being changed already")
        XCTAssertEqual(scene.offers.last?.contains("m=video 0"), false, "the picture stands")
        let versions = scene.origins.compactMap { UInt64($0) }
        XCTAssertEqual(versions, versions.sorted())
        XCTAssertEqual(Set(versions).count, 3, "the first offer, the one given up, and what stands")
        self.answers(scene)
        XCTAssertNotNil(scene.plan?.video)
        XCTAssertEqual(self.say(scene, "hold"), "done")
    }

    func testAChangeThatIsOutWhenAGivenUpOneWasTakenSaysWhatStandsOnceItIsRefused() {
        let scene = Scene.inCall()
        XCTAssertEqual(self.say(scene, "hold"), "done")
        scene.sipTells(.changeTakenLate, of: scene.handle)
        let before = scene.offers.count
        scene.farAnswers(.notAcceptableHere)
        XCTAssertEqual(scene.offers.count, before + 1)
        XCTAssertEqual(scene.offers.last?.contains("a=sendrecv"), true, "nobody is on hold")
        scene.farAnswers(.notAcceptableHere)
        XCTAssertEqual(scene.offers.count, before + 1, "once")
    }

    func testPicturesAreRemovedAndAddedAgain() {
        let scene = Scene.inCall()
        XCTAssertEqual(self.say(scene, "video remove"), "done")
        self.answers(scene, port: 0)
        XCTAssertNil(scene.plan?.video)
        XCTAssertEqual(scene.screen?.remote, .hidden)
        XCTAssertEqual(scene.screen?.headline, "Connected")
        XCTAssertEqual(self.say(scene, "video add"), "done")
        self.answers(scene)
        XCTAssertNotNil(scene.plan?.video)
        XCTAssertEqual(scene.events("change").compactMap { $0["video"] as? Bool }, [false, true])
    }

    func testARefreshThatChangesNothingDisturbsNothing() {
        let scene = Scene.inCall()
        scene.forget()
        for _ in 0..<5 { scene.sipTells(.changed(answer: Scene.description()), of: scene.handle) }
        XCTAssertEqual(scene.orderNames, [])
        XCTAssertEqual(scene.events("change").count, 0)
        XCTAssertNil(scene.kiosk.machine.state.alarm)
    }

    func testWithoutACallThereIsNothingToChange() {
        let scene = Scene()
        for word in ["hold", "resume", "video add"] { XCTAssertEqual(self.say(scene, word), "there is no call") }
        scene.press(.call)
        XCTAssertEqual(self.say(scene, "hold"), "there is no call")
    }

    func testAnOfferOfTheFarEndGoesFirstAndOursFollowsFromWhatItCameTo() {
        let scene = Scene.inCall()
        scene.forget()
        XCTAssertEqual(self.say(scene, "hold"), "done")
        scene.farAnswers(.requestPending)
        scene.farReinvites(Scene.description(videoPort: 30_000, version: 2))
        scene.farAcknowledges()
        XCTAssertEqual(scene.plan?.video?.stream.remoteRTP.port, 30_000)
        XCTAssertEqual(scene.events("change").count, 0)
        scene.pass(4_100)
        self.answers(scene, audio: "recvonly", video: "recvonly")
        XCTAssertEqual(scene.events("change").last?["holding"] as? Bool, true)
        let versions = scene.origins.compactMap { UInt64($0) }
        XCTAssertEqual(versions, versions.sorted(), "never an older description after a newer one")
        XCTAssertGreaterThan(Set(versions).count, 2)
    }

    /// An offer that waits for its second try is made anew even where the far end's own offer changed nothing: what we
    /// said to that is newer.
    func testAnOfferThatWaitedNeverHasAnOlderVersionThanWhatWasSaidMeanwhile() {
        let scene = Scene.inCall()
        XCTAssertEqual(self.say(scene, "hold"), "done")
        scene.farAnswers(.requestPending)
        scene.farReinvites(Scene.description())
        scene.farAcknowledges()
        scene.pass(4_100)
        self.answers(scene, audio: "recvonly", video: "recvonly")
        XCTAssertEqual(scene.events("change").last?["holding"] as? Bool, true)
        let versions = scene.origins.compactMap { UInt64($0) }
        XCTAssertEqual(versions, versions.sorted())
    }

    // MARK: - Cells

    func testOurChangesInEveryState() {
        KioskMachineTests.check(
            States.all.map {
                let action = ["connected": "offer", "transferring": "busy"][$0.name] ?? "noCall"
                return ($0.name, action, $0.name)
            }
        ) { $0.change(.hold) }
        let inCall = ["connected", "transferring"]
        KioskMachineTests.check(
            States.all.map { ($0.name, inCall.contains($0.name) ? "updateMedia" : "ignore", $0.name) }
        ) { $0.changed(States.handle, States.talk, now: States.now) }
        KioskMachineTests.check(States.all.map { ($0.name, "ignore", $0.name) }) { $0.changeRefused(States.handle) }
        KioskMachineTests.check(
            States.all.map { ($0.name, $0.name == "connected" ? "rollBack" : "ignore", $0.name) }
        ) {
            _ = $0.change(.hold)
            return $0.changeRefused(States.handle)
        }
        KioskMachineTests.check(
            States.all.map { ($0.name, inCall.contains($0.name) ? "offer" : "ignore", $0.name) }
        ) { $0.changeTakenLate(States.handle) }
        for (name, state) in States.all {
            var machine = States.machine(state)
            XCTAssertEqual(machine.changeTakenLate(States.stranger), .ignore, name)
            XCTAssertEqual(machine.changed(States.stranger, States.talk, now: States.now), .ignore, name)
            XCTAssertEqual(machine.changeRefused(States.stranger), .ignore, name)
            XCTAssertEqual(machine.state, state, name)
        }
    }
}
