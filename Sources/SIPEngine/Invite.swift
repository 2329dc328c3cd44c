// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Placing a call: RFC 3261 sections 8.1 and 13.2.
extension SIPEngine {
    mutating func placeCall(_ handle: CallHandle, _ request: InviteRequest, now: Instant) {
        precondition(self.callIndex(handle) == nil, "a handle names one call")
        let localTag = self.newTag()
        guard self.makeRoomForCall(now: now), let callID = CallID(self.newCallID()) else {
            return self.tell(handle, .ended(.tooManyCalls))
        }
        let invitation = Invitation(request, self.configuration)
        let message = self.invite(invitation, callID, localTag)
        // Addresses come from a file that people write. What we cannot read ourselves, no answer could be matched to.
        guard message.from?.tag == localTag, message.to != nil, message.requestURI?.sip != nil else {
            return self.tell(handle, .ended(.protocolFault("the address cannot be written")))
        }
        let lengths = TimerLengths(self.configuration, isReliable: request.flow.transport.isReliable)
        var call = Call(
            handle: handle, callID: callID, localTag: localTag, machine: CallMachine(outgoing: lengths),
            provisional: ReliableProvisional(lengths, number: 0))
        call.invitation = invitation
        call.identity = message.to
        self.calls.append(call)
        self.sendRequest(message, on: request.flow, for: .invite(handle), now: now)
    }

    /// The INVITE without its Via.
    func invite(_ invitation: Invitation, _ callID: CallID, _ localTag: ByteString) -> SIPMessage {
        let request = invitation.request
        let target = request.target.asRequestURI
        var message = SIPMessage(startLine: .request(.invite, .sip(target)), body: [])
        message.add(.maxForwards, "70")
        message.add(request.sender.routes)
        message.add(.from, self.from(request.flow, tag: localTag, by: request.sender).printed)
        message.add(.to, NameAddr(uri: .sip(target.asAddress)).printed)
        message.add(.callID, callID.text)
        message.add(.cseq, CSeq(invitation.number, .invite).printed)
        message.add(.contact, self.contact(request.flow, isSecure: target.isSecure))
        message.headers.append(self.allowHeader)
        message.headers += invitation.headers
        if !self.configuration.userAgent.isEmpty { message.add(.userAgent, self.configuration.userAgent) }
        message.headers += request.extraHeaders
        Self.put(request.offer, request.parts, into: &message)
        return message
    }

    private static func put(_ offer: [UInt8], _ parts: [BodyPart], into message: inout SIPMessage) {
        if parts.isEmpty {
            message.body = offer
            if !offer.isEmpty { message.add(.contentType, "application/sdp") }
            return
        }
        let session = BodyPart(contentType: "application/sdp", contentID: ByteString(), content: offer)
        let (type, body) = Multipart.mixed((offer.isEmpty ? [] : [session]) + parts)
        message.add(.contentType, type)
        message.body = body
    }

    // MARK: - 1xx

    mutating func receivedProvisional(
        _ handle: CallHandle, at client: Int, _ response: SIPMessage, _ status: StatusCode, _ now: Instant
    ) {
        guard let index = self.callIndex(handle) else { return self.counters.add(.strayResponse) }
        let description: [UInt8]? = if case .sdp(let sdp) = response.sessionDescription { sdp } else { nil }
        if status != .trying {
            switch self.note(response, description, of: client, at: index, now: now) {
            case .take: break
            case .drop: return
            }
        }
        switch self.calls[index].machine.receivedProvisional(now: now) {
        case .report:
            if status == .trying {
                self.tell(handle, .trying)
            } else if let description, self.calls[index].invitation?.isOffering ?? false {
                self.tell(handle, .earlyMedia(description, status))
            } else {
                self.tell(handle, .ringing(status))
            }
        case .sendCancel(let told): self.sendCancel(index, told, now: now)
        case .ignore: break
        }
    }

    private enum OnNote {
        case take
        /// A copy, or one that came out of order (RFC 3262 section 4).
        case drop
    }

