// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Where one call is: RFC 3261 sections 9, 13, 14 and 15 seen from the user agent.
///
///     outgoing:   calling --1xx--> proceeding --2xx--------------------+
///                    |                 |                               |
///                 hang up           hang up                            V
///                    V                 V                           connected <---> deciding (peer's offer)
///                cancelHeld --1xx--> cancelling --2xx--+               ^   ^           |
///                                                      |               |   +--ACK-- reaccepted
///     incoming:   offered --our 2xx--> accepted -----ACK---------------+
///                                        |             |
///                                     hang up          V
///                                        V           ending --BYE answered--> ended
///                                     closing --ACK----^
///
/// The machine only decides; the verbs (Invite.swift, Bye.swift …) write the messages. It starts and stops the call's
/// own timers itself.
struct CallMachine {
    enum State: Hashable {
        /// Our INVITE is out and nothing came back: it must not be cancelled yet (RFC 3261 section 9.1).
        case calling
        /// A 1xx came for our INVITE.
        case proceeding
        /// We want out, but nothing came back for our INVITE: CANCEL waits for the first 1xx.
        case cancelHeld(Farewell)
        /// CANCEL is out; the INVITE's final answer ends the call. A 2xx may still cross. Timer `cancelLimit` runs.
        case cancelling(Farewell)
        /// The peer's INVITE waits for our decision. Timer `decision` runs.
        case offered
        /// Our 2xx is out, the ACK is not here. Timers `accept`, now at this interval, and `acceptLimit` run.
        case accepted(retransmitMs: Int)
        /// As `accepted`, but we want out: BYE waits for the ACK (RFC 3261 section 15).
        case closing(Farewell, retransmitMs: Int)
        /// The session stands, no offer is open.
        case connected
        /// The session stands; the peer's re-INVITE or UPDATE waits for our decision. Timer `decision` runs.
        case deciding(Reoffer)
        /// The session stands; our 2xx to a re-INVITE is out, its ACK is not here. Timers as in `accepted`.
        case reaccepted(retransmitMs: Int)
        /// Our BYE is out.
        case ending(Farewell)
        /// Over: the entry is to be thrown away.
        case ended
    }

    /// How a call ends that is still to be ended on the wire.
    struct Farewell: Hashable {
        /// For the user.
        var reason: EndReason
        /// For the peer.
        var told: HangUpReason
    }

    /// The request that carries a changed session.
    enum Reoffer: Hashable {
        case invite
        case update
    }

    var state: State
    let lengths: TimerLengths
    var timers = TimerTable()

    /// A call that we place now.
    init(outgoing lengths: TimerLengths) {
        self.init(lengths, state: .calling)
    }

    /// A call that comes in now.
    init(incoming lengths: TimerLengths, now: Instant) {
        self.init(lengths, state: .offered)
        self.timers.set(.decision, afterMs: Limits.decisionMs, now: now)
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

    mutating func move(to state: State) {
        self.timers.stopAll()
        self.state = state
    }
}

// MARK: - Answers to our INVITE

extension CallMachine {
    enum OnProvisional: Equatable {
        case report
        case sendCancel(HangUpReason)
        case ignore
    }

    mutating func receivedProvisional(now: Instant) -> OnProvisional {
        switch self.state {
        case .calling, .proceeding:
            self.move(to: .proceeding)
            return .report
        case .cancelHeld(let farewell):
            self.startCancelling(farewell, now: now)
            return .sendCancel(farewell.told)
        case .cancelling, .offered, .accepted, .closing, .connected, .deciding, .reaccepted, .ending, .ended:
            return .ignore
        }
    }

    private mutating func startCancelling(_ farewell: Farewell, now: Instant) {
        self.move(to: .cancelling(farewell))
        self.timers.set(.cancelLimit, afterMs: self.lengths.transactionMs, now: now)
    }

    enum OnSuccess: Equatable {
        /// Acknowledge; the call stands.
        case acknowledgeAndReport
        /// Acknowledge and send BYE: this is the call's dialog, and we want out of it.
        case acknowledgeAndHangUp(HangUpReason)
        /// Acknowledge and send BYE: another branch of a fork was faster.
        case acknowledgeAndDiscard
    }

