// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What we want to change in a session that stands, one re-INVITE at a time: RFC 3261 section 14.1.
///
///     idle --want--> queued --the session is free--> out --answered--> idle, or queued again
///                      ^                              |
///                      +----- glare (timer) -- waiting <-- 491
///
/// A 491 is followed by one more try; a second one counts as a refusal.
struct OwnChange {
    enum Wish: Hashable {
        /// The user's session description.
        case offer([UInt8])
        /// The session is only kept alive (RFC 4028): the description is the one that stands.
        case refresh
    }

    struct Attempt: Hashable {
        var wish: Wish
        var isSecondTry = false
    }

    enum State: Hashable {
        case idle
        /// Goes out as soon as the session is free.
        case queued(Attempt)
        /// Got a 491. Timer `glare` runs.
        case waiting(Attempt)
        /// Its re-INVITE is out. An offer of the user's that came meanwhile is `next`.
        case out(Attempt, next: [UInt8]?)
    }

    private(set) var state: State = .idle
    private(set) var timers = TimerTable()

    init(state: State = .idle) {
        self.state = state
    }

    /// One timer that is due; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        self.timers.expire(now: now)
    }

    enum OnOffer: Equatable {
        case taken
        /// An earlier one is on its way.
        case refuse
    }

    /// The user wants this. It takes the place of what did not go out yet; a re-INVITE refreshes as well.
    mutating func offer(_ offer: [UInt8]) -> OnOffer {
        switch self.state {
        case .idle, .queued:
            self.state = .queued(Attempt(wish: .offer(offer)))
            return .taken
        case .waiting(let attempt):
            self.state = .waiting(Attempt(wish: .offer(offer), isSecondTry: attempt.isSecondTry))
            return .taken
        case .out(let attempt, next: _):
            switch attempt.wish {
            case .offer: return .refuse
            case .refresh:
                self.state = .out(attempt, next: offer)
                return .taken
            }
        }
    }

    /// The session wants a refresh. Whatever is on its way already will do.
    mutating func refresh() {
        switch self.state {
        case .idle: self.state = .queued(Attempt(wish: .refresh))
        case .queued, .waiting, .out: break
        }
    }

    /// What goes out now that the session is free; nil where nothing waits for that.
    mutating func take() -> Attempt? {
        switch self.state {
        case .queued(let attempt):
            self.state = .out(attempt, next: nil)
            return attempt
        case .idle, .waiting, .out: return nil
        }
    }

    /// It got its final answer. Nil where nothing was out.
    mutating func finished() -> Attempt? {
        switch self.state {
        case .out(let attempt, let next):
            self.state = next.map { .queued(Attempt(wish: .offer($0))) } ?? .idle
            return attempt
        case .idle, .queued, .waiting: return nil
        }
    }

    enum OnCollision: Equatable {
        /// One more try.
        case again
        /// That was the second: the refusal counts, as `finished` says.
        case refuse
    }

    /// It was refused for a reason that passes: in `delayMs` it is tried once more.
    mutating func collided(delayMs: Int, now: Instant) -> OnCollision {
        switch self.state {
        case .out(let attempt, let next):
            guard !attempt.isSecondTry else { return .refuse }
            var again = next.map { Attempt(wish: .offer($0)) } ?? attempt
            again.isSecondTry = true
            self.state = .waiting(again)
            self.timers.set(.glare, afterMs: delayMs, now: now)
            return .again
        case .idle, .queued, .waiting: return .refuse
        }
    }

    /// Timer `glare`.
    mutating func fired() {
        switch self.state {
        case .waiting(let attempt): self.state = .queued(attempt)
        case .idle, .queued, .out: break
        }
    }

    /// We answered an offer of the peer's: an offer of the user's that waits is older than what stands now, and is
    /// forgotten. The user knows the new session, and makes its offer anew.
    mutating func outdate() {
        switch self.state {
        case .queued(let attempt), .waiting(let attempt):
            if attempt.wish != .refresh { self.stop() }
        case .out(let attempt, next: _): self.state = .out(attempt, next: nil)
        case .idle: break
        }
    }

    /// The call ends.
    mutating func stop() {
        self.state = .idle
        self.timers.stopAll()
    }
}
