// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// One request of ours that may still be sent again, or be answered.
struct ClientEntry {
    enum Machine {
        case invite(InviteClientTransaction)
        case other(ClientTransaction)
    }

    /// Whose request it is.
    enum Purpose: Equatable {
        case invite(CallHandle)
        case cancel
        case bye(CallHandle)
        case reinvite(CallHandle)
        /// The UPDATE that keeps a session alive.
        case refresh(CallHandle)
        case prack
        /// The BYE for a branch of a fork that was too slow, or whose call is gone.
        case discard
        /// A BYE that is said once more (`sayByeAgain`).
        case lastBye
        case inform(CallHandle)
        case message(MessageID)
        /// About the REFER of this number.
        case notify(UInt64)
        case register(RegistrationID)
    }

    /// The number of our last request in the early dialog of a tag.
    struct EarlyNumber {
        let remoteTag: ByteString?
        var number: UInt32
    }

    struct UnheardBye {
        let request: SIPMessage
        /// As that of the entry.
        var lastNumber: UInt32
    }

    /// A 2xx that was acknowledged, so that its copies are, too.
    struct Acknowledged {
        let remoteTag: ByteString?
        /// The ACK, without its Via and with it.
        let request: SIPMessage
        var bytes: [UInt8]
        var flow: Flow
        /// As that of the entry.
        var insteadOf: Flow?
        /// The BYE that ended this dialog and reached nobody, as it was sent.
        var unheardBye: UnheardBye?
    }

    let purpose: Purpose
    let request: SIPMessage
    let method: Method
    /// CSeq.
    let number: UInt32
    /// BYE only: the number of our last request in its dialog; NOTIFYs may come after it.
    var lastNumber: UInt32
    let branch: ByteString
    let bytes: [UInt8]
    let flow: Flow
    /// The way of datagrams that a request too large for one was meant to go.
    let insteadOf: Flow?
    var machine: Machine
    /// Re-INVITE only: what its ACK needs where the call is over.
    let dialog: Dialog?
    /// INVITE only: the dialogs that its 2xx made, the call's own among them.
    var acknowledged: [Acknowledged] = []
    /// INVITE only: the last numbers that we used in its early dialogs, which a 2xx goes on from; the call may be over
    /// by then.
    var earlyNumbers: [EarlyNumber] = []
    /// INVITE only: the ACK for its 300–699.
    var acknowledgement: [UInt8]?

    var nextWakeUp: WakeUp? {
        switch self.machine {
        case .invite(let machine): return machine.timers.next
        case .other(let machine): return machine.timers.next
        }
    }

    /// One timer that is due; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        switch self.machine {
        case .invite(var machine):
            defer { self.machine = .invite(machine) }
            return machine.expire(now: now)
        case .other(var machine):
            defer { self.machine = .other(machine) }
            return machine.expire(now: now)
        }
    }

    var isTerminated: Bool {
        switch self.machine {
        case .invite(let machine): return machine.state == .terminated
        case .other(let machine): return machine.state == .terminated
        }
    }

    /// Takes note of a number used in an early dialog. The call bounds how many there are.
    mutating func noteEarly(_ number: UInt32, _ remoteTag: ByteString?) {
        if let known = self.earlyNumbers.firstIndex(where: { $0.remoteTag == remoteTag }) {
            self.earlyNumbers[known].number = number
        } else {
            self.earlyNumbers.append(EarlyNumber(remoteTag: remoteTag, number: number))
        }
    }

    /// The way that a dialog goes which this request makes.
    var dialogFlow: Flow { self.insteadOf ?? self.flow }

    /// Whether it only waits for copies of an answer that was used.
    var isLingering: Bool {
        switch self.machine {
        case .invite(let machine):
            switch machine.state {
            case .accepted, .completed, .abandoned: return true
            case .calling, .proceeding, .terminated: return false
            }
        case .other(let machine): return machine.state == .completed
        }
    }
}

extension SIPEngine {
    /// Sends a request with a new branch, and keeps it until it is answered and copies of the answer have died out.
    /// - Parameter dialog: for a re-INVITE, the dialog it belongs to.
    mutating func sendRequest(
        _ message: SIPMessage, on flow: Flow, for purpose: ClientEntry.Purpose, in dialog: Dialog? = nil, now: Instant
    ) {
        let branch = self.newBranch()
        let way = self.way(of: message, on: flow)
        var message = message
        message.prepend(.via, self.via(branch, way).printed)
        self.start(
            message, branch: branch, on: way, insteadOf: way == flow ? nil : flow, for: purpose, in: dialog, now: now)
    }

