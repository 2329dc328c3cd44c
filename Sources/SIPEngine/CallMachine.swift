// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Where one call is: RFC 3261 sections 9, 13, 14 and 15 seen from the user agent.
///
///     outgoing:   calling --1xx--> proceeding <--> decidingEarly (peer's UPDATE)
///                  ^ |                 |
///     in other     +-+-- 420/421/422 --+-- 2xx with an answer ---------> connected
///     words          |                 +-- 2xx with an offer --> answering --our answer--> connected
///                 hang up           hang up
///                    V                 V
///                cancelHeld --1xx--> cancelling --2xx--> ending
///
///     incoming:   offered --our 2xx--> accepted --ACK--> connected
///                                        |
///                                     hang up
///                                        V
///                                     closing --ACK--> ending
///
///     the session stands:     changing (our re-INVITE) <--> connected <--> deciding (peer's offer)
///                                                             ^              |
///                                                            ACK         our 2xx to a re-INVITE
///                                                             |              V
///                                                             +---------- reaccepted
///
///     every one of these --hang up, a fault--> ending --BYE answered--> ended
///
/// The machine only decides; the verbs (Invite.swift, Bye.swift …) write the messages. It starts and stops its own
/// timers itself. What goes on beside it has machines of its own: `OwnChange` keeps what we want to change,
/// `SessionTimer` keeps the session alive, `ReliableProvisional` sends our 1xx until its PRACK.
struct CallMachine {
    enum State: Hashable {
        /// Our INVITE is out and nothing came back: it must not be cancelled yet (RFC 3261 section 9.1).
        case calling
        /// A 1xx came for our INVITE.
        case proceeding
        /// As `proceeding`; the peer's UPDATE within an early dialog waits for our decision. Timer `decision` runs.
        case decidingEarly
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
        /// The 2xx for our INVITE brought an offer; the ACK waits for our answer. Timer `decision` runs.
        case answering
        /// The session stands, no offer is open.
        case connected
        /// The session stands; our re-INVITE is out. Timer `changeLimit` runs.
        case changing
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
        case .decidingEarly:
            return .report
        case .cancelHeld(let farewell):
            self.startCancelling(farewell, now: now)
            return .sendCancel(farewell.told)
        case .cancelling, .offered, .accepted, .closing, .answering, .connected, .changing, .deciding, .reaccepted,
            .ending, .ended:
            return .ignore
        }
    }

    mutating func startCancelling(_ farewell: Farewell, now: Instant) {
        self.move(to: .cancelling(farewell))
        self.timers.set(.cancelLimit, afterMs: self.lengths.transactionMs, now: now)
    }

    /// What a 2xx says about the session, together with what its branch said before.
    enum Content: Hashable {
        /// The answer to our offer.
        case answer
        /// An offer, where our INVITE had none.
        case offer
        case nothing
    }

    enum OnSuccess: Equatable {
        /// Acknowledge; the call stands.
        case acknowledgeAndReport
        /// Tell the offer: the ACK waits for our answer.
        case reportOffer
        /// Acknowledge and send BYE: this is the call's dialog, and we want out of it.
        case acknowledgeAndHangUp(HangUpReason)
        /// Acknowledge and send BYE: another branch of a fork was faster.
        case acknowledgeAndDiscard
    }

    /// A 2xx that makes a new dialog (copies are acknowledged without asking the call).
    mutating func receivedSuccess(_ content: Content, now: Instant) -> OnSuccess {
        switch self.state {
        case .calling, .proceeding, .decidingEarly:
            switch content {
            case .answer:
                self.move(to: .connected)
                return .acknowledgeAndReport
            case .offer:
                self.move(to: .answering)
                self.timers.set(.decision, afterMs: self.lengths.answerMs, now: now)
                return .reportOffer
            case .nothing:
                let words: ByteString = "the answer describes no session"
                let told = HangUpReason.fault(.notAcceptableHere, text: words)
                self.move(to: .ending(Farewell(reason: .protocolFault(words), told: told)))
                return .acknowledgeAndHangUp(told)
            }
        case .cancelHeld(let farewell), .cancelling(let farewell):
            self.move(to: .ending(farewell))
            return .acknowledgeAndHangUp(farewell.told)
        case .answering, .connected, .changing, .deciding, .reaccepted, .ending, .ended, .offered, .accepted, .closing:
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
        case .calling, .proceeding, .decidingEarly:
            self.move(to: .ended)
            return .end(reason)
        case .cancelHeld(let farewell), .cancelling(let farewell):
            self.move(to: .ended)
            return .end(farewell.reason)
        case .offered, .accepted, .closing, .answering, .connected, .changing, .deciding, .reaccepted, .ending, .ended:
            return .ignore
        }
    }

    enum OnRetry: Equatable {
        /// Send the INVITE again in other words.
        case send
        /// Nobody wants the call any more, or it is past its INVITE: the refusal counts.
        case giveUp
    }

    /// The INVITE was refused for something that can be left out, added or raised.
    mutating func retry() -> OnRetry {
        switch self.state {
        case .calling, .proceeding, .decidingEarly:
            self.move(to: .calling)
            return .send
        case .cancelHeld, .cancelling, .offered, .accepted, .closing, .answering, .connected, .changing, .deciding,
            .reaccepted, .ending, .ended:
            return .giveUp
        }
    }
}
