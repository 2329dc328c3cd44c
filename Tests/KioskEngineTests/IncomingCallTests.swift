// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Calls from outside, and changes that the far end wants in a call.
final class IncomingCallTests: XCTestCase {
    func testCallsFromOutsideAreRefusedWith480UnlessTheFileSaysOtherwise() {
        for settings in ["", "incoming = refuse"] {
            let scene = Scene(settings)
            scene.forget()
            let handle = scene.farCalls()
            XCTAssertEqual(
                scene.farEnd(of: handle),
                .refused(.temporarilyUnavailable, phrase: "Temporarily Unavailable", q850: nil))
            XCTAssertEqual(scene.events("incoming_refused").first?["code"] as? Int, 480)
            XCTAssertEqual(scene.state, "idle")
            XCTAssertEqual(scene.orderNames, [])
        }
    }

    func testAnswerMeansWithPictureAndSoundOnceItWasHeardAndSeenHere() {
        let scene = Scene("incoming = answer\nincoming_from = anyone")
        scene.farCalls()
        XCTAssertEqual(scene.tones, [.bell])
        XCTAssertEqual(scene.lampPatterns.last, "slow")
        scene.pass(990)
        XCTAssertEqual(scene.state, "alerting")
        XCTAssertEqual(scene.orderNames, [], "nobody is heard or seen unawares")
        scene.passAnnouncement()
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.callStates, ["alerting", "connected"])
        XCTAssertEqual(scene.events("call").first?["direction"] as? String, "incoming")
        XCTAssertEqual(scene.orderNames, ["mute false", "sendVideo true", "start"])
        XCTAssertEqual(scene.lampPatterns.last, "on", "whoever stands there sees that the call is live")
        XCTAssertEqual(scene.screen?.selfView, .shown)
        XCTAssertTrue(scene.clicks.contains(.key), "and whoever cannot see it hears it")
        scene.press(.hook)
        XCTAssertEqual(scene.endReason, "hangup")
    }

    func testBusyMeans486InEveryStateOfACall() {
        let steps: [(String, (Scene) -> Void)] = [
            ("calling", { _ in }), ("ringing", { $0.farAnswers(.ringing) }),
            ("early", { $0.farAnswers(.sessionProgress) }), ("connected", { $0.farAnswers() }),
        ]
        for (name, step) in steps {
            let scene = Scene("incoming = answer\nincoming_from = anyone")
            scene.press(.call)
            step(scene)
            XCTAssertEqual(scene.state, name)
            let handle = scene.farCalls()
            XCTAssertEqual(scene.farEnd(of: handle), .refused(.busyHere, phrase: "Busy Here", q850: nil), name)
            XCTAssertEqual(scene.state, name)
        }
    }

    func testAnOfferThatDoesNotFitIsRefusedWith488() {
        for offer in [
            "garbage",
            "v=0\r\no=- 1 1 IN IP4 10.0.0.1\r\ns=-\r\nc=IN IP4 10.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 18\r\n",
        ] {
            let scene = Scene("incoming = answer\nincoming_from = anyone")
            let handle = scene.farCalls(Array(offer.utf8))
            XCTAssertEqual(
                scene.farEnd(of: handle), .refused(.notAcceptableHere, phrase: "Not Acceptable Here", q850: nil))
            XCTAssertEqual(scene.state, "idle")
        }
    }

    func testAnAnswerThatNobodyConfirmsEndsTheCallAfter32Seconds() {
        let scene = Scene("incoming = answer\nincoming_from = anyone\nmedia_timeout = 600")
        scene.callerSends("INVITE", Scene.description())
        scene.passAnnouncement()
        XCTAssertEqual(scene.state, "connected")
        scene.pass(31_000)
        XCTAssertEqual(scene.state, "connected")
        scene.pass(2_000)
        XCTAssertEqual(scene.endReason, "vanished")
        XCTAssertTrue(scene.sent.contains { $0.hasPrefix("BYE") })
    }

    func testACallerWithoutAnOfferIsMadeOneAndItsAckDecides() {
        let scene = Scene("incoming = answer\nincoming_from = anyone")
        scene.callerSends("INVITE")
        scene.passAnnouncement()
        XCTAssertEqual(scene.state, "connected")
        XCTAssertTrue(scene.answers.last?.contains("m=audio 40000") ?? false, scene.answers.last ?? "")
        XCTAssertEqual(scene.orderNames, [], "nothing is agreed upon yet")
        scene.press(.mute)
        XCTAssertEqual(scene.orderNames, [])
        scene.callerSends("ACK", Scene.description())
        XCTAssertEqual(scene.orderNames, ["mute true", "sendVideo true", "start"])
        scene.pass(9_000)
        XCTAssertEqual(scene.state, "connected")
        scene.press(.hook)
        XCTAssertTrue(scene.sent.contains { $0.hasPrefix("BYE") })
    }

    func testACallerWithoutAnOfferThatDoesNotAnswerOursIsHungUp() {
        let scene = Scene("incoming = answer\nincoming_from = anyone")
        scene.callerSends("INVITE")
        scene.passAnnouncement()
        scene.callerSends("ACK")
        XCTAssertEqual(scene.endReason, "unusable-media")
        XCTAssertTrue(scene.sent.contains { $0.hasPrefix("BYE") })
        XCTAssertEqual(scene.orderNames, [])
    }

    func testACallerWithoutAnOfferMayBeHungUpOnBeforeItsAck() {
        let scene = Scene("incoming = answer\nincoming_from = anyone")
        scene.callerSends("INVITE")
        scene.passAnnouncement()
        scene.press(.hook)
        scene.callerSends("ACK", Scene.description())
        scene.pass(40_000)
        XCTAssertEqual(scene.endReason, "hangup")
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("BYE") }.isEmpty, false)
        XCTAssertEqual(scene.state, "idle")
        XCTAssertEqual(scene.orderNames, [])
    }

    // MARK: - Changes in the call

    func testHoldIsAnsweredSaidAndTakenBack() {
        let scene = Scene.inCall()
        scene.farReinvites(Scene.description(audio: "sendonly", video: "inactive", version: 2))
        scene.farAcknowledges()
        XCTAssertTrue(scene.answers.last?.hasPrefix("SIP/2.0 200") ?? false)
        XCTAssertTrue(scene.answers.last?.contains("a=recvonly") ?? false, scene.answers.last ?? "")
        XCTAssertTrue(scene.answers.last?.contains("a=inactive") ?? false)
        XCTAssertEqual(scene.orderNames.last, "update")
        XCTAssertEqual(scene.plan?.audio?.stream.sends, false)
        XCTAssertEqual(scene.screen?.headline, "Please wait")
        XCTAssertEqual(scene.events("hold").last?["on"] as? Bool, true)
        scene.farReinvites(Scene.description(version: 3), cseq: 1001)
        scene.farAcknowledges(cseq: 1001)
        XCTAssertEqual(scene.events("hold").last?["on"] as? Bool, false)
        XCTAssertEqual(scene.plan?.audio?.stream.sends, true)
        XCTAssertEqual(scene.screen?.remote, .shown)
        XCTAssertEqual(scene.state, "connected")
    }

    func testVideoThatMovesToAnotherPortIsFollowed() {
        let scene = Scene.inCall()
        scene.farReinvites(Scene.description(videoPort: 30_000, version: 2))
        XCTAssertEqual(scene.plan?.video?.stream.remoteRTP.port, 30_000)
    }

    func testAChangeThatMakesNoSenseIsRefusedAndTheCallGoesOn() {
        let scene = Scene.inCall()
        let orders = scene.orderNames.count
        scene.farReinvites(Array("garbage".utf8))
        XCTAssertTrue(scene.answers.last?.hasPrefix("SIP/2.0 488") ?? false)
        XCTAssertEqual(scene.orderNames.count, orders)
        XCTAssertEqual(scene.state, "connected")
    }

    func testARequestForOurOfferIsAnsweredWithOneAndTheAckIsFollowed() {
        let scene = Scene.inCall()
        scene.farReinvites([])
        XCTAssertTrue(scene.answers.last?.contains("m=video 40002") ?? false, scene.answers.last ?? "")
        scene.farAcknowledges(Scene.description(audio: "inactive", video: "inactive", version: 2))
        XCTAssertEqual(scene.orderNames.last, "update")
        XCTAssertEqual(scene.events("hold").last?["on"] as? Bool, true)
    }

    func testAnAckWithoutTheAnswerThatWasAskedForEndsTheCall() {
        let scene = Scene.inCall()
        scene.farReinvites([])
        scene.farAcknowledges()
        XCTAssertEqual(scene.endReason, "unusable-media")
        XCTAssertEqual(scene.sent.last { $0.hasPrefix("BYE") }?.hasPrefix("BYE"), true)
    }
}
