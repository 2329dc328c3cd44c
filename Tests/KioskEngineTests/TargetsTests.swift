// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SDPWire
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// A press that calls several targets, one after the other and at the same time, in virtual time.
final class TargetsTests: XCTestCase {
    private func scene(_ uri: String, _ settings: String = "") -> Scene {
        Scene(settings, address: "uri = \(uri)")
    }

    /// Whom the kiosk has called, in order.
    private func invited(_ scene: Scene) -> [String] {
        scene.offers.map { String($0.prefix { $0 != "@" }.dropFirst("INVITE sip:".count)) }
    }

    /// The newest call that came to a target.
    private func call(to user: String, _ scene: Scene) -> CallHandle {
        for (handle, event) in scene.farEvents.reversed() {
            if case .incoming(let call) = event, call.target.user == ByteString(utf8Of: user) { return handle }
        }
        preconditionFailure("\(user) was not called")
    }

    private func answer(_ user: String, _ status: StatusCode, _ scene: Scene) {
        let body = status == .ok || status == .sessionProgress ? Scene.description() : []
        scene.farDoes(.respond(self.call(to: user, scene), status, body: body))
    }

    private func failures(_ scene: Scene) -> [String] {
        scene.events("failed").map {
            let next = ($0["next"] as? String ?? "-").replacingOccurrences(of: "@far", with: "")
            return "\($0["uri"] ?? "") \($0["code"] ?? "") \(next)".replacingOccurrences(of: "@far", with: "")
        }
    }

    // MARK: - One after the other

    func testWhoeverIsBusyDeclinesOrCannotBeReachedIsFollowedByTheNext() {
        for status in [StatusCode.busyHere, StatusCode(603), .notFound, .temporarilyUnavailable, StatusCode(600)] {
            let scene = self.scene("sip:a@far, sip:b@far")
            scene.press(.call)
            self.answer("a", status, scene)
            XCTAssertEqual(self.invited(scene), ["a", "b"])
            XCTAssertEqual(self.failures(scene), ["sip:a \(status.value) sip:b"])
            self.answer("b", .ok, scene)
            XCTAssertEqual(scene.state, "connected")
            XCTAssertEqual(scene.events("call").last?["uri"] as? String, "sip:b@far")
        }
    }

    func testATargetThatDoesNotAnswerRingsForItsTime() {
        let scene = self.scene("sip:a@far;ring=20, sip:b@far", "ring_timeout = 30")
        scene.press(.call)
        self.answer("a", .ringing, scene)
        scene.pass(19_900)
        XCTAssertEqual(self.invited(scene), ["a"])
        scene.pass(200)
        XCTAssertEqual(self.invited(scene), ["a", "b"])
        XCTAssertEqual(scene.farEnd(of: self.call(to: "a", scene)), .cancelled)
        self.answer("b", .ringing, scene)
        scene.pass(29_900)
        XCTAssertEqual(scene.state, "ringing")
        scene.pass(200)
        XCTAssertEqual(scene.endReason, "not-answered")
        XCTAssertEqual(
            scene.events("call").last?["tried"] as? [String],
            [
                "sip:a@far not-answered", "sip:b@far not-answered",
            ])
    }

    func testATargetThatIsSilentIsFollowedByTheNextWithinFourSeconds() {
        let scene = Scene(address: "uri = sip:a@10.0.0.9, sip:b@far")
        scene.dead = [.v4(0x0A00_0009)]
        scene.press(.call)
        scene.pass(3_900)
        XCTAssertEqual(self.invited(scene), ["a"])
        scene.pass(200)
        XCTAssertEqual(self.invited(scene), ["a", "b"])
        self.answer("b", .ok, scene)
        XCTAssertEqual(scene.state, "connected")
    }

    func testANameThatIsNotKnownIsFollowedByTheNext() {
        let scene = Scene(address: "uri = sip:a@nowhere, sip:b@10.0.0.1", resolver: .knowsNothing)
        scene.press(.call)
        XCTAssertEqual(self.invited(scene), ["b"])
        XCTAssertEqual(scene.events("failed").first?["reason"] as? String, "unknown-host")
    }

