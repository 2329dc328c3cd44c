// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

// MARK: - Time

extension CallMachine {
    enum OnTimer: Equatable {
        /// Send our 2xx again.
        case sendAcceptAgain
        case sendBye(HangUpReason)
        /// Acknowledge the offer without an answer, and send BYE.
        case acknowledgeAndSendBye(HangUpReason)
        /// Forget the INVITE that we cancelled; the call is over.
        case abandonAndEnd(EndReason)
        /// Refuse what waits for a decision; the call is over.
        case refuseAndEnd(StatusCode, EndReason)
        /// Our re-INVITE was never answered: the far end is gone.
        case drop
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
        case (.changing, .changeLimit):
            return .drop
        case (.answering, .decision):
            let told = HangUpReason.fault(.serverInternalError, text: "no answer to the offer")
            self.move(to: .ending(Farewell(reason: .timedOut, told: told)))
            return .acknowledgeAndSendBye(told)
        case (.decidingEarly, .decision):
            self.move(to: .proceeding)
            return .refuse(.serverInternalError)
        case (.cancelling(let farewell), .cancelLimit):
            self.move(to: .ended)
            return .abandonAndEnd(farewell.reason)
        case (.offered, .decision):
            self.move(to: .ended)
            return .refuseAndEnd(.temporarilyUnavailable, .timedOut)
        case (.deciding, .decision):
            self.move(to: .connected)
            return .refuse(.serverInternalError)
        case (.calling, _), (.proceeding, _), (.decidingEarly, _), (.cancelHeld, _), (.cancelling, _), (.offered, _),
            (.accepted, _), (.closing, _), (.answering, _), (.connected, _), (.changing, _), (.deciding, _),
            (.reaccepted, _), (.ending, _), (.ended, _):
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
