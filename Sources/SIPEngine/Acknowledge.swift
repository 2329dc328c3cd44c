// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// ACK in both directions: RFC 3261 sections 13.2.2.4, 13.3.1.4 and 17.1.1.3.
extension SIPEngine {
    /// Acknowledges a 2xx within its dialog, and keeps the ACK for the copies of the 2xx.
    /// - Parameters:
    ///   - number: that of the INVITE.
    ///   - body: our answer, where the offer was theirs.
    ///   - client: the INVITE's entry; nil where there is none any more.
    mutating func acknowledge(_ dialog: Dialog, number: UInt32, body: [UInt8], at client: Int?) {
        var message = dialog.request(.ack, number: number)
        if let client { message.headers += self.clients[client].request.credentials }
        if !body.isEmpty {
            message.add(.contentType, "application/sdp")
            message.body = body
        }
        let hop = dialog.nextHop
        let flow = self.way(of: message, on: hop)
        let bytes = self.printed(message, on: flow)
        if let client {
            self.clients[client].acknowledged.append(
                ClientEntry.Acknowledged(
                    remoteTag: dialog.remoteTag, request: message, bytes: bytes, flow: flow,
                    insteadOf: flow == hop ? nil : hop))
        }
        self.send(bytes, on: flow)
    }

    /// A copy of a 2xx came. Who sends it still believes in the call: a BYE that reached nobody is said again.
    mutating func acknowledgeAgain(_ copy: Int, at client: Int, now: Instant) {
        let acknowledged = self.clients[client].acknowledged[copy]
        self.send(acknowledged.bytes, on: acknowledged.flow)
        guard let bye = acknowledged.unheardBye else { return }
        self.clients[client].acknowledged[copy].unheardBye = nil
        self.sendRequest(
            self.again(bye.request, after: bye.lastNumber), on: acknowledged.insteadOf ?? acknowledged.flow,
            for: .discard, now: now)
    }

    /// A request that has no transaction, with a Via of its own.
    mutating func printed(_ message: SIPMessage, on flow: Flow) -> [UInt8] {
        var message = message
        message.prepend(.via, self.via(self.newBranch(), flow).printed)
        return message.printed()
    }

    /// Acknowledges a 300–699: part of the INVITE's transaction, with its branch and on its way.
    mutating func acknowledgeFailure(at client: Int, _ response: SIPMessage) {
        let entry = self.clients[client]
        if let copy = entry.acknowledgement { return self.send(copy, on: entry.flow) }
        guard let target = entry.request.requestURI else { preconditionFailure("a request of ours has a target") }
        var message = SIPMessage(startLine: .request(.ack, target))
        message.headers = entry.request.headers.filter {
            switch $0.name {
            case .via, .maxForwards, .route, .from, .callID, .authorization, .proxyAuthorization: return true
            default: return false
            }
        }
        message.add(.to, response.first(.to) ?? ByteString())
        message.add(.cseq, CSeq(entry.number, .ack).printed)
        let bytes = message.printed()
        self.clients[client].acknowledgement = bytes
        self.send(bytes, on: entry.flow)
    }

    /// An ACK of the peer's: for a 300–699 of ours, taken by its transaction, or for a 2xx, which is the call's.
    mutating func receivedAcknowledge(_ request: Inbound, now: Instant) {
        if let server = self.serverIndex(of: request, as: .invite),
            case .invite(var machine) = self.servers[server].machine
        {
            let action = machine.receivedAcknowledge(now: now)
            self.servers[server].machine = .invite(machine)
            switch action {
            case .absorb: return
            case .passUp: break
            }
        }
        guard let index = self.callIndex(owning: request.envelope),
            let accept = self.calls[index].accept, accept.number == request.envelope.cseq.number
        else { return self.counters.add(.strayAcknowledge) }
        switch self.calls[index].machine.receivedAcknowledge() {
        case .report:
            self.calls[index].accept = nil
            let answer: [UInt8]? = if case .sdp(let sdp) = request.message.sessionDescription { sdp } else { nil }
            self.tell(self.calls[index].handle, .confirmed(answer: accept.owesAnswer ? answer : nil))
        case .sendBye(let told):
            self.calls[index].accept = nil
            self.sendBye(index, told, now: now)
        case .ignore: break
        }
    }
}
