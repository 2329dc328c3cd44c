// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// What time does to the kiosk's call.
extension KioskMachine {
    enum OnTime: Equatable {
        /// Nothing is due.
        case doNothing
        /// Whoever was called does not answer.
        case failed(FailedTarget)
        /// Another address of the same target is left.
        case lookUp(Question)
        /// The pause is over: all are called again.
        case step([Question])
        /// Another way to the same one is left: give this call up and place it anew.
        case failOver(ResolutionID, from: CallHandle)
        case transferFailed(FailedTransfer)
        /// Tell the far end that we give up; the outcome is on the screen already.
        case giveUp(CallHandle, EndedCall)
        /// Nobody here answers the call from outside.
        case decline(CallHandle, EndedCall)
        /// It is answered by itself, if its media fit: then tell `accepted`.
        case answer(CallHandle)
        /// Tell the person that the call is nearly over.
        case warn
        /// A call is over without the far end's word.
        case finish(EndedCall)
        /// The outcome was shown for long enough.
        case dismiss
        case exit(EndedCall?)
    }

    /// Does what `state.alarm` says, where it is due.
    mutating func timePassed(now: Instant) -> OnTime {
        guard let alarm = self.state.alarm, now >= alarm.at else { return .doNothing }
        switch self.state {
        case .lookingUp(let state):
            return self.timePassed(state, now: now)
        case .calling(let state), .ringing(let state):
            if alarm.timer == .way,
                let id = self.tryNextWay(state.facts, state.targets, ringDeadline: state.deadline, now: now)
            {
                return .failOver(id, from: state.handle)
            }
            let outcome = alarm.timer == .way ? CallOutcome.noResponse : .notAnswered
            return .failed(self.allFailed(state.facts, outcome, dropped: [state.handle], now: now))
        case .early(let state):
            return .failed(self.allFailed(state.facts, .notAnswered, dropped: [state.handle], now: now))
        case .alerting(let state):
            if alarm.timer == .answer { return .answer(state.handle) }
            return .decline(state.handle, self.show(.missed, facts: state.facts, answered: nil, now: now))
        case .connected(let state):
            return self.timePassed(state, alarm.timer, now: now)
        case .ending(let state):
            self.move(to: .idle)
            return .finish(state.ended)
        case .outcome:
            self.move(to: .idle)
            return .dismiss
        case .stopping(let state):
            self.move(to: .idle)
            return .exit(state.ended)
        case .idle:
            preconditionFailure("idle has no alarm")
        }
    }

    private mutating func timePassed(_ state: KioskState.LookingUp, now: Instant) -> OnTime {
        if state.isPause {
            guard let step = state.facts.plan.current else { preconditionFailure("a pause is before a step") }
            return .step(self.begin(step, state.facts, now: now))
        }
        switch self.notFound(state, now: now) {
        case .lookUp(let question), .lookUpBeside(let question): return .lookUp(question)
        case .failed(let failed): return .failed(failed)
        case .transferFailed(let failed): return .transferFailed(failed)
        case .ignore: return .doNothing
        }
    }

    private mutating func timePassed(
        _ state: KioskState.Connected, _ timer: CallTimer, now: Instant
    ) -> OnTime {
        if state.transfer != nil { return .transferFailed(self.endTransfer(state, .notAnswered, now: now)) }
        if state.confirmBy != nil {
            return .failed(self.leaderFailed(state.facts, .notAnswered, dropped: [state.handle], now: now))
        }
        if timer == .warn {
            var state = state
            state.hasWarned = true
            self.move(to: .connected(state))
            return .warn
        }
        let outcome = timer == .limit ? CallOutcome.timeLimit : .vanished
        return .giveUp(
            state.handle, self.show(outcome, facts: state.facts, answered: state.answered, now: now))
    }
}
