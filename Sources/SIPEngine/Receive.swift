// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The bytes of one TCP connection on their way to be messages.
struct Stream {
    let flow: Flow
    /// Nobody who may talk to us was at the other end when it was used last.
    var isStrangers = false
    var framer = SIPStreamFramer()
}

// MARK: - Bytes

extension SIPEngine {
    mutating func received(_ bytes: [UInt8], on flow: Flow, now: Instant) {
        switch flow.transport {
        case .udp:
            // Empty lines keep a NAT binding open.
            guard bytes.contains(where: { $0 != ASCII.carriageReturn && $0 != ASCII.lineFeed }) else { return }
            if !self.receivedMessage(bytes, .datagram, on: flow, now: now) { self.counters.add(.stranger) }
        case .tcp, .tls: self.receivedStream(bytes, on: flow, now: now)
        }
    }

    private mutating func receivedStream(_ bytes: [UInt8], on flow: Flow, now: Instant) {
        var stream = self.takeStream(flow, now: now)
        stream.framer.append(bytes)
        self.heard(on: flow, now: now)
        while let item = stream.framer.next() {
            switch item {
            case .message(let message):
                let isTaken = self.receivedMessage(message, .stream, on: flow, now: now)
                guard isTaken else { return self.closeStrangers(flow, now: now) }
            case .ping:
                guard self.isKnown(flow) else { return self.closeStrangers(flow, now: now) }
                self.put(.send(SIPStreamFramer.pong, on: flow))
            case .pong: self.receivedPong(on: flow)
            case .broken(let fault):
                guard self.isKnown(flow) else { return self.closeStrangers(flow, now: now) }
                self.counters.add(.brokenStream)
                self.refuseFaulty(fault, on: flow)
                self.close(flow)
                return self.flowFailed(flow, now: now)
            }
        }
        self.streams.append(stream)
    }

    private mutating func closeStrangers(_ flow: Flow, now: Instant) {
        self.counters.add(.stranger)
        self.close(flow)
        self.flowFailed(flow, now: now)
    }

    /// The flow's stream out of the table, or a new one for which there is room. Strangers' streams push out only each
    /// other.
    private mutating func takeStream(_ flow: Flow, now: Instant) -> Stream {
        let known = self.streams.firstIndex { $0.flow == flow }
        var stream = known.map { self.streams.remove(at: $0) } ?? Stream(flow: flow)
        stream.isStrangers = !self.isKnown(flow)
        let alike = self.streams.filter { $0.isStrangers == stream.isStrangers }
        if alike.count >= (stream.isStrangers ? Limits.strangerStreamsMax : Limits.streamsMax) {
            self.counters.add(.tooManyStreams)
            let oldest = alike[0].flow
            self.close(oldest)
            self.flowFailed(oldest, now: now)
        }
        return stream
    }

    /// False for what a stranger sent: nothing was done.
    private mutating func receivedMessage(
        _ bytes: [UInt8], _ framing: SIPFraming, on flow: Flow, now: Instant
    ) -> Bool {
        let isKnown = self.isKnown(flow)
        guard isKnown || self.mayBeOurs(bytes) else { return false }
        do throws(SIPParseError) {
            let message = try SIPMessage.parse(bytes, framing: framing)
            guard isKnown || self.isOurs(message, on: flow) else { return false }
            self.trace.record(bytes, on: flow, isSent: false)
            if !message.isRequest {
                self.receivedResponse(message, now: now)
            } else if let request = Inbound(message, on: flow) {
                self.receivedRequest(request, now: now)
            } else {
                self.counters.add(.malformed)
            }
        } catch {
            guard isKnown else { return false }
            self.trace.record(bytes, on: flow, isSent: false)
            self.refuseFaulty(error, on: flow)
        }
        return true
    }

    /// A message that cannot be read: answered where the parser could still tell whom.
    private mutating func refuseFaulty(_ fault: SIPParseError, on flow: Flow) {
        guard case .answer(let status) = fault.verdict, var message = fault.message, var via = message.replyVia else {
            return self.counters.add(.malformed)
        }
        self.counters.add(.refusedFaulty)
        via.stamp(source: flow.remote)
        message.replaceTopVia(via)
        let tag = self.statelessTag(for: message)
        var response = SIPMessage(respondingTo: message, status, reason: fault.reason, toTag: tag)
        self.addServer(to: &response)
        self.send(response.printed(), on: flow.reply(to: via))
    }
}

// MARK: - Requests

extension SIPEngine {
    private mutating func receivedRequest(_ request: Inbound, now: Instant) {
        switch request.method {
        case .ack:
            self.receivedAcknowledge(request, now: now)
        case .cancel:
            self.receivedCancel(request, now: now)
        case .invite, .bye, .options, .register, .prack, .update, .info, .subscribe, .notify, .refer, .message,
            .publish,
            .other:
            if let index = self.serverIndex(of: request, as: request.method) {
                self.receivedCopy(at: index)
            } else if request.envelope.to.tag != nil {
                self.receivedInDialog(request, now: now)
            } else {
                self.receivedOutsideDialog(request, now: now)
            }
        }
    }

