// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Keys that are typed at the panel, and the keypad on the screen.
extension KioskEngine {
    mutating func key(_ key: UInt8, now: Instant) {
        guard !self.isCallOver else { return }
        self.put(.chime(.digit(key)))
        self.type(key, now: now)
    }

    /// What is typed is nobody's business but the far end's: events do not tell which key it was.
    private mutating func type(_ key: UInt8, now: Instant) {
        let sent: ByteString
        switch self.machine.state {
        case .connected:
            self.panel.keypad.type(key)
            guard self.sendDigits([key], now: now) == Reply.done else { return self.keyRefused(now: now) }
            sent = "sent"
        case .lookingUp, .calling, .ringing, .early: sent = self.typeEarly(key)
        case .idle, .alerting, .ending, .outcome, .stopping: sent = "ignored"
        }
        self.emit("key", now: now) { $0.put("state", sent) }
    }

    private mutating func typeEarly(_ key: UInt8) -> ByteString {
        switch self.configuration.panel.keypad.beforeAnswer {
        case .refuse: return "refused"
        case .queue:
            guard self.panel.keypad.queue(key) else { return "refused" }
            self.panel.keypad.type(key)
            return "queued"
        }
    }

    /// Sends what was typed before the answer, and forgets all where there is no call.
    mutating func keypadTimePassed(now: Instant) {
        switch self.machine.state {
        case .connected:
            guard self.mediaRuns else { return }
            let keys = self.panel.keypad.takeQueued()
            if !keys.isEmpty { _ = self.sendDigits(keys, now: now) }
        case .lookingUp, .calling, .ringing, .early, .alerting: break
        case .idle, .ending, .outcome, .stopping: self.panel.callEnded()
        }
    }

    mutating func toggleKeypad(now: Instant) {
        guard self.machine.state.facts != nil else { return }
        self.panel.keypad.toggle()
        let isShown = self.panel.keypad.isShown
        if isShown { self.say(.keypad) } else { self.hush() }
        self.emit("keypad", now: now) { $0.put("on", isShown) }
    }

    /// Where the keypad on the screen is worked by the other buttons: `mute` goes back, `video` goes on, `call` takes
    /// the key that is chosen. False where the button has its own meaning.
    mutating func scroll(by button: ButtonName, now: Instant) -> Bool {
        guard self.configuration.panel.keypad.kind == .scroll, self.panel.keypad.isShown else { return false }
        switch button {
        case .call: self.type(self.panel.keypad.selectedKey, now: now)
        case .mute: self.panel.keypad.scroll(by: self.world.buttons.contains(.video) ? -1 : 1)
        case .video: self.panel.keypad.scroll(by: 1)
        case .further, .hook, .keypad, .language: return false
        }
        return true
    }
}
