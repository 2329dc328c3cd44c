// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Keeps a session alive, or notices that it is not: RFC 4028 sections 7.4, 9 and 10.
///
///     off --agreed--> ours --refresh--> refreshing --2xx: agreed anew--> ours, theirs or off
///      |               ^                    |
///      |               +---- refused -------+
///      +--agreed--> theirs
///     sessionExpiry in all but off: the session is dead
///
/// Every 2xx to an INVITE or UPDATE of either side agrees anew, and the roles may change with it.
struct SessionTimer {
    /// What a 2xx says about the session's life.
    struct Agreement: Hashable {
        var seconds: UInt32
        var isOurs: Bool
    }

    enum State: Hashable {
        /// Nobody asked for it.
        case off
        /// We refresh. Timers `refresh` and `sessionExpiry` run.
        case ours(seconds: Int)
        /// Our refresh is out, or waits for the session to be free. Timer `sessionExpiry` runs.
        case refreshing(seconds: Int)
        /// The peer refreshes. Timer `sessionExpiry` runs.
        case theirs(seconds: Int)
    }

    private(set) var state: State
    private(set) var timers = TimerTable()

    init(state: State = .off) {
        self.state = state
    }

    /// One timer that is due; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        self.timers.expire(now: now)
    }

    /// What stands agreed; nil where nothing does.
    var agreement: Agreement? {
        switch self.state {
        case .off: return nil
        case .ours(let seconds), .refreshing(let seconds): return Agreement(seconds: UInt32(seconds), isOurs: true)
        case .theirs(let seconds): return Agreement(seconds: UInt32(seconds), isOurs: false)
        }
    }

    /// - Parameter agreement: nil where the 2xx says nothing: then there is no timer.
    mutating func agreed(_ agreement: Agreement?, now: Instant) {
        self.timers.stopAll()
        guard let agreement else {
            self.state = .off
            return
        }
        let bounds = Limits.sessionSecondsMin...Limits.sessionSecondsMax
        let seconds = Int(min(max(agreement.seconds, bounds.lowerBound), bounds.upperBound))
        self.state = agreement.isOurs ? .ours(seconds: seconds) : .theirs(seconds: seconds)
        if agreement.isOurs { self.timers.set(.refresh, afterMs: seconds * 500, now: now) }
        // Section 10: before the other side gives up, by a third of the interval, but no more than 32 s.
        let endMs = seconds * 1000 - min(32_000, seconds * 1000 / 3)
        self.timers.set(.sessionExpiry, afterMs: endMs, now: now)
    }

    enum OnTimer: Equatable {
        case sendRefresh
        /// The session is dead: BYE.
        case giveUp
        case doNothing
    }

    mutating func fired(_ timer: SIPTimer) -> OnTimer {
        switch (self.state, timer) {
        case (.ours(let seconds), .refresh):
            self.state = .refreshing(seconds: seconds)
            return .sendRefresh
        case (.ours, .sessionExpiry), (.refreshing, .sessionExpiry), (.theirs, .sessionExpiry):
            self.stop()
            return .giveUp
        case (.off, _), (.ours, _), (.refreshing, _), (.theirs, _):
            return .doNothing
        }
    }

    /// Our refresh was refused for a reason that may pass: it is tried again while there is time.
    mutating func refused(now: Instant) {
        switch self.state {
        case .refreshing(let seconds):
            self.state = .ours(seconds: seconds)
            self.timers.set(.refresh, afterMs: seconds * 125, now: now)
        case .off, .ours, .theirs: break
        }
    }

    mutating func stop() {
        self.state = .off
        self.timers.stopAll()
    }
}
