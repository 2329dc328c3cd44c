// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import RTPWire
import SIPEngine
import SIPWire

/// An agent in its calls.
extension Agent {
    /// A few things that it does in a call while the world is hostile.
    func act(_ call: AgentCall) {
        var ms = 0
        for _ in 0..<self.draw(6) {
            ms += self.draw(3000)
            let roll = self.draw(17)
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
        case 15: self.refer(call)
        case 16: self.handOver(call)
        case 14 where call.media.sends:
            self.world.note("\(self.name) vanishes")
            self.hasVanished = true
        default: break
        }
    }

    /// An UPDATE before the answer to the INVITE.
    func changeEarly(_ call: AgentCall) {
        guard call.state == .early, call.invite != nil else { return }
        self.ask(call, .update, "application/sdp")
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

    /// Wants the other end to call somebody else in its place.
    private func refer(_ call: AgentCall) {
        var request = call.request(.refer)
        request.add(.contact, self.contact)
        let users = ["desk", "k1", "k2", "u1", "u2", "u3", "nobody"]
        let user = users[self.draw(UInt64(users.count))]
        request.add(.referTo, ByteString(utf8Of: "<sip:\(user)@192.0.2.10>"))
        request.add(.referredBy, ByteString(utf8Of: "<sip:\(self.name)@192.0.2.10>"))
        let leaves = self.draw(3) == 0
        self.start(request, to: call.nextHop) { [weak self] response in
            guard let status = response?.status else { return self?.lost(call, nil) ?? () }
            if status.isSuccess, leaves { self?.hangUp(call) }
            if status == .callOrTransactionDoesNotExist { self?.lost(call, status) }
        }
    }

    /// Lets another agent take the call over (Replaces, RFC 3891).
    private func handOver(_ call: AgentCall) {
        let others = self.world.agents.filter { $0 !== self }
        guard !others.isEmpty, let remoteTag = call.remoteTag,
            let kiosk = self.world.kiosks.first(where: { $0.address.address == call.peer })
        else { return }
        let other = others[self.draw(UInt64(others.count))]
        other.place(to: kiosk, replacing: call.callID + ";to-tag=" + remoteTag + ";from-tag=" + call.localTag)
    }

    /// Refreshes the session at half its interval, as long as it stands.
    func refresh(_ call: AgentCall) {
        self.later(45_000) { agent in
            guard call.state == .standing, !call.isChanging else { return }
            var request = call.request(.update)
            request.add(.contact, agent.contact)
            request.add(.supported, "timer")
            request.add(.sessionExpires, "90;refresher=uac")
            agent.start(request, to: call.nextHop) { [weak agent] in
                if !($0?.status?.isProvisional ?? false) { agent?.lost(call, $0?.status) }
            }
            agent.refresh(call)
        }
    }

    func hangUp(_ call: AgentCall) {
        guard call.state == .standing else { return }
        self.end(call)
        self.start(call.request(.bye), to: call.nextHop) { _ in }
    }

    /// Sound, once a second, while the call stands and the other end wants it.
    func talk(_ call: AgentCall) {
        guard call.state == .standing, !self.hasVanished else { return }
        if let remote = call.soundTo, call.media.sends {
            call.packets &+= 1
            let source = SSRC(UInt32(truncatingIfNeeded: call.localTag.hashSeed))
            let packet = RTPPacket(
                marker: call.packets == 1, payloadType: PayloadType(0), sequence: SequenceNumber(call.packets),
                timestamp: RTPTimestamp(UInt32(call.packets) * 8000), ssrc: source, payload: [0xD5, 0xD5, 0xD5, 0xD5])
            let port = SocketAddress(self.address.address, port: Self.audioPort)
            self.world.sendMedia(packet.printed(), from: port, to: remote)
        }
        self.later(1000) { $0.talk(call) }
    }

    func heard(from source: SocketAddress) {}
}
