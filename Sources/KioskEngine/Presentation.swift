// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What the person at the panel sees and hears in a state: a pure function, so that screen, lamp and tone never
/// disagree with what the kiosk does.
struct Presentation: Equatable {
    var screen: ScreenState
    var lamp: LampPattern
    var tone: Tone

    /// What the state alone does not know.
    struct Surroundings: Equatable {
        var hasCamera: Bool
        var hasScreen: Bool
        var buttons: [ButtonName]
        var selfView: DisplaySettings.SelfView
        var callEndsCall: Bool
        /// The file names somebody to call.
        var canCall: Bool
        /// The program ends.
        var isStopping = false
        var banner: ByteString
        var notice: Notice?
    }

    init(_ state: KioskState, _ around: Surroundings) {
        let card = Self.card(state, around)
        let wishes = state.facts?.wishes ?? Wishes()
        self.screen = ScreenState(
            headline: card.headline, detail: card.detail, symbol: card.symbol, banner: around.banner,
            muted: wishes.isMuted, videoOff: around.hasCamera && wishes.isVideoOff,
            remote: Self.remote(state, around), selfView: Self.selfView(state, around),
            callBar: Self.callBar(state, around))
        self.lamp = Self.lamp(state, around)
        self.tone = Self.tone(state)
    }

    // MARK: - Words

    private static func card(_ state: KioskState, _ around: Surroundings) -> Words.Card {
        switch state {
        case .idle:
            if around.isStopping { return Words.stopping }
            if let notice = around.notice { return Words.notice(notice) }
            guard around.canCall else { return Words.idleUseless }
            return around.hasCamera ? Words.idle : Words.idleWithoutPicture
        case .lookingUp(let state): return state.facts.isHandedOver ? Words.transferring : Words.calling
        case .calling(let state): return state.facts.isHandedOver ? Words.transferring : Words.calling
        case .ringing(let state): return self.card(state)
        case .early: return Words.early
        case .alerting(let state): return Words.alerting(state.facts.name)
        case .connected(let call): return self.card(call, around)
        case .ending(let state): return Words.card(state.ended.outcome)
        case .outcome(let state): return Words.card(state.ended.outcome)
        case .stopping: return Words.stopping
        }
    }

    private static func card(_ call: KioskState.Outgoing) -> Words.Card {
        switch call.stage {
        case .ringing: return call.facts.isHandedOver ? Words.transferring : Words.ringing
        case .forwarded: return Words.forwarded
        case .queued: return Words.queued
        }
    }

    private static func card(_ call: KioskState.Connected, _ around: Surroundings) -> Words.Card {
        if call.confirmBy != nil { return Words.ringing }
        if let notice = around.notice {
            let card = Words.notice(notice)
            return around.hasScreen && call.showsPicture ? Words.Card("", card.detail, .none) : card
        }
        if around.hasScreen && call.showsPicture {
            let waits = call.isHeld || call.transfer != nil
            return Words.Card("", waits ? Words.held.headline : "", .none)
        }
        if call.transfer != nil { return Words.transferring }
        if call.intent.isHolding { return Words.holding }
        if call.cutOffSince != nil { return Words.interrupted }
        if call.isHeld { return Words.held }
        guard around.hasScreen, call.shape.receivesVideo else { return Words.talking(call.facts.name) }
        return call.hasFirstFrame ? Words.pictureLost : Words.connecting
    }

    // MARK: - Pictures

    private static func remote(_ state: KioskState, _ around: Surroundings) -> LayerVisibility {
        switch state {
        case .connected(let call): return around.hasScreen && call.showsPicture ? .shown : .hidden
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping: return .hidden
        }
    }

    private static func selfView(_ state: KioskState, _ around: Surroundings) -> LayerVisibility {
        guard around.hasCamera, around.hasScreen else { return .hidden }
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

    // MARK: - Buttons

    /// Only fitted buttons that do something now.
    private static func callBar(_ state: KioskState, _ around: Surroundings) -> [CallBarItem] {
        around.buttons.compactMap { button in
            self.item(button, state, around)
        }
    }

    private static func item(
        _ button: ButtonName, _ state: KioskState, _ around: Surroundings
    ) -> CallBarItem? {
        switch state {
        case .idle, .outcome, .ending:
            return self.idleItem(button, state, around)
        case .lookingUp(let state):
            return self.callItem(button, state.facts, around, end: Words.cancel)
        case .calling(let state), .ringing(let state):
            return self.callItem(button, state.facts, around, end: Words.cancel)
        case .early(let state):
            return self.callItem(button, state.facts, around, end: Words.cancel)
        case .alerting:
            switch button {
            case .call: return CallBarItem(button: .call, label: Words.answer)
            case .hook: return CallBarItem(button: .hook, label: Words.decline)
            case .mute, .video: return nil
            }
        case .connected(let state):
            let end = state.confirmBy == nil ? Words.hangUp : Words.cancel
            return self.callItem(button, state.facts, around, end: end)
        case .stopping:
            return nil
        }
    }

    private static func idleItem(
        _ button: ButtonName, _ state: KioskState, _ around: Surroundings
    ) -> CallBarItem? {
        switch button {
        case .call: return around.canCall && !around.isStopping ? CallBarItem(button: .call, label: Words.call) : nil
        case .hook:
            switch state {
            case .outcome: return CallBarItem(button: .hook, label: Words.close)
            case .idle: return around.notice == nil ? nil : CallBarItem(button: .hook, label: Words.close)
            case .lookingUp, .calling, .ringing, .early, .alerting, .connected, .ending, .stopping: return nil
            }
        case .mute, .video: return nil
        }
    }

    private static func callItem(
        _ button: ButtonName, _ facts: CallFacts, _ around: Surroundings, end: ByteString
    ) -> CallBarItem? {
        let wishes = facts.wishes
        switch button {
        case .call: return around.callEndsCall ? CallBarItem(button: .call, label: end) : nil
        case .hook: return CallBarItem(button: .hook, label: end)
        case .mute:
            let label = wishes.isMuted ? Words.unmute : Words.mute
            return CallBarItem(button: .mute, label: label, isOn: wishes.isMuted)
        case .video:
            guard around.hasCamera else { return nil }
            let label = wishes.isVideoOff ? Words.videoOn : Words.videoOff
            return CallBarItem(button: .video, label: label, isOn: wishes.isVideoOff)
        }
    }

    // MARK: - Lamp and tone

    private static func lamp(_ state: KioskState, _ around: Surroundings) -> LampPattern {
        switch state {
        case .idle: return around.canCall ? .off : .fast
        case .lookingUp, .calling, .ringing, .early, .alerting: return .slow
        case .connected(let state): return state.confirmBy == nil ? .on : .slow
        case .ending, .stopping: return .off
        case .outcome(let state):
            switch state.ended.outcome.manner {
            case .failure: return .fast
            case .silent, .farewell: return .off
            }
        }
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
