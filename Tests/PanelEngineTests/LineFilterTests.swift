// SPDX-License-Identifier: Apache-2.0
import Bytes
import XCTest

@testable import PanelEngine

/// A line whose level is drawn by tests, and a filter that watches it as the program does: edges at their time, the
/// level at each deadline.
struct WatchedLine {
    private(set) var filter: LineFilter
    private(set) var now = Instant(nanoseconds: 5_000_000_000)
    private var isActive: Bool
    private(set) var events: [LineFilter.Event] = []
    /// How often the filter wanted the level by itself.
    private(set) var reads = 0
    /// The next edges do not arrive.
    var losesEdges = false

    init(pressMs: Int = 20, releaseMs: Int = 60, stuckMs: Int = 60_000, isActive: Bool = false) {
        self.isActive = isActive
        let settings = LineFilter.Settings(pressMs: pressMs, releaseMs: releaseMs, stuckMs: stuckMs)
        self.filter = LineFilter(settings, isActive: isActive, now: self.now)
    }

    mutating func pass(us: Int) {
        let end = self.now + Duration(nanoseconds: Int64(us) * 1000)
        while self.filter.deadline <= end {
            self.now = max(self.now, self.filter.deadline)
            self.reads += 1
            self.events += self.filter.handle(.level(isActive: self.isActive), now: self.now)
        }
        self.now = end
    }

    mutating func pass(ms: Int) {
        self.pass(us: ms * 1000)
    }

    mutating func set(_ isActive: Bool) {
        guard isActive != self.isActive else { return }
        self.isActive = isActive
        guard !self.losesEdges, self.filter.isListening else { return }
        self.events += self.filter.handle(.edge(isActive: isActive, at: self.now), now: self.now)
    }

    /// The level for so long, then the other one.
    mutating func pulse(us: Int) {
        let isActive = self.isActive
        self.set(!isActive)
        self.pass(us: us)
        self.set(isActive)
    }

    mutating func takeEvents() -> [LineFilter.Event] {
        defer { self.events.removeAll() }
        return self.events
    }
}

final class LineFilterTests: XCTestCase {
    func testAPressIsTakenWhenItHasStoodAndAReleaseLater() {
        var line = WatchedLine()
        line.set(true)
        line.pass(us: 19_999)
        XCTAssertEqual(line.takeEvents(), [])
        line.pass(us: 1)
        XCTAssertEqual(line.takeEvents(), [.pressed])
        line.pass(ms: 100)
        line.set(false)
        line.pass(us: 59_999)
        XCTAssertEqual(line.takeEvents(), [])
        line.pass(us: 1)
        XCTAssertEqual(line.takeEvents(), [.released])
        XCTAssertFalse(line.filter.isPressed)
    }

    func testContactsThatBounceForOneToFiftyMillisecondsGiveOnePressAndOneRelease() {
        for spacing in [200, 1_000, 2_000, 5_000, 10_000, 19_000, 30_000, 50_000] {
            for total in stride(from: 1, through: 50, by: 7) {
                var line = WatchedLine()
                for _ in 0..<max(1, total * 1000 / (2 * spacing)) {
                    line.pulse(us: spacing)
                    line.pass(us: spacing)
                }
                line.set(true)
                line.pass(ms: 300)
                for _ in 0..<max(1, total * 1000 / (2 * spacing)) {
                    line.pulse(us: spacing)
                    line.pass(us: spacing)
                }
                line.set(false)
                line.pass(ms: 300)
                let events = line.takeEvents()
                // A first touch that is longer than the debounce is a press of its own only where the contact then
                // rests for longer than a release takes.
                XCTAssertEqual(events, [.pressed, .released], "spacing \(spacing) us, \(total) ms")
            }
        }
    }

    func testGlitchesOfTenMillisecondsAreNoPressHoweverMany() {
        var line = WatchedLine()
        for gap in [10, 11, 15, 40, 200] {
            for _ in 0..<50 {
                line.pulse(us: 10_000)
                line.pass(ms: gap)
            }
        }
        XCTAssertEqual(line.takeEvents(), [])
    }

    func testInterferenceNeitherMakesNorHidesPresses() {
        var line = WatchedLine()
        // 200 µs at 100 Hz for 10 s, with a press in each second.
        for turn in 0..<1000 {
            if turn % 100 == 30 { line.set(true) }
            if turn % 100 == 50 { line.set(false) }
            line.pulse(us: 200)
            line.pass(us: 9_800)
        }
        XCTAssertEqual(line.takeEvents(), Array(repeating: [.pressed, .released], count: 10).flatMap { $0 })
    }

    func testAReleaseWhoseEdgeWasLostIsMadeGood() {
        var line = WatchedLine()
        line.set(true)
        line.pass(ms: 100)
        line.losesEdges = true
        line.set(false)
        line.pass(ms: LineFilter.busyReadMs + 60)
        XCTAssertEqual(line.takeEvents(), [.pressed, .released])
    }

