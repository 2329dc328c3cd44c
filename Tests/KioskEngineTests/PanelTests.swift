// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Start, end, control socket, devices and events.
final class PanelTests: XCTestCase {
    private func say(_ scene: Scene, _ line: String) -> [String: Any] {
        scene.forget()
        scene.feed(.control(Scene.client, line: ByteString(utf8Of: line)))
        return scene.replies.last ?? [:]
    }

    // MARK: - Start

    func testTheStartTellsReadyAndEveryProblemAndDrawsTheFirst() {
        let scene = Scene("urii = x\nring_timeout = 0\n[camara]")
        XCTAssertEqual(scene.events.first?["event"] as? String, "ready")
        XCTAssertEqual(scene.events("problem").map { $0["line"] as? Int }, [3, 4, 5])
        XCTAssertEqual(scene.events("problem").map { $0["key"] as? String }, ["urii", "ring_timeout", ""])
        XCTAssertEqual(
            scene.screen?.banner, "callbox.conf: line 3, [call] urii: unknown key; the nearest known key is \"uri\"")
        XCTAssertEqual(scene.screen?.page, .problems)
        XCTAssertEqual(scene.screen?.problems.count, 3)
        scene.pass(KioskEngine.newProblemsMs + 1)
        XCTAssertEqual(scene.screen?.headline, "Press to call")
        scene.press(.call)
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected", "a bad file does not keep anybody from calling")
    }

    // MARK: - End

    func testTerminateWithoutACallExitsAtOnce() {
        let scene = Scene()
        scene.feed(.terminate)
        XCTAssertEqual(scene.exits, [0])
        scene.forget()
        scene.press(.call)
        scene.pass(60_000)
        XCTAssertEqual(scene.outputs.count, 0, "nothing comes after the exit")
    }

