// SPDX-License-Identifier: Apache-2.0

import Bytes

/// When the display reads its memory next, by the time of a flip (drm_event_vblank) and the length of its period. Pure.
///
/// A commit that is made early keeps newer pictures out until the next period. So it is made late: all that comes
/// until then goes out together, the newest of each.
struct FlipClock {
    /// Enough for the kernel, and for being woken a little late.
    static let lead = Duration.milliseconds(4)
    /// A display's clock is another one than ours: an older flip tells too little.
    private static let memory = Duration.seconds(1)

    /// Of one picture; nil where the mode does not tell.
    private let period: Duration?
    private var last: Instant?
    /// What is ready now waits until then, and no longer.
    private(set) var due: Instant?

    /// - Parameter clockKHz: pixels a millisecond.
    /// - Parameter total: pixels of a line by lines of a picture, blanks included.
    init(clockKHz: UInt32, total: UInt32) {
        let nanoseconds = clockKHz > 0 ? Int64(total) * 1_000_000 / Int64(clockKHz) : 0
        self.period = nanoseconds > Self.lead.nanoseconds ? Duration(nanoseconds: nanoseconds) : nil
    }

    /// - Parameter shown: when the picture of a commit began to be read; nil where the kernel did not say.
    mutating func flipped(_ shown: Instant?) {
        self.last = shown
        self.due = nil
    }

    /// Whether something that is ready is to be committed now; else it is to be asked again at `due`.
    mutating func isTime(_ now: Instant) -> Bool {
        if let due = self.due { return now >= due }
        guard let period = self.period, let last = self.last, now >= last, now - last < Self.memory else { return true }
        let periods = (now - last).nanoseconds / period.nanoseconds + 1
        let due = last + Duration(nanoseconds: periods * period.nanoseconds - Self.lead.nanoseconds)
        guard due > now else { return true }
        self.due = due
        return false
    }
}