    func testALostReleaseIsNoticedBeforeTheNextPress() {
        var line = WatchedLine()
        line.set(true)
        line.pass(ms: 60)
        line.losesEdges = true
        line.set(false)
        line.pass(ms: 120)
        line.losesEdges = false
        line.set(true)
        line.pass(ms: 20)
        XCTAssertEqual(line.takeEvents(), [.pressed, .released, .pressed])
    }

    func testAnInputThatStandsForHoursIsReadSeldom() {
        var line = WatchedLine(stuckMs: 0)
        line.set(true)
        line.pass(ms: 20_000)
        let reads = line.reads
        line.pass(ms: 60_000)
        XCTAssertLessThanOrEqual(line.reads - reads, 61)
    }

    func testAPressWhoseEdgeWasLostIsMadeGood() {
        var line = WatchedLine()
        line.pass(ms: 100)
        line.losesEdges = true
        line.set(true)
        line.pass(ms: LineFilter.idleReadMs + 20)
        XCTAssertEqual(line.takeEvents(), [.pressed])
    }

    func testAGlitchWhoseEndWasLostIsNoPress() {
        var line = WatchedLine()
        line.pass(ms: 100)
        line.set(true)
        line.losesEdges = true
        line.pass(ms: 1)
        line.set(false)
        line.pass(ms: 1000)
        XCTAssertEqual(line.takeEvents(), [])
    }

    func testWhoeverHoldsTheButtonAtTheStartHasPressedItOnce() {
        var line = WatchedLine(isActive: true)
        line.pass(ms: 20)
        XCTAssertEqual(line.takeEvents(), [.pressed])
        line.pass(ms: 2000)
        line.set(false)
        line.pass(ms: 60)
        XCTAssertEqual(line.takeEvents(), [.released])
    }

    func testAnIdleLineIsReadEveryFiveSeconds() {
        var line = WatchedLine()
        line.pass(ms: 60_000)
        XCTAssertLessThanOrEqual(line.reads, 13)
    }

    func testAStuckLineIsToldOnceAndHealsByItsRelease() {
        var line = WatchedLine(stuckMs: 2_000)
        line.set(true)
        line.pass(ms: 2_019)
        XCTAssertEqual(line.takeEvents(), [.pressed])
        line.pass(ms: 10_000)
        XCTAssertEqual(line.takeEvents(), [.stuck])
        line.set(false)
        line.pass(ms: 60)
        XCTAssertEqual(line.takeEvents(), [.released, .healed])
        line.set(true)
        line.pass(ms: 20)
        XCTAssertEqual(line.takeEvents(), [.pressed], "the next press works")
    }

    func testALineThatMayStayPressedIsNeverStuck() {
        var line = WatchedLine(stuckMs: 0)
        line.set(true)
        line.pass(ms: 3_600_000)
        XCTAssertEqual(line.takeEvents(), [.pressed])
    }

    func testANoisyLineIsNotListenedToAndHeals() {
        var line = WatchedLine()
        for _ in 0..<600 { line.pulse(us: 500); line.pass(us: 500) }
        XCTAssertEqual(line.takeEvents(), [.noisy])
        XCTAssertFalse(line.filter.isListening)
        let reads = line.reads
        for _ in 0..<3000 { line.pulse(us: 500); line.pass(us: 500) }
        XCTAssertLessThan(line.reads - reads, 10, "noise costs nothing while nobody listens")
        for _ in 0..<20_000 { line.pulse(us: 500); line.pass(us: 500) }
        XCTAssertEqual(line.takeEvents(), [], "told once, and no press while it lasts")
        line.pass(ms: LineFilter.deafMs + LineFilter.trialMs + 1)
        XCTAssertEqual(line.takeEvents(), [.healed])
        line.set(true)
        line.pass(ms: 20)
        XCTAssertEqual(line.takeEvents(), [.pressed], "the next press works")
    }

    func testALineThatIsLeftActiveByNoiseIsNoPress() {
        var line = WatchedLine()
        for _ in 0..<600 { line.pulse(us: 500); line.pass(us: 500) }
        line.set(true)
        line.pass(ms: 10_000)
        XCTAssertEqual(line.takeEvents(), [.noisy, .healed])
        line.set(false)
        line.pass(ms: 60)
        XCTAssertEqual(line.takeEvents(), [.released])
    }

    func testAPressedLineThatBecomesNoisyIsReleased() {
        var line = WatchedLine()
        line.set(true)
        line.pass(ms: 100)
        for _ in 0..<600 { line.pulse(us: 500); line.pass(us: 500) }
        XCTAssertEqual(line.takeEvents(), [.pressed, .released, .noisy])
    }

    func testTimesOfTheKernelThatCannotBeTrueAreBounded() {
        var line = LineFilter(.init(pressMs: 20, releaseMs: 60, stuckMs: 0), isActive: false, now: .zero)
        let now = Instant(nanoseconds: 1_000_000_000)
        XCTAssertEqual(line.handle(.edge(isActive: true, at: Instant(nanoseconds: .max)), now: now), [])
        XCTAssertEqual(line.handle(.edge(isActive: false, at: .zero), now: now), [])
        XCTAssertEqual(line.handle(.level(isActive: false), now: .zero), [])
        XCTAssertFalse(line.isPressed)
    }
}
