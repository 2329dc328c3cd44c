// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// What SIP is told, and what it tells.
extension KioskEngine {
    /// What SIP holds of calls that are made, stand or end.
    public var census: SIPCensus { self.sip.census }

    mutating func newHandle() -> CallHandle {
        self.sip.newHandle()
    }

    /// One mutation of SIP and its drain. What it tells about calls waits for `settle`.
    mutating func tell(_ input: SIPEngine.Input, now: Instant) {
        self.sip.handle(input, now: now)
        while true {
            switch self.sip.pollOutput() {
            case .send(let bytes, let flow): self.put(.send(bytes, on: flow))
            case .close(let flow): self.put(.close(flow))
            case .message(let message): self.received(message, now: now)
            case .messageFinished(let id, let status): self.messageEvents.append((id, status))
            case .registration(let id, let event): self.registrationEvents.append((id, event))
            case .credentialsRefused(let credential, let realm): self.refused(credential, realm, now: now)
            case .credentialsAccepted(let credential): self.passwords.accepted(credential)
            case .probed(let id, let status): self.probed(id, status, now: now)
            case .event(let handle, let event): self.sipEvents.append((handle, event))
            case .wait(let instant):
                self.sipWakesAt = instant
                return self.logMessages(now: now)
            }
        }
    }

    /// Looks at what SIP told and what was found, and at what comes of that, until there is nothing more.
    mutating func settle(now: Instant) {
        self.takeFindings(now: now)
        while !self.sipEvents.isEmpty {
            let (handle, event) = self.sipEvents.removeFirst()
            self.call(handle, event, now: now)
            self.takeFindings(now: now)
        }
        while !self.messageEvents.isEmpty {
            let (id, status) = self.messageEvents.removeFirst()
            self.finished(id, status, now: now)
        }
        while !self.registrationEvents.isEmpty {
            let (id, event) = self.registrationEvents.removeFirst()
            self.registration(id, event, now: now)
        }
    }
}
