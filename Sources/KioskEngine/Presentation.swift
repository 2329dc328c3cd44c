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
        self.screen.keypad = around.panel.keypad
        self.screen.countdown = around.panel.countdown
        if let at = around.autoCallAt, case .idle = state {
            self.screen.countdown = Countdown(around.texts.states.autoCall.headline, endsAt: at)
        }
        self.signal = Self.signal(state, around)
        self.tone = Self.tone(state, around)
        if case .idle = state { self.showIdle(around) }
    }
}
