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
        guard let target = entry.request.requestURI else { preconditionFailure("a request of ours has a target") }
        var message = SIPMessage(startLine: .request(.cancel, target))
        message.headers = entry.request.headers.filter {
            switch $0.name {
            case .via, .maxForwards, .route, .from, .to, .callID, .authorization, .proxyAuthorization: return true
            default: return false
            }
        }
        message.add(.cseq, CSeq(entry.number, .cancel).printed)
        message.headers += told.headers
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
            self.end(index, reason, now: now)
        case .refuse: self.refusePending(index, .requestTerminated, now: now)
        case .ignore: break
        }
    }
}

extension HangUpReason {
    /// What the peer is told in CANCEL and BYE (RFC 3326); nothing where there is nothing to explain.
    var headers: [Header] {
        switch self {
        case .normal: return []
        case .fault(let status, let text):
            let sip = Header(.reason, Reason(protocolName: "SIP", cause: status.value, text: text).printed)
            guard let cause = status.q850 else { return [sip] }
            return [sip, Header(.reason, Reason(protocolName: "Q.850", cause: cause, text: nil).printed)]
        }
    }
}

extension StatusCode {
    /// The Q.850 cause that says the same, for gateways to the telephone network (RFC 3398 section 8.2.6.1 read
    /// backwards); nil where none is plain.
    fileprivate var q850: Int? {
        switch self {
        case .notFound: return 1
        case .busyHere: return 17
        case .temporarilyUnavailable: return 18
        case .decline: return 21
        case .serverInternalError: return 41
        case .requestTimeout: return 102
        default: return nil
        }
    }
}