    func testAllAreCalledAgainAfterAPause() {
        let scene = self.scene("sip:a@far, sip:b@far", "cycles = 2\npause = 3")
        scene.press(.call)
        self.answer("a", .busyHere, scene)
        self.answer("b", .notFound, scene)
        XCTAssertEqual(scene.callStates.last, "pausing")
        XCTAssertEqual(scene.screen?.headline, "Calling", "for the person it goes on")
        scene.pass(2_900)
        XCTAssertEqual(self.invited(scene), ["a", "b"])
        scene.pass(200)
        XCTAssertEqual(self.invited(scene), ["a", "b", "a"])
        self.answer("a", .temporarilyUnavailable, scene)
        self.answer("b", .notFound, scene)
        XCTAssertEqual(
            self.failures(scene), ["sip:a 486 sip:b", "sip:b 404 sip:a", "sip:a 480 sip:b", "sip:b 404 -"])
        XCTAssertEqual(scene.events("call").last?["code"] as? Int, 486, "that somebody is busy says most")
        XCTAssertEqual(scene.events("call").last?["uri"] as? String, "sip:a@far")
    }

    func testTheHookEndsItAllAtAnyTime() {
        let steps: [(String, (Scene) -> Void)] = [
            ("at the first", { _ in }), ("at the second", { self.answer("a", .busyHere, $0) }),
            (
                "in the pause",
                {
                    self.answer("a", .busyHere, $0)
                    self.answer("b", .busyHere, $0)
                }
            ),
        ]
        for (name, step) in steps {
            let scene = self.scene("sip:a@far, sip:b@far", "cycles = 10\npause = 60")
            scene.press(.call)
            step(scene)
            let before = self.invited(scene).count
            scene.press(.hook)
            scene.pass(200_000)
            XCTAssertEqual(scene.endReason, "cancelled", name)
            XCTAssertEqual(self.invited(scene).count, before, name)
            XCTAssertEqual(scene.state, "idle", name)
        }
    }

    func testAnEndOfTheProgramEndsItAll() {
        let scene = self.scene("sip:a@far + sip:b@far", "cycles = 10")
        scene.press(.call)
        self.answer("a", .ringing, scene)
        self.answer("b", .ringing, scene)
        scene.feed(.terminate)
        scene.pass(500)
        XCTAssertEqual(scene.exits, [0])
        for user in ["a", "b"] { XCTAssertEqual(scene.farEnd(of: self.call(to: user, scene)), .cancelled, user) }
    }

    func testARedirectionOfATargetComesBeforeTheNextTarget() {
        let scene = self.scene("sip:a@far, sip:b@far")
        scene.press(.call)
        scene.sipTells(
            .ended(.redirected(StatusCode(302), [SIPURI(user: "c", host: .name("far"))])), of: scene.handle)
        self.answer("c", .busyHere, scene)
        XCTAssertEqual(self.invited(scene), ["a", "c", "b"])
    }

    // MARK: - At the same time

    func testTheFirstThatAnswersHasTheCallAndTheOthersStopRinging() {
        for winner in ["a", "b", "c"] {
            let scene = self.scene("sip:a@far + sip:b@far + sip:c@far")
            scene.press(.call)
            XCTAssertEqual(self.invited(scene), ["a", "b", "c"])
            for user in ["a", "b", "c"] { self.answer(user, .ringing, scene) }
            self.answer(winner, .ok, scene)
            XCTAssertEqual(scene.state, "connected")
            XCTAssertEqual(scene.events("call").last?["uri"] as? String, "sip:\(winner)@far")
            for user in ["a", "b", "c"] where user != winner {
                XCTAssertEqual(scene.farEnd(of: self.call(to: user, scene)), .cancelled, user)
            }
            XCTAssertEqual(scene.orderNames.filter { $0 == "start" }.count, 1)
            scene.pass(40_000)
            XCTAssertEqual(scene.kiosk.census.calls, 0, "vanished since, as nothing was heard")
        }
    }

    func testTwoThatAnswerAtOnceAreOneCall() {
        let scene = self.scene("sip:a@far + sip:b@far")
        scene.press(.call)
        self.answer("a", .ringing, scene)
        self.answer("b", .ringing, scene)
        scene.isCut = true
        self.answer("a", .ok, scene)
        self.answer("b", .ok, scene)
        scene.isCut = false
        scene.pass(1_200)
        XCTAssertEqual(scene.state, "connected")
        let ends = ["a", "b"].map { scene.farEnd(of: self.call(to: $0, scene)) }
        XCTAssertEqual(ends.filter { $0 == nil }.count, 1, "the other one was thanked and ended: \(ends)")
    }

