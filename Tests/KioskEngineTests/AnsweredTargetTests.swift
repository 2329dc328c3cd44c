// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// What is asked of whoever answers, and what a call begins and ends with.
final class AnsweredTargetTests: XCTestCase {
    private func confirming(_ uri: String = "sip:a@far, sip:b@far") -> Scene {
        let scene = Scene("confirm = dtmf\nconfirm_timeout = 10", address: "uri = \(uri)")
        scene.press(.call)
        scene.farAnswers(.ringing)
        scene.farAnswers()
        return scene
    }

    // MARK: - Whether it is a human

    func testAnAnswerStillRingsHereUntilAKeyIsPressed() {
        let scene = self.confirming()
        XCTAssertEqual(scene.callStates.last, "confirming")
        XCTAssertEqual(scene.screen?.headline, "Ringing")
        XCTAssertEqual(scene.lampPatterns.last, "slow")
        XCTAssertEqual(
            scene.orderNames, ["mute true", "sendVideo false", "deafen true", "start"], "nobody is heard or seen yet")
        scene.feed(.media(.firstFrameShown))
        XCTAssertEqual(scene.screen?.remote, .hidden)
        XCTAssertFalse(scene.chimes.contains(.answered))
        XCTAssertEqual(scene.spoken.last, "ringing")
        scene.feed(.media(.digit(UInt8(ascii: "1"))))
        XCTAssertEqual(scene.callStates.last, "connected")
        XCTAssertTrue(scene.chimes.contains(.answered))
        XCTAssertEqual(scene.spoken.last, "hush", "nobody is talked over")
        XCTAssertEqual(scene.orderNames.suffix(3), ["mute false", "sendVideo true", "deafen false"])
        XCTAssertEqual(scene.lampPatterns.last, "on")
        XCTAssertEqual(scene.screen?.remote, .shown)
        scene.pass(9_000)
        XCTAssertEqual(scene.state, "connected")
    }

    func testAKeyByInfoCountsToo() {
        let scene = self.confirming()
        scene.sipTells(.digit(UInt8(ascii: "5"), durationMs: 100), of: scene.handle)
        XCTAssertEqual(scene.callStates.last, "connected")
        XCTAssertEqual(scene.events("confirm").compactMap { $0["state"] as? String }, ["waiting", "done"])
    }

    func testAMachineIsNoAnswer() {
        let scene = self.confirming()
        let machine = scene.atFar
        scene.feed(.media(.firstPacket(.audio)))
        scene.pass(10_100)
        XCTAssertNotNil(scene.farEnd(of: machine))
        XCTAssertEqual(scene.events("failed").first?["reason"] as? String, "not-answered")
        XCTAssertEqual(scene.offers.count, 2, "the next one is called")
        scene.farAnswers()
        scene.feed(.media(.digit(UInt8(ascii: "1"))))
        XCTAssertEqual(scene.callStates.last, "connected")
    }

    func testOneThatHangsUpWithoutAKeyDidNotAnswer() {
        let scene = self.confirming("sip:a@far")
        scene.farDoes(.hangUp(scene.atFar, .normal))
        XCTAssertEqual(scene.endReason, "not-answered")
    }

    func testTheHookBeforeTheKeyCancels() {
        let scene = self.confirming()
        scene.press(.hook)
        XCTAssertEqual(scene.endReason, "cancelled")
        scene.pass(20_000)
        XCTAssertEqual(scene.offers.count, 1)
    }

    func testTheMuteButtonBeforeTheKeyCountsAfterIt() {
        let scene = self.confirming()
        scene.press(.mute)
        XCTAssertEqual(scene.orderNames.last, "mute true")
        scene.feed(.media(.digit(UInt8(ascii: "1"))))
        XCTAssertEqual(scene.orderNames.suffix(3), ["mute true", "sendVideo true", "deafen false"])
    }

    func testWhoeverAnswersIsToldToPressAKeyUntilItIsPressed() {
        let scene = self.confirming()
        XCTAssertEqual(scene.announced, ["en press-a-key"])
        scene.feed(.media(.digit(UInt8(ascii: "1"))))
        XCTAssertEqual(scene.announced, ["en press-a-key", "none"])
        scene.press(.hook)
        XCTAssertEqual(scene.announced.count, 2)
    }

    func testAMachineIsToldNoMoreOnceItIsGivenUp() {
        let scene = self.confirming()
        scene.pass(10_100)
        XCTAssertEqual(scene.announced, ["en press-a-key", "none"])
        scene.farAnswers()
        XCTAssertEqual(scene.announced.last, "en press-a-key", "the next one is told as well")
        XCTAssertEqual(scene.orderNames.suffix(3), ["mute true", "sendVideo false", "start"], "and still not heard")
    }

    func testNobodyIsToldWhereTheFileDoesNotWantIt() {
        var scene = self.confirming("sip:a@far\nconfirm_prompt = no")
        XCTAssertEqual(scene.announced, [])
        scene = Scene()
        scene.press(.call)
        scene.farAnswers()
        XCTAssertEqual(scene.announced, [], "nor where nobody has to confirm")
        XCTAssertFalse(scene.orderNames.contains("deafen true"))
    }

