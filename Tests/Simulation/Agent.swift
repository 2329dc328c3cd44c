// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import RTPWire
import SIPEngine
import SIPWire

/// A scripted user agent: answers, refuses, redirects, keeps silent, changes the session, hangs up and vanishes as the
/// seed says. A stand-in for other people's telephones.
final class Agent: Element {
    static let audioPort: UInt16 = 20_000
    static let videoPort: UInt16 = 20_002

    private(set) var calls: [AgentCall] = []
    /// It was switched off: nothing is answered any more.
    private var hasVanished = false

    init(index: Int, world: World) {
        let address = SocketAddress(.v4(0xC000_0215 + UInt32(index)), port: 5060)
        super.init(index: index, name: "u\(index - 2)", address: address, world: world)
    }

    /// The way to it.
    var hop: Hop { Hop(transport: self.world.options.agentsUseTCP ? .tcp : .udp, address: self.address) }

    private var contact: ByteString {
        var uri = SIPURI(user: ByteString(utf8Of: self.name), host: .address(self.address.address), port: 5060)
        if self.world.options.agentsUseTCP { uri.parameters.set("transport", "tcp") }
        return NameAddr(uri: .sip(uri)).printed
    }

    private func draw(_ bound: UInt64) -> Int { Int(self.world.draw.below(bound)) }

    // MARK: - For the checks

    /// Whether it stands in that dialog, as it sees it itself.
    func isIn(_ name: DialogName) -> Bool {
        !self.hasVanished
            && self.calls.contains {
                $0.state == .standing && $0.callID == name.callID && $0.localTag == name.localTag
                    && $0.remoteTag == name.remoteTag
            }
    }

    /// A dialog in which it waits for the other end that has left.
    var ghost: String? {
        guard !self.hasVanished else { return nil }
        return self.calls.first { $0.state == .standing && $0.isAcknowledged && !$0.wasTold }?.callID.string
    }

    /// The kiosk lost its memory: it cannot tell the end of what it does not know of.
    func forgetGhosts(of kiosk: Int) {
        let address = self.world.kiosks[kiosk].address.address
        for call in self.calls where call.peer == address { call.wasTold = true }
    }

    // MARK: - Requests

    override func received(_ request: SIPMessage, on flow: Flow) {
        guard !self.hasVanished else { return }
        if request.method == .ack { return self.receivedAcknowledge(request) }
        if request.method == .cancel { return self.receivedCancel(request, on: flow) }
        guard self.isNew(request, on: flow) else { return }
        let call = self.calls.first { $0.callID == request.callID?.text && $0.localTag == request.to?.tag }
        guard request.to?.tag != nil else {
            if request.method == .invite { return self.receivedInvite(request, on: flow) }
            return self.answer(request, request.method == .options || request.method == .message ? .ok : .methodNotAllowed, on: flow)
        }
        guard let call, call.state != .over else { return self.answer(request, .callOrTransactionDoesNotExist, on: flow) }
        switch request.method {
        case .bye:
            self.answer(request, .ok, on: flow)
            self.refuse(call, .requestTerminated)
            self.end(call)
        case .invite, .update: self.receivedChange(request, in: call, on: flow)
        case .info, .message, .options, .notify, .prack: self.answer(request, .ok, on: flow)
        default: self.answer(request, .methodNotAllowed, on: flow)
        }
    }

    private func end(_ call: AgentCall) {
        call.state = .over
        call.wasTold = true
        call.accept = nil
    }

    private func receivedInvite(_ request: SIPMessage, on flow: Flow) {
        guard let envelope = request.envelope, let from = request.first(.from), let to = request.first(.to) else { return }
        let tag = self.newToken()
        let call = AgentCall(
            callID: envelope.callID.text, localTag: tag, remoteTag: envelope.from.tag, local: to + ";tag=" + tag,
            remote: from, hop: Hop(transport: flow.transport, address: Self.reply(to: request, on: flow).remote))
        call.target = request.contacts?.first?.uri.sip
        call.routes = request.recordRoutes ?? []
        call.invite = (request, flow)
        call.media.hasVideo = self.draw(3) > 0
        if !request.body.isEmpty { call.take(request.body) }
        self.calls.append(call)
        self.plan(call)
    }

    /// What it does about an INVITE, and when.
    private func plan(_ call: AgentCall) {
        var ms = self.draw(50)
        for _ in 0..<self.draw(3) {
            let status = StatusCode([180, 183, 180, 182, 181][self.draw(5)])
            let isDescribed = status == .sessionProgress || self.draw(4) == 0
            self.later(ms) { $0.progress(call, status, isDescribed: isDescribed) }
            ms += self.draw(1500)
        }
        ms += self.draw(4) == 0 ? self.draw(9000) : self.draw(1500)
        switch self.draw(20) {
        case 0...11: self.later(ms) { $0.accept(call) }
        case 12, 13: self.later(ms) { $0.refuse(call, .busyHere) }
        case 14: self.later(ms) { $0.refuse(call, .decline) }
        case 15: self.later(ms) { $0.refuse(call, .serviceUnavailable) }
        case 16: self.later(ms) { $0.redirect(call) }
        case 17: self.later(ms) { $0.refuse(call, .temporarilyUnavailable) }
        default: break
        }
    }

