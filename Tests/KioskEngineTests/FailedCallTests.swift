// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import SIPWire
import XCTest

@testable import KioskEngine

/// Calls that come to nothing: each has an outcome that is seen and heard, and the next press works.
final class FailedCallTests: XCTestCase {
    /// The outcome stands for eight seconds with lamp and tone, then the kiosk is idle, and a press dials again.
    private func checkOutcome(
        _ scene: Scene, _ reason: String, _ headline: String, tone: Tone = .error, line: UInt = #line
    ) {
        XCTAssertEqual(scene.endReason, reason, line: line)
        XCTAssertEqual(scene.screen?.headline.string, headline, line: line)
        XCTAssertEqual(scene.lampPatterns.last, "fast", line: line)
        XCTAssertEqual(scene.tones.last, tone, line: line)
        let text = scene.events("call").last?["text"] as? String
        XCTAssertEqual(text, scene.screen?.detail.string, "the log says what the screen says", line: line)
        let ended = scene.events("call").last?["t"] as? Double ?? 0
        let shownMs = Int(Double(scene.now.nanoseconds) / 1e6 - ended)
        scene.pass(7_990 - shownMs)
        XCTAssertEqual(scene.state, "outcome", line: line)
        scene.pass(20)
        XCTAssertEqual(scene.state, "idle", line: line)
        XCTAssertEqual(scene.lampPatterns.last, "off", line: line)
        XCTAssertEqual(scene.tones.last, Tone.none, line: line)
        scene.resolver = .answers
        scene.isCut = false
        scene.press(.call)
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected", line: line)
    }

    func testEveryRefusalIsSaidInPlainWords() {
        let cases: [(Int, String, Tone)] = [
            (301, "Moved", .error), (400, "Call failed", .error), (401, "Not allowed", .error),
            (403, "Not allowed", .error), (404, "Unknown address", .error), (407, "Not allowed", .error),
            (408, "No answer", .busy), (480, "No answer", .busy), (486, "Line busy", .busy),
            (488, "Call failed", .error), (500, "Call failed", .error), (503, "Overloaded", .error),
            (600, "Line busy", .busy), (603, "Declined", .busy), (606, "Call failed", .error),
        ]
        for (code, headline, tone) in cases {
            let scene = Scene()
            scene.press(.call)
            scene.farAnswers(StatusCode(code), [])
            XCTAssertEqual(scene.events("call").last?["code"] as? Int, code)
            self.checkOutcome(scene, "refused", headline, tone: tone)
        }
    }

    func testAFarEndThatNeverAnswersIsGivenUpAfter32Seconds() {
        let scene = Scene()
        scene.isCut = true
        scene.press(.call)
        scene.pass(31_900)
        XCTAssertEqual(scene.state, "calling")
        scene.pass(200)
        self.checkOutcome(scene, "no-response", "No reply", tone: .busy)
    }

    func testAFarEndThatOnlyRingsIsCancelledAfterTheRingTimeout() {
        for (settings, seconds) in [("", 60), ("ring_timeout = 20", 20)] {
            let scene = Scene(settings)
            scene.press(.call)
            scene.farAnswers(.ringing)
            scene.pass(seconds * 1000 - 10)
            XCTAssertEqual(scene.state, "ringing")
            scene.pass(20)
            XCTAssertEqual(scene.farEnd(of: scene.atFar), .cancelled)
            self.checkOutcome(scene, "not-answered", "No answer", tone: .busy)
        }
    }

    func testANameThatIsNotKnownAndAResolverThatIsSilent() {
        let unknown = Scene()
        unknown.pass(61_000)
        unknown.resolver = .knowsNothing
        unknown.press(.call)
        XCTAssertEqual(unknown.events("call").last?["phrase"] as? String, Self.notFound)
        self.checkOutcome(unknown, "unknown-host", "Not reachable")

        let silent = Scene(resolver: .isSilent)
        silent.press(.call)
        silent.pass(2_001)
        self.checkOutcome(silent, "unknown-host", "Not reachable")

        let empty = Scene()
        empty.pass(61_000)
        empty.resolver = .isSilent
        empty.press(.call)
        while let (id, question) = empty.questions.first { empty.answers(id, Self.nothing(for: question)) }
        self.checkOutcome(empty, "unknown-host", "Not reachable")
    }

