// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Changes of the session that the far end asks for, and offers that come where usually answers do.
final class FarChangeTests: XCTestCase {
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
        let scene = Scene("incoming = answer\nincoming_from = anyone") {
            $0.hasCamera = false
            $0.hasScreen = false
        }
        scene.farCalls()
        scene.passAnnouncement()
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
        scene.feed(.control(Scene.client, line: "hold"))
        scene.farReinvites(Scene.description(version: 2))
        scene.farAcknowledges()
        XCTAssertEqual(scene.state, "connected")
    }
}
