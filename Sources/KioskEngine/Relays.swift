// SPDX-License-Identifier: Apache-2.0
import Bytes

/// The relays of the panel: on while the call is in certain states, or for a while when the far end types the owner's
/// code. Each is off after its longest time whatever happens.
struct Relays {
    /// A change of one relay, by its index.
    enum Change: Equatable {
        case on(Int, by: Cause)
        case off(Int)
    }

    enum Cause: Equatable {
        case state
        case code
    }

    enum Entry: Equatable {
        /// The code of these was typed.
        case right([Int])
        case wrong
        /// So many wrong ones came that no code is looked at for a while.
        case lockedOut
        /// More is to come, or nothing was typed.
        case none
    }

    private struct Relay {
        var isOn = false
        var cause = Cause.state
        var offAt: Instant?
        /// It was on for its longest time, and waits for the state to end.
        var isSpent = false
    }

    static let wrongMax = 3
    static let lockOutMs = 300_000
    /// A key that comes later begins anew.
    static let entryPauseMs = 5_000
    static let codeBytesMax = 16

    private var relays: [Relay]
    private var typed: [UInt8] = []
    private var typedAt = Instant.zero
    private var wrong = 0
    private var lockedUntil: Instant?

    init(count: Int) {
        self.relays = [Relay](repeating: Relay(), count: count)
    }

    func isOn(_ index: Int) -> Bool { self.relays[index].isOn }

    var deadline: Instant? {
        self.relays.compactMap { $0.offAt }.min()
    }

    // MARK: - By state

    /// `blocked`: all stay off.
    mutating func follow(
        _ signal: Signal, _ settings: [RelaySettings], isBlocked: Bool, now: Instant
    ) -> [Change] {
        var changes: [Change] = []
        for index in self.relays.indices where index < settings.count {
            let isWanted = settings[index].signals.contains(signal) && !isBlocked
            if !isWanted { self.relays[index].isSpent = false }
            if isBlocked, self.relays[index].isOn { changes += self.turnOff(index) }
            if isWanted, !self.relays[index].isOn, !self.relays[index].isSpent {
                changes += self.turnOn(index, by: .state, forMs: settings[index].maxMs, now: now)
            } else if !isWanted, self.relays[index].isOn, self.relays[index].cause == .state {
                changes += self.turnOff(index)
            }
        }
        return changes
    }

    mutating func timePassed(now: Instant) -> [Change] {
        var changes: [Change] = []
        for index in self.relays.indices {
            guard let offAt = self.relays[index].offAt, now >= offAt else { continue }
            self.relays[index].isSpent = self.relays[index].cause == .state
            changes += self.turnOff(index)
        }
        return changes
    }

    /// At the program's end.
    mutating func allOff() -> [Change] {
        self.relays.indices.filter { self.relays[$0].isOn }.flatMap { self.turnOff($0) }
    }

    private mutating func turnOn(_ index: Int, by cause: Cause, forMs: Int, now: Instant) -> [Change] {
        let wasOn = self.relays[index].isOn
        self.relays[index].isOn = true
        self.relays[index].cause = cause
        self.relays[index].offAt = now + .milliseconds(forMs)
        return wasOn ? [] : [.on(index, by: cause)]
    }

    private mutating func turnOff(_ index: Int) -> [Change] {
        self.relays[index].isOn = false
        self.relays[index].offAt = nil
        return [.off(index)]
    }

    // MARK: - By code

    /// The far end pressed a key; `#` ends a code.
    /// - Parameter settings: those whose code this far end may use; nil for the others.
    mutating func typed(_ key: UInt8, _ settings: [RelaySettings?], now: Instant) -> Entry {
        if now - self.typedAt > .milliseconds(Self.entryPauseMs) { self.typed = [] }
        self.typedAt = now
        guard key == ASCII.hash else {
            // Too long to be a code, and it stays so.
            if self.typed.count <= Self.codeBytesMax { self.typed.append(key) }
            return .none
        }
        defer { self.typed = [] }
        guard !self.typed.isEmpty else { return .none }
        if let until = self.lockedUntil {
            if now < until { return .lockedOut }
            self.lockedUntil = nil
        }
        let found = settings.indices.filter { index in
            guard let relay = settings[index], !relay.code.isEmpty else { return false }
            return relay.code.bytes == self.typed
        }
        if !found.isEmpty {
            self.wrong = 0
            return .right(found)
        }
        self.wrong += 1
        guard self.wrong >= Self.wrongMax else { return .wrong }
        self.wrong = 0
        self.lockedUntil = now + .milliseconds(Self.lockOutMs)
        return .lockedOut
    }

    /// On for its pulse, and never for longer than its longest time.
    mutating func pulse(_ index: Int, _ settings: RelaySettings, now: Instant) -> [Change] {
        self.turnOn(index, by: .code, forMs: min(settings.pulseMs, settings.maxMs), now: now)
    }

    /// What was typed in a call is no beginning of a code in the next one. Wrong codes still count.
    mutating func callEnded() {
        self.typed = []
    }
}