    /// RFC 3261 section 8.2. All but the INVITE that becomes a call is answered without state (section 8.2.7): a
    /// stranger's requests take no room, and a copy gets the same answer.
    private mutating func receivedOutsideDialog(_ request: Inbound, now: Instant) {
        // RFC 6665 section 4.1.3: who notifies about a subscription that is none must hear so.
        if request.method == .notify { return self.refuse(request, Refusal(.callOrTransactionDoesNotExist)) }
        if let refusal = self.fault(of: request) { return self.refuse(request, refusal) }
        if self.servers.contains(where: { $0.request.isMerged(with: request) }) {
            return self.refuse(request, Refusal(.loopDetected))
        }
        switch request.method {
        case .invite: self.receivedInvite(request, now: now)
        case .options: self.answerOptions(request)
        case .message: self.receivedMessage(request, in: nil, nil, now: now)
        case .refer: self.refuse(request, Refusal(.decline))
        case .bye, .update, .info, .prack, .notify: self.refuse(request, Refusal(.callOrTransactionDoesNotExist))
        case .ack, .cancel, .register, .subscribe, .publish, .other:
            self.refuse(request, Refusal(.methodNotAllowed, [self.allowHeader]))
        }
    }

    private mutating func receivedInDialog(_ request: Inbound, now: Instant) {
        guard let index = self.callIndex(owning: request.envelope) else {
            self.counters.add(.strayRequest)
            return self.refuse(request, Refusal(.callOrTransactionDoesNotExist))
        }
        if request.flow.transport.isReliable { self.calls[index].dialog?.moved(to: request.flow) }
        // A full table is no reason to keep a call that the peer has left: without an entry, only the copies of its BYE
        // get a worse answer.
        let id = self.startServer(request, .forDialogs, now: now)
        if let refusal = self.faultInDialog(of: request, at: index) {
            guard let id else { return self.refuse(request, refusal) }
            return self.refuse(request, refusal, id, now: now)
        }
        switch (request.method, id) {
        case (.bye, let id): self.receivedBye(request, at: index, id, now: now)
        case (_, nil): self.refuse(request, Refusal(.serviceUnavailable))
        case (.invite, let id?): self.receivedReinvite(request, at: index, id, now: now)
        case (.update, let id?): self.receivedUpdate(request, at: index, id, now: now)
        case (.info, let id?): self.receivedInfo(request, at: index, id, now: now)
        case (.options, let id?): self.answer(id, with: self.optionsResponse(to: request, tag: nil), now: now)
        case (.prack, let id?): self.receivedPrack(request, at: index, id, now: now)
        case (.refer, let id?): self.receivedRefer(request, at: index, id, now: now)
        case (.message, let id?): self.receivedMessage(request, in: self.calls[index].handle, id, now: now)
        case (.notify, let id?): self.refuse(request, Refusal(.callOrTransactionDoesNotExist), id, now: now)
        case (.ack, let id?), (.cancel, let id?), (.register, let id?), (.subscribe, let id?), (.publish, let id?),
            (.other, let id?):
            self.refuse(request, Refusal(.methodNotAllowed, [self.allowHeader]), id, now: now)
        }
    }

    private mutating func faultInDialog(of request: Inbound, at index: Int) -> Refusal? {
        if request.method != .notify, let refusal = self.fault(of: request) { return refusal }
        switch self.calls[index].received(request.envelope) {
        case .inOrder: return nil
        case .tooLow: return Refusal(.serverInternalError)
        }
    }

    /// What is wrong with a request whatever it is about (RFC 3261 sections 8.2.1 to 8.2.3).
    private func fault(of request: Inbound) -> Refusal? {
        if case .other = request.method { return Refusal(.notImplemented, [self.allowHeader]) }
        guard Self.allowed.contains(request.method) else { return Refusal(.methodNotAllowed, [self.allowHeader]) }
        guard request.uri.sip != nil else { return Refusal(.unsupportedURIScheme) }
        let unknown = request.message.require.filter { !ByteString.contains($0, in: Self.extensions) }
        if !unknown.isEmpty {
            return Refusal(.badExtension, unknown.map { Header(.unsupported, $0) })
        }
        if request.method == .invite, !request.message.acceptsSDP { return Refusal(.notAcceptable) }
        return nil
    }
}

// MARK: - Flows that fail

extension SIPEngine {
    /// Requests of a call come from another address of ours. A connection from the old one carries nothing any more.
    mutating func move(_ handle: CallHandle, to local: SocketAddress, now: Instant) {
        guard let index = self.callIndex(handle), let flow = self.calls[index].dialog?.flow, flow.local != local else {
            return
        }
        if flow.transport.isReliable {
            self.close(flow)
            self.flowFailed(flow, now: now)
        }
        self.calls[index].dialog?.flow.local = local
    }

    /// The session outlives its signalling: a call that stands goes on, and its next request opens a new way.
    mutating func flowFailed(_ flow: Flow, now: Instant) {
        self.streams.removeAll { $0.flow == flow }
        for index in self.calls.indices where self.calls[index].dialog?.flow == flow {
            self.calls[index].dialog?.isFlowOpen = false
        }
        for index in self.clients.indices {
            self.acknowledgeByDatagram(at: index, insteadOf: flow)
            if self.clients[index].flow == flow { self.clientTransportFailed(at: index, now: now) }
        }
        self.registrationsLost(on: flow, now: now)
    }
}
