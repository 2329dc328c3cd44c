// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SDPWire
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Out of service, on low power, and without a licence for pictures.
final class ServiceTests: XCTestCase {
    private func say(_ scene: Scene, _ word: ByteString) -> [String: Any] {
        scene.feed(.control(Scene.client, line: word))
        return scene.replies.last ?? [:]
    }

    // MARK: - Pause

    func testPausedAKioskSaysSoAndTakesAndPlacesNoCalls() {
        let scene = Scene("incoming = alert")
        // What is wrong with that file has been told.
        scene.pass(2_100)
        scene.forget()
        XCTAssertEqual(self.say(scene, "pause")["ok"] as? Bool, true)
        XCTAssertEqual(scene.events("service").last?["state"] as? String, "paused")
        XCTAssertEqual(scene.screen?.headline, Texts.english.states.paused.headline)
        XCTAssertFalse(scene.screen?.callBar.contains { $0.button == .call } ?? true)
        XCTAssertEqual(scene.lampPatterns, ["fast"])
        XCTAssertEqual(self.say(scene, "pause")["ok"] as? Bool, false)
        XCTAssertEqual(self.say(scene, "call")["error"] as? String, "the help point is paused")
        let call = scene.farCalls()
        XCTAssertEqual(
            scene.farEnd(of: call), .refused(.temporarilyUnavailable, phrase: "Temporarily Unavailable", q850: nil))
        XCTAssertEqual(scene.state, "idle")
        XCTAssertEqual(self.say(scene, "resume")["ok"] as? Bool, true)
        XCTAssertEqual(scene.events("service").last?["state"] as? String, "open")
        XCTAssertEqual(scene.lampPatterns.last, "off")
        scene.press(.call)
        XCTAssertEqual(scene.state, "calling")
    }

    func testAPressWhilePausedIsAnsweredByToneAndLog() {
        let scene = Scene()
        _ = self.say(scene, "pause")
        scene.forget()
        scene.press(.call)
        XCTAssertEqual(scene.clicks, [.key])
        XCTAssertEqual(scene.tones, [.error])
        XCTAssertEqual(scene.events("refused").last?["reason"] as? String, "paused")
        XCTAssertFalse(scene.sent.contains { $0.hasPrefix("INVITE") })
        scene.pass(2_100)
        XCTAssertEqual(scene.tones.last, Tone.none)
    }

    func testACallThatStandsGoesOnAndItsButtonsWork() {
        let scene = Scene.inCall()
        XCTAssertEqual(self.say(scene, "pause")["ok"] as? Bool, true)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.screen?.remote, .shown)
        scene.press(.call)
        XCTAssertEqual(scene.events("refused").count, 0, "it is no new call")
        scene.press(.hook)
        scene.pass(5_000)
        XCTAssertEqual(scene.screen?.headline, Texts.english.states.paused.headline)
    }

    func testResumeTakesACallFromHoldTooAndWithoutEitherIsRefused() {
        let scene = Scene.inCall()
        XCTAssertEqual(self.say(scene, "resume")["ok"] as? Bool, false)
        _ = self.say(scene, "hold")
        scene.farAnswers()
        _ = self.say(scene, "pause")
        scene.forget()
        XCTAssertEqual(self.say(scene, "resume")["ok"] as? Bool, true)
        XCTAssertEqual(scene.events("service").last?["state"] as? String, "open")
        XCTAssertEqual(scene.offers.count, 1)
    }

    func testStatusTells() {
        let scene = Scene()
        _ = self.say(scene, "pause")
        scene.feed(.control(Scene.client, line: "status"))
        scene.feed(
            .localCounters(Scene.client, LocalCounters(descriptors: 1, threads: 1, residentKiB: 1, framebuffers: 1)))
        XCTAssertEqual(scene.replies.last?["paused"] as? Bool, true)
    }

    // MARK: - Power

    private func savings(_ scene: Scene) -> [Bool] {
        scene.outputs.compactMap { output in
            guard case .savePower(let isOn) = output else { return nil }
            return isOn
        }
    }

    func testOnLowPowerTheScreenIsDarkTheCameraRestsAndTheCallGoesOn() {
        let scene = Scene.inCall()
        scene.forget()
        scene.feed(.input(.power, isActive: true))
        scene.feed(.input(.power, isActive: true))
        XCTAssertEqual(self.savings(scene), [true])
        XCTAssertEqual(scene.screen?.remote, .hidden)
        XCTAssertEqual(scene.screen?.selfView, .hidden)
        XCTAssertEqual(scene.screen?.headline, Texts.english.states.lowPower.headline)
        XCTAssertEqual(scene.lampPatterns, ["fast"])
        XCTAssertEqual(scene.chimes, [.lost])
        XCTAssertEqual(scene.events("power").last?["failing"] as? Bool, true)
        XCTAssertEqual(scene.events("fault").last?["fault_code"] as? String, "CB-PWR-LOW")
        XCTAssertEqual(scene.orderNames, [], "sound and the agreed streams go on")
        scene.pass(3_000)
        scene.feed(.input(.power, isActive: false))
        XCTAssertEqual(self.savings(scene), [true, false])
        XCTAssertEqual(scene.screen?.remote, .shown)
        XCTAssertEqual(scene.screen?.selfView, .shown)
        XCTAssertEqual(scene.state, "connected")
    }

    func testBetweenCallsAPressOnLowPowerCalls() {
        let scene = Scene()
        scene.feed(.input(.power, isActive: true))
        scene.press(.call)
        XCTAssertEqual(scene.state, "calling")
        XCTAssertTrue(scene.offerAtFar.contains("m=video"), "the power may soon be back")
    }

    // MARK: - Licence

    func testWithoutTheOwnersLicenceACallHasSoundAndTheScreenSaysSo() {
        let scene = Scene("[video]\nh264_licence = none")
        scene.press(.call)
        XCTAssertFalse(scene.offerAtFar.contains("m=video"))
        scene.farAnswers(.ok, Scene.description(videoPort: 0))
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.screen?.detail, Texts.english.states.soundOnly.detail)
        scene.feed(.device(.failed(.camera, "x")))
        scene.forget()
        scene.feed(.device(.restored(.camera)))
        XCTAssertEqual(scene.offers, [])
    }

    func testACallFromOutsideIsAnsweredWithoutPictures() {
        let scene = Scene("incoming = answer\nincoming_from = anyone\n[video]\nh264_licence = none")
        scene.farCalls()
        scene.passAnnouncement()
        XCTAssertEqual(scene.state, "connected")
        XCTAssertTrue(scene.answers.last?.contains("m=video 0 ") ?? false)
    }

    func testTheLicenceIsNobodysButTheOwnersAct() {
        XCTAssertFalse(Configuration.parse([]).0.video.mayUseH264)
        for (word, may) in [("accepted", true), ("own", true), ("none", false), ("yes", false)] {
            let (configuration, problems) = Configuration.parse(Array("[video]\nh264_licence = \(word)".utf8))
            XCTAssertEqual(configuration.video.mayUseH264, may, word)
            XCTAssertEqual(problems.contains { $0.key == "h264_licence" }, word == "yes")
        }
    }
}
