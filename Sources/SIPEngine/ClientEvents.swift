// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// What happens to a request of ours: it is answered, its time is over, or its way fails.
extension SIPEngine {
    func clientIndex(answeredBy response: SIPMessage) -> Int? {
        guard let branch = response.topVia?.branch, let method = response.cseq?.method else { return nil }
        return self.clients.firstIndex { $0.branch == branch && $0.method == method && !$0.isTerminated }
    }

    mutating func receivedResponse(_ response: SIPMessage, now: Instant) {
        guard response.vias?.count == 1, let status = response.status else {
            return self.counters.add(.misdirectedResponse)
        }
        guard let index = self.clientIndex(answeredBy: response) else { return self.counters.add(.strayResponse) }
        switch self.clients[index].machine {
        case .invite(var machine):
            let action = machine.received(status, now: now)
            self.clients[index].machine = .invite(machine)
            self.perform(action, at: index, response, status, now)
        case .other(var machine):
            let action = machine.received(status, now: now)
            self.clients[index].machine = .other(machine)
            switch action {
            case .passUp:
                if self.isAuthorizedAgain(at: index, response, status, now: now) { return }
                self.finished(self.clients[index].purpose, response, status, now)
            case .ignore: break
            }
        }
    }

    private mutating func perform(
        _ action: InviteClientTransaction.OnResponse, at index: Int, _ response: SIPMessage, _ status: StatusCode,
        _ now: Instant
    ) {
        switch action {
        case .passUp:
            if status.isSuccess { _ = self.isAuthorizedAgain(at: index, response, status, now: now) }
            self.invitePassedUp(at: index, response, status, now)
        case .passUpAndAcknowledge:
            self.acknowledgeFailure(at: index, response)
            if self.isAuthorizedAgain(at: index, response, status, now: now) { return }
            self.inviteRefused(at: index, response, status, now)
        case .acknowledge:
            self.acknowledgeFailure(at: index, response)
        case .ignore:
            break
        }
    }

    private mutating func invitePassedUp(
        at index: Int, _ response: SIPMessage, _ status: StatusCode, _ now: Instant
    ) {
        switch self.clients[index].purpose {
        case .invite(let handle):
            if status.isProvisional {
                self.receivedProvisional(handle, at: index, response, status, now)
            } else {
                self.receivedSuccess(handle, at: index, response, now)
            }
        case .reinvite(let handle):
            if status.isSuccess { self.reinviteSucceeded(handle, at: index, response, now: now) }
        case .cancel, .bye, .lastBye, .refresh, .prack, .discard, .inform, .message, .notify, .register, .probe:
            preconditionFailure("these are no INVITEs")
        }
    }

    private mutating func inviteRefused(
        at index: Int, _ response: SIPMessage, _ status: StatusCode, _ now: Instant
    ) {
        switch self.clients[index].purpose {
        case .invite(let handle): self.receivedRefusal(handle, response, status, now)
        case .reinvite(let handle): self.reinviteRefused(handle, response, status, now: now)
        case .cancel, .bye, .lastBye, .refresh, .prack, .discard, .inform, .message, .notify, .register, .probe:
            preconditionFailure("these are no INVITEs")
        }
    }

    mutating func clientFired(_ timer: SIPTimer, at index: Int, now: Instant) {
        switch self.clients[index].machine {
        case .invite(var machine):
            let action = machine.fired(timer, now: now)
            self.clients[index].machine = .invite(machine)
            switch action {
            case .retransmit: self.sendAgain(index)
            case .giveUp: self.failed(self.clients[index].purpose, .timedOut, now)
            case .doNothing: break
            }
        case .other(var machine):
            let action = machine.fired(timer, now: now)
            self.clients[index].machine = .other(machine)
            switch action {
            case .retransmit: self.sendAgain(index)
            case .giveUp:
                self.sayByeAgain(index, now: now)
                self.failed(self.clients[index].purpose, .timedOut, now)
            case .doNothing: break
            }
        }
    }

    mutating func clientTransportFailed(at index: Int, now: Instant) {
        if self.sendAsDatagram(at: index, now: now) { return }
        let isReported: Bool
        switch self.clients[index].machine {
        case .invite(var machine):
            isReported = machine.transportFailed(now: now) == .report
            self.clients[index].machine = .invite(machine)
        case .other(var machine):
            isReported = machine.transportFailed() == .report
            self.clients[index].machine = .other(machine)
        }
        guard isReported else { return }
        self.noteUnheard(index)
        self.failed(self.clients[index].purpose, .flowFailed, now)
    }

    private mutating func sendAgain(_ index: Int) {
        self.counters.add(.retransmitted)
        self.send(self.clients[index].bytes, on: self.clients[index].flow)
    }

    /// The final answer to a request that is no INVITE.
    private mutating func finished(
        _ purpose: ClientEntry.Purpose, _ response: SIPMessage, _ status: StatusCode, _ now: Instant
    ) {
        switch purpose {
        case .bye(let handle): self.byeFinished(handle, now: now)
        case .refresh(let handle): self.refreshFinished(handle, response, status, now: now)
        // The INVITE's own final answer ends a cancelled call.
        case .cancel, .discard, .lastBye, .prack, .invite, .reinvite: break
        case .inform(let handle): self.informFinished(handle, status, now: now)
        case .message(let id): self.put(.messageFinished(id, status))
        case .probe(let id): self.put(.probed(id, status))
        case .notify(let id): self.notified(id, isTaken: status.isSuccess, now: now)
        case .register(let id): self.registerFinished(id, response, status, now: now)
        }
    }

    private mutating func failed(_ purpose: ClientEntry.Purpose, _ reason: EndReason, _ now: Instant) {
        self.counters.add(.unanswered)
        let status: StatusCode = reason == .timedOut ? .requestTimeout : .serviceUnavailable
        switch purpose {
        case .invite(let handle): self.receivedFailure(handle, reason, now: now)
        case .bye(let handle): self.byeFinished(handle, now: now)
        case .reinvite(let handle): self.reinviteFailed(handle, reason, now: now)
        case .refresh(let handle): self.refreshFailed(handle, reason, now: now)
        case .cancel, .discard, .lastBye, .prack: break
        case .inform(let handle): self.informFinished(handle, status, now: now)
        case .message(let id): self.put(.messageFinished(id, status))
        case .probe(let id): self.put(.probed(id, status))
        case .notify(let id): self.notified(id, isTaken: false, now: now)
        case .register(let id):
            self.registerFailed(id, reason == .timedOut ? .timedOut : .flowFailed, now: now)
        }
    }
}

extension SIPMessage {
    /// Empty for a request.
    var reasonPhrase: ByteString {
        switch self.startLine {
        case .request: return ByteString()
        case .response(_, let reason): return reason
        }
    }
}
