// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Out of service for a while because the operator says so, and on low power because the supply fails.
extension KioskEngine {
    // MARK: - Pause

    /// Calls that are under way go on; no other begins until `takeUpService` or the next start of the program.
    mutating func pause(now: Instant) -> ByteString {
        guard !self.isPaused else { return Reply.refused("the help point is paused already") }
        self.isPaused = true
        // The screen says it, whatever was read there.
        self.servicePage = nil
        self.emitService(now: now)
        return Reply.done
    }

    /// Both that a call of ours may wait for: that it goes on, and that calls are taken again.
    mutating func resume(now: Instant) -> ByteString {
        guard self.isPaused else { return self.change(.resume, now: now) }
        self.isPaused = false
        self.emitService(now: now)
        if case .connected(let state) = self.machine.state, state.intent.isHolding {
            return self.change(.resume, now: now)
        }
        return Reply.done
    }

    /// Nobody may call from here or be called: by the operator's word, or by the switch at the panel.
    var isOutOfService: Bool { self.isPaused || self.panel[.inhibit] }

    /// True where a press to call comes to nothing because of that: lamp and tone say so, as the screen does.
    mutating func refusesPress(now: Instant) -> Bool {
        guard self.isOutOfService, self.machine.state.facts == nil else { return false }
        self.faults.alarm(now: now)
        self.say(.outOfOrder)
        let reason: ByteString = self.isPaused ? "paused" : "inhibited"
        self.emit("refused", now: now) { $0.put("reason", reason) }
        return true
    }

    private mutating func emitService(now: Instant) {
        let isPaused = self.isPaused
        self.emit("service", now: now) { $0.put("state", isPaused ? "paused" : "open") }
    }

    // MARK: - Power

    private static let failingSentence: ByteString = "camera and picture rest until the mains are back"

    /// The supply fails, or is back: what takes much power and is not needed to speak stops meanwhile.
    mutating func power(isFailing: Bool, now: Instant) {
        guard isFailing != self.isPowerFailing else { return }
        self.isPowerFailing = isFailing
        self.put(.savePower(isFailing))
        self.emit("power", now: now) { $0.put("failing", isFailing) }
        self.device(isFailing ? .failed(.supply, Self.failingSentence) : .restored(.supply), now: now)
    }
}
