// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import KioskEngine

/// Calls that the kiosk places by itself, and the countdown before them.
final class AutoCallTests: XCTestCase {
    private func scene(_ settings: String) -> Scene {
        Scene("[auto_call]\n\(settings)")
    }

    private func states(_ scene: Scene) -> [String] {
        scene.events("auto_call").map { "\($0["state"] ?? "") \($0["by"] ?? "")" }
    }

    private var askedForTheTime: (Scene) -> Bool = { scene in
        scene.outputs.contains {
            if case .readClock = $0 { return true }
            return false
        }
    }

    // MARK: - After the start

    func testACallAfterTheStartIsCountedDownTo() {
        let scene = self.scene("allow = yes\nafter = 30\ncountdown = 5")
        scene.pass(24_900)
        XCTAssertEqual(self.states(scene), [])
        scene.pass(200)
        XCTAssertEqual(self.states(scene), ["scheduled start"])
        XCTAssertEqual(scene.screen?.headline, "Automatic call")
        XCTAssertNotNil(scene.screen?.countdown)
        XCTAssertEqual(scene.chimes.last, .warning)
        XCTAssertEqual(scene.spoken.last, "countdown")
        XCTAssertEqual(scene.lampPatterns.last, "slow")
        XCTAssertEqual(scene.offers.count, 0)
        scene.pass(5_000)
        XCTAssertEqual(self.states(scene), ["scheduled start", "executed start"])
        XCTAssertEqual(scene.offers.count, 1)
        XCTAssertNil(scene.screen?.countdown)
        scene.farAnswers()
        scene.press(.hook)
        scene.pass(100_000)
        XCTAssertEqual(scene.offers.count, 1, "once a start")
    }

    func testOnlyTheOwnerMayAllowIt() {
        for settings in ["after = 30", "allow = no\nafter = 30\nat = 08:00", "allow = yes"] {
            let scene = self.scene(settings)
            scene.pass(200_000)
            XCTAssertEqual(scene.offers.count, 0)
            XCTAssertFalse(self.askedForTheTime(scene), settings)
        }
    }

    func testAnyPressEndsTheCountdownAndTheCallButtonCalls() {
        for (button, calls) in [(ButtonName.hook, 0), (.mute, 0), (.call, 1)] {
            let scene = self.scene("allow = yes\nafter = 30")
            scene.pass(25_000)
            scene.press(button)
            XCTAssertEqual(self.states(scene), ["scheduled start", "cancelled start"])
            XCTAssertEqual(scene.offers.count, calls, "\(button)")
            XCTAssertNil(scene.screen?.countdown)
            scene.pass(10_000)
            XCTAssertEqual(scene.offers.count, calls)
        }
    }

    func testACallIsNotDisturbed() {
        let early = self.scene("allow = yes\nafter = 30")
        early.press(.call)
        early.farAnswers(.ringing)
        early.pass(40_000)
        XCTAssertEqual(self.states(early), ["skipped start"])
        let late = self.scene("allow = yes\nafter = 30")
        late.pass(25_000)
        late.feed(.control(Scene.client, line: "call sip:b@far"))
        XCTAssertEqual(self.states(late), ["scheduled start", "skipped start"])
        XCTAssertEqual(late.offers.count, 1)
    }

    func testItMayCallOthersThanTheButton() {
        let scene = self.scene("allow = yes\nafter = 30\nuri = sip:watch@far")
        scene.pass(31_000)
        XCTAssertTrue(scene.offers[0].hasPrefix("INVITE sip:watch@far"))
    }

    // MARK: - At a time of day

