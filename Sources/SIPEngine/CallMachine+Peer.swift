// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

// MARK: - The peer's requests

extension CallMachine {
    enum OnAcknowledge: Equatable {
        case report
        /// The BYE that waited for this ACK goes out.
        case sendBye(HangUpReason)
        case ignore
    }

    /// The ACK of the 2xx that we send again.
    mutating func receivedAcknowledge() -> OnAcknowledge {
        switch self.state {
        case .accepted, .reaccepted:
            self.move(to: .connected)
            return .report
        case .closing(let farewell, _):
            self.move(to: .ending(farewell))
            return .sendBye(farewell.told)
        case .calling, .proceeding, .decidingEarly, .cancelHeld, .cancelling, .offered, .answering, .connected,
            .changing, .deciding, .ending, .ended:
            return .ignore
        }
    }

    enum OnBye: Equatable {
        case end(EndReason)
        /// Refuse the peer's open INVITE with 487 (RFC 3261 section 15.1.2); the call is over.
        case refuseAndEnd(EndReason)
        /// The far end left before it answered: cancel what still rings, and refuse its UPDATE where one is open.
        case sendCancel(HangUpReason)
        /// Acknowledge the offer of its 2xx without an answer; the call is over.
        case acknowledgeAndEnd(EndReason)
        case ignore
    }

    /// A BYE within one of the call's dialogs, early ones included. It is answered with 200 whatever this says.
    mutating func receivedBye(_ reason: EndReason, now: Instant) -> OnBye {
        switch self.state {
        case .proceeding, .decidingEarly:
            self.startCancelling(Farewell(reason: reason, told: .normal), now: now)
            return .sendCancel(.normal)
        case .offered:
            self.move(to: .ended)
            return .refuseAndEnd(.cancelled)
        case .accepted, .connected, .changing, .reaccepted:
            self.move(to: .ended)
            return .end(reason)
        case .answering:
            self.move(to: .ended)
            return .acknowledgeAndEnd(reason)
        case .deciding:
            self.move(to: .ended)
            return .refuseAndEnd(reason)
        case .closing(let farewell, _), .ending(let farewell):
            self.move(to: .ended)
            return .end(farewell.reason)
        case .calling, .cancelHeld, .cancelling, .ended:
            return .ignore
        }
    }

    enum OnCancel: Equatable {
        /// Refuse the INVITE with 487; the call is over.
        case refuseAndEnd(EndReason)
        /// Refuse the re-INVITE with 487; the session stands as it was.
        case refuse
        case ignore
    }

    /// A CANCEL of the INVITE that waits for our decision. It is answered with 200 whatever this says.
    mutating func receivedCancel() -> OnCancel {
        switch self.state {
        case .offered:
            self.move(to: .ended)
            return .refuseAndEnd(.cancelled)
        case .deciding(.invite):
            self.move(to: .connected)
            return .refuse
        case .calling, .proceeding, .decidingEarly, .cancelHeld, .cancelling, .accepted, .closing, .answering,
            .connected, .changing, .deciding(.update), .reaccepted, .ending, .ended:
            return .ignore
        }
    }

    enum OnReoffer: Equatable {
        case report
        /// The ACK of our last 2xx was lost, but who goes on has our answer: report that ACK, then the offer.
        case reportAcknowledgeFirst
        case refuse(StatusCode)
        /// Refuse with 500 and a random Retry-After (RFC 3261 section 14.2, RFC 3311 section 5.2).
        case refuseForNow
        /// As `reportAcknowledgeFirst`, but it was a BYE that waited for the ACK: refuse, and send it.
        case refuseAndSendBye(HangUpReason)
    }

    /// A re-INVITE, or an UPDATE with an offer.
    /// - Parameter owesAnswer: the peer owes the answer to an offer of ours: to the one in our INVITE as long as no
    ///   reliable 1xx brought it, or to the one in our last 2xx, for which only the ACK can bring it.
    mutating func receivedReoffer(
        _ reoffer: Reoffer, owesAnswer: Bool, now: Instant
    ) -> OnReoffer {
        switch self.state {
        case .connected:
            self.decide(reoffer, now: now)
            return .report
        case .accepted, .reaccepted:
            guard !owesAnswer else { return .refuse(.requestPending) }
            self.decide(reoffer, now: now)
            return .reportAcknowledgeFirst
        case .closing(let farewell, _):
            self.move(to: .ending(farewell))
            return .refuseAndSendBye(farewell.told)
        case .proceeding:
            guard reoffer == .update, !owesAnswer else { return .refuse(.requestPending) }
            self.move(to: .decidingEarly)
            self.timers.set(.decision, afterMs: self.lengths.transactionMs, now: now)
            return .report
        case .offered, .answering, .deciding, .decidingEarly:
            return .refuseForNow
        case .calling, .cancelHeld, .cancelling, .changing:
            return .refuse(.requestPending)
        case .ending, .ended:
            return .refuse(.callOrTransactionDoesNotExist)
        }
    }

    private mutating func decide(_ reoffer: Reoffer, now: Instant) {
        self.move(to: .deciding(reoffer))
        // A client gives up a non-INVITE request after 64*T1; a later answer is no use.
        let limitMs = reoffer == .invite ? Limits.decisionMs : self.lengths.transactionMs
        self.timers.set(.decision, afterMs: limitMs, now: now)
    }
}

// MARK: - The end

extension CallMachine {
    enum OnForsake: Equatable {
        case end(EndReason)
        /// Somebody still wants it.
        case keep
    }

    /// Room is needed: a call that only waits for the peer to agree to its end may be forgotten.
    mutating func forsake() -> OnForsake {
        switch self.state {
        case .cancelHeld(let farewell), .cancelling(let farewell), .closing(let farewell, _),
            .ending(let farewell):
            self.move(to: .ended)
            return .end(farewell.reason)
        case .calling, .proceeding, .decidingEarly, .offered, .accepted, .answering, .connected, .changing, .deciding,
            .reaccepted, .ended:
            return .keep
        }
    }

    enum OnByeFinished: Equatable {
        case end(EndReason)
        case ignore
    }

    /// Our BYE was answered, whatever the answer, or will never be.
    mutating func byeFinished() -> OnByeFinished {
        switch self.state {
        case .ending(let farewell):
            self.move(to: .ended)
            return .end(farewell.reason)
        case .calling, .proceeding, .decidingEarly, .cancelHeld, .cancelling, .offered, .accepted, .closing, .answering,
            .connected, .changing, .deciding, .reaccepted, .ended:
            return .ignore
        }
    }
}
