// SPDX-License-Identifier: Apache-2.0
import Bytes

/// What stands one way or the other at the panel: handset, housing, permission, mains.
extension KioskEngine {
    mutating func input(_ name: InputName, isActive: Bool, now: Instant) {
        guard self.panel[name] != isActive else { return }
        self.panel[name] = isActive
        self.emit("input", now: now) {
            $0.put("name", name.text)
            $0.put("active", isActive)
        }
        switch name {
        case .hookSwitch: self.handset(isLifted: isActive, now: now)
        case .tamper: if isActive { self.tampered(now: now) }
        case .power: self.power(isFailing: isActive, now: now)
        case .inhibit: break
        }
    }

    private mutating func handset(isLifted: Bool, now: Instant) {
        guard !self.isCallOver else { return }
        if !isLifted {
            self.hangUp(now: now)
        } else if !self.pickUp(now: now), self.machine.state.facts == nil, self.configuration.panel[.hookSwitch].dials {
            self.postponeRestart()
            self.pressedCall(by: .call, now: now)
        }
    }

    /// It holds until the owner says otherwise, over starts too: whoever was at the wires may have changed them.
    private mutating func tampered(now: Instant) {
        self.panel.wasTampered = true
        self.put(.remember(tampered: true))
        self.device(.failed(.housing, Self.openedSentence), now: now)
    }

    static let openedSentence: ByteString = "relays stay off until somebody says callbox clear-tamper"

    /// The owner has looked at the housing; false while it is open.
    mutating func clearTamper(now: Instant) -> Bool {
        guard !self.panel[.tamper] else { return false }
        self.panel.wasTampered = false
        self.put(.remember(tampered: false))
        self.device(.restored(.housing), now: now)
        return true
    }
}
