// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// A request that came in: its Via stamped, its fields read.
struct Inbound {
    let message: SIPMessage
    let envelope: Envelope
    let method: Method
    let uri: URI
    /// The way it came.
    let flow: Flow
    /// The way its answers go.
    let reply: Flow

    /// Nil for what is not a request, or has a field missing that every request has.
    init?(_ message: SIPMessage, on flow: Flow) {
        guard var via = message.topVia, let method = message.method, let uri = message.requestURI else { return nil }
        var message = message
        via.stamp(source: flow.remote)
        message.replaceTopVia(via)
        guard let envelope = message.envelope else { return nil }
        self.message = message
        self.envelope = envelope
        self.method = method
        self.uri = uri
        self.flow = flow
        self.reply = flow.reply(to: via)
    }

    /// Whether `other` is the same request again, or its CANCEL or ACK where `method` says (RFC 3261 section 17.2.3).
    func matches(_ other: Inbound, as method: Method) -> Bool {
        guard self.method == method else { return false }
        let via = other.envelope.via
        if let branch = via.transactionBranch {
            return branch == self.envelope.via.branch && via.hasSameSentBy(as: self.envelope.via)
        }
        // RFC 2543: no branch to go by.
        return self.envelope.callID == other.envelope.callID && self.envelope.via == via
            && self.envelope.cseq.number == other.envelope.cseq.number
            && self.envelope.from.tag == other.envelope.from.tag && self.uri == other.uri
    }

    /// Whether `other` is the same request come by another way (RFC 3261 section 8.2.2.2).
    func isMerged(with other: Inbound) -> Bool {
        other.envelope.to.tag == nil && self.envelope.from.tag == other.envelope.from.tag
            && self.envelope.callID == other.envelope.callID && self.envelope.cseq == other.envelope.cseq
    }

    /// Whether this is a later INVITE of the same dialog and side than `other`.
    func overtakes(_ other: Inbound) -> Bool {
        self.method == .invite && other.method == .invite && self.envelope.callID == other.envelope.callID
            && self.envelope.from.tag == other.envelope.from.tag
            && self.envelope.cseq.number > other.envelope.cseq.number
    }
}

extension Flow {
    /// Where the answers to a request go (RFC 3261 section 18.2.2, RFC 3581 section 4). `maddr` is for multicast, which
    /// we do not speak: to follow it would let strangers aim our answers at others.
    func reply(to via: Via) -> Flow {
        switch self.transport {
        case .tcp, .tls: return self
        case .udp:
            return Flow(transport: .udp, local: self.local, remote: via.replyAddress ?? self.remote)
        }
    }
}

/// One request of a peer's that may come again, or waits for our answer.
struct ServerEntry {
    enum Machine {
        case invite(InviteServerTransaction)
        case other(ServerTransaction)
    }

    let id: UInt64
    let request: Inbound
    /// The To tag of the call that the request made; nil where it made none.
    let localTag: ByteString?
    var machine: Machine
    /// The last answer, to be sent again.
    var answer: [UInt8]?

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
}

/// Whether a request may use the part of the table that is kept for our dialogs.
enum Room {
    case forStrangers
    case forDialogs
}

extension SIPEngine {
    /// Keeps a request until it is answered and copies of it have died out. Nil where there is no room.
    mutating func startServer(_ request: Inbound, _ room: Room, localTag: ByteString? = nil, now: Instant) -> UInt64? {
        let kept = room == .forStrangers ? Limits.serverTransactionsForDialogs : 0
        if self.servers.count >= Limits.serverTransactionsMax - kept { self.forgetOvertaken(by: request) }
        guard self.servers.count < Limits.serverTransactionsMax - kept else {
            self.counters.add(.tooManyTransactions)
            return nil
        }
        let lengths = TimerLengths(self.configuration, isReliable: request.flow.transport.isReliable)
        let machine: ServerEntry.Machine =
            request.method == .invite
            ? .invite(InviteServerTransaction(lengths, now: now))
            : .other(ServerTransaction(lengths, now: now))
        let id = self.newNumber()
        self.servers.append(ServerEntry(id: id, request: request, localTag: localTag, machine: machine))
        return id
    }

    /// Makes room: an answered INVITE goes that waits for its copies to die out although a later one of its dialog has
    /// come, whose sender must have had the answer (RFC 3261 section 14.1). A server that holds and resumes fast fills
    /// the table with these.
    private mutating func forgetOvertaken(by request: Inbound) {
        let index = self.servers.firstIndex { entry in
            guard case .invite(let machine) = entry.machine, machine.state == .accepted else { return false }
            return request.overtakes(entry.request) || self.servers.contains { $0.request.overtakes(entry.request) }
        }
        if let index { self.servers.remove(at: index) }
    }

    func serverIndex(_ id: UInt64) -> Int? {
        self.servers.firstIndex { $0.id == id }
    }

    func serverIndex(of request: Inbound, as method: Method) -> Int? {
        self.servers.firstIndex { $0.request.matches(request, as: method) }
    }

    /// Sends an answer within its transaction.
    mutating func answer(_ id: UInt64, with response: SIPMessage, now: Instant) {
        guard let index = self.serverIndex(id), let status = response.status else {
            return self.counters.add(.lateOrder)
        }
        let isSent: Bool
        switch self.servers[index].machine {
        case .invite(var machine):
            isSent = machine.respond(status, now: now) == .send
            self.servers[index].machine = .invite(machine)
        case .other(var machine):
            isSent = machine.respond(status, now: now) == .send
            self.servers[index].machine = .other(machine)
        }
        guard isSent else { return self.counters.add(.lateOrder) }
        let bytes = response.printed()
        self.servers[index].answer = bytes
        self.send(bytes, on: self.servers[index].request.reply)
    }

    mutating func receivedCopy(at index: Int) {
        let isAnswered: Bool
        switch self.servers[index].machine {
        case .invite(var machine):
            isAnswered = machine.receivedCopy() == .answerAgain
            self.servers[index].machine = .invite(machine)
        case .other(var machine):
            isAnswered = machine.receivedCopy() == .answerAgain
            self.servers[index].machine = .other(machine)
        }
        if isAnswered { self.answerAgain(index) }
    }

    mutating func serverFired(_ timer: SIPTimer, at index: Int, now: Instant) {
        switch self.servers[index].machine {
        case .invite(var machine):
            let action = machine.fired(timer, now: now)
            self.servers[index].machine = .invite(machine)
            switch action {
            case .sendTrying:
                let request = self.servers[index].request.message
                self.answer(self.servers[index].id, with: SIPMessage(respondingTo: request, .trying), now: now)
            case .answerAgain: self.answerAgain(index)
            case .doNothing: break
            }
        case .other(var machine):
            machine.fired(timer)
            self.servers[index].machine = .other(machine)
        }
    }

    private mutating func answerAgain(_ index: Int) {
        guard let answer = self.servers[index].answer else { return }
        self.counters.add(.answeredAgain)
        self.send(answer, on: self.servers[index].request.reply)
    }
}
