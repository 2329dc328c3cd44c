// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// How the kiosk's call comes to its end where the person at the panel did not ask for it.
extension KioskMachine {
    enum OnFailure: Equatable {
        /// Tell the far end, and whoever it is handing us over to; the outcome is on the screen already.
        case giveUp([CallHandle], EndedCall)
        /// A call that was placed.
        case failed(FailedTarget)
        case transferFailed(FailedTransfer)
        case ignore
    }

    /// We cannot go on with a call, through no act of the person at the panel.
    mutating func failed(_ handle: CallHandle, _ outcome: CallOutcome, now: Instant) -> OnFailure {
        if let index = self.state.other(handle) {
            return .failed(self.otherFailed(index, outcome, dropped: [handle]))
        }
        guard self.state.handle == handle else {
            guard case .connected(let state) = self.state, state.transfer?.handle == handle else { return .ignore }
            return .transferFailed(self.endTransfer(state, outcome, now: now))
        }
        switch self.state {
        case .calling(let state), .ringing(let state):
            return .failed(self.leaderFailed(state.facts, outcome, dropped: [handle], now: now))
        case .early(let state):
            return .failed(self.leaderFailed(state.facts, outcome, dropped: [handle], now: now))
        case .alerting(let state):
            return .giveUp([handle], self.show(outcome, facts: state.facts, answered: nil, now: now))
        case .connected(let state):
            if state.confirmBy != nil {
                return .failed(self.leaderFailed(state.facts, outcome, dropped: [handle], now: now))
            }
            let handles = [handle] + (state.transfer?.handle.map { [$0] } ?? [])
            return .giveUp(handles, self.show(outcome, facts: state.facts, answered: state.answered, now: now))
        case .idle, .lookingUp, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    enum OnEnded: Equatable {
        /// The call is over; its media stop.
        case finish(EndedCall)
        /// Whoever was called does not answer.
        case failed(FailedTarget)
        /// The target named other addresses: its media stop, and they are called in its place.
        case lookUp(Question)
        /// There is another way to the same target: its media stop, and it is called by that.
        case failOver(ResolutionID)
        /// The same of a target that does not lead.
        case lookUpBeside(Question)
        case failOverBeside(ResolutionID)
        /// It does not take our offer: its media stop, and it is called again by the same way, with the older one.
        case offerAgain(ResolutionID)
        /// Who was to take over does not: the call at hand goes on.
        case transferFailed(FailedTransfer)
        /// The far end has left before whoever it hands us over to is there: its media stop, the person waits.
        case waitForTransfer
        case exit(EndedCall?)
        /// A call that we have long given up.
        case ignore
    }

    /// - Parameter hasOlderOffer: what we offered can be said in an older way.
    mutating func ended(
        _ handle: CallHandle, _ reason: EndReason, fault: TLSFault? = nil, hasOlderOffer: Bool = false, now: Instant
    ) -> OnEnded {
        if let index = self.state.other(handle) {
            return self.otherEnded(index, reason, fault, hasOlderOffer: hasOlderOffer)
        }
        guard self.state.handle == handle else { return self.transferEnded(handle, reason, fault, now: now) }
        if hasOlderOffer, reason.isOfOffer, let id = self.offerAgain(now: now) { return .offerAgain(id) }
        switch self.state {
        case .calling(let state):
            if reason.isOfNobody,
                let id = self.tryNextWay(state.facts, state.targets, ringDeadline: state.deadline, now: now)
            {
                return .failOver(id)
            }
            return self.unanswered(state.facts, state.targets, ringDeadline: state.deadline, reason, fault, now: now)
        case .ringing(let state):
            return self.unanswered(state.facts, state.targets, ringDeadline: state.deadline, reason, fault, now: now)
        case .early(let state):
            return self.unanswered(state.facts, state.targets, ringDeadline: state.deadline, reason, fault, now: now)
        case .alerting(let state):
            return .finish(self.show(.missed, facts: state.facts, answered: nil, now: now))
        case .connected(let state):
            if let transfer = state.transfer { return self.wait(for: transfer, state) }
            if state.confirmBy != nil { return .failed(self.leaderFailed(state.facts, .notAnswered, now: now)) }
            let outcome = CallOutcome(reason, wasAnswered: true)
            return .finish(self.show(outcome, facts: state.facts, answered: state.answered, now: now))
        case .ending(let state):
            self.move(to: .idle)
            return .finish(state.ended)
        case .stopping(let state):
            self.move(to: .idle)
            return .exit(state.ended)
        case .idle, .lookingUp, .outcome:
            return .ignore
        }
    }

    /// The same target by the same way, under the name of a search that is done; nil where that makes no sense.
    private mutating func offerAgain(now: Instant) -> ResolutionID? {
        guard case .calling(let call) = self.state else { return nil }
        var targets = call.targets
        guard targets.offerAgain() else { return nil }
        let state = self.lookingUp(call.facts, targets, ringDeadline: call.deadline, now: now)
        self.move(to: .lookingUp(state))
        return state.resolution
    }

    /// A call that was placed is over before its answer: another target may be left (RFC 3261 section 8.1.3.4).
    private mutating func unanswered(
        _ facts: CallFacts, _ targets: Targets, ringDeadline: Instant?, _ reason: EndReason, _ fault: TLSFault?,
        now: Instant
    ) -> OnEnded {
        if reason.isOfServer,
            let id = self.tryNextWay(facts, targets, ringDeadline: ringDeadline, now: now)
        {
            return .failOver(id)
        }
        var targets = targets
        if case .redirected(_, let uris) = reason { targets.redirect(to: uris) }
        if reason.leavesOthersToTry,
            let question = self.tryNext(facts, targets, ringDeadline: ringDeadline, now: now)
        {
            return .lookUp(question)
        }
        let outcome = CallOutcome(reason, wasAnswered: false, fault: fault)
        return .failed(self.leaderFailed(facts, outcome, now: now))
    }
}

extension StatusCode {
    /// It says something about the server and nothing about who was asked for (RFC 3263 section 4.3; 408 stands for one
    /// that keeps silent too, RFC 3261 section 8.1.3.1; 500 is what servers in maintenance say).
    var isOfServer: Bool { self == .requestTimeout || self == .serviceUnavailable || self == .serverInternalError }
}

extension EndReason {
    /// It says something about the server and nothing about who was called: another server may do better (RFC 3263
    /// section 4.3; 500 is what servers in maintenance say).
    var isOfServer: Bool {
        switch self {
        case .timedOut, .flowFailed: return true
        case .refused(let status, _, _): return status == .serviceUnavailable || status == .serverInternalError
        case .redirected, .localHangUp, .remoteHangUp, .cancelled, .replaced, .protocolFault, .tooManyCalls:
            return false
        }
    }

    /// The server heard nothing from whom it asked (408). Where nobody rang, another server may be heard.
    fileprivate var isOfNobody: Bool {
        guard case .refused(let status, _, _) = self else { return false }
        return status == .requestTimeout
    }

    /// It says something about our offer.
    var isOfOffer: Bool {
        switch self {
        case .refused(let status, _, _): return status == .notAcceptableHere || status.value == 606
        case .redirected, .localHangUp, .remoteHangUp, .cancelled, .replaced, .timedOut, .flowFailed, .protocolFault,
            .tooManyCalls:
            return false
        }
    }

    /// The one that was called is not there; a 6xx says that none of its other addresses need be tried either.
    var leavesOthersToTry: Bool {
        switch self {
        case .redirected, .timedOut, .flowFailed: return true
        case .refused(let status, _, _): return status.statusClass != .globalFailure
        case .localHangUp, .remoteHangUp, .cancelled, .replaced, .protocolFault, .tooManyCalls: return false
        }
    }
}
