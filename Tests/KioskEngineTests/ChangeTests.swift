// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Changes of the session within a call, by either side.
final class ChangeTests: XCTestCase {
    private func say(_ scene: Scene, _ word: String) -> String {
        scene.feed(.control(Scene.client, line: ByteString(utf8Of: word)))
        let reply = scene.replies.last ?? [:]
        return reply["ok"] as? Bool == true ? "done" : reply["error"] as? String ?? ""
    }

    private func answers(_ scene: Scene, audio: String = "sendrecv", video: String = "sendrecv", port: Int = 20_002) {
        scene.farAnswers(.ok, Scene.description(audio: audio, video: video, videoPort: port))
    }

    // MARK: - By us

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

    // MARK: - By the far end

    /// Case A 1 and 2: pictures that come later, on a port of their own, run both ways; also after the person has
    /// turned the camera off.
    func testCaseA1VideoThatIsAddedLaterRunsBothWays() {
        for isOff in [false, true] {
            let scene = Scene()
            scene.press(.call)
            scene.farAnswers(.ok, Scene.description(videoPort: 0))
            if isOff { scene.press(.video) }
            scene.farReinvites(Scene.description(videoPort: 31_000, version: 2))
            XCTAssertTrue(scene.answers.last?.contains("m=video 40002") ?? false, scene.answers.last ?? "")
            XCTAssertEqual(scene.plan?.video?.stream.remoteRTP.port, 31_000)
            XCTAssertEqual(scene.plan?.video?.stream.sends, true)
            XCTAssertEqual(scene.plan?.video?.stream.receives, true)
            scene.feed(.media(.firstFrameShown))
            XCTAssertEqual(scene.screen?.remote, .shown)
        }
    }

    func testCaseA2VideoThatCannotBeIsRefusedInPlaceAndTheSoundGoesOn() {
        let scene = Scene {
            $0.hasCamera = false
            $0.hasScreen = false
        }
        scene.press(.call)
        scene.farAnswers(.ok, Scene.description())
        scene.farReinvites(Scene.description(videoPort: 31_000, version: 2))
        XCTAssertTrue(scene.answers.last?.contains("m=video 0 ") ?? false, scene.answers.last ?? "")
        XCTAssertTrue(scene.answers.last?.contains("m=audio 40000") ?? false)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertNotNil(scene.plan?.audio)
    }

    /// Case D 70: a caller with pictures is taken by a kiosk without.
    func testCaseD70ACallWithPicturesIsTakenWithoutThem() {
        let scene = Scene("incoming = answer") {
            $0.hasCamera = false
            $0.hasScreen = false
        }
        scene.farCalls()
        XCTAssertEqual(scene.state, "connected")
        XCTAssertNil(scene.plan?.video)
        XCTAssertNotNil(scene.plan?.audio)
    }

