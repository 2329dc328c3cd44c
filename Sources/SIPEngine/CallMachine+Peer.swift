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
        case .calling, .proceeding, .cancelHeld, .cancelling, .offered, .connected, .deciding, .ending, .ended:
            return .ignore
        }
    }

    enum OnBye: Equatable {
        case end(EndReason)
        /// Refuse the peer's open INVITE with 487 (RFC 3261 section 15.1.2); the call is over.
        case refuseAndEnd(EndReason)
        /// The far end left before it answered: cancel what still rings.
        case sendCancel(HangUpReason)
        case ignore
    }

    /// A BYE within one of the call's dialogs, early ones included. It is answered with 200 whatever this says.
    mutating func receivedBye(_ reason: EndReason, now: Instant) -> OnBye {
        switch self.state {
        case .proceeding:
            self.move(to: .cancelling(Farewell(reason: reason, told: .normal)))
            self.timers.set(.cancelLimit, afterMs: self.lengths.transactionMs, now: now)
            return .sendCancel(.normal)
        case .offered:
            self.move(to: .ended)
            return .refuseAndEnd(.cancelled)
        case .accepted, .connected, .reaccepted:
            self.move(to: .ended)
            return .end(reason)
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
        case .calling, .proceeding, .cancelHeld, .cancelling, .accepted, .closing, .connected, .deciding(.update),
            .reaccepted, .ending, .ended:
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
    /// - Parameter owesAnswer: the offer of our last 2xx was ours, so that only the ACK can bring the peer's answer.
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
        case .offered, .deciding:
            return .refuseForNow
        case .calling, .proceeding, .cancelHeld, .cancelling:
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

// MARK: - Time

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
        case .calling, .proceeding, .offered, .accepted, .connected, .deciding, .reaccepted, .ended:
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
        case .calling, .proceeding, .cancelHeld, .cancelling, .offered, .accepted, .closing, .connected, .deciding,
            .reaccepted, .ended:
            return .ignore
        }
    }

    enum OnTimer: Equatable {
        /// Send our 2xx again.
        case sendAcceptAgain
        case sendBye(HangUpReason)
        /// Forget the INVITE that we cancelled; the call is over.
        case abandonAndEnd(EndReason)
        /// Refuse what waits for a decision; the call is over.
        case refuseAndEnd(StatusCode, EndReason)
        /// Refuse what waits for a decision; the session stands as it was.
        case refuse(StatusCode)
        case doNothing
    }

    mutating func fired(_ timer: SIPTimer, now: Instant) -> OnTimer {
        switch (self.state, timer) {
        case (.accepted(let intervalMs), .accept):
            self.state = .accepted(retransmitMs: self.nextAccept(after: intervalMs, now: now))
            return .sendAcceptAgain
        case (.closing(let farewell, let intervalMs), .accept):
            self.state = .closing(farewell, retransmitMs: self.nextAccept(after: intervalMs, now: now))
            return .sendAcceptAgain
        case (.reaccepted(let intervalMs), .accept):
            self.state = .reaccepted(retransmitMs: self.nextAccept(after: intervalMs, now: now))
            return .sendAcceptAgain
        case (.accepted, .acceptLimit), (.reaccepted, .acceptLimit):
            let told = HangUpReason.fault(.requestTimeout, text: "no ACK")
            self.move(to: .ending(Farewell(reason: .timedOut, told: told)))
            return .sendBye(told)
        case (.closing(let farewell, _), .acceptLimit):
            self.move(to: .ending(farewell))
            return .sendBye(farewell.told)
        case (.cancelling(let farewell), .cancelLimit):
            self.move(to: .ended)
            return .abandonAndEnd(farewell.reason)
        case (.offered, .decision):
            self.move(to: .ended)
            return .refuseAndEnd(.temporarilyUnavailable, .timedOut)
        case (.deciding, .decision):
            self.move(to: .connected)
            return .refuse(.serverInternalError)
        case (.calling, _), (.proceeding, _), (.cancelHeld, _), (.cancelling, _), (.offered, _), (.accepted, _),
            (.closing, _), (.connected, _), (.deciding, _), (.reaccepted, _), (.ending, _), (.ended, _):
            return .doNothing
        }
    }

    /// The interval doubles up to T2, on reliable transports too: a proxy on the way may change to an unreliable one
    /// (RFC 3261 section 13.3.1.4).
    private mutating func nextAccept(after intervalMs: Int, now: Instant) -> Int {
        let nextMs = min(intervalMs * 2, self.lengths.t2Ms)
        self.timers.set(.accept, afterMs: nextMs, now: now)
        return nextMs
    }
}
