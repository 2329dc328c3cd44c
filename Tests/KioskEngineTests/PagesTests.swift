// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import KioskEngine

/// What is on the screen beside calls.
final class PagesTests: XCTestCase {
    private func say(_ scene: Scene, _ line: ByteString) {
        scene.feed(.control(Scene.client, line: line))
    }

    // MARK: - Idle

    func testTheIdlePageIsAsTheFileSays() {
        let pages: [(String, ScreenPage)] = [
            ("text", .card), ("clock", .clock), ("image", .image), ("black", .black), ("self", .mirror),
        ]
        for (word, page) in pages {
            let scene = Scene("[screen]\nidle = \(word)")
            XCTAssertEqual(scene.screen?.page, page, word)
            XCTAssertEqual(scene.screen?.selfView, page == .mirror ? .shown : .hidden, word)
            XCTAssertEqual(scene.screen?.callBar.isEmpty, page == .black, word)
            scene.press(.call)
            XCTAssertEqual(scene.screen?.page, .card, "a call is told of, whatever was there before")
        }
    }

    func testOwnWordsReplaceOursInTheirLanguage() {
        let scene = Scene("[screen]\nheadline = Help\n[screen.de]\nheadline = Hilfe\ndetail = Wir sind da.")
        XCTAssertEqual(scene.screen?.headline, "Help")
        XCTAssertEqual(scene.screen?.detail, Texts.english.states.idle.detail)
        self.say(scene, "language de")
        XCTAssertEqual(scene.screen?.headline, "Hilfe")
        XCTAssertEqual(scene.screen?.detail, "Wir sind da.")
        self.say(scene, "language fr")
        XCTAssertEqual(scene.screen?.headline, "Help")
    }

    func testAKioskThatCannotCallSaysSoOnEveryIdlePage() {
        let scene = Scene("[screen]\nidle = black", address: "")
        scene.press(.hook)
        XCTAssertEqual(scene.screen?.page, .card)
        XCTAssertEqual(scene.screen?.headline, "Out of order")
    }

    // MARK: - Darkness

    func testTheScreenGoesDarkAndAPressLightsItAndCounts() {
        let scene = Scene("[screen]\nblank_after = 60")
        scene.pass(59_000)
        XCTAssertEqual(scene.screen?.page, .card)
        scene.pass(1_001)
        XCTAssertEqual(scene.screen?.page, .dark)
        scene.press(.call)
        XCTAssertEqual(scene.state, "calling", "the press that wakes is a press")
        XCTAssertEqual(scene.screen?.page, .card)
    }

    func testADarkScreenIsLitByAFaultAndByOtherButtonsAndGoesDarkAgain() {
        let scene = Scene("[screen]\nblank_after = 60")
        for wake in 0..<2 {
            scene.pass(60_001)
            XCTAssertEqual(scene.screen?.page, .dark)
            if wake == 0 { scene.press(.mute) } else { scene.feed(.device(.failed(.camera, "gone"))) }
            XCTAssertEqual(scene.screen?.page, .card)
        }
        scene.pass(60_001)
        XCTAssertEqual(scene.screen?.page, .dark)
    }

    func testWithoutTheKeyTheScreenStaysLit() {
        let scene = Scene()
        scene.pass(7_200_000)
        XCTAssertEqual(scene.screen?.page, .card)
    }

    // MARK: - Pages for whoever installs the kiosk

    func testHealthTellsOfEachDeviceAndOfTheAddress() {
        let scene = Scene()
        scene.feed(.device(.failed(.camera, "it is gone")))
        self.say(scene, "page health")
        XCTAssertEqual(scene.screen?.page, .health)
        let lines = scene.screen?.health ?? []
        let texts = Texts.english.pages
        XCTAssertEqual(lines.first { $0.name == texts.camera }, HealthLine(texts.camera, "it is gone", isGood: false))
        XCTAssertEqual(lines.first { $0.name == texts.screen }?.isGood, true)
        scene.pass(KioskEngine.servicePageMs + 1)
        XCTAssertEqual(scene.screen?.page, .card)
    }

    func testTheChordGoesFromHealthToProblemsAndBack() {
        let scene = Scene("urii = x")
        scene.press(.hook)
        XCTAssertEqual(scene.screen?.page, .card)
        var pages: [ScreenPage?] = []
        for _ in 0..<3 {
            self.say(scene, "page")
            pages.append(scene.screen?.page)
        }
        XCTAssertEqual(pages, [.health, .problems, .card])
    }

    func testACallEndsAPage() {
        let scene = Scene()
        self.say(scene, "page health")
        scene.press(.call)
        XCTAssertEqual(scene.screen?.page, .card)
        XCTAssertEqual(scene.screen?.headline, Texts.english.states.calling.headline)
    }
}