    func testTerminateInACallSendsByeAndExitsWhenItIsAnswered() {
        let scene = Scene.inCall()
        scene.feed(.terminate)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("BYE") }.count, 1)
        XCTAssertEqual(scene.exits, [0])
        XCTAssertEqual(scene.outputs.last.map { KioskMachineTests.name($0) }, "exit")
        XCTAssertEqual(scene.endReason, "stopped")
        XCTAssertEqual(scene.orderNames.last, "stop")
        XCTAssertEqual(scene.lampPatterns.last, "off")
    }

    func testTerminateDoesNotWaitForAFarEndThatIsGone() {
        for prepare in [{ (_: Scene) in }, { $0.farAnswers(.ringing) }, { $0.farAnswers() }] {
            let scene = Scene()
            scene.press(.call)
            prepare(scene)
            scene.isCut = true
            scene.feed(.terminate)
            XCTAssertEqual(scene.exits, [])
            XCTAssertEqual(scene.screen?.headline, "Restarting")
            scene.pass(399)
            XCTAssertEqual(scene.exits, [])
            scene.pass(2)
            XCTAssertEqual(scene.exits, [0])
            XCTAssertEqual(scene.endReason, "stopped")
        }
    }

    func testTerminateWhileRingingCancels() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.ringing)
        scene.feed(.terminate)
        XCTAssertEqual(scene.farEnd(of: scene.atFar), .cancelled)
        XCTAssertEqual(scene.exits, [0])
    }

    func testTerminateWhileLookingUpAndWhileEnding() {
        let looking = Scene(resolver: .isSilent)
        looking.press(.call)
        looking.feed(.terminate)
        XCTAssertEqual(looking.exits, [0])
        XCTAssertEqual(looking.endReason, "stopped")

        let ending = Scene.inCall()
        ending.isCut = true
        ending.press(.hook)
        ending.feed(.terminate)
        ending.pass(401)
        XCTAssertEqual(ending.exits, [0])
        XCTAssertEqual(ending.endReason, "hangup")
    }

    // MARK: - Control socket

    func testWordsDoWhatTheButtonsDo() {
        let scene = Scene()
        XCTAssertEqual(self.say(scene, "hangup")["ok"] as? Bool, false)
        XCTAssertEqual(self.say(scene, "call")["ok"] as? Bool, true)
        XCTAssertEqual(self.say(scene, "call")["error"] as? String, "there is a call already")
        XCTAssertEqual(self.say(scene, "press mute")["ok"] as? Bool, true)
        XCTAssertEqual(scene.events("mute").first?["on"] as? Bool, true)
        XCTAssertEqual(scene.events("button").first?["name"] as? String, "mute")
        XCTAssertEqual(self.say(scene, "release mute")["ok"] as? Bool, true)
        XCTAssertEqual(scene.events("button").first?["edge"] as? String, "released")
        XCTAssertEqual(self.say(scene, "hangup")["ok"] as? Bool, true)
        XCTAssertEqual(scene.endReason, nil)
        XCTAssertEqual(self.say(scene, "dance")["ok"] as? Bool, false)
    }

    func testAnotherAddressMayBeCalledByWord() {
        let scene = Scene()
        XCTAssertEqual(self.say(scene, "call sip:x@other")["ok"] as? Bool, true)
        XCTAssertEqual(scene.sent.first, "INVITE sip:x@other SIP/2.0")
        let nobody = Scene(address: "")
        XCTAssertEqual(self.say(nobody, "call")["ok"] as? Bool, false)
        XCTAssertEqual(self.say(nobody, "call help")["ok"] as? Bool, false)
        XCTAssertEqual(self.say(nobody, "call sip:x@other")["ok"] as? Bool, true)
    }

    func testStatusTellsStateCallCountersAndTheProcess() {
        let scene = Scene.inCall()
        var counters = MediaCounters()
        counters.streams.video.packetsReceived = 77
        counters.framesShown = 12
        scene.feed(.media(.counters(counters)))
        XCTAssertEqual((scene.events("stats").last?["video"] as? [String: Any])?["rtp_in"] as? Int, 77)
        scene.pass(2_000)
        _ = self.say(scene, "status")
        guard case .collectCounters(Scene.client)? = scene.outputs.first else { return XCTFail("not asked") }
        let local = LocalCounters(descriptors: 20, threads: 6, residentKiB: 30_000, framebuffers: 5)
        scene.feed(.localCounters(Scene.client, local))
        let status = scene.replies.last ?? [:]
        XCTAssertEqual(status["state"] as? String, "connected")
        XCTAssertEqual(status["fds"] as? Int, 20)
        XCTAssertEqual(status["threads"] as? Int, 6)
        XCTAssertEqual(status["rss_kb"] as? Int, 30_000)
        XCTAssertEqual(status["framebuffers"] as? Int, 5)
        let call = status["call"] as? [String: Any]
        XCTAssertEqual(call?["uri"] as? String, "sip:help@far")
        XCTAssertEqual(call?["duration_ms"] as? Double, 2_000)
        XCTAssertEqual(call?["muted"] as? Bool, false)
        let video = (status["counters"] as? [String: Any])?["video"] as? [String: Any]
        XCTAssertEqual(video?["shown"] as? Int, 12)
        scene.press(.hook)
        scene.feed(.localCounters(Scene.client, local))
        XCTAssertEqual(scene.replies.last?["state"] as? String, "idle")
        XCTAssertTrue(scene.replies.last?["call"] is NSNull)
    }

    func testASubscriberIsToldWhatHoldsAndThenEveryEvent() {
        let scene = Scene("urii = x")
        scene.feed(.device(.failed(.camera, "it is gone")))
        scene.press(.call)
        scene.farAnswers(.ringing)
        _ = self.say(scene, "events")
        XCTAssertEqual(
            scene.replies.compactMap { $0["event"] as? String }, ["ready", "problem", "fault", "lamp", "call"])
        XCTAssertEqual(scene.replies.last?["state"] as? String, "ringing")
        scene.forget()
        scene.press(.hook)
        XCTAssertEqual(scene.replies.count, scene.events.count)
        XCTAssertGreaterThan(scene.replies.count, 2)
        scene.feed(.clientGone(Scene.client))
        scene.forget()
        scene.press(.call)
        XCTAssertEqual(scene.replies.count, 0)
    }

    func testTheNumberOfSubscribersIsBounded() {
        let scene = Scene()
        for number in UInt64(10)..<18 { scene.feed(.control(ClientID(number), line: "events")) }
        XCTAssertEqual(self.say(scene, "events")["ok"] as? Bool, false)
        scene.feed(.control(ClientID(10), line: "events"))
        scene.feed(.clientGone(ClientID(10)))
        XCTAssertNotEqual(self.say(scene, "events")["ok"] as? Bool, false)
    }

    func testAScreenshotIsOrderedAndItsResultIsALine() {
        let scene = Scene()
        scene.forget()
        scene.feed(.control(Scene.client, line: "screenshot /tmp/a.png"))
        guard case .screenshot(Scene.client, let path)? = scene.outputs.first else { return XCTFail("not ordered") }
        XCTAssertEqual(path, "/tmp/a.png")
        XCTAssertEqual(ScreenshotResult.saved(path: path).line, "{\"ok\":true,\"path\":\"/tmp/a.png\"}")
        XCTAssertEqual(ScreenshotResult.failed("no").line, "{\"ok\":false,\"error\":\"no\"}")
    }

    // MARK: - Devices

    func testAFaultIsABannerAndAnEventAndTheCallGoesOnWithoutTheDevice() {
        for family in DeviceFamily.all {
            let scene = Scene.inCall()
            scene.feed(.device(.failed(family, "it is gone")))
            XCTAssertEqual(scene.events("fault").last?["device"] as? String, family.text.string)
            XCTAssertEqual(scene.state, "connected")
            XCTAssertEqual(scene.screen?.banner, Texts.english.fault(family) + ": it is gone")
            scene.feed(.device(.restored(family)))
            XCTAssertEqual(scene.screen?.banner, "")
            XCTAssertEqual(scene.events("restored").last?["device"] as? String, family.text.string)
        }
    }

    func testADeviceThatFailedIsLeftOutOfTheNextOfferAndComesBack() {
        let scene = Scene()
        scene.feed(.device(.failed(.camera, "it is gone")))
        XCTAssertEqual(scene.screen?.detail, Texts.english.states.idleWithoutPicture.detail)
        scene.press(.call)
        XCTAssertTrue(scene.offerAtFar.contains("a=recvonly"))
        scene.press(.hook)
        scene.feed(.device(.failed(.display, "unplugged")))
        scene.press(.call)
        XCTAssertFalse(scene.offerAtFar.contains("m=video"))
        scene.press(.hook)
        scene.feed(.device(.restored(.camera)))
        scene.feed(.device(.restored(.display)))
        scene.press(.call)
        XCTAssertTrue(scene.offerAtFar.contains("m=video"))
        XCTAssertFalse(scene.offerAtFar.contains("a=recvonly"))
    }

    func testARestoredDeviceThatNeverFailedIsNoNews() {
        let scene = Scene { $0.hasCamera = false }
        scene.forget()
        scene.feed(.device(.restored(.camera)))
        XCTAssertEqual(scene.events.count, 0)
        scene.press(.call)
        XCTAssertTrue(scene.offerAtFar.contains("a=recvonly"))
    }

    func testHostileWordsOfTheFarEndReachNeitherScreenNorLogUnescaped() {
        let scene = Scene()
        scene.press(.call)
        let handle = scene.atFar
        scene.farDoes(.respond(handle, StatusCode(499), body: []))
        XCTAssertEqual(scene.events("call").last?["reason"] as? String, "refused")
        XCTAssertTrue(scene.events.allSatisfy { $0["bad"] == nil }, "every line is JSON")
    }
}
