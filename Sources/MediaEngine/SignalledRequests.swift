// SPDX-License-Identifier: Apache-2.0

import Bytes

/// How often a key frame is asked for by signalling: each request is a transaction of the call, which lasts as long as
/// the network wants. At once, then ever less often; after a time without need at once again.
struct SignalledRequests {
    private static let first = Duration.milliseconds(MediaLimits.keyFrameWantedFirstMs)
    private static let last = Duration.milliseconds(MediaLimits.keyFrameWantedLastMs)

    private var askedAt: Instant?
    private var interval = Self.first

    /// Whether to ask now.
    mutating func ask(now: Instant) -> Bool {
        if let askedAt = self.askedAt {
            guard now - askedAt >= self.interval else { return false }
            self.interval = now - askedAt > Self.last + Self.last ? Self.first : min(self.interval * 2, Self.last)
        }
        self.askedAt = now
        return true
    }
}
