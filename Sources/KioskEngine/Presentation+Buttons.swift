// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What the fitted buttons do in each state.
extension Presentation {
    /// Only fitted buttons that do something now.
    static func callBar(_ state: KioskState, _ around: Surroundings) -> [CallBarItem] {
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
}
