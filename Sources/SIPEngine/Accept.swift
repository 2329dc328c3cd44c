// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Being called: RFC 3261 section 13.3.
extension SIPEngine {
    /// An INVITE outside of any dialog.
    mutating func receivedInvite(_ request: Inbound, now: Instant) {
        guard let target = request.uri.sip else { return self.refuse(request, Refusal(.unsupportedURIScheme)) }
        let offer: [UInt8]?
        switch request.message.sessionDescription {
        case .none: offer = nil
        case .sdp(let sdp): offer = sdp
        case .unsupported: return self.refuse(request, self.unsupportedBody)
        }
        if let refusal = self.intervalFault(of: request.message) { return self.refuse(request, refusal) }
        let replaces: CallHandle?
        switch self.replacement(for: request.message) {
        case .none: replaces = nil
        case .call(let handle): replaces = handle
        case .refuse(let status): return self.refuse(request, Refusal(status))
        }
        let localTag = self.newTag()
        guard let dialog = Dialog(request: request, localTag: localTag) else {
            self.counters.add(.refusedFaulty)
            return self.refuse(request, Refusal(.badRequest))
        }
        guard self.calls.count < Limits.callsMax else {
            self.counters.add(.tooManyCalls)
            return self.refuse(request, Refusal(.busyHere))
        }
        guard let id = self.startServer(request, .forStrangers, localTag: localTag, now: now) else {
            return self.refuse(request, Refusal(.serviceUnavailable))
        }
        self.addIncoming(request, dialog, replaces: replaces, pending: id, offer: offer, target: target, now: now)
    }

    private mutating func addIncoming(
        _ request: Inbound, _ dialog: Dialog, replaces: CallHandle?, pending id: UInt64, offer: [UInt8]?,
        target: SIPURI, now: Instant
    ) {
        let lengths = TimerLengths(self.configuration, isReliable: request.flow.transport.isReliable)
        // Any start up to 2^31 - 1 will do (RFC 3262 section 3); this leaves room above it.
        let number = UInt32(self.random(below: 1 << 30))
        let handle = self.newHandle()
        var call = Call(
            handle: handle, callID: dialog.callID, localTag: dialog.localTag,
            machine: CallMachine(incoming: lengths, now: now),
            provisional: ReliableProvisional(lengths, number: number))
        call.dialog = dialog
        call.pending = id
        call.inviteNumber = request.envelope.cseq.number
        call.replaces = replaces
        call.identity = request.envelope.from
        call.peer.learn(from: request.message)
        self.calls.append(call)
        self.tell(
            handle,
            .incoming(
                IncomingCall(
                    from: request.envelope.from, target: target, flow: request.flow, offer: offer,
                    isAnsweredAutomatically: request.message.wantsAutomaticAnswer
                        && self.configuration.access.answersAutomatically(request.flow.remote.address),
                    replaces: replaces)))
    }

    var unsupportedBody: Refusal {
        Refusal(
            .unsupportedMediaType, [Header(.accept, "application/sdp"), Header(.acceptEncoding, "identity")])
    }

    /// Our decision about an INVITE, a re-INVITE or an UPDATE.
    mutating func respond(_ handle: CallHandle, _ status: StatusCode, body: [UInt8], now: Instant) {
        guard let index = self.callIndex(handle), let id = self.calls[index].pending,
            let server = self.serverIndex(id)
        else { return self.counters.add(.lateOrder) }
        let request = self.servers[server].request
        var response = self.response(to: request, status, tag: self.calls[index].localTag)
        if !body.isEmpty {
            response.add(.contentType, "application/sdp")
            response.body = body
        }
        let isOffered = self.calls[index].machine.state == .offered
        let action = self.calls[index].machine.respond(status, now: now)
        switch action {
        case .send where status.isProvisional && isOffered:
            return self.sendProvisional(response, status, id, at: index, now: now)
        case .send, .sendAndEnd, .sendUntilAcknowledged: break
        case .ignore: return self.counters.add(.lateOrder)
        }
        if status.isSuccess { self.agree(to: request, in: &response, at: index, now: now) }
        self.answer(id, with: response, now: now)
        guard status.isFinal else { return }
        self.calls[index].pending = nil
        self.calls[index].provisional.overtake()
        switch action {
        case .sendUntilAcknowledged:
            self.calls[index].accept = Call.Accept(
                bytes: response.printed(), reply: request.reply, number: request.envelope.cseq.number,
                owesAnswer: request.message.body.isEmpty)
            if isOffered { self.takePlace(of: self.calls[index].replaces, now: now) }
        case .sendAndEnd: self.end(index, .localHangUp, now: now)
        case .send, .ignore: break
        }
    }

    /// Our 2xx settles the session's description and its life.
    private mutating func agree(to request: Inbound, in response: inout SIPMessage, at index: Int, now: Instant) {
        if !response.body.isEmpty { self.calls[index].localDescription = response.body }
        guard self.calls[index].machine.isEstablished else {
            // Within an early dialog: what the peer offers now stands in place of its answer to our INVITE.
            if case .sdp(let offer) = request.message.sessionDescription {
                self.calls[index].describe(offer, from: request.envelope.from.tag)
            }
            return
        }
        if !response.body.isEmpty { self.calls[index].change.outdate() }
        self.settleSession(request.message, in: &response, at: index, now: now)
    }

    mutating func sendAcceptAgain(_ index: Int) {
        guard let accept = self.calls[index].accept else {
            preconditionFailure("the timer runs only while there is a 2xx to send")
        }
        self.counters.add(.answeredAgain)
        self.send(accept.bytes, on: accept.reply)
    }
}

extension SIPMessage {
    /// Answer-Mode (RFC 5373), `answer-after=0` in Call-Info, `auto-answer` or `info=alert-autoanswer` in Alert-Info.
    fileprivate var wantsAutomaticAnswer: Bool {
        if self.answerMode?.isAutomatic ?? false { return true }
        return self.fields(.callInfo).contains { $0.containsIgnoringCase("answer-after=0") }
            || self.fields(.alertInfo).contains {
                $0.containsIgnoringCase("auto-answer") || $0.containsIgnoringCase("alert-autoanswer")
            }
    }
}

extension ByteString {
    func containsIgnoringCase(_ part: ByteString) -> Bool {
        guard self.count >= part.count else { return false }
        return (0...(self.count - part.count)).contains { start in
            part.bytes.indices.allSatisfy {
                ASCII.lowercased(self.bytes[start + $0]) == ASCII.lowercased(part.bytes[$0])
            }
        }
    }
}
