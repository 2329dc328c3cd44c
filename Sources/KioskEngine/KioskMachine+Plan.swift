// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// A press that calls several targets, one after the other or at the same time.
extension KioskMachine {
    /// How a press goes on after a target did not answer.
    enum Onward: Equatable {
        /// Those that are called at the same time are called on.
        case others
        /// One of them leads now; nil where the ways to it are still being found.
        case lead(CallHandle?)
        /// These are called.
        case step([Question])
        /// All are called again, after a while.
        case pause
        /// That was the last.
        case over(EndedCall)
    }

    struct FailedTarget: Equatable {
        /// Who did not answer.
        var peers: [ByteString]
        var outcome: CallOutcome
        /// Calls in SIP that are given up.
        var dropped: [CallHandle]
        var onward: Onward
    }

    // MARK: - Going on

    /// Looks for all targets of a step; the first of them leads.
    mutating func begin(_ step: CallStep, _ facts: CallFacts, now: Instant) -> [Question] {
        var others = step.targets.map {
            CallBranch(target: $0, targets: Targets($0.uri), stage: .lookingUp(self.newResolution()))
        }
        guard let first = others.first, case .lookingUp(let id) = first.stage else {
            preconditionFailure("a step names somebody")
        }
        others.removeFirst()
        var facts = facts
        facts.lead(by: first.target)
        self.move(
            to: .lookingUp(
                KioskState.LookingUp(
                    facts: facts, targets: first.targets, resolution: id,
                    deadline: now + .milliseconds(KioskTimes.lookUpMs), ringDeadline: nil, others: others)))
        return [Question(id: id, uri: first.targets.current)]
            + others.compactMap {
                guard case .lookingUp(let id) = $0.stage else { return nil }
                return Question(id: id, uri: $0.targets.current)
            }
    }

    /// The target that leads will not answer.
    mutating func leaderFailed(
        _ facts: CallFacts, _ outcome: CallOutcome, dropped: [CallHandle] = [], now: Instant
    ) -> FailedTarget {
        var facts = facts
        facts.plan.note(facts.peer, outcome)
        let others = self.state.others
        guard !others.isEmpty else {
            return self.stepFailed(facts, [facts.peer], outcome, dropped: dropped, now: now)
        }
        let ringing = others.firstIndex { $0.stage.hasRung }
        let best = ringing ?? others.firstIndex { $0.handle != nil } ?? 0
        let peer = facts.peer
        self.move(to: self.state.led(by: best, facts, keepsFormer: false, now: now))
        return FailedTarget(
            peers: [peer], outcome: outcome, dropped: dropped, onward: .lead(self.state.handle))
    }

    /// None of those that are called at the same time will answer.
    mutating func allFailed(
        _ facts: CallFacts, _ outcome: CallOutcome, dropped: [CallHandle], now: Instant
    ) -> FailedTarget {
        var facts = facts
        let others = self.state.others
        let peers = [facts.peer] + others.map { $0.target.uri.printed }
        for peer in peers { facts.plan.note(peer, outcome) }
        return self.stepFailed(
            facts, peers, outcome, dropped: dropped + others.compactMap { $0.handle }, now: now)
    }

    private mutating func stepFailed(
        _ facts: CallFacts, _ peers: [ByteString], _ outcome: CallOutcome, dropped: [CallHandle], now: Instant
    ) -> FailedTarget {
        var facts = facts
        let onward: Onward
        switch facts.plan.next() {
        case .step(let step): onward = .step(self.begin(step, facts, now: now))
        case .pause(let length):
            self.pause(facts, length, now: now)
            onward = .pause
        case .over:
            let telling = facts.plan.mostTelling
            facts.peer = telling?.peer ?? facts.peer
            onward = .over(self.show(telling?.outcome ?? outcome, facts: facts, answered: nil, now: now))
        }
        return FailedTarget(peers: peers, outcome: outcome, dropped: dropped, onward: onward)
    }

    private mutating func pause(_ facts: CallFacts, _ length: Duration, now: Instant) {
        guard let target = facts.plan.current?.targets.first else { preconditionFailure("a step names somebody") }
        var facts = facts
        facts.lead(by: target)
        self.move(
            to: .lookingUp(
                KioskState.LookingUp(
                    facts: facts, targets: Targets(target.uri), resolution: self.newResolution(),
                    deadline: now + length, ringDeadline: nil, isPause: true)))
    }

    // MARK: - At the same time

    /// The ways to one of the others are known, or the next of them is taken.
    mutating func otherResolved(_ id: ResolutionID, _ ways: [Flow]?, as handle: CallHandle) -> OnResolved {
        guard let index = self.state.others.firstIndex(where: { $0.stage == .lookingUp(id) }) else { return .ignore }
        var others = self.state.others
        if let ways { others[index].targets.found(ways) }
        others[index].stage = .calling(handle, hasRung: false)
        self.setOthers(others)
        return .inviteBeside(others[index].targets)
    }