    private func later(_ ms: Int, _ action: @escaping (Agent) -> Void) {
        self.world.after(ms: ms) { [weak self] _ in
            guard let self, !self.hasVanished else { return }
            action(self)
        }
    }

    private func progress(_ call: AgentCall, _ status: StatusCode, isDescribed: Bool) {
        guard let invite = call.invite else { return }
        var response = SIPMessage(respondingTo: invite.request, status, toTag: call.localTag)
        response.add(.contact, self.contact)
        if isDescribed, !invite.request.body.isEmpty {
            self.describe(&response, call, answering: invite.request.body)
        }
        self.answer(invite.request, with: response, on: invite.flow)
    }

    private func describe(_ message: inout SIPMessage, _ call: AgentCall, answering offer: [UInt8]?) {
        message.add(.contentType, "application/sdp")
        message.body = call.media.description(self.address.address, answering: offer)
    }

    private func refuse(_ call: AgentCall, _ status: StatusCode) {
        guard let invite = call.invite else { return }
        call.invite = nil
        self.end(call)
        self.answer(invite.request, status, tag: call.localTag, on: invite.flow)
        self.repeatFailure(invite.request, on: invite.flow, afterMs: Element.t1Ms, since: self.world.now)
    }

    private func redirect(_ call: AgentCall) {
        guard let invite = call.invite else { return }
        call.invite = nil
        self.end(call)
        var response = SIPMessage(respondingTo: invite.request, StatusCode(302), toTag: call.localTag)
        response.add(.contact, "<sip:u1@192.0.2.10>;q=0.5, <sip:desk@192.0.2.10>")
        self.answer(invite.request, with: response, on: invite.flow)
        self.repeatFailure(invite.request, on: invite.flow, afterMs: Element.t1Ms, since: self.world.now)
    }

    private func repeatFailure(_ request: SIPMessage, on flow: Flow, afterMs: Int, since: Instant) {
        guard flow.transport == .udp, self.world.now < since + .milliseconds(Element.transactionMs) else { return }
        self.later(afterMs) { agent in
            let key = agent.serverKey(request)
            guard let server = agent.servers.first(where: { $0.key == key }), let answer = server.answer,
                !agent.acknowledged.contains(key)
            else { return }
            agent.world.send(answer, from: agent, on: server.flow)
            agent.repeatFailure(request, on: flow, afterMs: min(afterMs * 2, Element.t2Ms), since: since)
        }
    }

    /// Failures whose ACK came.
    private var acknowledged: [ByteString] = []

    // MARK: - Yes

    private func accept(_ call: AgentCall) {
        guard let invite = call.invite else { return }
        call.invite = nil
        call.state = .standing
        var response = SIPMessage(respondingTo: invite.request, .ok, toTag: call.localTag)
        response.add(.contact, self.contact)
        self.describe(&response, call, answering: invite.request.body.isEmpty ? nil : invite.request.body)
        self.sendAccept(response, for: invite.request, in: call, on: invite.flow)
        self.talk(call)
        self.act(call)
    }

    /// A 2xx is sent again until its ACK, by any transport (RFC 3261 section 13.3.1.4).
    private func sendAccept(_ response: SIPMessage, for request: SIPMessage, in call: AgentCall, on flow: Flow) {
        call.accept = (response, request, flow)
        self.answer(request, with: response, on: flow)
        self.repeatAccept(call, request, afterMs: Element.t1Ms, since: self.world.now)
    }

    private func repeatAccept(_ call: AgentCall, _ request: SIPMessage, afterMs: Int, since: Instant) {
        self.later(afterMs) { agent in
            guard let accept = call.accept, accept.request == request else { return }
            guard agent.world.now < since + .milliseconds(Element.transactionMs) else {
                call.accept = nil
                return agent.hangUp(call)
            }
            agent.world.send(Parcel(accept.response), from: agent, on: Self.reply(to: request, on: accept.flow))
            agent.repeatAccept(call, request, afterMs: min(afterMs * 2, Element.t2Ms), since: since)
        }
    }

    private func receivedAcknowledge(_ request: SIPMessage) {
        let call = self.calls.first { $0.callID == request.callID?.text && $0.localTag == request.to?.tag }
        if let call, let accept = call.accept, accept.request.cseq?.number == request.cseq?.number {
            call.accept = nil
            call.isAcknowledged = true
            if !request.body.isEmpty { call.take(request.body) }
        } else {
            self.acknowledged.append(self.serverKey(request, as: .invite))
        }
    }

