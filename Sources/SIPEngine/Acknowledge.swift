// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// ACK in both directions: RFC 3261 sections 13.2.2.4, 13.3.1.4 and 17.1.1.3.
extension SIPEngine {
    /// Acknowledges the 2xx that made `dialog`, and keeps the ACK for its copies.
    mutating func acknowledge(_ dialog: Dialog, at client: Int) {
        guard let number = self.clients[client].request.cseq?.number else {
            preconditionFailure("a request of ours has a number")
        }
        let flow = dialog.nextHop
        var message = dialog.request(.ack, number: number)
        message.prepend(.via, self.via(self.newBranch(), flow).printed)
        let bytes = message.printed()
        self.clients[client].acknowledged.append(
            ClientEntry.Acknowledged(remoteTag: dialog.remoteTag, bytes: bytes, flow: flow))
        self.send(bytes, on: flow)
    }

    /// Acknowledges a 300–699: part of the INVITE's transaction, with its branch and on its way.
    mutating func acknowledgeFailure(at client: Int, _ response: SIPMessage) {
        let entry = self.clients[client]
        if let copy = entry.acknowledgement { return self.send(copy, on: entry.flow) }
        guard let target = entry.request.requestURI, let number = entry.request.cseq?.number else {
            preconditionFailure("a request of ours has a target and a number")
        }
        var message = SIPMessage(startLine: .request(.ack, target))
        message.headers = entry.request.headers.filter {
            switch $0.name {
            case .via, .maxForwards, .route, .from, .callID: return true
            default: return false
            }
        }
        message.add(.to, response.first(.to) ?? ByteString())
        message.add(.cseq, CSeq(number, .ack).printed)
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