    mutating func otherUnresolved(_ id: ResolutionID) -> OnUnresolved {
        guard let index = self.state.others.firstIndex(where: { $0.stage == .lookingUp(id) }) else { return .ignore }
        if let question = self.redirectOther(index) { return .lookUpBeside(question) }
        return .failed(self.otherFailed(index, .unknownHost))
    }

    /// A call that does not lead is over.
    mutating func otherEnded(
        _ index: Int, _ reason: EndReason, _ fault: TLSFault?, hasOlderOffer: Bool
    ) -> OnEnded {
        var others = self.state.others
        let isCalledAgain = hasOlderOffer && reason.isOfOffer && others[index].targets.offerAgain()
        if isCalledAgain || reason.isOfServer && others[index].targets.nextWay() {
            let id = self.newResolution()
            others[index].stage = .lookingUp(id)
            self.setOthers(others)
            return .failOverBeside(id)
        }
        if case .redirected(_, let uris) = reason { others[index].targets.redirect(to: uris) }
        self.setOthers(others)
        if reason.leavesOthersToTry, let question = self.redirectOther(index) { return .lookUpBeside(question) }
        return .failed(self.otherFailed(index, CallOutcome(reason, wasAnswered: false, fault: fault)))
    }

    /// The next address that one of the others was sent to.
    private mutating func redirectOther(_ index: Int) -> Question? {
        var others = self.state.others
        guard others[index].targets.next() else { return nil }
        let id = self.newResolution()
        others[index].stage = .lookingUp(id)
        self.setOthers(others)
        return Question(id: id, uri: others[index].targets.current)
    }

    mutating func otherFailed(
        _ index: Int, _ outcome: CallOutcome, dropped: [CallHandle] = []
    ) -> FailedTarget {
        var others = self.state.others
        let peer = others.remove(at: index).target.uri.printed
        var state = self.state
        state.others = others
        state.plan?.note(peer, outcome)
        self.move(to: state)
        return FailedTarget(peers: [peer], outcome: outcome, dropped: dropped, onward: .others)
    }

    /// Whether a sign of life makes this one the leader: where the one that leads gave none, or does not ring yet.
    func mayLead(_ handle: CallHandle, _ progress: Progress) -> Bool {
        guard self.state.other(handle) != nil else { return false }
        switch self.state {
        case .lookingUp: return true
        case .calling(let state): return state.deadline == nil || progress.isRinging
        case .idle, .ringing, .early, .alerting, .connected, .ending, .outcome, .stopping: return false
        }
    }

    mutating func otherProgressed(_ handle: CallHandle, _ progress: Progress) {
        guard progress.isRinging, let index = self.state.other(handle) else { return }
        var others = self.state.others
        others[index].stage = .calling(handle, hasRung: true)
        self.setOthers(others)
    }

    /// Puts another one in the lead, because it answers, or because it is the first to give a sign of life. False where
    /// it is none of those that are called.
    mutating func lead(_ handle: CallHandle, now: Instant) -> Bool {
        guard let index = self.state.other(handle), let facts = self.state.facts else { return false }
        self.move(to: self.state.led(by: index, facts, keepsFormer: true, now: now))
        return true
    }

    /// Somebody has answered, or nobody is to: the calls to all but the leader are given up.
    mutating func dropOthers() -> [CallHandle] {
        let handles = self.state.others.compactMap { $0.handle }
        self.setOthers([])
        return handles
    }

    /// Those of the others that have another way to go, now that the leader's server was silent for too long: none of
    /// them gave a sign of life, or it would lead.
    mutating func failOverOthers() -> [(id: ResolutionID, from: CallHandle)] {
        var others = self.state.others
        var moved: [(id: ResolutionID, from: CallHandle)] = []
        for index in others.indices {
            guard let handle = others[index].handle, others[index].targets.nextWay() else { continue }
            let id = self.newResolution()
            others[index].stage = .lookingUp(id)
            moved.append((id: id, from: handle))
        }
        self.setOthers(others)
        return moved
    }

    private mutating func setOthers(_ others: [CallBranch]) {
        var state = self.state
        state.others = others
        self.move(to: state)
    }

    // MARK: - Whether it is a human

    /// Whoever answered has pressed a key.
    mutating func confirmed() -> Wishes? {
        guard case .connected(var state) = self.state, state.confirmBy != nil else { return nil }
        state.confirmBy = nil
        state.facts.plan = CallPlan()
        self.move(to: .connected(state))
        return state.wishes
    }
}

extension KioskMachine.Progress {
    /// Somebody is told of the call.
    var isRinging: Bool {
        switch self {
        case .trying, .media: return false
        case .ringing, .forwarded, .queued: return true
        }
    }
}

extension CallBranch.Stage {
    fileprivate var hasRung: Bool {
        switch self {
        case .lookingUp: return false
        case .calling(_, let hasRung): return hasRung
        }
    }
}

extension CallFacts {
    /// Another target takes the lead.
    mutating func lead(by target: CallTarget) {
        self.target = target
        self.peer = target.uri.printed
        self.name = ByteString()
    }
}
