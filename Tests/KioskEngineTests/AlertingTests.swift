// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Calls from outside that a person here answers: `incoming = ring`.
final class AlertingTests: XCTestCase {
    private func alerting() -> (Scene, CallHandle) {
        let scene = Scene("incoming = ring")
        return (scene, scene.farCalls())
    }

    func testItRingsAndSaysWhoCalls() {
        let (scene, _) = self.alerting()
        XCTAssertEqual(scene.state, "alerting")
        XCTAssertTrue(scene.sent.contains { $0.hasPrefix("SIP/2.0 180") })
        XCTAssertEqual(scene.callStates, ["alerting"])
        XCTAssertEqual(scene.events("call").first?["direction"] as? String, "incoming")
        XCTAssertEqual(scene.lampPatterns.last, "slow")
        XCTAssertEqual(scene.tones.last, .bell)
        XCTAssertEqual(scene.screen?.detail, "Far End is calling. Press call to answer.")
        XCTAssertEqual(scene.orderNames, [], "nothing is heard or seen before somebody answers")
        XCTAssertEqual(scene.screen?.selfView, .hidden)
    }

    func testTheCallButtonAnswers() {
        let (scene, _) = self.alerting()
        scene.press(.call)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.orderNames, ["mute false", "sendVideo true", "start"])
        XCTAssertEqual(scene.callStates, ["alerting", "connected"])
        scene.press(.call)
        XCTAssertEqual(scene.state, "connected", "a second press ends nothing")
        scene.press(.hook)
        XCTAssertEqual(scene.endReason, "hangup")
    }

    func testTheWordAnswers() {
        let (scene, _) = self.alerting()
        scene.feed(.control(Scene.client, line: "answer"))
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.replies.last?["ok"] as? Bool, true)
        scene.feed(.control(Scene.client, line: "answer"))
        XCTAssertEqual(scene.replies.last?["error"] as? String, "nobody is calling")
    }

    func testTheHookDeclines() {
        let (scene, handle) = self.alerting()
        scene.press(.hook)
        XCTAssertEqual(scene.state, "idle")
        XCTAssertEqual(scene.endReason, "declined")
        XCTAssertEqual(scene.farEnd(of: handle), .refused(.decline, phrase: "Decline", q850: nil))
        XCTAssertEqual(scene.tones.last, Tone.none)
        scene.press(.call)
        XCTAssertEqual(scene.state, "calling")
    }

    func testACallerThatGivesUpIsMissed() {
        let (scene, handle) = self.alerting()
        scene.farDoes(.hangUp(handle, .normal))
        scene.pass(100)
        XCTAssertEqual(scene.endReason, "missed")
        XCTAssertEqual(scene.state, "outcome")
        XCTAssertEqual(scene.tones.last, Tone.none)
        scene.pass(5_000)
        XCTAssertEqual(scene.state, "idle")
    }

    func testNobodyAnswersInTime() {
        let (scene, handle) = self.alerting()
        scene.pass(59_900)
        XCTAssertEqual(scene.state, "alerting")
        scene.pass(200)
        XCTAssertEqual(scene.endReason, "missed")
        XCTAssertEqual(
            scene.farEnd(of: handle), .refused(.temporarilyUnavailable, phrase: "Temporarily Unavailable", q850: nil))
    }

    func testItDoesNotRingForACallThatDoesNotFit() {
        let scene = Scene("incoming = ring")
        let handle = scene.farCalls(Array("garbage".utf8))
        XCTAssertEqual(scene.farEnd(of: handle), .refused(.notAcceptableHere, phrase: "Not Acceptable Here", q850: nil))
        XCTAssertEqual(scene.state, "idle")
        XCTAssertFalse(scene.tones.contains(.bell))
    }

    func testASecondCallerIsToldThatItIsBusy() {
        let (scene, first) = self.alerting()
        let second = scene.farCalls()
        XCTAssertEqual(scene.farEnd(of: second), .refused(.busyHere, phrase: "Busy Here", q850: nil))
        XCTAssertNil(scene.farEnd(of: first))
        XCTAssertEqual(scene.state, "alerting")
    }

    func testADialWordDoesNotAnswer() {
        let (scene, _) = self.alerting()
        scene.feed(.control(Scene.client, line: "call sip:x@y"))
        XCTAssertEqual(scene.replies.last?["ok"] as? Bool, false)
        XCTAssertEqual(scene.state, "alerting")
    }

    func testTerminateRefusesTheCallerAndExitsAtOnce() {
        let (scene, handle) = self.alerting()
        scene.feed(.terminate)
        XCTAssertEqual(scene.exits, [0])
        XCTAssertEqual(
            scene.farEnd(of: handle), .refused(.temporarilyUnavailable, phrase: "Temporarily Unavailable", q850: nil))
        XCTAssertEqual(scene.endReason, "stopped")
    }

    func testTheCallersNameIsShownAsTextAndBounded() {
        let uri = SIPURI(user: "door%201", host: .name("x"))
        XCTAssertEqual(ShownName.text(of: NameAddr(displayName: "  Anna ", uri)), "Anna")
        XCTAssertEqual(ShownName.text(of: NameAddr(uri)), "door 1")
        XCTAssertEqual(ShownName.text(of: NameAddr(displayName: "a\r\nb", uri)), "a??b")
        XCTAssertEqual(ShownName.text(of: NameAddr(SIPURI(host: .name("x")))), "")
        let long = ByteString([UInt8](repeating: 0x61, count: 500))
        XCTAssertEqual(ShownName.text(of: NameAddr(displayName: long, uri)).count, ShownName.bytesMax)
        XCTAssertEqual(
            Texts.english.alerting("", isAnswered: false).detail, "Somebody is calling. Press call to answer.")
    }
}
