// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import SIPEngine
import SIPWire

/// An agent as callee: what it says before its final answer, and no.
extension Agent {
    func receivedInvite(_ request: SIPMessage, on flow: Flow) {
        guard let envelope = request.envelope, let from = request.first(.from), let to = request.first(.to) else {
            return
        }
        let tag = self.newToken()
        let call = AgentCall(
            callID: envelope.callID.text, localTag: tag, remoteTag: envelope.from.tag, local: to + ";tag=" + tag,
            remote: from, hop: Hop(transport: flow.transport, address: Self.reply(to: request, on: flow).remote))
        call.target = request.contacts?.first?.uri.sip
        call.routes = request.recordRoutes ?? []
        call.invite = (request, flow)
        call.media.hasVideo = self.draw(3) > 0
        call.knowsPrack = request.supported.contains("100rel") || request.require.contains("100rel")
        if !request.body.isEmpty { call.take(request.body) }
        self.calls.append(call)
        if self.draw(30) == 0 { return self.refuseInterval(call) }
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

    func later(_ ms: Int, _ action: @escaping (Agent) -> Void) {
        self.world.after(ms: ms) { [weak self] _ in
            guard let self, !self.hasVanished else { return }
            action(self)
        }
    }

    private func progress(_ call: AgentCall, _ status: StatusCode, isDescribed: Bool) {
        guard let invite = call.invite, call.reliable == nil else { return }
        var response = SIPMessage(respondingTo: invite.request, status, toTag: call.localTag)
        response.add(.contact, self.contact)
        let isReliable = call.knowsPrack && self.draw(2) == 0
        let isDescribed = isDescribed && !invite.request.body.isEmpty && !call.isDescribed
        if isDescribed { self.describe(&response, call, answering: invite.request.body) }
        guard isReliable else { return self.answer(invite.request, with: response, on: invite.flow) }
        if call.reliableNumber == 0 { call.reliableNumber = UInt32(1 + self.draw(1_000_000)) }
        call.reliableNumber += 1
        if isDescribed { call.isDescribed = true }
        response.add(.require, "100rel")
        response.add(.rseq, ByteString(decimal: call.reliableNumber))
        call.reliable = (call.reliableNumber, response)
        self.repeatReliable(call, call.reliableNumber, afterMs: Element.t1Ms)
    }

    /// Until its PRACK (RFC 3262 section 3).
    private func repeatReliable(_ call: AgentCall, _ number: UInt32, afterMs: Int) {
        guard let reliable = call.reliable, reliable.number == number, let invite = call.invite else { return }
        guard afterMs < Element.transactionMs else { return self.refuse(call, StatusCode(504)) }
        self.answer(invite.request, with: reliable.response, on: invite.flow)
        self.later(afterMs) { $0.repeatReliable(call, number, afterMs: 2 * afterMs) }
    }

    /// The session interval is too small (RFC 4028 section 6).
    private func refuseInterval(_ call: AgentCall) {
        guard let invite = call.invite else { return }
        call.invite = nil
        self.end(call)
        var response = SIPMessage(respondingTo: invite.request, StatusCode(422), toTag: call.localTag)
        response.add(.minSE, "2400")
        self.answer(invite.request, with: response, on: invite.flow)
        self.repeatFailure(invite.request, on: invite.flow, afterMs: Element.t1Ms, since: self.world.now)
    }

    func describe(_ message: inout SIPMessage, _ call: AgentCall, answering offer: [UInt8]?) {
        message.add(.contentType, "application/sdp")
        message.body = call.media.description(self.address.address, answering: offer)
    }

    func refuse(_ call: AgentCall, _ status: StatusCode) {
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
}
