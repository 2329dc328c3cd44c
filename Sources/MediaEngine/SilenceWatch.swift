// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Notices when a stream that should come does not.
struct SilenceWatch {
    enum State: Equatable {
        /// Nothing should come.
        case off
        /// Came last, or was expected first, at this time.
        case listening(since: Instant)
        /// The silence was reported.
        case silent
    }

    enum Change {
        case none, resumed
    }

    private(set) var state = State.off

    /// When `expire` may have something to report.
    var deadline: Instant? {
        switch self.state {
        case .listening(let since): return since + Duration.milliseconds(MediaLimits.silenceMs)
        case .off, .silent: return nil
        }
    }

    /// The stream should (or should no longer) come. A stream already watched is left as it is.
    mutating func expect(_ isExpected: Bool, now: Instant) {
        switch (self.state, isExpected) {
        case (.off, true): self.state = .listening(since: now)
        case (_, false): self.state = .off
        case (.listening, true), (.silent, true): break
        }
    }

    mutating func heard(now: Instant) -> Change {
        switch self.state {
        case .off: return .none
        case .listening:
            self.state = .listening(since: now)
            return .none
        case .silent:
            self.state = .listening(since: now)
            return .resumed
        }
    }

    /// Since when it is silent, once, when that is too long.
    mutating func expire(now: Instant) -> Instant? {
        guard case .listening(let since) = self.state, let deadline = self.deadline, deadline <= now else { return nil }
        self.state = .silent
        return since
    }
}
