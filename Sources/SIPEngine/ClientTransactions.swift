// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

extension SIPEngine {
    /// Sends a request with a new branch, and keeps it until it is answered and copies of the answer have died out.
    /// - Parameters:
    ///   - dialog: for a re-INVITE, the dialog it belongs to.
    ///   - authorization: of a request that was challenged.
    mutating func sendRequest(
        _ message: SIPMessage, on flow: Flow, for purpose: ClientEntry.Purpose, in dialog: Dialog? = nil,
        _ authorization: Authorization = Authorization(), now: Instant
    ) {
        let branch = self.newBranch()
        var message = message
        self.authorize(&message, on: flow)
        let way = self.way(of: message, on: flow)
        message.prepend(.via, self.via(branch, way).printed)
        self.start(
            message, branch: branch, on: way, insteadOf: way == flow ? nil : flow, for: purpose, in: dialog,
            authorization, now: now)
    }

    /// As `sendRequest`, for a message that has its Via.
    mutating func start(
        _ message: SIPMessage, branch: ByteString, on flow: Flow, insteadOf: Flow? = nil,
        for purpose: ClientEntry.Purpose, in dialog: Dialog? = nil, _ authorization: Authorization = Authorization(),
        now: Instant
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
                bytes: bytes, flow: flow, insteadOf: insteadOf, machine: machine, dialog: dialog,
                authorization: authorization))
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
        case .cancel, .discard, .lastBye, .prack, .probe: return false
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