    /// As `sendRequest`, for a message that has its Via.
    mutating func start(
        _ message: SIPMessage, branch: ByteString, on flow: Flow, insteadOf: Flow? = nil,
        for purpose: ClientEntry.Purpose, in dialog: Dialog? = nil, now: Instant
    ) {
        guard let method = message.method, let number = message.cseq?.number else {
            preconditionFailure("a request of ours has a method and a number")
        }
        self.makeRoomForClient()
        let lengths = TimerLengths(self.configuration, isReliable: flow.transport.isReliable)
        let machine: ClientEntry.Machine =
            method == .invite
            ? .invite(InviteClientTransaction(lengths, now: now))
            : .other(ClientTransaction(lengths, now: now))
        let bytes = message.printed()
        self.clients.append(
            ClientEntry(
                purpose: purpose, request: message, method: method, number: number, lastNumber: number, branch: branch,
                bytes: bytes,
                flow: flow, insteadOf: insteadOf, machine: machine, dialog: dialog))
        self.send(bytes, on: flow)
    }

    /// Forgets an entry where the table is full: the oldest that only waits for copies, or else the oldest on which no
    /// call waits.
    private mutating func makeRoomForClient() {
        let live = self.clients.indices.filter { !self.clients[$0].isTerminated }
        guard live.count >= Limits.clientTransactionsMax else { return }
        let oldest =
            live.first { self.clients[$0].isLingering } ?? live.first { !self.isAwaited(self.clients[$0].purpose) }
        guard let oldest else {
            preconditionFailure("all that anything may wait on at once is less than the entries")
        }
        self.counters.add(.tooManyTransactions)
        self.terminateClient(oldest)
    }

    private func isAwaited(_ purpose: ClientEntry.Purpose) -> Bool {
        switch purpose {
        case .invite(let handle), .bye(let handle), .reinvite(let handle), .refresh(let handle):
            return self.callIndex(handle) != nil
        case .inform, .message, .notify, .register: return true
        case .cancel, .discard, .lastBye, .prack: return false
        }
    }

    mutating func terminateClient(_ index: Int) {
        switch self.clients[index].machine {
        case .invite(var machine):
            machine.terminate()
            self.clients[index].machine = .invite(machine)
        case .other(var machine):
            machine.terminate()
            self.clients[index].machine = .other(machine)
        }
    }

    /// Nobody waits for the answer to an INVITE any more; a late one is acknowledged all the same.
    mutating func abandonInvite(_ index: Int, now: Instant) {
        guard case .invite(var machine) = self.clients[index].machine else {
            preconditionFailure("an INVITE has the machine of an INVITE")
        }
        machine.abandon(now: now)
        self.clients[index].machine = .invite(machine)
    }

    /// The newest INVITE of a call.
    func inviteIndex(of handle: CallHandle) -> Int? {
        self.clients.lastIndex { $0.purpose == .invite(handle) && !$0.isTerminated }
    }

    /// The newest re-INVITE of a call.
    func reinviteIndex(of handle: CallHandle) -> Int? {
        self.clients.lastIndex { $0.purpose == .reinvite(handle) && !$0.isTerminated }
    }
}

// MARK: - What happens to a request

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
            case .passUp: self.finished(self.clients[index].purpose, response, status, now)
            case .ignore: break
            }
        }
    }

    private mutating func perform(
        _ action: InviteClientTransaction.OnResponse, at index: Int, _ response: SIPMessage, _ status: StatusCode,
        _ now: Instant
    ) {
        switch action {
        case .passUp: self.invitePassedUp(at: index, response, status, now)
        case .passUpAndAcknowledge:
            self.acknowledgeFailure(at: index, response)
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
        case .cancel, .bye, .lastBye, .refresh, .prack, .discard, .inform, .message, .notify, .register:
            preconditionFailure("these are no INVITEs")
        }
    }

    private mutating func inviteRefused(
        at index: Int, _ response: SIPMessage, _ status: StatusCode, _ now: Instant
    ) {
        switch self.clients[index].purpose {
        case .invite(let handle): self.receivedRefusal(handle, response, status, now)
        case .reinvite(let handle): self.reinviteRefused(handle, response, status, now: now)
        case .cancel, .bye, .lastBye, .refresh, .prack, .discard, .inform, .message, .notify, .register:
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