    private func receivedCancel(_ request: SIPMessage, on flow: Flow) {
        let key = self.serverKey(request, as: .invite)
        let call = self.calls.first { $0.invite.map { self.serverKey($0.request) == key } ?? false }
        let isKnown = call != nil || self.servers.contains { $0.key == key }
        let status: StatusCode = isKnown ? .ok : .callOrTransactionDoesNotExist
        let response = SIPMessage(respondingTo: request, status, toTag: call?.localTag ?? self.newToken())
        self.world.send(Parcel(response), from: self, on: Self.reply(to: request, on: flow))
        if let call { self.refuse(call, .requestTerminated) }
    }

    /// A re-INVITE or UPDATE.
    private func receivedChange(_ request: SIPMessage, in call: AgentCall, on flow: Flow) {
        let roll = self.world.hasFaults ? self.draw(12) : 11
        if roll == 0 || call.isChanging { return self.answer(request, .requestPending, on: flow) }
        if roll == 1 { return self.answer(request, .notAcceptableHere, on: flow) }
        if !request.body.isEmpty { call.take(request.body) }
        call.media.version += 1
        var response = SIPMessage(respondingTo: request, .ok)
        response.add(.contact, self.contact)
        if request.method == .invite || !request.body.isEmpty {
            self.describe(&response, call, answering: request.body.isEmpty ? nil : request.body)
        }
        if request.method == .invite {
            self.sendAccept(response, for: request, in: call, on: flow)
        } else {
            self.answer(request, with: response, on: flow)
        }
    }
}

// MARK: - Calling

extension Agent {
    /// Calls a kiosk, by the proxy or directly.
    func place(to kiosk: KioskNode) {
        guard !self.hasVanished else { return }
        let isDirect = self.draw(3) == 0
        let transport: SIPTransport = isDirect ? (kiosk.options.usesTCP ? .tcp : .udp) : self.hop.transport
        let hop = Hop(transport: transport, address: isDirect ? kiosk.address : Proxy.address)
        let uri = SIPURI(user: ByteString(utf8Of: kiosk.name), host: .address(hop.address.address), port: 5060)
        let tag = self.newToken()
        let own = SIPURI(user: ByteString(utf8Of: self.name), host: .address(self.address.address))
        let call = AgentCall(
            callID: self.newToken(20), localTag: tag, remoteTag: nil, local: NameAddr(own, tag: tag).printed,
            remote: NameAddr(uri).printed, hop: hop)
        call.target = uri
        call.peer = kiosk.address.address
        call.media.hasVideo = self.draw(3) > 0
        self.calls.append(call)
        var invite = call.request(.invite)
        invite.add(.contact, self.contact)
        let isOfferless = self.draw(5) == 0
        if !isOfferless { self.describe(&invite, call, answering: nil) }
        self.world.calls += 1
        call.client = self.start(invite, to: hop) { [weak self] response in
            self?.answered(call, invite, response)
        }
        if self.draw(4) == 0 { self.later(self.draw(800)) { $0.giveUp(call) } }
    }

    private func giveUp(_ call: AgentCall) {
        guard call.state == .early, let client = call.client, !client.isOver, client.hasProvisional else { return }
        self.cancel(client)
    }

    private func answered(_ call: AgentCall, _ invite: SIPMessage, _ response: SIPMessage?) {
        guard !self.hasVanished else { return }
        guard let response, let status = response.status, status.isSuccess else {
            if response?.status?.isFinal ?? true { self.end(call) }
            return
        }
        guard let tag = response.to?.tag else { return }
        let isFirst = call.remoteTag == nil
        if isFirst {
            call.remoteTag = tag
            call.remote = response.first(.to) ?? call.remote
            call.target = response.contacts?.first?.uri.sip ?? call.target
            call.routes = (response.recordRoutes ?? []).reversed()
            call.state = .standing
            call.take(response.body)
        } else if call.remoteTag != tag {
            return
        }
        guard call.state == .standing || !isFirst else { return }
        var ack = call.request(.ack, number: invite.cseq?.number)
        if invite.body.isEmpty { self.describe(&ack, call, answering: response.body) }
        self.sendAcknowledge(ack, call)
        call.isAcknowledged = true
        guard isFirst else { return }
        self.talk(call)
        self.act(call)
    }

    private func sendAcknowledge(_ ack: SIPMessage, _ call: AgentCall) {
        var ack = ack
        let hop = call.nextHop
        let branch = Via.magicCookie + self.newToken()
        ack.prepend(.via, Via(transport: hop.transport, sentBy: self.address, branch: branch).printed)
        self.world.send(Parcel(ack), from: self, on: self.flow(to: hop))
    }
}

