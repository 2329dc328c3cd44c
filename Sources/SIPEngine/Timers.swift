// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Every reason for which the engine wakes up.
public enum SIPTimer: Int, CaseIterable, Sendable {
    /// INVITE is sent again; starts at T1 and doubles (RFC 3261 section 17.1.1.2). Unreliable transports only.
    case a
    /// INVITE got no answer at all for 64*T1.
    case b
    /// Copies of a 300–699 answer to INVITE have died out after 32 s. Unreliable transports only.
    case d
    /// A non-INVITE request is sent again; starts at T1 and doubles up to T2 (section 17.1.2.2). Unreliable only.
    case e
    /// A non-INVITE request got no final answer for 64*T1.
    case f
    /// A 300–699 answer to INVITE is sent again; starts at T1 and doubles up to T2 (section 17.2.1). Unreliable only.
    case g
    /// The ACK for a 300–699 answer did not come for 64*T1.
    case h
    /// Copies of the ACK have died out after T4. Unreliable transports only.
    case i
    /// Copies of a non-INVITE request have died out after 64*T1. Unreliable transports only.
    case j
    /// Copies of the answer to a non-INVITE request have died out after T4. Unreliable transports only.
    case k
    /// Copies of an INVITE that was answered with 2xx have died out after 64*T1 (RFC 6026 section 8.7).
    case l
    /// No more 2xx, from whatever branch of a fork, comes after 64*T1 (RFC 6026 section 8.4).
    case m
    /// INVITE was not answered within 200 ms: 100 Trying goes out (RFC 3261 section 17.2.1).
    case trying
    /// A non-INVITE request was not answered by us for 64*T1: no answer is any use now (RFC 4320 section 4.2).
    case abandoned
    /// Our 2xx to INVITE is sent again until its ACK; starts at T1 and doubles up to T2 (RFC 3261 section 13.3.1.4).
    case accept
    /// Our 2xx to INVITE got no ACK for 64*T1.
    case acceptLimit
    /// No final answer came to the INVITE for 64*T1 after our CANCEL (RFC 3261 section 9.1).
    case cancelLimit
    /// Nobody decided about an incoming call, or about a changed session.
    case decision
    /// Nobody decided about a REFER, or its subscription is over.
    case referral
    /// Our re-INVITE got no final answer.
    case changeLimit
    /// Our re-INVITE that collided with the peer's is tried again (RFC 3261 section 14.1).
    case glare
    /// Half of the session interval is over: we refresh (RFC 4028 section 7.4).
    case refresh
    /// The session was not refreshed in time (RFC 4028 section 10).
    case sessionExpiry
    /// A 1xx of ours is sent again until its PRACK; starts at T1 and doubles (RFC 3262 section 3).
    case provisional
    /// A 1xx of ours got no PRACK for 64*T1.
    case provisionalLimit
    /// A registration is refreshed, or the answer to its REGISTER is too late (RFC 3261 section 10.2).
    case registration
    /// A ping keeps a registered flow open (RFC 5626 section 4.4).
    case ping
    /// The answer to a ping is too late.
    case pong
}

/// The deadlines of one transaction or call: a fixed table, one place for each timer.
///
/// A table asked about a timer that is not due, or not set, answers no: spurious wake-ups are harmless.
struct TimerTable {
    /// `never` where a timer is stopped.
    private var deadlines = InlineArray<28, UInt64>(repeating: Self.never)
    private static let never = UInt64.max

    mutating func set(_ timer: SIPTimer, afterMs delayMs: Int, now: Instant) {
        // A deadline at the end of time would read as "stopped"; it cannot be reached either.
        self.deadlines[timer.rawValue] = (now + .milliseconds(max(delayMs, 0))).nanoseconds
    }

    mutating func stop(_ timer: SIPTimer) {
        self.deadlines[timer.rawValue] = Self.never
    }

    mutating func stopAll() {
        for index in self.deadlines.indices { self.deadlines[index] = Self.never }
    }

    func deadline(of timer: SIPTimer) -> Instant? {
        let deadline = self.deadlines[timer.rawValue]
        return deadline == Self.never ? nil : Instant(nanoseconds: deadline)
    }

    /// The timer that is due first, and when.
    var next: WakeUp? {
        var next: WakeUp?
        for timer in SIPTimer.allCases {
            guard let at = self.deadline(of: timer), at < next?.at ?? Instant(nanoseconds: Self.never) else { continue }
            next = WakeUp(at: at, reason: timer)
        }
        return next
    }

    /// Takes one timer that is due out of the table; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        guard let due = self.next, due.at <= now else { return nil }
        self.stop(due.reason)
        return due.reason
    }
}

/// A point in time at which the engine wants to be called, and why.
public struct WakeUp: Equatable, Sendable {
    public var at: Instant
    public var reason: SIPTimer
}

/// The lengths of the timers for one transaction (RFC 3261 table 4).
struct TimerLengths {
    let t1Ms: Int
    let t2Ms: Int
    let t4Ms: Int
    let isReliable: Bool

    init(_ configuration: SIPConfiguration, isReliable: Bool) {
        // A timer that fires at once would fire for ever.
        self.t1Ms = max(configuration.t1Ms, 1)
        self.t2Ms = max(configuration.t2Ms, self.t1Ms)
        self.t4Ms = max(configuration.t4Ms, 1)
        self.isReliable = isReliable
    }

    /// 64*T1: timers B, F, H, J, L, M and the limits of a call.
    var transactionMs: Int { self.t1Ms * 64 }
    /// How long an offer in a 2xx waits for our answer: its sender repeats the 2xx for 64*T1 only.
    var answerMs: Int { self.t1Ms * 32 }
    /// Timer D: at least 32 s.
    var answerCopiesMs: Int { max(32_000, self.transactionMs) }
}
