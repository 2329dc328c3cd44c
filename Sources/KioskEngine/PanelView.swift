// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What the screen shows of the panel.
struct PanelView: Equatable {
    /// Nil while it is hidden.
    var keypad: KeypadView?
    /// The keypad is worked by the other buttons.
    var isScrolled = false
    var countdown: Countdown?
    /// What call buttons are called in the legend, where the file says so.
    var labels: [ButtonName: ByteString] = [:]
}

extension KioskEngine {
    var panelView: PanelView {
        var view = PanelView()
        let isScroll = self.configuration.panel.keypad.kind == .scroll
        let keypad = self.panel.keypad
        if keypad.isShown {
            view.keypad = KeypadView(entered: ByteString(keypad.typed), selected: isScroll ? keypad.selectedKey : nil)
            view.isScrolled = isScroll
        }
        if let pending = self.panel.gestures.countdown {
            view.countdown = Countdown(Texts.of(self.language).states.keepHolding, endsAt: pending.at)
        }
        for button in self.world.buttons where button.isCall {
            if let text = self.configuration[button].text { view.labels[button] = text }
        }
        return view
    }
}
