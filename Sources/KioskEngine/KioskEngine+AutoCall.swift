// SPDX-License-Identifier: Apache-2.0
import Bytes

/// Calls that the kiosk places by itself.
extension KioskEngine {
    mutating func autoCall(now: Instant) {
        let isFree: Bool
        switch self.machine.state {
        case .idle, .outcome: isFree = !self.isCallOver && !self.isOutOfService
        case .lookingUp, .calling, .ringing, .early, .alerting, .connected, .ending, .stopping: isFree = false
        }
        switch self.autoCall.timePassed(isFree: isFree, now: now) {
        case .nothing: break
        case .readClock: self.put(.readClock)
        case .count(let reason, let until):
            self.put(.chime(.warning))
            self.say(.countdown)
            self.emitAutoCall("scheduled", reason, now: now) { $0.put("ms", msOf: until - now) }
        case .skip(let reason): self.emitAutoCall("skipped", reason, now: now)
        case .call(let reason):
            self.emitAutoCall("executed", reason, now: now)
            let steps = self.configuration.autoCall.steps
            if let order = self.configuration.order(steps.isEmpty ? self.configuration.call.steps : steps) {
                self.dial(order, now: now)
            } else {
                self.dialNobody(now: now)
            }
        }
    }

    /// Any press ends a countdown. True where one ran.
    mutating func cancelAutoCall(now: Instant) -> Bool {
        guard let reason = self.autoCall.cancel() else { return false }
        self.hush()
        self.emitAutoCall("cancelled", reason, now: now)
        return true
    }

    private mutating func emitAutoCall(
        _ state: ByteString, _ reason: AutoCall.Reason, now: Instant, _ fill: (inout JSON) -> Void = { _ in }
    ) {
        self.emit("auto_call", now: now) {
            $0.put("state", state)
            $0.put("by", reason.text)
            fill(&$0)
        }
    }
}
