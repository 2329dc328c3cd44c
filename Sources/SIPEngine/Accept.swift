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
        let lengths = TimerLengths(self.configuration, isReliable: request.flow.transport.isReliable)
        let machine = CallMachine(incoming: lengths, now: now)
        let handle = self.newHandle()
        var call = Call(handle: handle, callID: dialog.callID, localTag: localTag, machine: machine)
        call.dialog = dialog
        call.pending = id
        self.calls.append(call)
        self.tell(
            handle,
            .incoming(
                IncomingCall(
                    from: request.envelope.from, target: target, flow: request.flow, offer: offer,
                    isAnsweredAutomatically: request.message.wantsAutomaticAnswer
                        && self.configuration.access.answersAutomatically(request.flow.remote.address),
                    replaces: nil)))
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
        let action = self.calls[index].machine.respond(status, now: now)
        switch action {
        case .send, .sendAndEnd, .sendUntilAcknowledged: self.answer(id, with: response, now: now)
        case .ignore: return self.counters.add(.lateOrder)
        }
        if status.isFinal { self.calls[index].pending = nil }
        switch action {
        case .sendUntilAcknowledged:
            self.calls[index].accept = Call.Accept(
                bytes: response.printed(), reply: request.reply, number: request.envelope.cseq.number,
                owesAnswer: request.message.body.isEmpty)
        case .sendAndEnd: self.end(index, .localHangUp)
        case .send, .ignore: break
        }
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
