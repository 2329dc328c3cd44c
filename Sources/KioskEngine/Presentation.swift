// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What the person at the panel sees and hears in a state: a pure function, so that screen, lamp and tone never
/// disagree with what the kiosk does.
struct Presentation: Equatable {
    var screen: ScreenState
    /// For lamps and relays.
    var signal: Signal
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
        /// When the kiosk calls by itself, while that is counted down to.
        var autoCallAt: Instant?
        var language = Language.english
        var screen = ScreenSettings()
        var layout = DisplaySettings.Layout.pictureInPicture
        /// Nobody was there for as long as the file says.
        var isDark = false
        var service: ServiceView?
        /// Something failed just now that no chime tells of.
        var soundsAlarm = false
        /// Out of service, as the operator wants it.
        var isPaused = false
        /// The supply fails: the screen stays dark but for the words.
        var isPowerFailing = false
        /// Whether the owner has the licence for the pictures of calls.
        var mayUseH264 = true
        var panel = PanelView()

        var texts: Texts { Texts.of(self.language) }
    }

    /// What a page for whoever installs the kiosk shows.
    enum ServiceView: Equatable {
        case health([HealthLine])
        case problems([ByteString])
    }

    init(_ state: KioskState, _ around: Surroundings) {
        let card = Self.card(state, around)
        let wishes = state.facts?.wishes ?? Wishes()
        self.screen = ScreenState(
            headline: card.headline, detail: card.detail, symbol: card.symbol, banner: around.banner,
            muted: wishes.isMuted, videoOff: around.hasCamera && wishes.isVideoOff,
            remote: Self.remote(state, around), selfView: Self.selfView(state, around),
            callBar: Self.callBar(state, around))
        self.screen.language = around.language
        if case .outcome(let state) = state { self.screen.code = state.ended.outcome.fault?.code ?? "" }
        if case .idle = state, !around.canCall { self.screen.code = Fault.nobodyToCall.code }
        if case .connected(let call) = state, call.confirmBy == nil {
            self.screen.name = call.facts.name
            self.screen.timer = call.answered
        }
        if case .outcome(let state) = state { self.screen.code = state.ended.outcome.fault?.code ?? "" }
        self.screen.keypad = around.panel.keypad
        self.screen.countdown = around.panel.countdown
        if let at = around.autoCallAt, case .idle = state {
            self.screen.countdown = Countdown(around.texts.states.autoCall.headline, endsAt: at)
        }
        self.signal = Self.signal(state, around)
        self.tone = Self.tone(state, around)
        if case .idle = state { self.showIdle(around) }
    }

    // MARK: - Words

    private static func card(_ state: KioskState, _ around: Surroundings) -> Card {
        let texts = around.texts
        switch state {
        case .idle: return self.idleCard(around)
        case .lookingUp(let state): return self.callingCard(state.facts, texts)
        case .calling(let state): return self.callingCard(state.facts, texts)
        case .ringing(let state): return self.card(state, texts)
        case .early: return Card(texts.states.early, .ringing)
        case .alerting(let state):
            return texts.alerting(state.facts.name, isAnswered: state.answersAt != nil)
        case .connected(let call): return self.card(call, around)
        case .ending(let state): return texts.card(state.ended.outcome)
        case .outcome(let state): return texts.card(state.ended.outcome)
        case .stopping: return Card(texts.states.stopping, .none)
        }
    }

    private static func idleCard(_ around: Surroundings) -> Card {
        let texts = around.texts
        if around.isStopping { return Card(texts.states.stopping, .none) }
        if around.autoCallAt != nil { return Card(texts.states.autoCall, .calling) }
        if let notice = around.notice { return texts.notice(notice) }
        if around.isPaused { return Card(texts.states.paused, .warning) }
        guard around.canCall else { return Card(texts.states.idleUseless, .warning) }
        let phrase = around.hasCamera ? texts.states.idle : texts.states.idleWithoutPicture
        return around.screen.idleCard(phrase, in: around.language)
    }

    private static func callingCard(_ facts: CallFacts, _ texts: Texts) -> Card {
        Card(facts.isHandedOver ? texts.states.transferring : texts.states.calling, .calling)
    }

    private static func card(_ call: KioskState.Outgoing, _ texts: Texts) -> Card {
        switch call.stage {
        case .ringing where call.facts.isHandedOver: return Card(texts.states.transferring, .calling)
        case .ringing: return Card(texts.states.ringing, .ringing)
        case .forwarded: return Card(texts.states.forwarded, .calling)
        case .queued: return Card(texts.states.queued, .ringing)
        }
    }

    private static func card(_ call: KioskState.Connected, _ around: Surroundings) -> Card {
        let texts = around.texts
        if call.confirmBy != nil { return Card(texts.states.ringing, .ringing) }
        if let notice = around.notice {
            let card = texts.notice(notice)
            return around.showsPicture(of: call) ? Card("", card.detail, .none) : card
        }
        if around.showsPicture(of: call) {
            let waits = call.isHeld || call.transfer != nil
            return Card("", waits ? texts.states.held.headline : "", .none)
        }
        if call.transfer != nil { return Card(texts.states.transferring, .calling) }
        if call.intent.isHolding { return Card(texts.states.holding, .hold) }
        if call.cutOffSince != nil { return Card(texts.states.interrupted, .connecting) }
        if call.isHeld { return Card(texts.states.held, .hold) }
        if around.isPowerFailing { return Card(texts.states.lowPower, .talking) }
        if !around.mayUseH264 { return Card(texts.states.soundOnly, .talking) }
        guard around.hasScreen, call.shape.receivesVideo else { return texts.talking(call.facts.name) }
        return call.hasFirstFrame
            ? Card(texts.states.pictureLost, .talking) : Card(texts.states.connecting, .connecting)
    }

    // MARK: - Pictures

    private static func remote(_ state: KioskState, _ around: Surroundings) -> LayerVisibility {
        switch state {
        case .connected(let call): return around.showsPicture(of: call) ? .shown : .hidden
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping: return .hidden
        }
    }

    private static func selfView(_ state: KioskState, _ around: Surroundings) -> LayerVisibility {
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
            return self.callItem(button, state.facts, around, end: around.texts.buttons.cancel)
        case .calling(let state), .ringing(let state):
            return self.callItem(button, state.facts, around, end: around.texts.buttons.cancel)
        case .early(let state):
            return self.callItem(button, state.facts, around, end: around.texts.buttons.cancel)
        case .alerting:
            switch button {
            case .call: return CallBarItem(button: .call, label: around.texts.buttons.answer)
            case .hook: return CallBarItem(button: .hook, label: around.texts.buttons.decline)
            case .further, .mute, .video, .keypad, .language: return nil
            }
        case .connected(let state):
            let end = state.confirmBy == nil ? around.texts.buttons.hangUp : around.texts.buttons.cancel
            return self.callItem(button, state.facts, around, end: end)
        case .stopping:
            return nil
        }
    }

    private static func idleItem(
        _ button: ButtonName, _ state: KioskState, _ around: Surroundings
    ) -> CallBarItem? {
        switch button {
        case .call, .further:
            guard around.canCall, !around.isStopping, !around.isPaused else { return nil }
            return CallBarItem(button: button, label: around.panel.labels[button] ?? around.texts.buttons.call)
        case .hook:
            switch state {
            case .outcome: return CallBarItem(button: .hook, label: around.texts.buttons.close)
            case .idle where around.autoCallAt != nil:
                return CallBarItem(button: .hook, label: around.texts.buttons.cancel)
            case .idle where around.notice == nil: return nil
            case .idle: return CallBarItem(button: .hook, label: around.texts.buttons.close)
            case .lookingUp, .calling, .ringing, .early, .alerting, .connected, .ending, .stopping: return nil
            }
        case .language: return CallBarItem(button: .language, label: around.texts.buttons.language)
        case .mute, .video, .keypad: return nil
        }
    }

    private static func callItem(
        _ button: ButtonName, _ facts: CallFacts, _ around: Surroundings, end: ByteString
    ) -> CallBarItem? {
        if around.panel.isScrolled, let item = self.scrollItem(button, around) { return item }
        let wishes = facts.wishes
        switch button {
        case .call: return around.callEndsCall ? CallBarItem(button: .call, label: end) : nil
        case .hook: return CallBarItem(button: .hook, label: end)
        case .mute:
            let label = wishes.isMuted ? around.texts.buttons.unmute : around.texts.buttons.mute
            return CallBarItem(button: .mute, label: label, isOn: wishes.isMuted)
        case .video:
            guard around.hasCamera else { return nil }
            let label = wishes.isVideoOff ? around.texts.buttons.videoOn : around.texts.buttons.videoOff
            return CallBarItem(button: .video, label: label, isOn: wishes.isVideoOff)
        case .keypad:
            return CallBarItem(
                button: .keypad, label: around.texts.buttons.keypad, isOn: around.panel.keypad != nil)
        case .language: return CallBarItem(button: .language, label: around.texts.buttons.language)
        case .further: return nil
        }
    }

    /// Buttons that work the keypad on the screen.
    private static func scrollItem(_ button: ButtonName, _ around: Surroundings) -> CallBarItem? {
        let texts = around.texts.buttons
        switch button {
        case .call: return CallBarItem(button: .call, label: texts.select)
        case .mute:
            return CallBarItem(button: .mute, label: around.buttons.contains(.video) ? texts.back : texts.next)
        case .video: return CallBarItem(button: .video, label: texts.next)
        case .further, .hook, .keypad, .language: return nil
        }
    }

    // MARK: - Lamp and tone

    private static func signal(_ state: KioskState, _ around: Surroundings) -> Signal {
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

    private static func tone(_ state: KioskState, _ around: Surroundings) -> Tone {
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

extension Presentation.Surroundings {
    fileprivate func showsPicture(of call: KioskState.Connected) -> Bool {
        self.hasScreen && !self.isPowerFailing && call.showsPicture
    }
}