    /// Takes note of the early dialog that a 1xx makes or goes on with, and sends PRACK where it is asked for.
    private mutating func note(
        _ response: SIPMessage, _ description: [UInt8]?, of client: Int, at index: Int, now: Instant
    ) -> OnNote {
        let remoteTag = response.to?.tag
        let known = self.calls[index].earlyIndex(remoteTag)
        guard let early = known ?? self.addEarly(response, of: client, at: index) else { return .take }
        let rseq = response.isReliable && remoteTag != nil ? response.rseq : nil
        if let rseq {
            if let last = self.calls[index].early[early].lastRSeq, rseq.number != last &+ 1 { return .drop }
            self.calls[index].early[early].lastRSeq = rseq.number
            self.sendPrack(rseq, early: early, of: client, at: index, now: now)
        }
        if let description, !self.calls[index].early[early].isAnswered {
            self.calls[index].early[early].description = description
            self.calls[index].early[early].isAnswered = rseq != nil
        }
        return .take
    }

    /// Nil where there is no room, or the 1xx makes no dialog.
    private mutating func addEarly(_ response: SIPMessage, of client: Int, at index: Int) -> Int? {
        let entry = self.clients[client]
        let made = Dialog(request: entry.request, response: response, flow: entry.dialogFlow)
        guard let dialog = made else { return nil }
        guard self.calls[index].early.count < Limits.earlyDialogsMax else {
            self.counters.add(.tooManyForks)
            return nil
        }
        self.calls[index].early.append(Call.Early(dialog: dialog))
        return self.calls[index].early.count - 1
    }

    // MARK: - 300–699, or nothing

    /// The INVITE was refused: it is sent again in other words where that may help.
    mutating func receivedRefusal(_ handle: CallHandle, _ response: SIPMessage, _ status: StatusCode, _ now: Instant) {
        guard let index = self.callIndex(handle) else { return }
        if var invitation = self.calls[index].invitation, invitation.adapt(to: response, status) == .retry,
            self.calls[index].machine.retry() == .send
        {
            let call = self.calls[index]
            self.refusePending(index, .requestTerminated, now: now)
            self.calls[index].early = []
            self.calls[index].localDescription = []
            self.calls[index].invitation = invitation
            let message = self.invite(invitation, call.callID, call.localTag)
            return self.sendRequest(message, on: invitation.request.flow, for: .invite(handle), now: now)
        }
        let targets = status.statusClass == .redirection ? response.redirectTargets : []
        let refused = EndReason.refused(status, phrase: response.reasonPhrase, q850: response.q850)
        self.receivedFailure(handle, targets.isEmpty ? refused : .redirected(status, targets), now: now)
    }

    /// There will be no 2xx.
    mutating func receivedFailure(_ handle: CallHandle, _ reason: EndReason, now: Instant) {
        guard let index = self.callIndex(handle) else { return }
        switch self.calls[index].machine.receivedFailure(reason) {
        case .end(let reason):
            self.refusePending(index, .requestTerminated, now: now)
            self.end(index, reason, now: now)
        case .ignore: break
        }
    }
}

extension SIPMessage {
    /// Whether a 1xx wants a PRACK (RFC 3262 section 4).
    var isReliable: Bool { self.require.contains { $0.equalsIgnoringCase("100rel") } }

    /// The ITU-T Q.850 cause of the Reason header (RFC 3326).
    var q850: Int? { self.reasons.first { $0.protocolName.equalsIgnoringCase("Q.850") }?.cause }

    /// The addresses of a 3xx that we can call, best first (RFC 3261 sections 8.1.3.4 and 20.10).
    var redirectTargets: [SIPURI] {
        var found: [(uri: SIPURI, weight: Int)] = []
        for value in self.values(.contact).prefix(SIPLimits.listValues) {
            guard let contact = NameAddr(value), let uri = contact.uri.sip?.asRequestURI,
                !found.contains(where: { $0.uri == uri })
            else { continue }
            let weight = contact.weight
            found.insert((uri, weight), at: found.firstIndex { $0.weight < weight } ?? found.count)
        }
        return found.prefix(SIPEngine.redirectsMax).map { $0.uri }
    }
}

extension NameAddr {
    /// `q` in thousandths; 1000 where it is missing or no number (RFC 3261 section 25.1: three digits after the point).
    var weight: Int {
        guard let text = self.parameters.value("q"), text.bytes.first == ASCII.zero else { return 1000 }
        var weight = 0
        for place in 0..<3 {
            let digit = place + 2 < text.count ? text.bytes[place + 2] : ASCII.zero
            guard ASCII.isDigit(digit) else { return 1000 }
            weight = weight * 10 + Int(digit - ASCII.zero)
        }
        return weight
    }
}
