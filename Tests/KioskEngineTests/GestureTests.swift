// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import KioskEngine

/// Press, hold, long press and chord.
final class GestureTests: XCTestCase {
    private var gestures = Gestures()
    private var now = Instant.zero

    private func edge(_ button: ButtonName, _ edge: ButtonEdge, _ rule: Gestures.Rule = .init()) -> [Gestures.Gesture] {
        self.gestures.edge(button, edge, rule, now: self.now)
    }

    private func pass(ms: Int) -> [Gestures.Gesture] {
        self.now = self.now + .milliseconds(ms)
        return self.gestures.timePassed(now: self.now)
    }

    func testAPlainButtonActsWhenItIsPressed() {
        XCTAssertEqual(self.edge(.mute, .pressed), [.press(.mute)])
        XCTAssertNil(self.gestures.pending)
        XCTAssertEqual(self.pass(ms: 100_000), [])
        XCTAssertEqual(self.edge(.mute, .released), [])
    }

    func testAButtonThatIsToBeHeldActsOnlyAfterThat() {
        let rule = Gestures.Rule(holdMs: 2_000)
        XCTAssertEqual(self.edge(.call, .pressed, rule), [])
        XCTAssertEqual(self.gestures.countdown?.gesture, .press(.call), "counted down at once")
        XCTAssertEqual(self.gestures.countdown?.at, self.now + .seconds(2))
        XCTAssertEqual(self.pass(ms: 1_999), [])
        XCTAssertEqual(self.edge(.call, .released, rule), [], "let go too soon")
        XCTAssertNil(self.gestures.countdown)
        XCTAssertEqual(self.pass(ms: 10_000), [])
        _ = self.edge(.call, .pressed, rule)
        XCTAssertEqual(self.pass(ms: 2_000), [.press(.call)])
        XCTAssertEqual(self.pass(ms: 2_000), [], "once")
    }

    func testALongPressIsToldOnceAfterThePress() {
        let rule = Gestures.Rule(longMs: 3_000)
        XCTAssertEqual(self.edge(.call, .pressed, rule), [.press(.call)])
        XCTAssertNil(self.gestures.countdown, "a short press is not worth a word")
        XCTAssertEqual(self.gestures.wakesAt, self.now + .milliseconds(Gestures.silentMs))
        XCTAssertEqual(self.pass(ms: Gestures.silentMs), [])
        XCTAssertEqual(self.gestures.countdown?.gesture, .longPress(.call))
        XCTAssertEqual(self.pass(ms: 2_999 - Gestures.silentMs), [])
        XCTAssertEqual(self.pass(ms: 1), [.longPress(.call)])
        XCTAssertEqual(self.pass(ms: 60_000), [])
        XCTAssertEqual(self.edge(.call, .released, rule), [])
        XCTAssertEqual(self.edge(.call, .pressed, rule), [.press(.call)], "and again")
    }

    func testTheLongPressOfAButtonThatIsToBeHeldCountsFromItsAct() {
        let rule = Gestures.Rule(holdMs: 1_000, longMs: 3_000)
        _ = self.edge(.call, .pressed, rule)
        XCTAssertEqual(self.pass(ms: 1_000), [.press(.call)])
        XCTAssertEqual(self.pass(ms: 2_999), [])
        XCTAssertEqual(self.pass(ms: 1), [.longPress(.call)])
    }

    func testAChordIsTwoButtonsHeldTogether() {
        self.gestures.chord = [.hook, .mute]
        XCTAssertEqual(self.edge(.hook, .pressed), [.press(.hook)])
        XCTAssertEqual(self.pass(ms: 10_000), [], "one is none")
        XCTAssertEqual(self.edge(.mute, .pressed), [.press(.mute)])
        XCTAssertEqual(self.gestures.pending?.gesture, .chord)
        XCTAssertNil(self.gestures.countdown)
        XCTAssertEqual(self.pass(ms: Gestures.chordMs - 1), [])
        XCTAssertEqual(self.edge(.mute, .released), [])
        XCTAssertEqual(self.pass(ms: 10_000), [], "let go too soon")
        _ = self.edge(.mute, .pressed)
        XCTAssertEqual(self.pass(ms: Gestures.chordMs), [.chord])
        XCTAssertNil(self.gestures.pending)
        XCTAssertEqual(self.pass(ms: 60_000), [], "once for as long as both are held")
    }

    func testAPressThatComesTwiceWithoutAReleaseActsTwice() {
        XCTAssertEqual(self.edge(.call, .pressed), [.press(.call)])
        XCTAssertEqual(self.edge(.call, .pressed), [.press(.call)])
    }
}
