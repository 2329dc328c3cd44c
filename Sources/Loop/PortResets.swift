// SPDX-License-Identifier: Apache-2.0

import Bytes

/// How often the port of one device may be reset. Pure.
public struct PortResets {
    static let intervalMs = 60_000
    static let countMax = 3
    static let windowMs = 3_600_000

    private var times: [Instant] = []

    public init() {}

    /// Whether it may be now; it then counts as done.
    public mutating func take(now: Instant) -> Bool {
        self.times.removeAll { now - $0 >= .milliseconds(Self.windowMs) }
        guard self.times.count < Self.countMax else { return false }
        if let last = self.times.last, now - last < .milliseconds(Self.intervalMs) { return false }
        self.times.append(now)
        return true
    }
}

/// Notices a device that is there and does not work, however often it is opened. Pure.
public struct StuckWatch {
    /// One failure is what opening it again is for.
    static let failuresMin = 2
    /// A device that has worked for so long was mended by opening it.
    static let workedMs = 5_000

    private var failures = 0

    public init() {}

    /// Whether opening it does not help. Not to be called for a device that is missing, or another's.
    /// - Parameter workedMs: how long it gave or took what it should before; 0 where it did not even open.
    public mutating func failed(workedMs: Int) -> Bool {
        if workedMs >= Self.workedMs { self.failures = 0 }
        self.failures += 1
        return self.failures >= Self.failuresMin
    }
}
