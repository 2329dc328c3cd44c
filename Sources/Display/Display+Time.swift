// SPDX-License-Identifier: Apache-2.0

import Bytes
import CSystem
import KioskEngine

/// What the screen counts by itself: the length of a call, the seconds to something, the time of day. Nothing is drawn
/// for it but when what is shown changes.
extension Display {
    func count(_ now: Instant) {
        let (moment, next) = Self.moment(of: self.state, now, WallTime.now)
        if moment != self.moment { self.needsWords = true }
        self.moment = moment
        self.countsAt = next
    }

    /// What is to be shown now, and when that changes; nil where it never does.
    static func moment(
        of state: ScreenState, _ now: Instant, _ wallTime: () -> WallTime?
    ) -> (PageMoment, next: Instant?) {
        var moment = PageMoment()
        var next: Instant?
        if let start = state.timer {
            let seconds = Int(clamping: max(0, (now - start).nanoseconds) / self.second)
            moment.timerSeconds = seconds
            next = start + .seconds(seconds + 1)
        }
        if let end = state.countdown?.endsAt {
            // The last second is 1, not 0.
            let seconds = Int(clamping: (max(0, (end - now).nanoseconds) + self.second - 1) / self.second)
            moment.countdownSeconds = seconds
            if seconds > 0 { next = Self.sooner(next, end + .seconds(1 - seconds)) }
        }
        if state.page == .clock, let time = wallTime() {
            moment.clock = time.text
            next = Self.sooner(next, now + .seconds(60 - time.second))
        }
        return (moment, next)
    }

    private static let second: Int64 = 1_000_000_000

    private static func sooner(_ one: Instant?, _ other: Instant) -> Instant {
        min(one ?? other, other)
    }
}

/// The time of day here.
struct WallTime {
    var hour: Int
    var minute: Int
    var second: Int

    /// Earlier years are those of clocks that nobody has set.
    private static let yearMin = 2025

    static func now() -> WallTime? {
        var seconds = time(nil)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil, Int(parts.tm_year) + 1900 >= self.yearMin else { return nil }
        return WallTime(hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: min(59, Int(parts.tm_sec)))
    }

    /// As in `7:05`.
    var text: ByteString {
        ByteString(decimal: self.hour) + (self.minute < 10 ? ":0" : ":") + ByteString(decimal: self.minute)
    }
}
