// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Placing a call: RFC 3261 sections 8.1 and 13.2.
extension SIPEngine {
    mutating func placeCall(_ handle: CallHandle, _ request: InviteRequest, now: Instant) {
        precondition(self.callIndex(handle) == nil, "a handle names one call")
        let localTag = self.newTag()
        guard self.makeRoomForCall(), let callID = CallID(self.newCallID()) else {
            return self.tell(handle, .ended(.tooManyCalls))
        }
        let message = self.invitation(request, callID, localTag)
        // Addresses come from a file that people write. What we cannot read ourselves, no answer could be matched to.
        guard message.from?.tag == localTag, message.to != nil, message.requestURI?.sip != nil else {
            return self.tell(handle, .ended(.protocolFault("the address cannot be written")))
        }
        let lengths = TimerLengths(self.configuration, isReliable: request.flow.transport.isReliable)
        let machine = CallMachine(outgoing: lengths)
        self.calls.append(Call(handle: handle, callID: callID, localTag: localTag, machine: machine))
        self.sendRequest(message, on: request.flow, for: .invite(handle), now: now)
    }

    /// The INVITE without its Via.
    func invitation(_ request: InviteRequest, _ callID: CallID, _ localTag: ByteString) -> SIPMessage {
        let target = request.target.asRequestURI
        var message = SIPMessage(startLine: .request(.invite, .sip(target)), body: request.offer)
        message.add(.maxForwards, "70")
        message.add(.from, self.from(request.flow, tag: localTag).printed)
        message.add(.to, NameAddr(uri: .sip(target.asAddress)).printed)
        message.add(.callID, callID.text)
        message.add(.cseq, CSeq(1, .invite).printed)
        message.add(.contact, self.contact(request.flow))
        message.headers.append(self.allowHeader)
        if !self.configuration.userAgent.isEmpty { message.add(.userAgent, self.configuration.userAgent) }
        message.headers += request.extraHeaders
        if !request.offer.isEmpty { message.add(.contentType, "application/sdp") }
        return message
    }

    mutating func receivedProvisional(
        _ handle: CallHandle, _ response: SIPMessage, _ status: StatusCode, _ now: Instant
    ) {
        guard let index = self.callIndex(handle) else { return self.counters.add(.strayResponse) }
        let description: [UInt8]? = if case .sdp(let sdp) = response.sessionDescription { sdp } else { nil }
        if status != .trying { self.note(response.to?.tag, description, at: index) }
        switch self.calls[index].machine.receivedProvisional(now: now) {
        case .report:
            if status == .trying {
                self.tell(handle, .trying)
            } else if let description {
                self.tell(handle, .earlyMedia(description, status))
            } else {
                self.tell(handle, .ringing(status))
            }
        case .sendCancel(let told): self.sendCancel(index, told, now: now)
        case .ignore: break
        }
    }

    private mutating func note(_ remoteTag: ByteString?, _ description: [UInt8]?, at index: Int) {
        if let known = self.calls[index].early.firstIndex(where: { $0.remoteTag == remoteTag }) {
            if let description { self.calls[index].early[known].description = description }
        } else if self.calls[index].early.count < Limits.earlyDialogsMax {
            self.calls[index].early.append(Call.Early(remoteTag: remoteTag, description: description))
        }
    }

    /// A 2xx, of which there may be copies, and one for every branch of a fork (RFC 3261 section 13.2.2.4).
    mutating func receivedSuccess(_ handle: CallHandle, at client: Int, _ response: SIPMessage, _ now: Instant) {
        let entry = self.clients[client]
        let remoteTag = response.to?.tag
        if let copy = entry.acknowledged.first(where: { $0.remoteTag == remoteTag }) {
            return self.send(copy.bytes, on: copy.flow)
        }
        guard entry.acknowledged.count < Limits.forksMax else { return self.counters.add(.tooManyForks) }
        let flow = entry.insteadOf ?? entry.flow
        guard let dialog = Dialog(request: entry.request, response: response, flow: flow) else {
            preconditionFailure("our INVITE and what the parser lets through have all that a dialog needs")
        }
        self.acknowledge(dialog, at: client)
        guard let index = self.callIndex(handle) else { return self.discard(dialog, now: now) }
        let description = self.description(of: response, at: index)
        let isDescribed = description != nil
        switch self.calls[index].machine.receivedSuccess(isDescribed: isDescribed) {
        case .acknowledgeAndReport:
            self.calls[index].dialog = dialog
            self.calls[index].early = []
            self.tell(handle, .answered(description ?? []))
        case .acknowledgeAndHangUp(let told):
            self.calls[index].dialog = dialog
            self.calls[index].early = []
            self.sendBye(index, told, now: now)
        case .acknowledgeAndDiscard:
            self.discard(dialog, now: now)
        }
    }

    /// The answer in a 2xx, or where it has none, the one that the same branch gave before.
    private func description(of response: SIPMessage, at index: Int) -> [UInt8]? {
        if case .sdp(let sdp) = response.sessionDescription { return sdp }
        let remoteTag = response.to?.tag
        return self.calls[index].early.first { $0.remoteTag == remoteTag }?.description
    }

    /// There will be no 2xx.
    mutating func receivedFailure(_ handle: CallHandle, _ reason: EndReason) {
        guard let index = self.callIndex(handle) else { return }
        switch self.calls[index].machine.receivedFailure(reason) {
        case .end(let reason): self.end(index, reason)
        case .ignore: break
        }
    }
}