    /// A 2xx that makes a new dialog (copies are acknowledged without asking the call).
    /// - Parameter isDescribed: whether the peer described its session, in this answer or before.
    mutating func receivedSuccess(isDescribed: Bool) -> OnSuccess {
        switch self.state {
        case .calling, .proceeding:
            guard isDescribed else {
                let words: ByteString = "the answer describes no session"
                let told = HangUpReason.fault(.notAcceptableHere, text: words)
                self.move(to: .ending(Farewell(reason: .protocolFault(words), told: told)))
                return .acknowledgeAndHangUp(told)
            }
            self.move(to: .connected)
            return .acknowledgeAndReport
        case .cancelHeld(let farewell), .cancelling(let farewell):
            self.move(to: .ending(farewell))
            return .acknowledgeAndHangUp(farewell.told)
        case .connected, .deciding, .reaccepted, .ending, .ended, .offered, .accepted, .closing:
            return .acknowledgeAndDiscard
        }
    }

    enum OnFailure: Equatable {
        case end(EndReason)
        case ignore
    }

    /// There will be no 2xx: a final answer of 300–699, timer B, or a flow that failed.
    mutating func receivedFailure(_ reason: EndReason) -> OnFailure {
        switch self.state {
        case .calling, .proceeding:
            self.move(to: .ended)
            return .end(reason)
        case .cancelHeld(let farewell), .cancelling(let farewell):
            self.move(to: .ended)
            return .end(farewell.reason)
        case .offered, .accepted, .closing, .connected, .deciding, .reaccepted, .ending, .ended:
            return .ignore
        }
    }
}

// MARK: - The user's will

extension CallMachine {
    enum OnHangUp: Equatable {
        case sendCancel(HangUpReason)
        case sendBye(HangUpReason)
        /// Refuse the peer's INVITE.
        case refuse(StatusCode)
        /// Refuse the peer's open offer and send BYE.
        case refuseOfferAndSendBye(HangUpReason)
        /// Nothing can be sent yet, or all was sent.
        case doNothing
    }

    mutating func hangUp(_ told: HangUpReason, now: Instant) -> OnHangUp {
        switch self.state {
        case .calling:
            self.move(to: .cancelHeld(Farewell(reason: .cancelled, told: told)))
            return .doNothing
        case .proceeding:
            self.startCancelling(Farewell(reason: .cancelled, told: told), now: now)
            return .sendCancel(told)
        case .offered:
            self.move(to: .ended)
            return .refuse(told.refusal)
        case .accepted(let intervalMs):
            // The timers go on: it is still our 2xx that brings the ACK.
            self.state = .closing(Farewell(reason: .localHangUp, told: told), retransmitMs: intervalMs)
            return .doNothing
        case .connected, .reaccepted:
            self.move(to: .ending(Farewell(reason: .localHangUp, told: told)))
            return .sendBye(told)
        case .deciding:
            self.move(to: .ending(Farewell(reason: .localHangUp, told: told)))
            return .refuseOfferAndSendBye(told)
        case .cancelHeld, .cancelling, .closing, .ending, .ended:
            return .doNothing
        }
    }

    enum OnRespond: Equatable {
        /// Send it.
        case send
        /// Send it, keep it, and send it again until the ACK.
        case sendUntilAcknowledged
        /// Send it; the call is over.
        case sendAndEnd
        /// Nobody waits for it any more.
        case ignore
    }

    mutating func respond(_ status: StatusCode, now: Instant) -> OnRespond {
        switch self.state {
        case .offered:
            if status.isProvisional { return .send }
            guard status.isSuccess else {
                self.move(to: .ended)
                return .sendAndEnd
            }
            self.accept(.accepted(retransmitMs: self.lengths.t1Ms), now: now)
            return .sendUntilAcknowledged
        case .deciding(let reoffer):
            if status.isProvisional { return .send }
            switch reoffer {
            case .invite where status.isSuccess:
                self.accept(.reaccepted(retransmitMs: self.lengths.t1Ms), now: now)
                return .sendUntilAcknowledged
            case .invite, .update:
                self.move(to: .connected)
                return .send
            }
        case .calling, .proceeding, .cancelHeld, .cancelling, .accepted, .closing, .connected, .reaccepted, .ending,
            .ended:
            return .ignore
        }
    }

    private mutating func accept(_ state: State, now: Instant) {
        self.move(to: state)
        self.timers.set(.accept, afterMs: self.lengths.t1Ms, now: now)
        self.timers.set(.acceptLimit, afterMs: self.lengths.transactionMs, now: now)
    }
}

extension HangUpReason {
    /// What a caller is told whom we do not take.
    var refusal: StatusCode {
        switch self {
        case .normal: return .temporarilyUnavailable
        case .fault(let status, text: _): return status >= StatusCode(300) ? status : .temporarilyUnavailable
        }
    }
}
