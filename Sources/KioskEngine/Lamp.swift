// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What a lamp says.
enum LampPattern: Equatable {
    /// Idle.
    case off
    /// Calling.
    case slow
    /// In a call.
    case on
    /// Fault. Slow enough for people who must not see more than three flashes a second (WCAG 2.3.1).
    case fast

    var text: ByteString {
        switch self {
        case .off: return "off"
        case .slow: return "slow"
        case .on: return "on"
        case .fast: return "fast"
        }
    }

    /// Half of the period; nil where the lamp stands still.
    var halfPeriodMs: Int? {
        switch self {
        case .off, .on: return nil
        case .slow: return 500
        case .fast: return 200
        }
    }
}

/// One lamp: its pattern and where it is within it.
struct Lamp {
    private(set) var pattern = LampPattern.off
    private(set) var isOn = false
    /// When it next changes by itself.
    private(set) var changesAt: Instant?

    /// Begins a pattern, a blinking one with the lamp on. True where it is another than before.
    mutating func show(_ pattern: LampPattern, now: Instant) -> Bool {
        guard pattern != self.pattern else { return false }
        self.pattern = pattern
        self.isOn = pattern != .off
        self.changesAt = pattern.halfPeriodMs.map { now + .milliseconds($0) }
        return true
    }

    /// Blinks where it is time. A late wake-up skips what was missed and keeps the rhythm.
    mutating func advance(now: Instant) {
        guard let halfPeriodMs = self.pattern.halfPeriodMs, let due = self.changesAt, now >= due else { return }
        let half = Duration.milliseconds(halfPeriodMs)
        let missed = (now - due).nanoseconds / half.nanoseconds
        if missed % 2 == 0 { self.isOn.toggle() }
        self.changesAt = due + Duration(nanoseconds: (missed &+ 1) &* half.nanoseconds)
    }
}
