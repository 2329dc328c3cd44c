// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Another target that is called at the same time as the one which leads: whose signs of life the person at the panel
/// is told. The first that answers has the call, whichever it is.
struct CallBranch: Equatable {
    enum Stage: Equatable {
        case lookingUp(ResolutionID)
        case calling(CallHandle, hasRung: Bool)
    }

    var target: CallTarget
    var targets: Targets
    var stage: Stage

    var handle: CallHandle? {
        switch self.stage {
        case .lookingUp: return nil
        case .calling(let handle, hasRung: _): return handle
        }
    }
}

extension CallFacts {
    /// For how long the far end may give no sign of life at all; nil where there is nothing else to try.
    func patience(_ targets: Targets) -> Duration? {
        if targets.ways.count > 1 { return .milliseconds(KioskTimes.wayMs) }
        return self.plan.hasNext ? .milliseconds(KioskTimes.silentMs) : nil
    }
}

extension KioskState {
    /// The targets that are called beside the one that leads; none in states in which nobody is called.
    var others: [CallBranch] {
        get {
            switch self {
            case .lookingUp(let state): return state.others
            case .calling(let state), .ringing(let state): return state.others
            case .early(let state): return state.others
            case .idle, .alerting, .connected, .ending, .outcome, .stopping: return []
            }
        }
        set { self.edit { $1 = newValue } }
    }

    /// What came of the targets before, and who is left.
    var plan: CallPlan? {
        get { self.facts?.plan }
        set { self.edit { (facts, _) in facts.plan = newValue ?? CallPlan() } }
    }

    /// Changes a call that is being made; nothing in other states.
    private mutating func edit(_ change: (inout CallFacts, inout [CallBranch]) -> Void) {
        switch self {
        case .lookingUp(var state):
            change(&state.facts, &state.others)
            self = .lookingUp(state)
        case .calling(var state):
            change(&state.facts, &state.others)
            self = .calling(state)
        case .ringing(var state):
            change(&state.facts, &state.others)
            self = .ringing(state)
        case .early(var state):
            change(&state.facts, &state.others)
            self = .early(state)
        case .idle, .alerting, .connected, .ending, .outcome, .stopping: break
        }
    }

    func other(_ handle: CallHandle) -> Int? {
        self.others.firstIndex { $0.handle == handle }
    }

    /// The target that leads, as one of several.
    private var leading: CallBranch? {
        switch self {
        case .lookingUp(let state):
            guard !state.isPause, let target = state.facts.target else { return nil }
            return CallBranch(target: target, targets: state.targets, stage: .lookingUp(state.resolution))
        case .calling(let state):
            return state.facts.target.map {
                CallBranch(target: $0, targets: state.targets, stage: .calling(state.handle, hasRung: false))
            }
        case .ringing(let state):
            return state.facts.target.map {
                CallBranch(target: $0, targets: state.targets, stage: .calling(state.handle, hasRung: true))
            }
        case .early(let state):
            return state.facts.target.map {
                CallBranch(target: $0, targets: state.targets, stage: .calling(state.handle, hasRung: state.hasRung))
            }
        case .idle, .alerting, .connected, .ending, .outcome, .stopping: return nil
        }
    }

    /// When ringing ends, as far as that is known.
    private var ringDeadline: Instant? {
        switch self {
        case .lookingUp(let state): return state.ringDeadline
        case .calling(let state), .ringing(let state): return state.deadline
        case .early(let state): return state.deadline
        case .idle, .alerting, .connected, .ending, .outcome, .stopping: return nil
        }
    }

    /// With another target in the lead. `keepsFormer`: the one that led is called on.
    func led(by index: Int, _ facts: CallFacts, keepsFormer: Bool, now: Instant) -> KioskState {
        var facts = facts
        var others = self.others
        let branch = others.remove(at: index)
        if keepsFormer, let former = self.leading { others.insert(former, at: 0) }
        facts.lead(by: branch.target)
        let ringDeadline = self.ringDeadline
        switch branch.stage {
        case .lookingUp(let id):
            return .lookingUp(
                LookingUp(
                    facts: facts, targets: branch.targets, resolution: id,
                    deadline: now + .milliseconds(KioskTimes.lookUpMs), ringDeadline: ringDeadline, others: others))
        case .calling(let handle, let hasRung):
            var state = Outgoing(
                facts: facts, targets: branch.targets, handle: handle, deadline: ringDeadline, others: others)
            if ringDeadline == nil { state.wayDeadline = facts.patience(branch.targets).map { now + $0 } }
            return hasRung ? .ringing(state) : .calling(state)
        }
    }
}
