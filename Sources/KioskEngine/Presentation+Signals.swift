// SPDX-License-Identifier: Apache-2.0

/// What lamp and tone tell of each state.
extension Presentation {
    static func signal(_ state: KioskState, _ around: Surroundings) -> Signal {
        switch state {
        case .idle where around.autoCallAt != nil: return .calling
        case .idle: return around.canCall && !around.isPaused ? .idle : .fault
        case .lookingUp, .calling: return .calling
        case .ringing, .early: return .ringing
        case .alerting: return .alerting
        case .connected(let state): return state.confirmBy == nil ? .connected : .ringing
        case .ending, .stopping: return .idle
        case .outcome(let state):
            switch state.ended.outcome.manner {
            case .failure: return .failed
            case .silent, .farewell: return .idle
            }
        }
    }

    static func tone(_ state: KioskState, _ around: Surroundings) -> Tone {
        let tone = self.tone(state)
        return tone == .none && around.soundsAlarm && !around.isStopping ? .error : tone
    }

    private static func tone(_ state: KioskState) -> Tone {
        switch state {
        case .ringing(let state):
            switch state.stage {
            case .ringing, .queued: return .ringback
            case .forwarded: return .none
            }
        case .alerting: return .bell
        case .early(let state): return state.hasRung && !state.hasFirstSound ? .ringback : .none
        case .outcome(let state):
            switch state.ended.outcome.manner {
            case .failure(let tone): return tone
            case .farewell(let tone): return tone
            case .silent: return .none
            }
        case .connected(let state): return state.confirmBy == nil ? .none : .ringback
        case .idle, .lookingUp, .calling, .ending, .stopping: return .none
        }
    }
}