    func testWhoeverRingsIsTold() {
        let scene = self.scene("sip:a@far + sip:b@far")
        scene.press(.call)
        self.answer("b", .ringing, scene)
        XCTAssertEqual(scene.state, "ringing")
        XCTAssertEqual(scene.events("call").last?["uri"] as? String, "sip:b@far")
        self.answer("b", .busyHere, scene)
        XCTAssertEqual(scene.state, "calling", "the other one was not heard of")
        self.answer("a", .ringing, scene)
        XCTAssertEqual(scene.state, "ringing")
        self.answer("a", .ok, scene)
        XCTAssertEqual(scene.state, "connected")
    }

    func testOneThatIsBusyDoesNotEndTheOthers() {
        let scene = self.scene("sip:a@far + sip:b@far, sip:c@far")
        scene.press(.call)
        self.answer("b", .ringing, scene)
        self.answer("a", .busyHere, scene)
        XCTAssertEqual(scene.state, "ringing")
        XCTAssertEqual(self.failures(scene), ["sip:a 486 sip:b"])
        self.answer("b", .busyHere, scene)
        XCTAssertEqual(self.invited(scene), ["a", "b", "c"])
    }

    func testAllThatRingAreGivenUpTogether() {
        let scene = self.scene("sip:a@far + sip:b@far, sip:c@far", "ring_timeout = 10")
        scene.press(.call)
        self.answer("a", .ringing, scene)
        scene.pass(4_000)
        self.answer("b", .ringing, scene)
        scene.pass(6_100)
        for user in ["a", "b"] { XCTAssertEqual(scene.farEnd(of: self.call(to: user, scene)), .cancelled, user) }
        XCTAssertEqual(self.invited(scene), ["a", "b", "c"])
    }

    func testTheHookStopsAllThatRing() {
        let scene = self.scene("sip:a@far + sip:b@far")
        scene.press(.call)
        self.answer("a", .ringing, scene)
        self.answer("b", .ringing, scene)
        scene.press(.hook)
        for user in ["a", "b"] { XCTAssertEqual(scene.farEnd(of: self.call(to: user, scene)), .cancelled, user) }
        XCTAssertEqual(scene.endReason, "cancelled")
    }

    func testMediaBeforeTheAnswerOfOneEndWhereAnotherAnswers() {
        let scene = self.scene("sip:a@far + sip:b@far")
        scene.press(.call)
        self.answer("a", .sessionProgress, scene)
        XCTAssertEqual(scene.state, "early")
        self.answer("b", .ok, scene)
        XCTAssertEqual(scene.state, "connected")
        XCTAssertEqual(scene.orderNames.suffix(4), ["stop", "mute false", "sendVideo true", "start"])
        XCTAssertEqual(scene.farEnd(of: self.call(to: "a", scene)), .cancelled)
    }

    func testMediaThatDoNotFitFailOnlyTheirTarget() {
        let scene = self.scene("sip:a@far + sip:b@far")
        scene.press(.call)
        scene.farDoes(.respond(self.call(to: "b", scene), .ok, body: Array("garbage".utf8)))
        XCTAssertEqual(self.failures(scene), ["sip:b 488 sip:a"])
        self.answer("a", .ok, scene)
        XCTAssertEqual(scene.state, "connected")
    }

    func testOneThatDoesNotTakeTheOfferIsOfferedAnOlderOne() {
        let scene = Scene(
            "[media]\nencryption = required\nkeying = dtls", address: "uri = sip:a@far + sip:b@far"
        ) { $0.fingerprint = Fingerprint(.sha256, [UInt8](repeating: 9, count: 32)) }
        scene.press(.call)
        self.answer("b", .notAcceptableHere, scene)
        XCTAssertEqual(self.invited(scene), ["a", "b", "b"])
        XCTAssertTrue(scene.offers[2].contains("RTP/SAVP "), scene.offers[2])
        self.answer("b", .notAcceptableHere, scene)
        XCTAssertEqual(self.failures(scene), ["sip:b 488 sip:a"], "once")
    }

    func testAServerThatIsSilentIsPassedOverByAll() {
        let scene = Scene("", address: "uri = sip:a@far + sip:b@far")
        scene.addresses = [.v4(0x0A00_0009), Scene.farAddress.address]
        scene.dead = [.v4(0x0A00_0009)]
        scene.press(.call)
        scene.pass(2_100)
        self.answer("b", .ringing, scene)
        self.answer("a", .ringing, scene)
        self.answer("a", .ok, scene)
        XCTAssertEqual(scene.state, "connected")
    }
}
