// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import SIPEngine
import SIPWire

/// An agent as caller.
extension Agent {
    /// Calls a kiosk, by the proxy or directly.
    func place(to kiosk: KioskNode, replacing former: ByteString? = nil) {
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
        invite.add(.supported, self.draw(2) == 0 ? "100rel, timer, replaces" : "timer")
        invite.add(.allow, "INVITE, ACK, CANCEL, BYE, PRACK, UPDATE, INFO, MESSAGE, NOTIFY, REFER, OPTIONS")
        if self.draw(8) == 0 { invite.add(.require, "100rel") }
        if self.draw(6) == 0 { invite.add(.callInfo, "<sip:x>;answer-after=0") }
        if self.draw(3) == 0 { invite.add(.sessionExpires, self.draw(2) == 0 ? "90" : "90;refresher=uac") }
        if let former { invite.add(.replaces, former) }
        let isOfferless = self.draw(5) == 0
        if !isOfferless { self.describe(&invite, call, answering: nil) }
        self.world.attempts += 1
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
            if response?.status?.isFinal ?? true { return self.end(call) }
            if let response { self.progressed(call, invite, response) }
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
            if !response.body.isEmpty { call.take(response.body) }
        } else if call.remoteTag != tag {
            return
        }
        guard call.state == .standing || !isFirst else { return }
        var ack = call.request(.ack, number: invite.cseq?.number)
        if invite.body.isEmpty, !call.isDescribed { self.describe(&ack, call, answering: response.body) }
        self.sendAcknowledge(ack, call)
        call.isAcknowledged = true
        guard isFirst else { return }
        self.talk(call)
        self.act(call)
        if let interval = response.first(.sessionExpires), interval.hasSuffix("refresher=uac") { self.refresh(call) }
    }

    /// A reliable 1xx wants a PRACK (RFC 3262 section 4).
    private func progressed(_ call: AgentCall, _ invite: SIPMessage, _ response: SIPMessage) {
        guard response.require.contains("100rel"), let number = response.first(.rseq)?.decimal(max: 1 << 31),
            let tag = response.to?.tag, let to = response.first(.to)
        else { return }
        let early = AgentCall(
            callID: call.callID, localTag: call.localTag, remoteTag: tag, local: call.local, remote: to, hop: call.hop)
        early.target = response.contacts?.first?.uri.sip ?? call.target
        early.routes = (response.recordRoutes ?? []).reversed()
        guard UInt32(number) > call.takenNumber || call.takenNumber == 0 else { return }
        call.takenNumber = UInt32(number)
        call.number += 1
        var prack = early.request(.prack, number: call.number)
        prack.add(.rack, ByteString(decimal: number) + " " + (invite.cseq?.printed ?? ""))
        // The offer of who was asked for one: its answer must not wait for the ACK.
        if invite.body.isEmpty, !response.body.isEmpty {
            self.describe(&prack, call, answering: response.body)
            call.take(response.body)
            call.isDescribed = true
        }
        self.start(prack, to: early.nextHop) { _ in }
    }

    func sendAcknowledge(_ ack: SIPMessage, _ call: AgentCall) {
        var ack = ack
        let hop = call.nextHop
        let branch = Via.magicCookie + self.newToken()
        ack.prepend(.via, Via(transport: hop.transport, sentBy: self.address, branch: branch).printed)
        self.world.send(Parcel(ack), from: self, on: self.flow(to: hop))
    }
}