    func testWhatIsHeardBeforeTheAnswerIsNotHeardBetweenTheAnswerAndTheKey() {
        let scene = Scene("confirm = dtmf")
        scene.press(.call)
        scene.farAnswers(.ringing)
        scene.sipTells(.earlyMedia(Scene.description(address: "10.0.0.11"), .sessionProgress), of: scene.handle)
        scene.farAnswers()
        XCTAssertEqual(scene.orderNames.suffix(2), ["deafen true", "update"])
        scene.feed(.media(.digit(UInt8(ascii: "1"))))
        XCTAssertEqual(scene.orderNames.last, "deafen false")
    }

    // MARK: - The longest time

    func testALongCallIsEndedAfterAWarning() {
        let scene = Scene.inCall("max_duration = 60")
        scene.pass(49_900)
        XCTAssertEqual(scene.events("time_limit").count, 0)
        scene.pass(200)
        XCTAssertEqual(scene.spoken.last, "time-nearly-over")
        XCTAssertEqual(scene.events("time_limit").count, 1)
        XCTAssertEqual(scene.chimes.last, .warning)
        scene.pass(9_800)
        XCTAssertEqual(scene.state, "connected")
        scene.pass(200)
        XCTAssertEqual(scene.endReason, "time-limit")
        XCTAssertNotNil(scene.farEnd(of: scene.atFar))
        XCTAssertEqual(scene.screen?.headline, "Call ended")
    }

    func testWithoutALimitACallLasts() {
        let scene = Scene.inCall()
        scene.pass(3_600_000)
        XCTAssertEqual(scene.state, "connected")
    }

    // MARK: - How it begins

    private func started(_ start: String) -> Scene {
        let scene = Scene("[button.call]\nstart = \(start)")
        scene.press(.call)
        return scene
    }

    func testACallMayBeginMutedOrWithoutTheCameraOrWithSoundAlone() {
        var scene = self.started("muted")
        scene.farAnswers()
        XCTAssertEqual(scene.orderNames, ["mute true", "sendVideo true", "start"])
        XCTAssertEqual(scene.screen?.muted, true)
        scene = self.started("no_video")
        scene.farAnswers()
        XCTAssertEqual(scene.orderNames, ["mute false", "sendVideo false", "start"])
        XCTAssertTrue(scene.offers[0].contains("m=video"))
        scene = self.started("audio")
        XCTAssertFalse(scene.offers[0].contains("m=video"))
    }

    func testAButtonHasItsOwnTargetsAndTime() {
        let scene = Scene("[button.call]\nuri = sip:info@far\nring_timeout = 20\nlabel = info")
        scene.press(.call)
        XCTAssertTrue(scene.offers[0].hasPrefix("INVITE sip:info@far"))
        XCTAssertTrue(scene.offers[0].contains("X-Callbox-Button: info"))
        scene.farAnswers(.ringing)
        scene.pass(20_100)
        XCTAssertEqual(scene.endReason, "not-answered")
    }

    func testKeysArePressedAfterTheAnswer() {
        let scene = Scene(address: "uri = sip:help@far;postd=12p3")
        scene.press(.call)
        scene.farAnswers()
        let pressed = { scene.sent.filter { $0.hasPrefix("INFO") }.count }
        scene.pass(900)
        XCTAssertEqual(pressed(), 0)
        scene.pass(200)
        XCTAssertEqual(pressed(), 2)
        scene.pass(700)
        XCTAssertEqual(pressed(), 2, "a pause")
        scene.pass(400)
        XCTAssertEqual(pressed(), 3)
        XCTAssertNil(scene.kiosk.postDial)
    }

    func testAWordCallsNamesOfTheAccount() {
        let scene = Scene("[account]\nuri = sip:door@far\nregister = no")
        scene.feed(.control(Scene.client, line: "call desk, 100"))
        XCTAssertTrue(scene.offers[0].hasPrefix("INVITE sip:desk@far"))
        scene.farAnswers(.busyHere)
        XCTAssertTrue(scene.offers[1].hasPrefix("INVITE sip:100@far"))
        XCTAssertEqual(scene.replies.last?["ok"] as? Bool, true)
    }

    // MARK: - Calling back

    private func callBack(_ settings: String, afterMs: Int) -> (Scene, CallHandle) {
        let scene = Scene(settings, address: "uri = sip:far@10.0.0.1")
        scene.press(.call)
        scene.farAnswers()
        scene.press(.hook)
        scene.pass(afterMs)
        return (scene, scene.farCalls())
    }

    func testWhoeverWasCalledMayCallBackForAWhile() {
        XCTAssertEqual(self.callBack("call_back = 5", afterMs: 299_000).0.state, "alerting")
        XCTAssertEqual(self.callBack("call_back = 30s", afterMs: 29_000).0.state, "alerting")
        for (settings, afterMs) in [("call_back = 5", 301_000), ("call_back = 30s", 31_000), ("", 1_000)] {
            let (scene, handle) = self.callBack(settings, afterMs: afterMs)
            XCTAssertEqual(scene.state, "idle", settings)
            XCTAssertEqual(
                scene.farEnd(of: handle),
                .refused(.temporarilyUnavailable, phrase: "Temporarily Unavailable", q850: nil))
        }
    }
}
