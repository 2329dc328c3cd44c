// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The pace of a sound card that is not there: a period every 10 ms by the clock. Pure.
struct ClockPace {
    /// When the next period is due.
    private(set) var due = Instant.zero

    /// Behind by more than this, time is given up rather than made up.
    private static let lagMs = 100

    mutating func start(_ now: Instant) {
        self.due = now
    }

    /// Periods due now and not yet stepped over.
    mutating func periodsDue(_ now: Instant) -> Int {
        if now - self.due > .milliseconds(Self.lagMs) { self.due = now }
        guard now >= self.due else { return 0 }
        return (now - self.due).milliseconds / SoundFormat.periodMs + 1
    }

    mutating func step() {
        self.due = self.due + .milliseconds(SoundFormat.periodMs)
    }
}