    func testACallAtATimeOfDay() {
        let scene = self.scene("allow = yes\nat = 08:00 mon-fri\ncountdown = 10")
        XCTAssertTrue(self.askedForTheTime(scene))
        // Friday, 07:50:30.
        scene.feed(.clock(LocalTime(secondOfDay: 7 * 3600 + 50 * 60 + 30, weekday: 4)))
        scene.pass(559_900)
        XCTAssertEqual(self.states(scene), [])
        scene.pass(200)
        XCTAssertEqual(self.states(scene), ["scheduled time"])
        scene.pass(10_000)
        XCTAssertEqual(self.states(scene), ["scheduled time", "executed time"])
        scene.farAnswers()
        scene.press(.hook)
        scene.forget()
        scene.pass(61_000)
        XCTAssertTrue(self.askedForTheTime(scene), "for the next one")
        scene.feed(.clock(LocalTime(secondOfDay: 8 * 3600 + 62, weekday: 4)))
        scene.pass(3_600_000)
        XCTAssertEqual(self.states(scene), [])
    }

    func testWhileNobodyKnowsTheTimeNothingIsDueAndItIsAskedForAgain() {
        let scene = self.scene("allow = yes\nat = 08:00")
        scene.feed(.clock(nil))
        scene.forget()
        scene.pass(59_000)
        XCTAssertFalse(self.askedForTheTime(scene))
        scene.pass(2_000)
        XCTAssertTrue(self.askedForTheTime(scene))
        XCTAssertEqual(self.states(scene), [])
    }

    func testAClockThatIsTurnedBackIsFollowed() {
        var calls = AutoCall(self.settings("at = 08:00"), isStart: true, now: .zero)
        XCTAssertEqual(calls.timePassed(isFree: true, now: .zero), .readClock)
        calls.clock(LocalTime(secondOfDay: 7 * 3600 + 55 * 60, weekday: 0), now: .zero)
        XCTAssertEqual(calls.wakesAt, Instant.zero + .seconds(290))
        calls.clock(LocalTime(secondOfDay: 6 * 3600, weekday: 0), now: .zero)
        XCTAssertEqual(calls.wakesAt, Instant.zero + .seconds(600))
    }

    private func settings(_ text: String) -> AutoCallSettings {
        Configuration.parse(Array("[call]\nuri = sip:a@b\n[auto_call]\nallow = yes\n\(text)\n".utf8)).0.autoCall
    }

    func testTheNextTimeOfTheWeek() {
        let day = 24 * 3600
        let cases: [(String, LocalTime, Int?)] = [
            ("08:00", LocalTime(secondOfDay: 0, weekday: 3), 8 * 3600),
            ("08:00", LocalTime(secondOfDay: 8 * 3600, weekday: 3), day),
            ("08:00 mon", LocalTime(secondOfDay: 8 * 3600, weekday: 0), 7 * day),
            ("08:00 sat-mon", LocalTime(secondOfDay: 9 * 3600, weekday: 0), 5 * day - 3600),
            ("00:00 tue thu", LocalTime(secondOfDay: day - 1, weekday: 1), day + 1),
        ]
        for (text, from, seconds) in cases {
            XCTAssertEqual(self.settings("at = " + text).times[0].seconds(from: from), seconds, text)
        }
    }

    func testBadTimesAndZones() {
        for text in ["8", "24:00", "08:60", "8:5", "08:00 foo", "08:00 mon-tue-wed", "08:00,", ",", ""] {
            XCTAssertThrowsError(try ConfigurationValue.dayTimes(ByteString(utf8Of: text)), text)
        }
        XCTAssertThrowsError(
            try ConfigurationValue.dayTimes(
                ByteString(utf8Of: Array(repeating: "1:00", count: 9).joined(separator: ","))))
        for text in ["", "/etc/passwd", "-1", "a b", String(repeating: "x", count: 65), "a\u{e4}"] {
            XCTAssertThrowsError(try ConfigurationValue.timeZone(ByteString(utf8Of: text)), text)
        }
        for text in ["CET-1CEST,M3.5.0,M10.5.0/3", "Europe/Berlin", "<+03>-3", "UTC0", "system"] {
            XCTAssertNoThrow(try ConfigurationValue.timeZone(ByteString(utf8Of: text)), text)
        }
    }
}
