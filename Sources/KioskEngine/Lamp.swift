// SPDX-License-Identifier: Apache-2.0
import Bytes

/// How a lamp shines. None is faster than three flashes a second, which some people must not see (WCAG 2.3.1).
public enum LampPattern: Hashable, Sendable {
    case off
    case on
    case slow
    case fast
    /// A short flash now and then: seen in the dark, and cheap where there is a battery.
    case flash
    /// As the file says.
    case blink(onMs: Int, offMs: Int)

    /// The shortest time from one flash to the next.
    public static let periodMsMin = 334
    public static let phaseMsMin = 20
    public static let phaseMsMax = 60_000

    /// The patterns that have names.
    static let named: [(ByteString, LampPattern)] = [
        ("off", .off), ("on", .on), ("slow", .slow), ("fast", .fast), ("flash", .flash),
    ]

    var text: ByteString {
        if case .blink(let onMs, let offMs) = self {
            return ByteString(decimal: onMs) + "/" + ByteString(decimal: offMs)
        }
        return Self.named.first { $0.1 == self }?.0 ?? ""
    }

    /// How long it is lit and dark; nil where it stands still.
    var phases: (onMs: Int, offMs: Int)? {
        switch self {
        case .off, .on: return nil
        case .slow: return (500, 500)
        case .fast: return (200, 200)
        case .flash: return (100, 1_900)
        case .blink(let onMs, let offMs): return (onMs, offMs)
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
        self.changesAt = pattern.phases.map { now + .milliseconds($0.onMs) }
        return true
    }

    /// Blinks where it is time. A late wake-up skips what was missed and keeps the rhythm.
    mutating func advance(now: Instant) {
        guard let phases = self.pattern.phases, var due = self.changesAt, now >= due else { return }
        let period = Duration.milliseconds(phases.onMs + phases.offMs)
        due = due + Duration(nanoseconds: (now - due).nanoseconds / period.nanoseconds * period.nanoseconds)
        while due <= now {
            self.isOn.toggle()
            due = due + .milliseconds(self.isOn ? phases.onMs : phases.offMs)
        }
        self.changesAt = due
    }
}
