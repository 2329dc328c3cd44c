// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The start, and buttons.
extension KioskEngine {
    mutating func started(now: Instant) {
        self.chimeStatus(.ready)
        self.autoCall = AutoCall(self.configuration.autoCall, isStart: true, now: now)
        self.emit(Self.line("ready", now: now) { $0.put("version", self.world.version) })
        self.tellProblems(self.problems, now: now)
        if self.panel.wasTampered { self.device(.failed(.housing, Self.openedSentence), now: now) }
        self.trustServers(now: now)
        self.passwords.replace(with: self.configuration.credentials)
        self.settleAccounts(now: now)
    }

    // MARK: - Buttons

    mutating func button(_ button: ButtonName, _ edge: ButtonEdge, now: Instant) {
        self.told(button, edge, now: now)
        guard !self.isCallOver else { return }
        let settings = self.configuration[button]
        let rule = Gestures.Rule(
            holdMs: settings.holdSeconds * 1000,
            longMs: settings.long == .none ? nil : settings.longAfterSeconds * 1000)
        self.panel.gestures.chord = self.configuration.panel.healthChord
        for gesture in self.panel.gestures.edge(button, edge, rule, now: now) { self.act(gesture, now: now) }
    }

    /// A program's press is whole: it neither has to last nor means something else because nobody lets go.
    mutating func pressByWord(_ button: ButtonName, now: Instant) {
        self.told(button, .pressed, now: now)
        if !self.isCallOver { self.pressed(button, now: now) }
    }

    private mutating func told(_ button: ButtonName, _ edge: ButtonEdge, now: Instant) {
        if button.isCall, edge == .pressed { self.postponeRestart() }
        self.emit("button", now: now) {
            $0.put("name", button.text)
            $0.put("edge", edge.text)
        }
        guard edge == .pressed, !self.isCallOver else { return }
        self.somebodyIsThere(now: now)
        self.put(.chime(.key))
    }

    mutating func gesturesTimePassed(now: Instant) {
        for gesture in self.panel.gestures.timePassed(now: now) where !self.isCallOver { self.act(gesture, now: now) }
    }

    private mutating func act(_ gesture: Gestures.Gesture, now: Instant) {
        switch gesture {
        case .press(let button): self.pressed(button, now: now)
        case .longPress(let button):
            self.put(.chime(.key))
            self.emit("long_press", now: now) { $0.put("name", button.text) }
            self.pressedLong(self.configuration[button].long, now: now)
        case .chord:
            self.put(.chime(.key))
            self.emit("chord", now: now) { _ in }
            self.nextServicePage(now: now)
        }
    }

    private mutating func pressed(_ button: ButtonName, now: Instant) {
        // Whoever wants to call is not kept from it; every other button has done what it was pressed for.
        if self.cancelAutoCall(now: now), !button.isCall { return }
        if self.scroll(by: button, now: now) { return }
        switch button {
        case .call, .further: self.pressedCall(by: button, now: now)
        case .hook: self.pressedHook(now: now)
        case .mute: self.toggleMute(now: now)
        case .video: self.toggleVideo(now: now)
        case .keypad: self.toggleKeypad(now: now)
        case .language: self.changeLanguage(now: now)
        }
    }

    private mutating func pressedLong(_ meaning: ButtonSettings.LongPress, now: Instant) {
        switch meaning {
        case .none: break
        case .hook: self.pressedHook(now: now)
        case .mute: self.toggleMute(now: now)
        case .video: self.toggleVideo(now: now)
        case .keypad: self.toggleKeypad(now: now)
        case .language: self.changeLanguage(now: now)
        case .health: self.nextServicePage(now: now)
        }
    }

    private mutating func changeLanguage(now: Instant) {
        self.speak(self.configuration.language.next(after: self.language), now: now)
    }

    /// A second press in a call does nothing: somebody in distress presses twice. Where the call button is the only
    /// one, the file says that it ends calls.
    mutating func pressedCall(by button: ButtonName, now: Instant) {
        if self.pickUp(now: now) || self.refusesPress(now: now) { return }
        if self.machine.state.facts != nil {
            if self.configuration[button].endsCall { self.hangUp(now: now) }
            return
        }
        self.notes.button = button.text
        if let order = self.configuration.order(for: button) {
            self.dial(order, now: now)
        } else {
            self.dialNobody(now: now)
        }
    }

    private mutating func pressedHook(now: Instant) {
        if case .idle = self.machine.state {
            self.notice = nil
            self.servicePage = nil
        }
        self.hangUp(now: now)
    }

    private mutating func toggleMute(now: Instant) {
        switch self.machine.toggleMute() {
        case .ignore: break
        case .apply(let wishes):
            if let sent = self.sentWishes { self.put(.media(.mute(sent.isMuted))) }
            self.emit("mute", now: now) { $0.put("on", wishes.isMuted) }
        }
    }

    private mutating func toggleVideo(now: Instant) {
        switch self.machine.toggleVideo() {
        case .ignore: break
        case .apply(let wishes):
            if let sent = self.sentWishes { self.put(.media(.sendVideo(!sent.isVideoOff))) }
            self.emit("video", now: now) { $0.put("on", !wishes.isVideoOff) }
        }
    }

    /// What is sent now. Nil before the answer, when nothing is sent anyway: the wishes are ordered when it comes.
    private var sentWishes: Wishes? {
        switch self.machine.state {
        case .connected(let state): return self.mediaRuns ? state.wishes : nil
        case .idle, .lookingUp, .calling, .ringing, .early, .alerting, .ending, .outcome, .stopping: return nil
        }
    }
}
