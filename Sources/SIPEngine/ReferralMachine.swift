// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Where one REFER of the peer's is, and the subscription to its outcome that it makes (RFC 3515 section 2.4).
///
///     deciding --follow--> telling <--news / NOTIFY answered--> quiet
///        |                    |                                   |
///        |                    +------ the outcome ---- or too late --> closing --NOTIFY answered--> ended
///        +-- refuse, or nobody decides, or it wants no NOTIFY --> ended
///
/// One NOTIFY is out at a time, so that none overtakes another; of the news that come meanwhile only the last counts.
/// Only the outcome waits for nothing.
struct ReferralMachine {
    enum State: Hashable {
        /// The REFER waits for our decision. Timer `referral` runs.
        case deciding
        /// The peer knows this much, no NOTIFY is out. Timer `referral` runs.
        case quiet(told: StatusCode)
        /// The NOTIFY that says this is out; what is to be said next waits. Timer `referral` runs.
        case telling(told: StatusCode, next: Report?)
        /// The last NOTIFY is out.
        case closing
        /// Over: the entry is to be thrown away.
        case ended
    }

    /// What a NOTIFY says.
    struct Report: Hashable {
        /// How the new call goes.
        var status: StatusCode
        /// Why nothing more follows; nil while something does.
        var end: End?

        enum End: Hashable {
            /// The new call has its outcome.
            case outcome
            /// It took longer than the subscription lasts.
            case timeout

            /// As Subscription-State says it (RFC 6665 section 4.1.3).
            var token: ByteString {
                switch self {
                case .outcome: return "noresource"
                case .timeout: return "timeout"
                }
            }
        }
    }

    private(set) var state: State
    private(set) var timers = TimerTable()

    /// A REFER that comes now.
    init(now: Instant) {
        self.init(state: .deciding)
        self.timers.set(.referral, afterMs: Limits.referralDecisionMs, now: now)
    }

    /// Nothing more is told.
    var isClosed: Bool {
        switch self.state {
        case .closing, .ended: return true
        case .deciding, .quiet, .telling: return false
        }
    }

    /// In the middle of its life, for tests of single cells.
    init(state: State) {
        self.state = state
    }

    /// One timer that is due; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        self.timers.expire(now: now)
    }

    private mutating func move(to state: State) {
        self.timers.stopAll()
        self.state = state
    }

    enum OnDecision: Equatable {
        case answer
        /// Nobody waits for it any more.
        case ignore
    }

    /// We call whom the peer names; where it has a subscription, 100 is told next.
    mutating func follow(hasSubscription: Bool, now: Instant) -> OnDecision {
        switch self.state {
        case .deciding:
            guard hasSubscription else {
                self.move(to: .ended)
                return .answer
            }
            self.move(to: .telling(told: .trying, next: nil))
            self.timers.set(.referral, afterMs: Limits.referralSeconds * 1_000, now: now)
            return .answer
        case .quiet, .telling, .closing, .ended: return .ignore
        }
    }

    mutating func refuse() -> OnDecision {
        switch self.state {
        case .deciding:
            self.move(to: .ended)
            return .answer
        case .quiet, .telling, .closing, .ended: return .ignore
        }
    }

    enum OnNews: Equatable {
        case notify(Report)
        case doNothing
    }

    /// The new call goes like this.
    mutating func progressed(_ report: Report) -> OnNews {
        switch self.state {
        case .quiet(let told):
            guard report.status != told || report.end != nil else { return .doNothing }
            return .notify(self.tell(report))
        case .telling(let told, let next):
            // Our BYE to the peer is right behind it, and whoever got that may no longer know of a subscription.
            if report.end != nil { return .notify(self.tell(report)) }
            if next?.end == nil { self.state = .telling(told: told, next: report) }
            return .doNothing
        case .deciding, .closing, .ended: return .doNothing
        }
    }

    /// Our NOTIFY was answered.
    /// - Parameter isTaken: the peer still knows of its subscription.
    mutating func notified(isTaken: Bool) -> OnNews {
        switch self.state {
        case .telling(let told, let next):
            guard isTaken else {
                self.move(to: .ended)
                return .doNothing
            }
            self.state = .quiet(told: told)
            return next.map { self.progressed($0) } ?? .doNothing
        case .closing:
            self.move(to: .ended)
            return .doNothing
        case .deciding, .quiet, .ended: return .doNothing
        }
    }

    private mutating func tell(_ report: Report) -> Report {
        if report.end != nil {
            self.move(to: .closing)
        } else {
            self.state = .telling(told: report.status, next: nil)
        }
        return report
    }

    enum OnTimer: Equatable {
        /// Nobody decided.
        case refuse(StatusCode)
        case notify(Report)
        case doNothing
    }

    mutating func fired(_ timer: SIPTimer) -> OnTimer {
        switch (self.state, timer) {
        case (.deciding, .referral):
            self.move(to: .ended)
            return .refuse(.decline)
        case (.quiet(let told), .referral):
            return .notify(self.tell(Report(status: told, end: .timeout)))
        case (.telling(let told, let next), .referral):
            let last = Report(status: next?.status ?? told, end: .timeout)
            self.state = .telling(told: told, next: last)
            return .doNothing
        case (.deciding, _), (.quiet, _), (.telling, _), (.closing, _), (.ended, _): return .doNothing
        }
    }
}
