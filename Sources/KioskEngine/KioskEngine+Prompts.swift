// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What is told by ear beside the tones that stand.
extension KioskEngine {
    /// Speaks, where the file wants it; what is spoken at the moment gives way.
    mutating func say(_ prompt: PromptName) {
        guard self.configuration.sound.speaks else { return }
        self.isSpeaking = true
        self.put(.say(prompt, self.language))
    }

    mutating func hush() {
        guard self.isSpeaking else { return }
        self.isSpeaking = false
        self.put(.hush)
    }

    /// Begins or ends to tell the far end, in the first language of the file, what is asked of whoever answers.
    mutating func announceToFarEnd(_ isOn: Bool) {
        guard isOn != self.isAnnouncing else { return }
        self.isAnnouncing = isOn
        self.put(.announce(isOn ? .pressAKey : nil, self.configuration.language.first))
    }

    /// A device or the network went away or came back, or the kiosk has begun: told in a sound where the file wants it.
    mutating func chimeStatus(_ chime: Chime) {
        if self.configuration.sound.tellsStatus { self.put(.chime(chime)) }
    }

    /// Once a fault; in a call, where somebody is there, in words too where the table of faults has any.
    mutating func tellLost(_ family: DeviceFamily) {
        self.chimeStatus(.lost)
        if case .connected = self.machine.state, let prompt = family.fault.prompt { self.say(prompt) }
    }

    /// Tells what has changed by an input; whoever presses what does nothing at rest hears what does.
    mutating func announce(after input: KioskInput, now: Instant) {
        let old = self.announced
        let next = Announcement(self.machine.state, hasScreen: self.world.hasScreen)
        self.announced = next
        if self.isCutOff != self.wasCutOff {
            self.wasCutOff.toggle()
            self.chimeStatus(self.wasCutOff ? .lost : .back)
            if self.wasCutOff { self.faults.tell(now: now) }
            self.emit(self.accountsLine(now: now))
        }
        if self.configuration.sound.chimes, let chime = next.chime(after: old) { self.put(.chime(chime)) }
        switch next.speech(after: old) {
        case .keep:
            if next.stage == .idle, old.stage == .idle, self.configuration.call.uri != nil, Self.isIdlePress(input) {
                self.say(.pressToCall)
            }
        case .hush: self.hush()
        case .say(let prompt): self.say(prompt)
        }
    }
    private static func isIdlePress(_ input: KioskInput) -> Bool {
        guard case .button(let button, .pressed) = input else { return false }
        return button == .hook || button == .mute || button == .video
    }
}
