// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Sends a 1xx of ours again until its PRACK: the callee's half of RFC 3262 section 3.
///
///     idle --send--> out --PRACK--> idle
///                     |  provisional: send again
///                     +--our final answer--> overtaken --PRACK--> idle
struct ReliableProvisional {
    enum State: Hashable {
        case idle
        /// Timers `provisional`, now at this interval, and `provisionalLimit` run. `next` is a status that waits for
        /// the PRACK: no second 1xx may be out before.
        case out(bytes: [UInt8], retransmitMs: Int, next: StatusCode?)
        /// A final answer is out; the PRACK may still come.
        case overtaken
    }

    private(set) var state: State = .idle
    private(set) var timers = TimerTable()
    /// The number of the last 1xx that was sent.
    private(set) var number: UInt32
    private let lengths: TimerLengths

    /// - Parameter number: the number before the first one.
    init(_ lengths: TimerLengths, number: UInt32, state: State = .idle) {
        self.lengths = lengths
        self.number = number
        self.state = state
    }

    /// One timer that is due; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        self.timers.expire(now: now)
    }

    enum OnSend: Equatable {
        /// Send it with this number, and tell what was sent by `sent`.
        case send(RSeq)
        /// Later, or never.
        case wait
    }

    mutating func send(_ status: StatusCode) -> OnSend {
        switch self.state {
        case .idle:
            self.number &+= 1
            return .send(RSeq(self.number))
        case .out(let bytes, let intervalMs, next: _):
            self.state = .out(bytes: bytes, retransmitMs: intervalMs, next: status)
            return .wait
        case .overtaken:
            return .wait
        }
    }

    mutating func sent(_ bytes: [UInt8], now: Instant) {
        self.state = .out(bytes: bytes, retransmitMs: self.lengths.t1Ms, next: nil)
        self.timers.set(.provisional, afterMs: self.lengths.t1Ms, now: now)
        self.timers.set(.provisionalLimit, afterMs: self.lengths.transactionMs, now: now)
    }

    enum OnPrack: Equatable {
        /// It is the one. A status that waited for it may go out.
        case take(next: StatusCode?)
        /// It matches nothing that waits.
        case refuse
    }

    mutating func acknowledged(_ number: UInt32) -> OnPrack {
        guard number == self.number else { return .refuse }
        switch self.state {
        case .out(bytes: _, retransmitMs: _, let next):
            self.stop()
            return .take(next: next)
        case .overtaken:
            self.stop()
            return .take(next: nil)
        case .idle:
            return .refuse
        }
    }

    enum OnTimer: Equatable {
        case sendAgain([UInt8])
        /// No PRACK for 64*T1: the INVITE is refused with 5xx.
        case giveUp
        case doNothing
    }

    mutating func fired(_ timer: SIPTimer, now: Instant) -> OnTimer {
        switch (self.state, timer) {
        case (.out(let bytes, let intervalMs, let next), .provisional):
            self.state = .out(bytes: bytes, retransmitMs: intervalMs * 2, next: next)
            self.timers.set(.provisional, afterMs: intervalMs * 2, now: now)
            return .sendAgain(bytes)
        case (.out, .provisionalLimit):
            self.stop()
            return .giveUp
        case (.idle, _), (.out, _), (.overtaken, _):
            return .doNothing
        }
    }

    /// Our final answer is out: the 1xx is not sent again.
    mutating func overtake() {
        switch self.state {
        case .out:
            self.timers.stopAll()
            self.state = .overtaken
        case .idle, .overtaken: break
        }
    }

    private mutating func stop() {
        self.state = .idle
        self.timers.stopAll()
    }
}
