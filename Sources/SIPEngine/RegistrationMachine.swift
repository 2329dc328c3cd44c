// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Where one registration is: RFC 3261 section 10.2.
///
///     idle --register--> registering --200--> registered --refresh is due--> registering
///      ^                     |                    |
///      +--- refused, failed -+---- flow failed ---+
///
///     leave: leaving --answered, failed, too late--> ended;  while a REGISTER is out, once that is answered
///
/// One REGISTER is out at a time, except that a new order overtakes it: it is for another way, and what was sent on the
/// old one no longer matters.
struct RegistrationMachine {
    enum State: Hashable {
        /// Nothing is out, and nothing is known to hold.
        case idle
        /// A REGISTER is out. Timer `registration` runs until its answer is too late. `isLeaving`: what was granted
        /// is to be removed; the timer runs until that is too late.
        case registering(isLeaving: Bool)
        /// The binding holds. Timer `registration` runs until it is refreshed.
        case registered
        /// The REGISTER that removes the binding is out. Timer `registration` runs until its answer is too late.
        case leaving
        /// Over: the entry is to be thrown away.
        case ended
    }

    private(set) var state: State
    private(set) var timers = TimerTable()

    init(state: State = .idle) {
        self.state = state
    }

    /// One timer that is due; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        self.timers.expire(now: now)
    }

    private mutating func move(to state: State, afterMs delayMs: Int? = nil, now: Instant = .zero) {
        self.state = state
        self.timers.stop(.registration)
        if let delayMs { self.timers.set(.registration, afterMs: delayMs, now: now) }
    }

    enum OnOrder: Equatable {
        case send
        case ignore
    }

    mutating func register(answerLimitMs: Int, now: Instant) -> OnOrder {
        switch self.state {
        case .idle, .registered, .registering(isLeaving: false):
            self.move(to: .registering(isLeaving: false), afterMs: answerLimitMs, now: now)
            return .send
        case .registering(isLeaving: true), .leaving, .ended: return .ignore
        }
    }

    enum OnAnswer: Equatable {
        /// Tell it.
        case tell
        /// Send REGISTER again, in the words that the answer wants.
        case send
        /// Send the REGISTER that removes what was granted.
        case remove
        /// Tell that it is over.
        case end
        case ignore
    }

    /// A 2xx that lists our address.
    mutating func granted(refreshMs: Int, now: Instant) -> OnAnswer {
        switch self.state {
        case .registering(isLeaving: false):
            self.move(to: .registered, afterMs: refreshMs, now: now)
            return .tell
        case .registering(isLeaving: true):
            // The deadline stays.
            self.state = .leaving
            return .remove
        case .leaving: return self.end()
        case .idle, .registered, .ended: return .ignore
        }
    }

    /// An answer that another REGISTER may satisfy.
    mutating func mayRetry() -> OnAnswer {
        switch self.state {
        case .registering(isLeaving: false): return .send
        case .registering(isLeaving: true), .leaving: return self.end()
        case .idle, .registered, .ended: return .ignore
        }
    }

    /// A refusal for good.
    mutating func refused() -> OnAnswer {
        switch self.state {
        case .registering(isLeaving: false):
            self.move(to: .idle)
            return .tell
        case .registering(isLeaving: true), .leaving: return self.end()
        case .idle, .registered, .ended: return .ignore
        }
    }

    /// No answer, or the flow is gone.
    mutating func failed() -> OnAnswer {
        switch self.state {
        case .registering(isLeaving: false), .registered:
            self.move(to: .idle)
            return .tell
        case .registering(isLeaving: true), .leaving: return self.end()
        case .idle, .ended: return .ignore
        }
    }

    private mutating func end() -> OnAnswer {
        self.move(to: .ended)
        return .end
    }

    enum OnLeave: Equatable {
        /// Send the REGISTER that removes the binding.
        case remove
        /// Wait for the answer that is to come first.
        case wait
        /// There is nothing to remove.
        case end
        case ignore
    }

    /// - Parameter isBound: a binding of ours may still hold, even where its refresh failed.
    mutating func leave(isBound: Bool, limitMs: Int, now: Instant) -> OnLeave {
        switch self.state {
        case .idle where !isBound:
            self.move(to: .ended)
            return .end
        case .idle, .registered:
            self.move(to: .leaving, afterMs: limitMs, now: now)
            return .remove
        case .registering(isLeaving: false):
            self.move(to: .registering(isLeaving: true), afterMs: limitMs, now: now)
            return .wait
        case .registering(isLeaving: true), .leaving, .ended: return .ignore
        }
    }

    enum OnTimer: Equatable {
        /// Send REGISTER again.
        case refresh
        /// Tell that nobody answered.
        case giveUp
        /// Tell that it is over.
        case end
        case doNothing
    }

    mutating func fired(_ timer: SIPTimer, answerLimitMs: Int, now: Instant) -> OnTimer {
        switch (self.state, timer) {
        case (.registered, .registration):
            self.move(to: .registering(isLeaving: false), afterMs: answerLimitMs, now: now)
            return .refresh
        case (.registering(isLeaving: false), .registration):
            self.move(to: .idle)
            return .giveUp
        case (.registering(isLeaving: true), .registration), (.leaving, .registration):
            self.move(to: .ended)
            return .end
        case (.idle, _), (.registering, _), (.registered, _), (.leaving, _), (.ended, _): return .doNothing
        }
    }
}
