// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The peer changes the session: RFC 3261 section 14.2, RFC 3311.
extension SIPEngine {
    mutating func receivedReinvite(_ request: Inbound, at index: Int, _ id: UInt64, now: Instant) {
        switch request.message.sessionDescription {
        case .none: self.receivedReoffer(.invite, nil, request, at: index, id, now: now)
        case .sdp(let offer): self.receivedReoffer(.invite, offer, request, at: index, id, now: now)
        case .unsupported: self.refuse(request, self.unsupportedBody, id, now: now)
        }
    }

    /// An UPDATE without an offer only renews the peer's Contact.
    mutating func receivedUpdate(_ request: Inbound, at index: Int, _ id: UInt64, now: Instant) {
        switch request.message.sessionDescription {
        case .none:
            self.renewTarget(request, at: index)
            self.answer(id, with: self.response(to: request, .ok, tag: nil), now: now)
        case .sdp(let offer): self.receivedReoffer(.update, offer, request, at: index, id, now: now)
        case .unsupported: self.refuse(request, self.unsupportedBody, id, now: now)
        }
    }

    private mutating func receivedReoffer(
        _ kind: CallMachine.Reoffer, _ offer: [UInt8]?, _ request: Inbound, at index: Int, _ id: UInt64, now: Instant
    ) {
        let owesAnswer = self.calls[index].accept?.owesAnswer ?? false
        let action = self.calls[index].machine.receivedReoffer(
            kind, owesAnswer: owesAnswer, now: now)
        switch action {
        case .report: break
        case .reportAcknowledgeFirst:
            self.calls[index].accept = nil
            self.tell(self.calls[index].handle, .confirmed(answer: nil))
        case .refuse(let status): return self.refuse(request, Refusal(status), id, now: now)
        case .refuseForNow: return self.refuse(request, self.comeBackLater(), id, now: now)
        case .refuseAndSendBye(let told):
            self.refuse(request, Refusal(.requestTerminated), id, now: now)
            return self.sendBye(index, told, now: now)
        }
        self.renewTarget(request, at: index)
        self.calls[index].pending = id
        self.tell(self.calls[index].handle, .reoffered(offer))
    }

    private mutating func comeBackLater() -> Refusal {
        let seconds = UInt32(self.random(below: Limits.retryAfterSecondsMax + 1))
        return Refusal(.serverInternalError, [Header(.retryAfter, RetryAfter(seconds: seconds).printed)])
    }

    /// re-INVITE and UPDATE are target refresh requests (RFC 3261 section 12.2).
    private mutating func renewTarget(_ request: Inbound, at index: Int) {
        guard let target = request.message.contacts?.first?.uri.sip else { return }
        self.calls[index].dialog?.remoteTarget = target.asRequestURI
    }
}
