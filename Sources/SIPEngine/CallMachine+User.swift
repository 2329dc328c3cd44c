// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

// MARK: - The user's will

extension CallMachine {
    enum OnHangUp: Equatable {
        case sendCancel(HangUpReason)
        /// Refuse the peer's UPDATE within the early dialog and cancel.
        case refuseOfferAndSendCancel(HangUpReason)
        case sendBye(HangUpReason)
        /// Acknowledge the offer without an answer, and send BYE.
        case acknowledgeAndSendBye(HangUpReason)
        /// Refuse the peer's INVITE.
        case refuse(StatusCode)
        /// Refuse the peer's open offer and send BYE.
        case refuseOfferAndSendBye(HangUpReason)
        /// Nothing can be sent yet, or all was sent.
        case doNothing
    }

    /// - Parameter reason: what the user is told in the end; nil for what a hang-up is in this state.
    mutating func hangUp(_ told: HangUpReason, as reason: EndReason? = nil, now: Instant) -> OnHangUp {
        let unanswered = Farewell(reason: reason ?? .cancelled, told: told)
        let answered = Farewell(reason: reason ?? .localHangUp, told: told)
        switch self.state {
        case .calling:
            self.move(to: .cancelHeld(unanswered))
            return .doNothing
        case .proceeding:
            self.startCancelling(unanswered, now: now)
            return .sendCancel(told)
        case .decidingEarly:
            self.startCancelling(unanswered, now: now)
            return .refuseOfferAndSendCancel(told)
        case .offered:
            self.move(to: .ended)
            return .refuse(told.refusal)
        case .accepted(let intervalMs):
            // The timers go on: it is still our 2xx that brings the ACK.
            self.state = .closing(answered, retransmitMs: intervalMs)
            return .doNothing
        case .answering:
            self.move(to: .ending(answered))
            return .acknowledgeAndSendBye(told)
        case .connected, .changing, .reaccepted:
            self.move(to: .ending(answered))
            return .sendBye(told)
        case .deciding:
            self.move(to: .ending(answered))
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
        case .decidingEarly:
            if status.isFinal { self.move(to: .proceeding) }
            return .send
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
        case .calling, .proceeding, .cancelHeld, .cancelling, .accepted, .closing, .answering, .connected, .changing,
            .reaccepted, .ending, .ended:
            return .ignore
        }
    }

    private mutating func accept(_ state: State, now: Instant) {
        self.move(to: state)
        self.timers.set(.accept, afterMs: self.lengths.t1Ms, now: now)
        self.timers.set(.acceptLimit, afterMs: self.lengths.transactionMs, now: now)
    }

    enum OnAnswer: Equatable {
        /// Send the ACK with the answer; the call stands.
        case acknowledge
        case ignore
    }

    /// Our answer to the offer that the 2xx brought.
    mutating func answered() -> OnAnswer {
        switch self.state {
        case .answering:
            self.move(to: .connected)
            return .acknowledge
        case .calling, .proceeding, .decidingEarly, .cancelHeld, .cancelling, .offered, .accepted, .closing, .connected,
            .changing, .deciding, .reaccepted, .ending, .ended:
            return .ignore
        }
    }
}

// MARK: - Our own re-INVITE

extension CallMachine {
    /// Whether there is a session that may be changed, at once or later.
    var isEstablished: Bool {
        switch self.state {
        case .accepted, .answering, .connected, .changing, .deciding, .reaccepted: return true
        case .calling, .proceeding, .decidingEarly, .cancelHeld, .cancelling, .offered, .closing, .ending, .ended:
            return false
        }
    }

    enum OnChange: Equatable {
        case send
        /// An INVITE or an offer is open, or there is no session.
        case wait
    }

    /// Whether our re-INVITE may go out; if so, it does. No INVITE may be open in either direction then, and no offer
    /// (RFC 3261 section 14.1, RFC 3311 section 5.1).
    mutating func change(now: Instant) -> OnChange {
        switch self.state {
        case .connected:
            self.move(to: .changing)
            self.timers.set(.changeLimit, afterMs: Limits.decisionMs, now: now)
            return .send
        case .calling, .proceeding, .decidingEarly, .cancelHeld, .cancelling, .offered, .accepted, .closing, .answering,
            .changing, .deciding, .reaccepted, .ending, .ended:
            return .wait
        }
    }

    enum OnChangeFinished: Equatable {
        /// Tell what came of it; the session stands.
        case report
        /// We have hung up since.
        case ignore
    }

    /// Our re-INVITE got its final answer.
    mutating func changeFinished() -> OnChangeFinished {
        switch self.state {
        case .changing:
            self.move(to: .connected)
            return .report
        case .calling, .proceeding, .decidingEarly, .cancelHeld, .cancelling, .offered, .accepted, .closing, .answering,
            .connected, .deciding, .reaccepted, .ending, .ended:
            return .ignore
        }
    }

    enum OnDrop: Equatable {
        case sendBye
        /// Refuse the peer's open offer and send BYE.
        case refuseOfferAndSendBye
        /// There is no session, or its end is on its way.
        case ignore
    }

    /// The session is over at once; nobody waits for the answer to its BYE. For a far end that is gone: a request
    /// within the dialog was answered with 408 or 481 or not at all (RFC 3261 section 12.2.1.2), or nobody refreshed
    /// the session (RFC 4028 section 10). And for a call whose place another one took.
    mutating func drop() -> OnDrop {
        switch self.state {
        case .connected, .changing, .reaccepted:
            self.move(to: .ended)
            return .sendBye
        case .deciding:
            self.move(to: .ended)
            return .refuseOfferAndSendBye
        case .calling, .proceeding, .decidingEarly, .cancelHeld, .cancelling, .offered, .accepted, .closing, .answering,
            .ending, .ended:
            return .ignore
        }
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
