// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The server's half of any other transaction: RFC 3261 section 17.2.2.
///
///     trying -- 1xx --> proceeding -- 200-699 --> completed -- J --> terminated
///        |                                            ^
///        +---- 200-699 -------------------------------+
///     a copy of the request in proceeding and completed: last answer again
///
/// RFC 4320: no 408, and no 1xx but a late 100; when 64*T1 passed without an answer, the client has given up and
/// the request is forgotten. A transport that fails moves nothing (RFC 6026 section 8.8).
struct ServerTransaction {
    enum State: Equatable {
        /// Nothing was answered. Timer `abandoned` runs.
        case trying
        /// 100 was answered. Timer `abandoned` runs.
        case proceeding
        /// The final answer is out. Timer J runs.
        case completed
        /// Over: the entry is to be thrown away.
        case terminated
    }

    private(set) var state: State
    private(set) var timers = TimerTable()
    private let lengths: TimerLengths

    /// Starts the timers of a request that came now.
    init(_ lengths: TimerLengths, now: Instant) {
        self.lengths = lengths
        self.state = .trying
        self.timers.set(.abandoned, afterMs: lengths.transactionMs, now: now)
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
        /// Send the last answer again.
        case answerAgain
        case ignore
    }

    /// A copy of the request came.
    mutating func receivedCopy() -> OnRequest {
        switch self.state {
        case .proceeding, .completed: return .answerAgain
        case .trying, .terminated: return .ignore
        }
    }

    enum OnRespond: Equatable {
        case send
        /// There was a final answer before.
        case ignore
    }

    mutating func respond(_ status: StatusCode, now: Instant) -> OnRespond {
        switch self.state {
        case .trying, .proceeding:
            if status.isProvisional {
                self.state = .proceeding
                return .send
            }
            self.timers.stopAll()
            if self.lengths.isReliable {
                self.state = .terminated
            } else {
                self.state = .completed
                self.timers.set(.j, afterMs: self.lengths.transactionMs, now: now)
            }
            return .send
        case .completed, .terminated:
            return .ignore
        }
    }

    /// Nothing is sent by a timer: the transaction just ends.
    mutating func fired(_ timer: SIPTimer) {
        switch (self.state, timer) {
        case (.trying, .abandoned), (.proceeding, .abandoned), (.completed, .j):
            self.state = .terminated
            self.timers.stopAll()
        case (.trying, _), (.proceeding, _), (.completed, _), (.terminated, _):
            break
        }
    }
}
