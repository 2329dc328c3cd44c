// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Being handed over: the far end asks us to call somebody else in its place (REFER). The call at hand goes on until
/// the other one is answered, or until the far end leaves; from then on it is a call like any that was dialled.
extension KioskMachine {
    enum OnReferral: Equatable {
        case lookUp(Question)
        case refuse(StatusCode)
    }

    mutating func referred(
        _ handle: CallHandle, _ referral: Referral, policy: CallSettings.Transfer, now: Instant
    ) -> OnReferral {
        guard self.state.handle == handle else { return .refuse(.callOrTransactionDoesNotExist) }
        switch self.state {
        case .connected(var state):
            switch policy {
            case .refuse: return .refuse(.decline)
            case .follow: break
            }
            guard state.transfer == nil else { return .refuse(.requestPending) }
            guard let uri = referral.target.callable else { return .refuse(.unsupportedURIScheme) }
            var facts = state.facts
            facts.direction = .outgoing
            facts.peer = uri.printed
            facts.name = ByteString()
            facts.target = nil
            let targets = Targets(uri, headers: referral.headers)
            let transfer = self.lookingUp(facts, targets, ringDeadline: nil, now: now)
            state.transfer = .lookingUp(transfer)
            self.move(to: .connected(state))
            return .lookUp(Question(id: transfer.resolution, uri: uri))
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping:
            return .refuse(.callOrTransactionDoesNotExist)
        }
    }

    mutating func transferResolved(
        _ id: ResolutionID, _ ways: [Flow]?, as handle: CallHandle, _ state: KioskState.Connected, now: Instant
    ) -> OnResolved {
        guard case .lookingUp(var transfer)? = state.transfer, transfer.resolution == id else { return .ignore }
        var state = state
        if let ways { transfer.targets.found(ways) }
        var call = self.outgoing(transfer, as: handle)
        if transfer.targets.ways.count > 1 { call.wayDeadline = now + .milliseconds(KioskTimes.wayMs) }
        state.transfer = .calling(call, hasRung: false)
        self.move(to: .connected(state))
        return .follow(state.handle, transfer.targets)
    }

    /// Only that it lives, and whether it rings: while the former far end is heard, nobody else is.
    mutating func transferProgressed(_ handle: CallHandle, _ progress: Progress, now: Instant) {
        guard case .connected(var state) = self.state, case .calling(var other, let hasRung)? = state.transfer,
            other.handle == handle
        else { return }
        other.deadline = other.deadline ?? now + self.ringTimeout
        other.wayDeadline = nil
        switch progress {
        case .trying, .media: break
        case .ringing: other.stage = .ringing
        case .forwarded: other.stage = .forwarded
        case .queued: other.stage = .queued
        }
        let isSign = progress != .trying && progress != .media
        state.transfer = .calling(other, hasRung: hasRung || isSign)
        self.move(to: .connected(state))
    }

    mutating func transferAnswered(_ handle: CallHandle, _ shape: MediaShape, now: Instant) -> OnAnswer {
        guard case .connected(let former) = self.state, let transfer = former.transfer, transfer.handle == handle
        else { return .ignore }
        var facts = transfer.facts
        facts.wishes = former.facts.wishes
        var state = self.connected(facts, handle, shape, now: now)
        state.answered = former.answered
        self.move(to: .connected(state))
        return .switchMedia(facts.wishes, from: former.handle)
    }

    // MARK: - Failing

    /// What came of it, and who is to be told.
    struct FailedTransfer: Equatable {
        enum Step: Equatable {
            /// The far end waits to hear whether we follow.
            case undecided(CallHandle)
            /// This call was placed, and is not wanted any more.
            case placed(CallHandle)
            case over
            /// It goes on by another way, under the name of a search that is done. That call is not wanted any more;
            /// nil where it is over.
            case nextWay(ResolutionID, from: CallHandle?)
        }

        var facts: CallFacts
        var outcome: CallOutcome
        var step: Step
    }

    /// The call at hand goes on. Its far end gets its time anew: it had reason to send nothing.
    mutating func endTransfer(
        _ state: KioskState.Connected, _ outcome: CallOutcome, isOver: Bool = false, isOfServer: Bool = false,
        now: Instant
    ) -> FailedTransfer {
        guard let transfer = state.transfer else { preconditionFailure("only what was begun can fail") }
        var state = state
        if case .calling(let other, _) = transfer, isOfServer || other.wayDeadline.map({ now >= $0 }) ?? false,
            let next = self.nextWay(other, in: state, outcome, isOver: isOver, now: now)
        {
            return next
        }
        state.transfer = nil
        if state.audio != .hearing { state.audio = .awaiting(since: now) }
        if state.video != .hearing { state.video = .awaiting(since: now) }
        self.move(to: .connected(state))
        let step: FailedTransfer.Step
        switch transfer {
        case .lookingUp: step = .undecided(state.handle)
        case .calling(let other, _): step = isOver ? .over : .placed(other.handle)
        }
        return FailedTransfer(facts: transfer.facts, outcome: outcome, step: step)
    }

    /// Nil where no other way leads to who is to take over.
    private mutating func nextWay(
        _ other: KioskState.Outgoing, in state: KioskState.Connected, _ outcome: CallOutcome, isOver: Bool, now: Instant
    ) -> FailedTransfer? {
        var (state, targets) = (state, other.targets)
        guard targets.nextWay() else { return nil }
        let search = self.lookingUp(other.facts, targets, ringDeadline: other.deadline, now: now)
        state.transfer = .lookingUp(search)
        self.move(to: .connected(state))
        let step = FailedTransfer.Step.nextWay(search.resolution, from: isOver ? nil : other.handle)
        return FailedTransfer(facts: other.facts, outcome: outcome, step: step)
    }

    /// Another call than the one at hand is over.
    mutating func transferEnded(
        _ handle: CallHandle, _ reason: EndReason, _ fault: TLSFault?, now: Instant
    ) -> OnEnded {
        guard case .connected(let state) = self.state, state.transfer?.handle == handle else { return .ignore }
        let outcome = CallOutcome(reason, wasAnswered: false, fault: fault)
        return .transferFailed(
            self.endTransfer(state, outcome, isOver: true, isOfServer: reason.isOfServer, now: now))
    }

    /// The far end has left, as those do who hand over without asking.
    mutating func wait(for transfer: KioskState.Transfer, _ former: KioskState.Connected) -> OnEnded {
        switch transfer {
        case .lookingUp(var state):
            state.facts.wishes = former.facts.wishes
            state.facts.isHandedOver = true
            self.move(to: .lookingUp(state))
        case .calling(var state, let hasRung):
            state.facts.wishes = former.facts.wishes
            state.facts.isHandedOver = true
            self.move(to: hasRung ? .ringing(state) : .calling(state))
        }
        return .waitForTransfer
    }
}
