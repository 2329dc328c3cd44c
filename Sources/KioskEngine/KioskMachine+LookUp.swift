// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// The search for the ways to whom the kiosk calls: by which it goes next, and what comes of it.
extension KioskMachine {
    /// Whom to find the ways to.
    struct Question: Equatable {
        var id: ResolutionID
        var uri: SIPURI
    }

    enum OnResolved: Equatable {
        /// Send INVITE to the current target by the first of its ways.
        case invite(Targets)
        /// The same to one that does not lead.
        case inviteBeside(Targets)
        /// The same, because the far end of this call hands us over.
        case follow(CallHandle, Targets)
        /// Of a call that is over.
        case ignore
    }

    /// - Parameter ways: at least one; nil for those that are left of what was found before.
    mutating func resolved(_ id: ResolutionID, _ ways: [Flow]?, as handle: CallHandle, now: Instant) -> OnResolved {
        switch self.state {
        case .lookingUp(var state):
            guard state.resolution == id, !state.isPause else { return self.otherResolved(id, ways, as: handle) }
            if let ways { state.targets.found(ways) }
            var call = self.outgoing(state, as: handle)
            call.wayDeadline = state.facts.patience(state.targets).map { now + $0 }
            self.move(to: .calling(call))
            return .invite(state.targets)
        case .connected(let state):
            return self.transferResolved(id, ways, as: handle, state, now: now)
        case .calling, .ringing, .early:
            return self.otherResolved(id, ways, as: handle)
        case .idle, .alerting, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    func outgoing(_ state: KioskState.LookingUp, as handle: CallHandle) -> KioskState.Outgoing {
        KioskState.Outgoing(
            facts: state.facts, targets: state.targets, handle: handle, deadline: state.ringDeadline,
            others: state.others)
    }

    enum OnUnresolved: Equatable {
        case failed(FailedTarget)
        /// Another address of the same target is left.
        case lookUp(Question)
        /// The same of one that does not lead.
        case lookUpBeside(Question)
        case transferFailed(FailedTransfer)
        case ignore
    }

    mutating func unresolved(_ id: ResolutionID, now: Instant) -> OnUnresolved {
        switch self.state {
        case .lookingUp(let state):
            guard state.resolution == id, !state.isPause else { return self.otherUnresolved(id) }
            return self.notFound(state, now: now)
        case .connected(let state):
            guard case .lookingUp(let transfer)? = state.transfer, transfer.resolution == id else { return .ignore }
            return .transferFailed(self.endTransfer(state, .unknownHost, now: now))
        case .calling, .ringing, .early:
            return self.otherUnresolved(id)
        case .idle, .alerting, .ending, .outcome, .stopping:
            return .ignore
        }
    }

    mutating func notFound(_ state: KioskState.LookingUp, now: Instant) -> OnUnresolved {
        if let question = self.tryNext(state.facts, state.targets, ringDeadline: state.ringDeadline, now: now) {
            return .lookUp(question)
        }
        return .failed(self.leaderFailed(state.facts, .unknownHost, now: now))
    }

    /// A new search for the ways to the current target of the one that leads.
    mutating func lookingUp(
        _ facts: CallFacts, _ targets: Targets, ringDeadline: Instant?, now: Instant
    ) -> KioskState.LookingUp {
        KioskState.LookingUp(
            facts: facts, targets: targets, resolution: self.newResolution(),
            deadline: now + .milliseconds(KioskTimes.lookUpMs), ringDeadline: ringDeadline,
            others: self.state.others)
    }

    /// Goes on with the next target of this press; nil where none is left.
    mutating func tryNext(
        _ facts: CallFacts, _ targets: Targets, ringDeadline: Instant?, now: Instant
    ) -> Question? {
        var targets = targets
        guard targets.next() else { return nil }
        let state = self.lookingUp(facts, targets, ringDeadline: ringDeadline, now: now)
        self.move(to: .lookingUp(state))
        return Question(id: state.resolution, uri: targets.current)
    }

    /// Goes on with the next way to the current target, and gives the name under which it counts as found; nil where
    /// none is left.
    mutating func tryNextWay(
        _ facts: CallFacts, _ targets: Targets, ringDeadline: Instant?, now: Instant
    ) -> ResolutionID? {
        var targets = targets
        guard targets.nextWay() else { return nil }
        let state = self.lookingUp(facts, targets, ringDeadline: ringDeadline, now: now)
        self.move(to: .lookingUp(state))
        return state.resolution
    }
}
