// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import SIPEngine
import SIPWire

/// An agent as caller.
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

    func sendAcknowledge(_ ack: SIPMessage, _ call: AgentCall) {
        var ack = ack
        let hop = call.nextHop
        let branch = Via.magicCookie + self.newToken()
        ack.prepend(.via, Via(transport: hop.transport, sentBy: self.address, branch: branch).printed)
        self.world.send(Parcel(ack), from: self, on: self.flow(to: hop))
    }
}