// MARK: - In the call

extension Agent {
    /// A few things that it does in a call while the world is hostile.
    private func act(_ call: AgentCall) {
        var ms = 0
        for _ in 0..<self.draw(6) {
            ms += self.draw(3000)
            let roll = self.draw(16)
            self.later(ms) { agent in
                guard agent.world.hasFaults, call.state == .standing else { return }
                agent.act(call, roll)
            }
        }
    }

    private func act(_ call: AgentCall, _ roll: Int) {
        switch roll {
        case 0...4: self.change(call, to: [.sendonly, .inactive, .zero, .sendrecv, .sendrecv][self.draw(5)])
        case 5: self.change(call, to: nil)
        case 6, 7: self.ask(call, .update, "application/sdp")
        case 8: self.ask(call, .info, "application/media_control+xml")
        case 9: self.ask(call, .info, "application/dtmf-relay")
        case 10: self.ask(call, .message, "text/plain")
        case 11: self.ask(call, .options, nil)
        case 12, 13: self.hangUp(call)
        case 14 where call.media.sends:
            self.world.note("\(self.name) vanishes")
            self.hasVanished = true
        default: break
        }
    }

    /// Re-INVITE; without a stance it has no offer.
    private func change(_ call: AgentCall, to stance: AgentMedia.Stance?) {
        guard !call.isChanging, call.accept == nil, call.isAcknowledged else { return }
        let former = call.media
        if let stance { call.media.stance = stance }
        call.media.version += 1
        var invite = call.request(.invite)
        invite.add(.contact, self.contact)
        if stance != nil { self.describe(&invite, call, answering: nil) }
        call.isChanging = true
        self.start(invite, to: call.nextHop) { [weak self] response in
            guard let self, !self.hasVanished else { return }
            self.changed(call, invite, response, former)
        }
    }

    private func changed(_ call: AgentCall, _ invite: SIPMessage, _ response: SIPMessage?, _ former: AgentMedia) {
        if let status = response?.status, status.isProvisional { return }
        call.isChanging = false
        guard let response, let status = response.status, status.isSuccess else {
            call.media.stance = former.stance
            self.lost(call, response?.status)
            return
        }
        call.take(response.body)
        var ack = call.request(.ack, number: invite.cseq?.number)
        if invite.body.isEmpty { self.describe(&ack, call, answering: response.body) }
        self.sendAcknowledge(ack, call)
    }

    /// The other end does not know the call, or says nothing at all (RFC 3261 section 12.2.1.2).
    private func lost(_ call: AgentCall, _ status: StatusCode?) {
        if status == nil { return self.hangUp(call) }
        if status == .callOrTransactionDoesNotExist { self.end(call) }
    }

    private func ask(_ call: AgentCall, _ method: Method, _ type: ByteString?) {
        if method == .update, call.isChanging || call.accept != nil { return }
        var request = call.request(method)
        if method == .update {
            request.add(.contact, self.contact)
            call.media.version += 1
            self.describe(&request, call, answering: nil)
            call.isChanging = true
        } else if let type {
            request.add(.contentType, type)
            request.body = Array((type == "application/dtmf-relay" ? "Signal=5\r\nDuration=160\r\n" : "hello").utf8)
        }
        self.start(request, to: call.nextHop) { [weak self] response in
            if response?.status?.isProvisional ?? false { return }
            if method == .update { call.isChanging = false }
            if let response, response.status?.isSuccess ?? false, method == .update { call.take(response.body) }
            self?.lost(call, response?.status)
        }
    }

    func hangUp(_ call: AgentCall) {
        guard call.state == .standing else { return }
        self.end(call)
        self.start(call.request(.bye), to: call.nextHop) { _ in }
    }

    /// Sound, once a second, while the call stands and the other end wants it.
    private func talk(_ call: AgentCall) {
        guard call.state == .standing, !self.hasVanished else { return }
        if let remote = call.soundTo, call.media.sends {
            call.packets &+= 1
            let packet = RTPPacket(
                marker: call.packets == 1, payloadType: PayloadType(0), sequence: SequenceNumber(call.packets),
                timestamp: RTPTimestamp(UInt32(call.packets) * 8000), ssrc: SSRC(UInt32(truncatingIfNeeded: call.localTag.hashSeed)),
                payload: [0xD5, 0xD5, 0xD5, 0xD5])
            let source = SocketAddress(self.address.address, port: Self.audioPort)
            self.world.sendMedia(packet.printed(), from: source, to: remote)
        }
        self.later(1000) { $0.talk(call) }
    }

    func heard(from source: SocketAddress) {}
}

extension ByteString {
    /// A number from the bytes, the same in every run.
    var hashSeed: UInt64 {
        self.bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
