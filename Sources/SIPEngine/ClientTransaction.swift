// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The client's half of any other transaction: RFC 3261 section 17.1.2.
///
///     trying -- 1xx --> proceeding -- 200-699 --> completed -- K --> terminated
///        |                  |                         ^
///        +---- 200-699 -----+-------------------------+
///     E in trying and proceeding: send again;  F, failure: give up
struct ClientTransaction {
    enum State: Equatable {
        /// The request is out, nothing came back. Timer F runs; on unreliable transports timer E too, now at this
        /// interval.
        case trying(retransmitMs: Int)
        /// A 1xx came. The request is repeated every T2 until the final answer: 1xx are not repeated by the far end.
        case proceeding
        /// The final answer came; copies are absorbed. Timer K runs.
        case completed
        /// Over: the entry is to be thrown away.
        case terminated
    }

    private(set) var state: State
    private(set) var timers = TimerTable()
    private let lengths: TimerLengths

    /// Starts the timers of a request that is sent now.
    init(_ lengths: TimerLengths, now: Instant) {
        self.lengths = lengths
        self.state = .trying(retransmitMs: lengths.t1Ms)
        self.timers.set(.f, afterMs: lengths.transactionMs, now: now)
        if !lengths.isReliable { self.timers.set(.e, afterMs: lengths.t1Ms, now: now) }
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
        /// Give the final answer to the call.
        case passUp
        /// A 1xx, a copy, or too late.
        case ignore
    }

    mutating func received(_ status: StatusCode, now: Instant) -> OnResponse {
        switch self.state {
        case .trying:
            if status.isFinal { return self.complete(now: now) }
            self.state = .proceeding
            if !self.lengths.isReliable { self.timers.set(.e, afterMs: self.lengths.t2Ms, now: now) }
            return .ignore
        case .proceeding:
            return status.isFinal ? self.complete(now: now) : .ignore
        case .completed, .terminated:
            return .ignore
        }
    }

    private mutating func complete(now: Instant) -> OnResponse {
        self.timers.stopAll()
        if self.lengths.isReliable {
            self.state = .terminated
        } else {
            self.state = .completed
            self.timers.set(.k, afterMs: self.lengths.t4Ms, now: now)
        }
        return .passUp
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
        case (.trying(let intervalMs), .e):
            let nextMs = min(intervalMs * 2, self.lengths.t2Ms)
            self.state = .trying(retransmitMs: nextMs)
            self.timers.set(.e, afterMs: nextMs, now: now)
            return .retransmit
        case (.proceeding, .e):
            self.timers.set(.e, afterMs: self.lengths.t2Ms, now: now)
            return .retransmit
        case (.trying, .f), (.proceeding, .f):
            self.terminate()
            return .giveUp
        case (.completed, .k):
            self.terminate()
            return .doNothing
        case (.trying, _), (.proceeding, _), (.completed, _), (.terminated, _):
            return .doNothing
        }
    }

    enum OnTransportFailure: Equatable {
        /// Tell the call that the flow failed.
        case report
        case doNothing
    }

    mutating func transportFailed() -> OnTransportFailure {
        switch self.state {
        case .trying, .proceeding:
            self.terminate()
            return .report
        case .completed:
            self.terminate()
            return .doNothing
        case .terminated:
            return .doNothing
        }
    }

    /// There is no room to wait for copies.
    mutating func terminate() {
        self.state = .terminated
        self.timers.stopAll()
    }
}
