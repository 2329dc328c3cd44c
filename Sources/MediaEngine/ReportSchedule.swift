// SPDX-License-Identifier: Apache-2.0

import Bytes

/// When reports are due (RFC 3550 section 6.3).
///
/// A call has two members, and five per cent of its bandwidth always allows a report every five seconds: only the
/// minimum interval counts, and there is no crowd for which timers would have to be reconsidered.
struct ReportSchedule {
    private var isFirst = true
    private(set) var deadline: Instant

    init(now: Instant, generator: inout Generator) {
        self.deadline = now + Self.interval(isFirst: true, generator: &generator)
    }

    /// Whether a report is due; sets the next time.
    mutating func expire(now: Instant, generator: inout Generator) -> Bool {
        guard self.deadline <= now else { return false }
        self.isFirst = false
        self.deadline = now + Self.interval(isFirst: false, generator: &generator)
        return true
    }

    /// Half to one and a half times the interval, divided by e − 3/2, which makes up for reconsideration (section
    /// 6.3.1).
    private static func interval(isFirst: Bool, generator: inout Generator) -> Duration {
        let base = isFirst ? MediaLimits.reportIntervalMs / 2 : MediaLimits.reportIntervalMs
        let thousandths = 500 + Int(generator.below(1001))
        let milliseconds = base * thousandths / 1218
        return Duration.milliseconds(isFirst ? min(milliseconds, MediaLimits.firstReportMsMax) : milliseconds)
    }
}
