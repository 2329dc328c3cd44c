// SPDX-License-Identifier: Apache-2.0

/// Whose picture is shown.
extension Presentation {
    static func remote(_ state: KioskState, _ around: Surroundings) -> LayerVisibility {
        switch state {
        case .connected(let call): return around.showsPicture(of: call) ? .shown : .hidden
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping: return .hidden
        }
    }

    static func selfView(_ state: KioskState, _ around: Surroundings) -> LayerVisibility {
        guard around.hasCamera, around.hasScreen, !around.isPowerFailing else { return .hidden }
        if case .idle = state {
            // Nobody is filmed for a page that does not show it.
            let isLit = around.service == nil && around.notice == nil && !around.isDark
            if around.screen.idle == .selfView { return isLit && around.canCall ? .shown : .hidden }
        }
        if around.layout == .full, self.remote(state, around) == .shown { return .hidden }
        switch around.selfView {
        case .off: return .hidden
        case .always: break
        case .call:
            // The camera's light tells the truth: whoever has not answered yet is not looked at.
            if case .alerting = state { return .hidden }
            if state.facts == nil { return .hidden }
        }
        if let facts = state.facts, facts.wishes.isVideoOff { return .hidden }
        return .shown
    }
}

extension Presentation.Surroundings {
    func showsPicture(of call: KioskState.Connected) -> Bool {
        self.hasScreen && !self.isPowerFailing && call.showsPicture
    }
}
