// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The server's half of an INVITE transaction: RFC 3261 section 17.2.1 as corrected by RFC 6026 section 8.7.
///
///                   INVITE
///                     V         INVITE: last 1xx again
///                proceeding---------------- 2xx ------+
///                     |                               |
///                  300-699                            V
///     INVITE, G:      V                           accepted   INVITE: absorbed, ACK: pass up
///     answer again completed --- H ---+               |
///                     |               |               L
///                    ACK              |               |
///                     V               V               V
///                 confirmed -- I -> terminated <------+
///
/// The 2xx is sent again by the call, not by the transaction. A transport that fails moves nothing here (RFC 6026
/// section 8.8): the timers end the transaction.
struct InviteServerTransaction {
    enum State: Equatable {
        /// The call has not decided. Timer `trying` runs until something was sent.
        case proceeding
        /// A 300–699 is out. Timer H runs; on unreliable transports timer G too, now at this interval.
        case completed(retransmitMs: Int)
        /// The ACK for the 300–699 came; copies of it are absorbed. Timer I runs.
        case confirmed
        /// A 2xx is out; copies of the INVITE are absorbed. Timer L runs.
        case accepted
        /// Over: the entry is to be thrown away.
        case terminated
    }

    private(set) var state: State
    private(set) var timers = TimerTable()
    private let lengths: TimerLengths

    /// Starts the timers of a request that came now.
    init(_ lengths: TimerLengths, now: Instant) {
        self.lengths = lengths
        self.state = .proceeding
        self.timers.set(.trying, afterMs: Limits.tryingMs, now: now)
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

    enum OnRequest: Equatable {
        /// Send the last answer again, where there is one.
        case answerAgain
        case ignore
    }

    /// A copy of the INVITE came.
    mutating func receivedCopy() -> OnRequest {
        switch self.state {
        case .proceeding, .completed: return .answerAgain
        case .confirmed, .accepted, .terminated: return .ignore
        }
    }

    enum OnAcknowledge: Equatable {
        /// It belongs to the 2xx: give it to the call.
        case passUp
        /// The transaction took it.
        case absorb
    }

    mutating func receivedAcknowledge(now: Instant) -> OnAcknowledge {
        switch self.state {
        case .completed:
            self.timers.stopAll()
            if self.lengths.isReliable {
                self.state = .terminated
            } else {
                self.state = .confirmed
                self.timers.set(.i, afterMs: self.lengths.t4Ms, now: now)
            }
            return .absorb
        case .accepted:
            return .passUp
        case .proceeding, .confirmed, .terminated:
            return .absorb
        }
    }

    enum OnRespond: Equatable {
        case send
        /// There was a final answer before.
        case ignore
    }

    mutating func respond(_ status: StatusCode, now: Instant) -> OnRespond {
        switch self.state {
        case .proceeding:
            self.timers.stop(.trying)
            if status.isProvisional { return .send }
            if status.isSuccess {
                self.state = .accepted
                self.timers.set(.l, afterMs: self.lengths.transactionMs, now: now)
                return .send
            }
            self.state = .completed(retransmitMs: self.lengths.t1Ms)
            self.timers.set(.h, afterMs: self.lengths.transactionMs, now: now)
            if !self.lengths.isReliable { self.timers.set(.g, afterMs: self.lengths.t1Ms, now: now) }
            return .send
        case .accepted:
            // The call sends its 2xx again.
            return status.isSuccess ? .send : .ignore
        case .completed, .confirmed, .terminated:
            return .ignore
        }
    }

    enum OnTimer: Equatable {
        /// Send 100.
        case sendTrying
        /// Send the last answer again.
        case answerAgain
        /// Nothing more to tell.
        case doNothing
    }

    mutating func fired(_ timer: SIPTimer, now: Instant) -> OnTimer {
        switch (self.state, timer) {
        case (.proceeding, .trying):
            return .sendTrying
        case (.completed(let intervalMs), .g):
            let nextMs = min(intervalMs * 2, self.lengths.t2Ms)
            self.state = .completed(retransmitMs: nextMs)
            self.timers.set(.g, afterMs: nextMs, now: now)
            return .answerAgain
        case (.completed, .h), (.confirmed, .i), (.accepted, .l):
            self.state = .terminated
            self.timers.stopAll()
            return .doNothing
        case (.proceeding, _), (.completed, _), (.confirmed, _), (.accepted, _), (.terminated, _):
            return .doNothing
        }
    }
}