    func testHoldInEveryDialectAnyNumberOfTimes() {
        let scene = Scene.inCall()
        let dialects = [
            { Scene.description(audio: "sendonly", video: "inactive", version: $0) },
            { Scene.description(audio: "inactive", video: "inactive", version: $0) },
            { Scene.description(version: $0, address: "0.0.0.0") },
        ]
        var version = 2
        var cseq = 1000
        func change(_ body: [UInt8]) {
            scene.farReinvites(body, cseq: cseq)
            scene.farAcknowledges(cseq: cseq)
            (cseq, version) = (cseq + 1, version + 1)
        }
        for cycle in 0..<50 {
            let hold = dialects[cycle % dialects.count]
            change(hold(version))
            change(hold(version))
            XCTAssertEqual(scene.plan?.audio?.stream.sends, false, "cycle \(cycle)")
            let screen = scene.screen
            XCTAssertTrue([screen?.headline, screen?.detail].contains("Please wait"), "cycle \(cycle)")
            scene.pass(30_000)
            change(Scene.description(version: version))
            XCTAssertEqual(scene.plan?.audio?.stream.sends, true, "cycle \(cycle)")
            scene.feed(.media(.firstFrameShown))
        }
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.events("hold").compactMap { $0["on"] as? Bool }.filter { $0 }.count, 50)
        XCTAssertEqual(scene.events("hold").count, 100)
        XCTAssertEqual(scene.callStates.filter { $0 == "ended" }, [])
    }

    func testMusicOnHoldThatStopsEndsNothing() {
        let scene = Scene.inCall()
        scene.farReinvites(Scene.description(audio: "sendonly", video: "inactive", version: 2))
        scene.farAcknowledges()
        let last = scene.now
        scene.pass(6_000)
        scene.feed(.media(.silent(.audio, since: last)))
        scene.pass(600_000)
        XCTAssertEqual(scene.state, "connected")
        scene.farReinvites(Scene.description(version: 3), cseq: 1001)
        scene.farAcknowledges(cseq: 1001)
        scene.pass(9_900)
        XCTAssertEqual(scene.state, "connected", "its time begins anew")
        scene.pass(200)
        XCTAssertEqual(scene.endReason, "vanished")
    }

    // MARK: - Before the answer

    func testAnOfferBeforeTheAnswerMovesTheEarlyMedia() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.sessionProgress)
        scene.sipTells(.reoffered(Scene.description(version: 2, address: "10.0.0.77")), of: scene.handle)
        XCTAssertEqual(scene.state, "early")
        XCTAssertEqual(scene.orderNames.last, "update")
        XCTAssertEqual(scene.plan?.audio?.stream.remoteRTP.text, "10.0.0.77:20000")
        XCTAssertNil(scene.plan?.video, "nothing is seen before the answer")
        scene.sipTells(.answered(Scene.description()), of: scene.handle)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.plan?.audio?.stream.remoteRTP.text, "10.0.0.77:20000", "the old answer is no news")
        XCTAssertEqual(scene.kiosk.session?.awaitsAnswer, false)
    }

    func testAnotherBranchThatAnswersCountsWhateverWasSaidBefore() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.sessionProgress)
        scene.sipTells(.reoffered(Scene.description(version: 2, address: "10.0.0.77")), of: scene.handle)
        let other = String(decoding: Scene.description(address: "10.0.0.88"), as: UTF8.self)
            .replacingOccurrences(of: "o=- 1 ", with: "o=- 9 ")
        scene.sipTells(.answered(Array(other.utf8)), of: scene.handle)
        XCTAssertEqual(scene.plan?.audio?.stream.remoteRTP.text, "10.0.0.88:20000")
    }

    // MARK: - Without our offer

    func testAnInvitationWithoutAnOfferIsAnsweredWithOneThatWeAnswer() {
        let scene = Scene("[sip]\nofferless = yes")
        scene.press(.call)
        XCTAssertEqual(scene.offerAtFar, "")
        scene.sipTells(.answeredWithOffer(Scene.description()), of: scene.handle)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.orderNames, ["mute false", "sendVideo true", "start"])
        XCTAssertNotNil(scene.plan?.video)
    }

    func testAnOfferThatDoesNotFitEndsTheCallInWords() {
        let scene = Scene("[sip]\nofferless = yes")
        scene.press(.call)
        scene.sipTells(.answeredWithOffer(Array("garbage".utf8)), of: scene.handle)
        XCTAssertEqual(scene.endReason, "unusable-media")
    }

    /// Case A 4: an ACK without the answer that was asked for does not matter where none was.
    func testCaseA4AnAckWithoutADescriptionMattersOnlyWhereItWasToBringOne() {
        let scene = Scene.inCall()
        _ = self.say(scene, "hold")
        scene.farReinvites(Scene.description(version: 2))
        scene.farAcknowledges()
        XCTAssertEqual(scene.state, "connected")
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
        for (name, state) in States.all {
            var machine = States.machine(state)
            XCTAssertEqual(machine.changed(States.stranger, States.talk, now: States.now), .ignore, name)
            XCTAssertEqual(machine.changeRefused(States.stranger), .ignore, name)
            XCTAssertEqual(machine.state, state, name)
        }
    }
}
