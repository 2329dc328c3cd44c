// SPDX-License-Identifier: Apache-2.0
import Bytes
import KioskEngine
import SIPEngine
import SIPWire

/// A scripted user agent: answers, refuses, redirects, keeps silent, changes the session, hangs up and vanishes as the
/// seed says. A stand-in for other people's telephones.
final class Agent: Element {
    static let audioPort: UInt16 = 20_000
    static let videoPort: UInt16 = 20_002

    var calls: [AgentCall] = []
    /// Failures whose ACK came.
    var acknowledged: [ByteString] = []
    /// It was switched off: nothing is answered any more.
    var hasVanished = false

    init(index: Int, world: World) {
        let address = SocketAddress(.v4(0xC000_0215 + UInt32(index)), port: 5060)
        super.init(index: index, name: "u\(index - 2)", address: address, world: world)
    }

    /// The way to it.
    var hop: Hop { Hop(transport: self.world.options.agentsUseTCP ? .tcp : .udp, address: self.address) }

    var contact: ByteString {
        var uri = SIPURI(user: ByteString(utf8Of: self.name), host: .address(self.address.address), port: 5060)
        if self.world.options.agentsUseTCP { uri.parameters.set("transport", "tcp") }
        return NameAddr(uri: .sip(uri)).printed
    }

    func draw(_ bound: UInt64) -> Int { Int(self.world.draw.below(bound)) }

    // MARK: - For the checks

    /// Whether it stands in that dialog, as it sees it itself.
    func isIn(_ name: DialogName) -> Bool {
        !self.hasVanished
            && self.calls.contains {
                $0.state == .standing && $0.callID == name.callID && $0.localTag == name.localTag
                    && $0.remoteTag == name.remoteTag
            }
    }

    /// The faults stop: a kiosk that still knows of a call will tell its end.
    func expectNews() {
        for call in self.calls {
            let name = DialogName(callID: call.callID, localTag: call.localTag, remoteTag: call.remoteTag).mirrored
            call.expectsNews = self.world.kiosks.contains { kiosk in
                kiosk.state == "connected" && name.map { kiosk.census.dialogs.contains($0) } ?? false
            }
        }
    }

    /// A dialog in which it waits for another end that has left.
    var ghost: String? {
        guard !self.hasVanished else { return nil }
        let ghost = self.calls.first {
            $0.state == .standing && $0.isAcknowledged && !$0.wasTold && ($0.expectsNews || self.world.options.isFine)
        }
        return ghost?.callID.string
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
            let isTaken = request.method == .options || request.method == .message
            return self.answer(request, isTaken ? .ok : .methodNotAllowed, on: flow)
        }
        guard let call, call.state != .over else {
            return self.answer(request, .callOrTransactionDoesNotExist, on: flow)
        }
        switch request.method {
        case .bye:
            self.answer(request, .ok, on: flow)
            self.refuse(call, .requestTerminated)
            self.end(call)
        case .invite, .update: self.receivedChange(request, in: call, on: flow)
        case .prack: self.receivedPrack(request, in: call, on: flow)
        case .info, .message, .options, .notify: self.answer(request, .ok, on: flow)
        default: self.answer(request, .methodNotAllowed, on: flow)
        }
    }

    func end(_ call: AgentCall) {
        call.state = .over
        call.wasTold = true
        call.accept = nil
    }

    private func receivedPrack(_ request: SIPMessage, in call: AgentCall, on flow: Flow) {
        self.answer(request, call.reliable == nil ? .callOrTransactionDoesNotExist : .ok, on: flow)
        call.reliable = nil
        // The early session can be changed once its answer has arrived (RFC 3311 section 5.1).
        if call.isDescribed, self.draw(3) == 0 { self.later(self.draw(500)) { $0.changeEarly(call) } }
    }

    // MARK: - Yes

    func accept(_ call: AgentCall) {
        guard let invite = call.invite else { return }
        // What is in an open 1xx must arrive first (RFC 3262 section 3).
        guard call.reliable == nil else { return self.later(200) { $0.accept(call) } }
        call.invite = nil
        call.state = .standing
        var response = SIPMessage(respondingTo: invite.request, .ok, toTag: call.localTag)
        response.add(.contact, self.contact)
        if !call.isDescribed || self.draw(2) == 0 {
            self.describe(&response, call, answering: invite.request.body.isEmpty ? nil : invite.request.body)
        }
        self.timeSession(&response, call, invite.request)
        self.sendAccept(response, for: invite.request, in: call, on: invite.flow)
        self.talk(call)
        self.act(call)
    }

    /// Wants the session refreshed (RFC 4028), whoever asked for it.
    private func timeSession(_ response: inout SIPMessage, _ call: AgentCall, _ request: SIPMessage) {
        guard self.draw(3) == 0, request.supported.contains("timer") else { return }
        let isOurs = self.draw(2) == 0
        response.add(.sessionExpires, isOurs ? "90;refresher=uas" : "90;refresher=uac")
        response.add(.require, "timer")
        if isOurs { self.refresh(call) }
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
