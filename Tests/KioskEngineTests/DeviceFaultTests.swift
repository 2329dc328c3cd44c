// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SIPEngine
import XCTest

@testable import KioskEngine

/// Devices that go away and come back, between calls and in one.
final class DeviceFaultTests: XCTestCase {
    private let gone = KioskInput.device(.failed(.camera, "The camera went away."))

    /// The directions of the kiosk's sound and picture in the description it sent last.
    private func directions(_ offer: String) -> [String] {
        offer.components(separatedBy: "\r\n").filter {
            ["a=sendrecv", "a=sendonly", "a=recvonly", "a=inactive"].contains($0)
        }
    }

    func testANewFaultIsSeenHeardAndToldAndThenOnlyTheBannerTellsOfIt() {
        let scene = Scene()
        scene.forget()
        scene.feed(self.gone)
        XCTAssertEqual(scene.lampPatterns, ["fast"])
        XCTAssertEqual(scene.chimes, [.lost])
        XCTAssertEqual(scene.events("fault").last?["device"] as? String, "camera")
        XCTAssertTrue(scene.screen?.banner.string.contains("The camera went away.") ?? false)
        scene.pass(2_100)
        XCTAssertEqual(scene.lampPatterns, ["fast", "off"])
        XCTAssertEqual(scene.chimes, [.lost])
        XCTAssertTrue(scene.screen?.banner.string.contains("The camera went away.") ?? false)
        scene.feed(.device(.restored(.camera)))
        XCTAssertEqual(scene.screen?.banner, "")
        scene.press(.call)
        XCTAssertEqual(scene.state, "calling")
    }

    func testADeviceThatComesAndGoesAlarmsNowAndThen() {
        let scene = Scene()
        scene.forget()
        for _ in 0..<10 {
            scene.feed(self.gone)
            scene.pass(3_000)
            scene.feed(.device(.restored(.camera)))
            scene.pass(3_000)
        }
        XCTAssertEqual(scene.chimes.filter { $0 == .lost }.count, 5)
        XCTAssertEqual(scene.chimes.filter { $0 == .back }.count, 5)
        XCTAssertEqual(scene.events("fault").count, 10, "the log has them all")
        scene.pass(10_000)
        scene.feed(self.gone)
        scene.feed(.device(.failed(.playback, "The loudspeaker went away.")))
        XCTAssertEqual(scene.chimes.suffix(2), [.lost, .lost])
    }

    func testInACallLampAndSoundTellTooAndThenShowTheCallAgain() {
        let scene = Scene.inCall()
        scene.forget()
        scene.feed(self.gone)
        XCTAssertEqual(scene.lampPatterns, ["fast"])
        XCTAssertEqual(scene.chimes, [.lost])
        scene.pass(2_100)
        XCTAssertEqual(scene.lampPatterns, ["fast", "on"])
        XCTAssertEqual(scene.state, "connected")
    }

    func testACameraThatGoesAwayInACallChangesNothingOfWhatWasAgreed() {
        let scene = Scene.inCall()
        scene.forget()
        scene.feed(self.gone)
        scene.feed(.device(.failed(.display, "No display is plugged in.")))
        XCTAssertEqual(scene.offers, [])
        scene.farReinvites(Scene.description(version: 2))
        XCTAssertEqual(self.directions(scene.answers.last ?? ""), ["a=sendrecv", "a=sendrecv"], "a card is sent")
        for order in scene.orders {
            if case .update(let plan, let encoder, _) = order {
                XCTAssertTrue(plan.video?.stream.receives ?? false)
                XCTAssertNotNil(encoder)
            }
        }
        scene.feed(.device(.restored(.camera)))
        scene.feed(.device(.restored(.display)))
        XCTAssertEqual(scene.offers, [], "it goes on by itself")
    }

