// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Lamps and relays: what the panel shows and switches.
extension KioskEngine {
    /// The pattern of the call lamp, which a new subscriber is told.
    var lampPattern: LampPattern { self.panel.lamps[Int(LampName.call.rawValue)].pattern }

    /// Orders what the signal changes.
    mutating func show(_ signal: Signal, now: Instant) {
        let isWrong = self.hasStandingFault
        for name in LampName.all {
            let settings = self.configuration.panel[name]
            let standing = isWrong ? settings.standing : nil
            // Whoever has one lamp is told there of what has just gone wrong.
            let isTold = name == .call && self.faults.alarmUntil != nil && self.leaveBy == nil
            self.show(isTold ? settings[.failed] : standing ?? settings[signal], on: name, now: now)
        }
        let changes = self.panel.relays.follow(
            signal, self.configuration.panel.relays, isBlocked: self.areRelaysBlocked, now: now)
        self.carryOut(changes, now: now)
    }

    private var hasStandingFault: Bool {
        !self.problems.isEmpty || self.isCutOff || DeviceFamily.all.contains { self.faults[$0] != nil }
    }

    private mutating func show(_ pattern: LampPattern, on name: LampName, now: Instant) {
        // The call lamp's pattern is told even where there is no lamp: programs follow it.
        guard name == .call || self.configuration.panel[name].line != nil else { return }
        let index = Int(name.rawValue)
        let wasOn = self.panel.lamps[index].isOn
        guard self.panel.lamps[index].show(pattern, now: now) else { return }
        if self.panel.lamps[index].isOn != wasOn { self.put(.lamp(name, on: !wasOn)) }
        self.emit("lamp", now: now) {
            $0.put("name", name.text)
            $0.put("pattern", pattern.text)
        }
    }

    mutating func lampsTimePassed(now: Instant) {
        for name in LampName.all {
            let index = Int(name.rawValue)
            let wasOn = self.panel.lamps[index].isOn
            self.panel.lamps[index].advance(now: now)
            if self.panel.lamps[index].isOn != wasOn { self.put(.lamp(name, on: !wasOn)) }
        }
        self.carryOut(self.panel.relays.timePassed(now: now), now: now)
    }

    /// The program ends.
    mutating func darken(now: Instant) {
        for name in LampName.all { self.show(.off, on: name, now: now) }
        self.carryOut(self.panel.relays.allOff(), now: now)
    }

    // MARK: - Relays

    /// Whoever has opened the housing could press any button and be any far end.
    private var areRelaysBlocked: Bool { self.panel.wasTampered || self.panel[.tamper] }

    private mutating func carryOut(_ changes: [Relays.Change], now: Instant) {
        for change in changes {
            switch change {
            case .on(let index, let cause):
                self.put(.relay(index, on: true))
                self.emit("relay", now: now) {
                    $0.put("number", index + 1)
                    $0.put("on", true)
                    $0.put("by", cause == .code ? "code" : "state")
                }
            case .off(let index):
                self.put(.relay(index, on: false))
                self.emit("relay", now: now) {
                    $0.put("number", index + 1)
                    $0.put("on", false)
                }
            }
        }
    }

    /// The far end's keys may be a code, which is told to nobody.
    var mayHearCode: Bool {
        self.configuration.panel.relays.contains { !$0.code.isEmpty && self.mayUse($0) }
    }

    private func mayUse(_ relay: RelaySettings) -> Bool {
        guard case .connected(let call) = self.machine.state, relay.line != nil else { return false }
        switch relay.allowed {
        case .called: return call.facts.direction == .outgoing
        case .listed(let addresses): return addresses.contains { call.facts.isWith($0) }
        }
    }

    /// The far end pressed a key.
    mutating func heardKey(_ key: UInt8, now: Instant) {
        guard self.mayHearCode else { return }
        let relays = self.configuration.panel.relays
        switch self.panel.relays.typed(key, relays.map { self.mayUse($0) ? $0 : nil }, now: now) {
        case .none: break
        case .wrong: self.emit("relay_refused", now: now) { $0.put("reason", "wrong-code") }
        case .lockedOut: self.emit("relay_refused", now: now) { $0.put("reason", "locked-out") }
        case .right(let indices):
            guard !self.areRelaysBlocked else {
                return self.emit("relay_refused", now: now) { $0.put("reason", "tampered") }
            }
            for index in indices {
                self.carryOut(self.panel.relays.pulse(index, relays[index], now: now), now: now)
            }
        }
    }
}

extension CallFacts {
    /// Whether the far end has this address, as far as it says who it is.
    fileprivate func isWith(_ address: SIPURI) -> Bool {
        guard let peer = SIPURI(self.peer) else { return false }
        return peer.user == address.user && peer.host == address.host
    }
}
