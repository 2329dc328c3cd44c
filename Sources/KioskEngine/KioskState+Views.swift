// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine

/// Views of a state.
extension KioskState {
    /// The one timer that runs.
    var alarm: CallAlarm? {
        switch self {
        case .idle: return nil
        case .lookingUp(let state): return CallAlarm(timer: .lookUp, at: state.deadline)
        case .calling(let state), .ringing(let state): return state.alarm
        case .early(let state): return CallAlarm(timer: .ring, at: state.deadline)
        case .alerting(let state):
            if let at = state.answersAt { return CallAlarm(timer: .answer, at: at) }
            return CallAlarm(timer: .alert, at: state.deadline)
        case .connected(let state): return state.alarm
        case .ending(let state): return CallAlarm(timer: .ending, at: state.deadline)
        case .outcome(let state): return CallAlarm(timer: .outcome, at: state.deadline)
        case .stopping(let state): return CallAlarm(timer: .stop, at: state.deadline)
        }
    }

    /// The way that the call being made goes.
    var way: Flow? {
        switch self {
        case .calling(let state), .ringing(let state): return state.targets.ways.first
        case .early(let state): return state.targets.ways.first
        case .idle, .lookingUp, .alerting, .connected, .ending, .outcome, .stopping: return nil
        }
    }

    /// The call in SIP whose events count.
    var handle: CallHandle? {
        switch self {
        case .idle, .lookingUp, .outcome: return nil
        case .calling(let state), .ringing(let state): return state.handle
        case .early(let state): return state.handle
        case .alerting(let state): return state.handle
        case .connected(let state): return state.handle
        case .ending(let state): return state.handle
        case .stopping(let state): return state.handle
        }
    }

    /// The call in SIP that is to take the place of the one at hand.
    var transferHandle: CallHandle? {
        switch self {
        case .connected(let state): return state.transfer?.handle
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping: return nil
        }
    }

    /// The call that is being made or held; nil where there is none or it is over.
    var facts: CallFacts? {
        switch self {
        case .idle, .ending, .outcome, .stopping: return nil
        case .lookingUp(let state): return state.facts
        case .calling(let state), .ringing(let state): return state.facts
        case .early(let state): return state.facts
        case .alerting(let state): return state.facts
        case .connected(let state): return state.facts
        }
    }

    /// The word of `call` events and of `status`.
    var text: ByteString {
        switch self {
        case .idle: return "idle"
        case .lookingUp(let state): return state.isPause ? "pausing" : "dialling"
        case .calling: return "dialling"
        case .ringing: return "ringing"
        case .early: return "early"
        case .alerting: return "alerting"
        case .connected(let state): return state.confirmBy == nil ? "connected" : "confirming"
        case .ending: return "ending"
        case .outcome: return "ended"
        case .stopping: return "stopping"
        }
    }
}

extension KioskState.Connected {
    fileprivate var alarm: CallAlarm? {
        // Whoever hands us over may well send nothing meanwhile.
        if let transfer = self.transfer { return transfer.deadline.map { CallAlarm(timer: .transfer, at: $0) } }
        var soonest = self.vanishes.map { CallAlarm(timer: .vanish, at: $0) }
        for other in [self.confirmBy.map { CallAlarm(timer: .confirm, at: $0) }, self.limitAlarm] {
            guard let other else { continue }
            if soonest.map({ other.at < $0.at }) ?? true { soonest = other }
        }
        return soonest
    }
}

extension KioskState.Outgoing {
    fileprivate var alarm: CallAlarm? {
        if let way = self.wayDeadline, way < self.deadline ?? Instant(nanoseconds: UInt64.max) {
            return CallAlarm(timer: .way, at: way)
        }
        return self.deadline.map { CallAlarm(timer: .ring, at: $0) }
    }
}
