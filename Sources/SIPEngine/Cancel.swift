// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// CANCEL in both directions: RFC 3261 section 9.
extension SIPEngine {
    /// Sends CANCEL for the call's INVITE, which got a 1xx and no final answer.
    mutating func sendCancel(_ index: Int, _ told: HangUpReason, now: Instant) {
        guard let client = self.inviteIndex(of: self.calls[index].handle) else {
            preconditionFailure("the machine cancels only while the INVITE is unanswered")
        }
        let entry = self.clients[client]
        guard let target = entry.request.requestURI, let number = entry.request.cseq?.number else {
            preconditionFailure("a request of ours has a target and a number")
        }
        var message = SIPMessage(startLine: .request(.cancel, target))
        message.headers = entry.request.headers.filter {
            switch $0.name {
            case .via, .maxForwards, .route, .from, .to, .callID: return true
            default: return false
            }
        }
        message.add(.cseq, CSeq(number, .cancel).printed)
        if let reason = told.header { message.headers.append(reason) }
        self.start(message, branch: entry.branch, on: entry.flow, for: .cancel, now: now)
    }

    /// Answered without keeping state: a copy finds the INVITE's transaction as the first one did.
    mutating func receivedCancel(_ request: Inbound, now: Instant) {
        guard let server = self.serverIndex(of: request, as: .invite) else {
            self.counters.add(.strayRequest)
            return self.refuse(request, Refusal(.callOrTransactionDoesNotExist))
        }
        let id = self.servers[server].id
        // The same tag as in the answers to the INVITE (section 9.2).
        let tag = self.servers[server].localTag
        self.send(self.response(to: request, .ok, tag: tag).printed(), on: request.reply)
        let index = self.calls.firstIndex { $0.pending == id && $0.machine.state != .ended }
        guard let index else { return }
        switch self.calls[index].machine.receivedCancel() {
        case .refuseAndEnd(let reason):
            self.refusePending(index, .requestTerminated, now: now)
            self.end(index, reason)
        case .refuse: self.refusePending(index, .requestTerminated, now: now)
        case .ignore: break
        }
    }
}

extension HangUpReason {
    /// What the peer is told in CANCEL and BYE (RFC 3326); nothing where there is nothing to explain.
    var header: Header? {
        switch self {
        case .normal: return nil
        case .fault(let status, let text):
            return Header(.reason, Reason(protocolName: "SIP", cause: status.value, text: text).printed)
        }
    }
}
