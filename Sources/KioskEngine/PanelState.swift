// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What the kiosk knows of its panel from one input to the next.
struct PanelState {
    var gestures = Gestures()
    var keypad = Keypad()
    /// By `LampName.rawValue`.
    var lamps = [Lamp](repeating: Lamp(), count: LampName.all.count)
    var relays = Relays(count: PanelSettings.relaysMax)
    /// By `InputName.rawValue`: those that stand the other way.
    private var active = [Bool](repeating: false, count: InputName.all.count)
    /// The housing was opened, and nobody has said since that all is well.
    var wasTampered = false
    /// The far end of this call does not take digits by INFO.
    var refusesInfo = false
    var informs = Informs()

    subscript(input: InputName) -> Bool {
        get { self.active[Int(input.rawValue)] }
        set { self.active[Int(input.rawValue)] = newValue }
    }

    /// When any of it changes by itself.
    var wakesAt: Instant? {
        var soonest = self.relays.deadline
        if let at = self.gestures.wakesAt { soonest = min(soonest ?? at, at) }
        for lamp in self.lamps {
            if let at = lamp.changesAt { soonest = min(soonest ?? at, at) }
        }
        return soonest
    }

    /// Nothing of a call is left for the next one.
    mutating func callEnded() {
        self.keypad.clear()
        self.relays.callEnded()
        self.refusesInfo = false
    }
}
