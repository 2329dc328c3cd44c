// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import KioskEngine

/// The screen speaks what was chosen, and the first language again when nobody is there any more.
final class LanguageTests: XCTestCase {
    private func say(_ scene: Scene, _ line: ByteString) {
        scene.feed(.control(Scene.client, line: line))
    }

    func testTheScreenSpeaksTheChosenLanguageAndReturnsAfterAWhile() {
        let scene = Scene()
        self.say(scene, "language DE")
        XCTAssertEqual(scene.screen?.language, .german)
        XCTAssertEqual(scene.screen?.headline, Texts.german.states.idle.headline)
        XCTAssertEqual(scene.events("language").last?["code"] as? String, "de")
        scene.pass(KioskEngine.languageShownMs - 1)
        XCTAssertEqual(scene.screen?.language, .german)
        scene.pass(2)
        XCTAssertEqual(scene.screen?.language, .english)
    }

    func testALanguageStaysThroughACallAndItsTimeRunsFromItsEnd() {
        let scene = Scene()
        self.say(scene, "language fr")
        scene.press(.call)
        XCTAssertEqual(scene.screen?.headline, Texts.french.states.calling.headline)
        XCTAssertEqual(scene.screen?.callBar.first?.label, Texts.french.buttons.cancel)
        scene.farAnswers(.ringing)
        scene.pass(50_000)
        XCTAssertEqual(scene.screen?.language, .french)
        scene.press(.hook)
        scene.pass(59_000)
        XCTAssertEqual(scene.screen?.language, .french)
        scene.pass(60_000)
        XCTAssertEqual(scene.screen?.language, .english)
    }

    func testEventsAreEnglishWhateverTheScreenSpeaks() {
        let scene = Scene()
        self.say(scene, "language zh")
        scene.press(.call)
        scene.farDoes(.respond(scene.atFar, .busyHere, body: []))
        XCTAssertEqual(scene.screen?.headline, Texts.chinese.outcomes.busy.headline)
        XCTAssertEqual(
            scene.events("call").last?["text"] as? String, "The other side is busy. Please try again in a few minutes.")
    }

    func testAnUnknownLanguageIsRefused() {
        let scene = Scene()
        self.say(scene, "language klingon")
        XCTAssertEqual(scene.replies.last?["ok"] as? Bool, false)
        XCTAssertEqual(scene.screen?.language, .english)
    }

    func testTechnicalWordsStayTogetherAmongArabicOnes() {
        let scene = Scene()
        scene.feed(.device(.failed(.camera, "/dev/video0 is gone")))
        self.say(scene, "language ar")
        let camera = Texts.arabic.faults.camera.string
        XCTAssertEqual(scene.screen?.banner.string, "\(camera): \u{2068}/dev/video0 is gone\u{2069}")
        self.say(scene, "language en")
        XCTAssertEqual(scene.screen?.banner, "No camera: /dev/video0 is gone")
    }
}