    func testWhatWasNotThereWhenTheCallBeganIsOfferedWhenItComes() {
        let scene = Scene()
        scene.feed(self.gone)
        scene.feed(.device(.failed(.display, "No display is plugged in.")))
        scene.press(.call)
        XCTAssertFalse(scene.offerAtFar.contains("m=video"))
        scene.farAnswers(.ok, Scene.description(videoPort: 0))
        scene.forget()
        scene.feed(.device(.restored(.camera)))
        XCTAssertEqual(self.directions(scene.offers.last ?? ""), ["a=sendrecv", "a=sendonly"])
        scene.farAnswers()
        scene.feed(.device(.restored(.display)))
        XCTAssertEqual(self.directions(scene.offers.last ?? ""), ["a=sendrecv", "a=sendrecv"])
        scene.farAnswers()
        XCTAssertEqual(scene.state, "connected")
        scene.forget()
        scene.feed(self.gone)
        scene.feed(.device(.restored(.camera)))
        XCTAssertEqual(scene.offers, [], "once is enough")
    }

    // MARK: - What is no device

    /// Its code, and that lamp, sound and words tell of it: what every fault that stands has in common.
    private func assertTold(_ scene: Scene, _ code: String, _ words: ByteString, line: UInt = #line) {
        XCTAssertEqual(scene.events("fault").last?["fault_code"] as? String, code, line: line)
        XCTAssertEqual(scene.lampPatterns.last, "fast", line: line)
        XCTAssertEqual(scene.chimes, [.lost], line: line)
        XCTAssertTrue(scene.screen?.banner.string.contains(words.string) ?? false, line: line)
    }

    func testAnOpenedHousingIsAFaultUntilTheOwnerSaysOtherwiseOverStartsToo() {
        let scene = Scene("[input.tamper]\nline = lid\n")
        scene.forget()
        scene.feed(.input(.tamper, isActive: true))
        self.assertTold(scene, "CB-PNL-TAMPER", Texts.english.faults.housing)
        scene.feed(.input(.tamper, isActive: false))
        XCTAssertNotEqual(scene.screen?.banner, "", "closing it is not enough")
        scene.feed(.control(Scene.client, line: "clear-tamper"))
        XCTAssertEqual(scene.screen?.banner, "")
        XCTAssertEqual(scene.chimes, [.lost, .back])
        let next = Scene { $0.wasTampered = true }
        XCTAssertEqual(next.events("fault").last?["fault_code"] as? String, "CB-PNL-TAMPER")
        next.press(.call)
        XCTAssertEqual(next.state, "calling")
    }

    func testAFailingSupplyIsToldBetweenCallsToo() {
        let scene = Scene()
        scene.forget()
        scene.feed(.input(.power, isActive: true))
        self.assertTold(scene, "CB-PWR-LOW", Texts.english.states.lowPower.headline)
        scene.feed(.input(.power, isActive: false))
        XCTAssertEqual(scene.screen?.banner, "")
        XCTAssertEqual(scene.chimes, [.lost, .back])
    }

    func testProblemsOfTheFileAreSeenAndHeardAsTheyAreFound() {
        let scene = Scene()
        scene.forget()
        scene.feed(.problem(ConfigurationProblem(.opening, section: "screen", key: "image", reason: "no picture")))
        XCTAssertEqual(scene.events("problem").last?["fault_code"] as? String, "CB-CFG-OPEN")
        XCTAssertEqual(scene.lampPatterns, ["fast"])
        XCTAssertEqual(scene.chimes, [.lost])
        XCTAssertEqual(Scene("[call]\nring_timeout = soon\n").chimes, [.ready, .lost], "at the start too")
    }

    func testTheStatusHasTheWordsThatAreShown() {
        let scene = Scene()
        scene.feed(self.gone)
        scene.feed(
            .localCounters(Scene.client, LocalCounters(descriptors: 1, threads: 1, residentKiB: 1, framebuffers: 1)))
        let screen = scene.replies.last?["screen"] as? [String: Any]
        XCTAssertEqual(screen?["banner"] as? String, scene.screen?.banner.string)
        XCTAssertEqual(screen?["headline"] as? String, scene.screen?.headline.string)
        XCTAssertEqual(screen?["code"] as? String, "")
    }
}
