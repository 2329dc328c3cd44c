// SPDX-License-Identifier: Apache-2.0

/// What was written to the loudspeaker last: as much as may be queued there, and more that nobody has asked for. Pure.
///
/// Its end can still be changed. What cannot be any more is given once, in order, to whoever wants to know what is
/// heard: at that moment the loudspeaker has not played it yet.
struct PlaybackHistory {
    private var samples: [Int16]
    /// Of `samples`, the last: `take` has not given them yet.
    private(set) var untaken = 0

    init(capacity: Int) {
        self.samples = [Int16](repeating: 0, count: capacity)
    }

    var capacity: Int { self.samples.count }

    mutating func append(_ written: [Int16]) {
        self.samples.removeFirst(written.count)
        self.samples.append(contentsOf: written)
        self.untaken = min(self.untaken + written.count, self.samples.count)
    }

    /// So much silence was played that nobody wrote; what is longer than all that is kept has no end.
    mutating func appendSilence(_ frames: Int) {
        self.append([Int16](repeating: 0, count: min(frames, self.samples.count)))
    }

    /// Changes the last `count`; what they are then.
    mutating func amend(_ count: Int, _ change: (inout [Int16]) -> Void) -> [Int16] {
        var last = Array(self.samples.suffix(count))
        change(&last)
        self.samples.removeLast(count)
        self.samples.append(contentsOf: last)
        return last
    }

    /// Fills a period with the oldest that was not given yet, unless the last `changeable` reach into it.
    mutating func take(into period: inout [Int16], changeable: Int) -> Bool {
        guard self.untaken - changeable >= period.count else { return false }
        let begin = self.samples.count - self.untaken
        for index in 0..<period.count { period[index] = self.samples[begin + index] }
        self.untaken -= period.count
        return true
    }

    /// All but the last `changeable` counts as given.
    mutating func skip(changeable: Int) {
        self.untaken = min(self.untaken, changeable)
    }
}
