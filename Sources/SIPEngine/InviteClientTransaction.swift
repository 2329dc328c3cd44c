// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The client's half of an INVITE transaction: RFC 3261 section 17.1.1 as corrected by RFC 6026 section 8.4.
///
///                        INVITE from the user
///               timer A      |
///               +------+     V
///               | send +--calling--------- 2xx ------+
///               +----->+  |   |  failure: give up    |
///                         1xx 300-699                |
///                         V   |                      V
///                  proceeding----------- 2xx ----accepted  2xx: pass up
///                         |   |                      |
///                     300-699 |                      M
///                         V   V                      V
///     300-699: ACK   completed-------- D ------->terminated
///
///     calling -- B: give up --+               +-- 2xx --> accepted
///     proceeding -- failure --+               +-- 300-699: ACK --> completed
///     both -- abandon --------+--> abandoned--+-- M --> terminated
///
/// The ACK for 300–699 belongs to the transaction; the ACK for 2xx is the call's own affair. `abandoned` is ours: the
/// call is over, but a far end that answers after all must not be left alone in it.
struct InviteClientTransaction {
    enum State: Equatable {
        /// INVITE is out, nothing came back. Timer B runs; on unreliable transports timer A too, now at this interval.
        case calling(retransmitMs: Int)
        /// A 1xx came: the far end has the request, so nothing is repeated. No timer runs.
        case proceeding
        /// A 300–699 came and was acknowledged; copies of it are acknowledged again. Timer D runs.
        case completed
        /// Nobody waits for an answer any more; a late one is acknowledged all the same. Timer M runs.
        case abandoned
        /// A 2xx came; more of them, from the same or from other branches, still reach the call. Timer M runs.
        case accepted
        /// Over: the entry is to be thrown away.
        case terminated
    }

    private(set) var state: State
    private(set) var timers = TimerTable()
    private let lengths: TimerLengths

    /// Starts the timers of a request that is sent now.
    init(_ lengths: TimerLengths, now: Instant) {
        self.lengths = lengths
        self.state = .calling(retransmitMs: lengths.t1Ms)
        self.timers.set(.b, afterMs: lengths.transactionMs, now: now)
        if !lengths.isReliable { self.timers.set(.a, afterMs: lengths.t1Ms, now: now) }
    }

    /// In the middle of its life, for tests of single cells.
    init(_ lengths: TimerLengths, state: State) {
        self.lengths = lengths
        self.state = state
    }

    /// One timer that is due; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        self.timers.expire(now: now)
    }

    enum OnResponse: Equatable {
        /// Give it to the call.
        case passUp
        /// Give it to the call and send an ACK.
        case passUpAndAcknowledge
        /// A copy: send the ACK again.
        case acknowledge
        /// It means nothing in this state.
        case ignore
    }

    mutating func received(_ status: StatusCode, now: Instant) -> OnResponse {
        switch self.state {
        case .calling, .proceeding:
            return self.answered(status, now: now)
        case .completed:
            return status.isFinal && !status.isSuccess ? .acknowledge : .ignore
        case .accepted:
            return status.isSuccess ? .passUp : .ignore
        case .abandoned:
            if status.isProvisional { return .ignore }
            return self.answered(status, now: now) == .passUp ? .passUp : .acknowledge
        case .terminated:
            return .ignore
        }
    }

    private mutating func answered(_ status: StatusCode, now: Instant) -> OnResponse {
        self.timers.stopAll()
        if status.isProvisional {
            self.state = .proceeding
            return .passUp
        }
        if status.isSuccess {
            self.state = .accepted
            self.timers.set(.m, afterMs: self.lengths.transactionMs, now: now)
            return .passUp
        }
        if self.lengths.isReliable {
            self.state = .terminated
        } else {
            self.state = .completed
            self.timers.set(.d, afterMs: self.lengths.answerCopiesMs, now: now)
        }
        return .passUpAndAcknowledge
    }

    enum OnTimer: Equatable {
        /// Send the request again.
        case retransmit
        /// Tell the call that nobody answered.
        case giveUp
        /// Nothing more to tell.
        case doNothing
    }

    mutating func fired(_ timer: SIPTimer, now: Instant) -> OnTimer {
        switch (self.state, timer) {
        case (.calling(let intervalMs), .a):
            self.state = .calling(retransmitMs: intervalMs * 2)
            self.timers.set(.a, afterMs: intervalMs * 2, now: now)
            return .retransmit
        case (.calling, .b):
            self.abandon(now: now)
            return .giveUp
        case (.completed, .d), (.accepted, .m), (.abandoned, .m):
            self.terminate()
            return .doNothing
        case (.calling, _), (.proceeding, _), (.completed, _), (.accepted, _), (.abandoned, _), (.terminated, _):
            return .doNothing
        }
    }

    enum OnTransportFailure: Equatable {
        /// Tell the call that the flow failed.
        case report
        case doNothing
    }

    mutating func transportFailed(now: Instant) -> OnTransportFailure {
        switch self.state {
        case .calling:
            self.terminate()
            return .report
        case .proceeding:
            // RFC 3261 speaks of failures to send only. A connection that is lost while the far end rings is told too:
            // otherwise nobody would learn it before the ring timeout. Its answer may still come by another one.
            self.abandon(now: now)
            return .report
        case .completed:
            self.terminate()
            return .doNothing
        case .accepted, .abandoned, .terminated:
            return .doNothing
        }
    }

    /// The call is over, or wants no answer any more.
    mutating func abandon(now: Instant) {
        switch self.state {
        case .calling, .proceeding:
            self.timers.stopAll()
            self.state = .abandoned
            self.timers.set(.m, afterMs: self.lengths.transactionMs, now: now)
        case .completed, .accepted, .abandoned, .terminated: break
        }
    }

    /// There is no room to wait for copies.
    mutating func terminate() {
        self.state = .terminated
        self.timers.stopAll()
    }
}