    private static let notFound = "the name is unknown, or no name server answers"

    private static func nothing(for question: NameQuestion) -> NameAnswer {
        switch question {
        case .naptr: return .found(.naptr([]), ttlSeconds: 60)
        case .srv: return .found(.addresses([]), ttlSeconds: 60)
        case .addresses: return .found(.addresses([]), ttlSeconds: 60)
        }
    }

    func testAFlowThatFails() {
        let scene = Scene()
        scene.isCut = true
        scene.press(.call)
        scene.feed(.flowFailed(Scene.toFar))
        self.checkOutcome(scene, "unreachable", "Not reachable")
    }

    func testAnAnswerThatMakesNoSenseIsHungUp() {
        let bodies = ["", "garbage", "v=0\r\no=- 1 1 IN IP4 10.0.0.1\r\ns=-\r\nt=0 0\r\n"]
        for body in bodies {
            let scene = Scene()
            scene.press(.call)
            scene.farAnswers(.ok, Array(body.utf8))
            XCTAssertEqual(scene.sent.filter { $0.hasPrefix("BYE") }.count, 1, body)
            XCTAssertFalse(scene.orderNames.contains("start"))
            if scene.endReason == "protocol-fault" {
                self.checkOutcome(scene, "protocol-fault", "Call failed")
            } else {
                self.checkOutcome(scene, "unusable-media", "Call failed")
            }
        }
    }

    func testAPeerThatVanishesInTheCallIsSaidGoodbyeAfterTenSeconds() {
        let scene = Scene.inCall()
        scene.pass(20_000)
        XCTAssertEqual(scene.state, "connected")
        scene.isCut = true
        let last = scene.now
        scene.pass(5_000)
        scene.feed(.media(.silent(.audio, since: last)))
        scene.feed(.media(.silent(.video, since: last)))
        scene.pass(4_990)
        XCTAssertEqual(scene.state, "connected")
        scene.pass(20)
        XCTAssertEqual(scene.sent.filter { $0.hasPrefix("BYE") }.count, 1)
        XCTAssertEqual(scene.orderNames.last, "stop")
        XCTAssertEqual(scene.events("call").last?["duration_ms"] as? Double, 30_000)
        self.checkOutcome(scene, "vanished", "Connection lost")
    }

    func testReportsOfRTCPKeepACallThatIsOtherwiseSilent() {
        let scene = Scene.inCall("media_timeout = 5")
        let last = scene.now
        scene.feed(.media(.silent(.audio, since: last)))
        scene.feed(.media(.silent(.video, since: last)))
        for count in 1...20 {
            scene.pass(1_000)
            var counters = MediaCounters()
            counters.streams.audio.reportsReceived = UInt64(count / 4)
            scene.feed(.media(.counters(counters)))
        }
        XCTAssertEqual(scene.state, "connected")
        scene.pass(5_001)
        XCTAssertEqual(scene.endReason, "vanished")
    }

    func testAnAnsweredCallInWhichNothingEverComesIsEnded() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers()
        scene.pass(10_001)
        self.checkOutcome(scene, "vanished", "Connection lost")
    }

    func testWithoutAnAddressThePressIsAnsweredAllTheSame() {
        let scene = Scene(address: "")
        scene.press(.hook)
        XCTAssertEqual(scene.screen?.headline, "Out of order", "what is wrong with the file is read")
        XCTAssertEqual(scene.lampPatterns.last, "fast")
        scene.press(.call)
        XCTAssertEqual(scene.endReason, "no-address")
        XCTAssertEqual(scene.tones.last, .error)
        scene.pass(8_001)
        XCTAssertEqual(scene.state, "idle")
        XCTAssertEqual(scene.tones.last, Tone.none)
    }

    func testAMessageOnTheScreenIsClearedByHookAndReplacedByTheNextCall() {
        let scene = Scene()
        scene.press(.call)
        scene.farAnswers(.busyHere, [])
        scene.press(.hook)
        XCTAssertEqual(scene.state, "idle")
        scene.press(.call)
        scene.farAnswers(.busyHere, [])
        scene.press(.call)
        XCTAssertEqual(scene.state, "calling")
    }
}
