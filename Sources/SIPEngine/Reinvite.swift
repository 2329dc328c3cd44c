// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The peer changes the session: RFC 3261 section 14.2, RFC 3311.
extension SIPEngine {
    mutating func receivedReinvite(_ request: Inbound, at index: Int, _ id: UInt64, now: Instant) {
        if let refusal = self.intervalFault(of: request.message) { return self.refuse(request, refusal, id, now: now) }
        switch request.message.sessionDescription {
        case .none: self.receivedReoffer(.invite, nil, request, at: index, id, now: now)
        case .sdp(let offer): self.receivedReoffer(.invite, offer, request, at: index, id, now: now)
        case .unsupported: self.refuse(request, self.unsupportedBody, id, now: now)
        }
    }

    /// An UPDATE without an offer renews the peer's Contact and the session's life, in any state.
    mutating func receivedUpdate(_ request: Inbound, at index: Int, _ id: UInt64, now: Instant) {
        if let refusal = self.intervalFault(of: request.message) { return self.refuse(request, refusal, id, now: now) }
        switch request.message.sessionDescription {
        case .none:
            self.renew(from: request, at: index)
            var response = self.response(to: request, .ok, tag: nil)
            if self.calls[index].machine.isEstablished {
                self.settleSession(request.message, in: &response, at: index, now: now)
            }
            self.answer(id, with: response, now: now)
        case .sdp(let offer): self.receivedReoffer(.update, offer, request, at: index, id, now: now)
        case .unsupported: self.refuse(request, self.unsupportedBody, id, now: now)
        }
    }

    private mutating func receivedReoffer(
        _ kind: CallMachine.Reoffer, _ offer: [UInt8]?, _ request: Inbound, at index: Int, _ id: UInt64, now: Instant
    ) {
        let owesAnswer = self.calls[index].owesAnswer(request.envelope.from.tag)
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
        self.renew(from: request, at: index)
        self.calls[index].pending = id
        self.tell(self.calls[index].handle, .reoffered(offer))
    }

    private mutating func comeBackLater() -> Refusal {
        let seconds = UInt32(self.random(below: Limits.retryAfterSecondsMax + 1))
        return Refusal(.serverInternalError, [Header(.retryAfter, RetryAfter(seconds: seconds).printed)])
    }

    /// What a re-INVITE or UPDATE says of the peer: where it is (RFC 3261 section 12.2), who it is, what it can do.
    private mutating func renew(from request: Inbound, at index: Int) {
        self.calls[index].renewTarget(from: request)
        self.identify(request.message, at: index)
        self.renewAddress(request, at: index)
        self.calls[index].peer.learn(from: request.message)
    }
}

extension Call {
    /// Whether an offer of ours has no answer yet: the one in our INVITE as long as no reliable 1xx of this branch
    /// brought it, or the one in our last 2xx.
    fileprivate func owesAnswer(_ remoteTag: ByteString?) -> Bool {
        guard self.dialog == nil else { return self.accept?.owesAnswer ?? false }
        return !(self.earlyIndex(remoteTag).map { self.early[$0].isAnswered } ?? false)
    }
}
