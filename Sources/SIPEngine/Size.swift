// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Requests too large for one datagram: RFC 3261 section 18.1.1.
///
/// A datagram that is cut into fragments often never arrives. A request above the safe size therefore goes by TCP to
/// the same address and port. Where that is refused before anything came back, the same request goes by UDP after all,
/// as a new transaction; and so do the call's later ones, at once. Only the request changes its way: its Contact and
/// the dialog it makes keep the one that was asked for.
extension SIPEngine {
    /// The bytes of the INVITE as it would go by UDP, so that its description can be trimmed to fit into one datagram
    /// (`datagramSizeSafe`).
    public func size(of request: InviteRequest) -> Int {
        // As long as those that will be drawn.
        guard let callID = CallID(Generator.blank(digits: Self.callIDDigits)) else {
            preconditionFailure("zeros are a Call-ID")
        }
        let invitation = Invitation(request, self.configuration)
        var message = self.invite(invitation, callID, Generator.blank(digits: Self.tagDigits))
        let branch = Via.magicCookie + Generator.blank(digits: Self.branchDigits)
        message.prepend(.via, self.via(branch, request.flow).printed)
        return message.printed().count
    }

    /// The way that a request of ours, complete but for its Via, goes.
    mutating func way(of message: SIPMessage, on flow: Flow) -> Flow {
        switch flow.transport {
        case .tcp, .tls: return flow
        case .udp:
            let via = self.via(Via.magicCookie + Generator.blank(digits: Self.branchDigits), flow).printed
            let size = message.printed().count + HeaderName.via.token.count + via.count + 4
            guard size > Self.datagramSizeSafe else { return flow }
            self.counters.add(.largeRequest)
            let callID = message.first(.callID)
            let isRefused = self.calls.contains {
                $0.callID.text == callID && $0.streamsRefused.contains(flow.remote)
            }
            return isRefused ? flow : Flow(transport: .tcp, local: flow.local, remote: flow.remote)
        }
    }

    /// Sends a large request by UDP after all, where its stream failed before anything came back.
    /// - Returns: false where it was no such request, or nobody waits for it any more.
    mutating func sendAsDatagram(at index: Int, now: Instant) -> Bool {
        let entry = self.clients[index]
        guard let datagrams = entry.insteadOf, entry.isUnanswered else { return false }
        self.noteRefusedStream(to: entry.flow.remote, entry.request.first(.callID))
        guard self.isStillWanted(entry.purpose) else { return false }
        self.counters.add(.streamRefused)
        self.terminateClient(index)
        var message = entry.request
        message.remove(.via)
        let branch = self.newBranch()
        message.prepend(.via, self.via(branch, datagrams).printed)
        self.start(message, branch: branch, on: datagrams, for: entry.purpose, in: entry.dialog, now: now)
        return true
    }

    /// Who hung up meanwhile wants no INVITE on its way.
    private func isStillWanted(_ purpose: ClientEntry.Purpose) -> Bool {
        switch purpose {
        case .invite(let handle): return self.callIndex(handle).map { self.calls[$0].machine.state } == .calling
        case .reinvite(let handle): return self.callIndex(handle).map { self.calls[$0].machine.state } == .changing
        case .cancel, .bye, .lastBye, .refresh, .prack, .discard, .inform, .message, .notify, .register: return true
        }
    }

    /// The same for the ACKs of an INVITE, which have no transaction of their own.
    mutating func acknowledgeByDatagram(at index: Int, insteadOf flow: Flow) {
        for each in self.clients[index].acknowledged.indices {
            let entry = self.clients[index].acknowledged[each]
            guard entry.flow == flow, let datagrams = entry.insteadOf else { continue }
            self.counters.add(.streamRefused)
            self.noteRefusedStream(to: flow.remote, entry.request.first(.callID))
            let bytes = self.printed(entry.request, on: datagrams)
            self.clients[index].acknowledged[each].bytes = bytes
            self.clients[index].acknowledged[each].flow = datagrams
            self.clients[index].acknowledged[each].insteadOf = nil
            self.send(bytes, on: datagrams)
        }
    }

    private mutating func noteRefusedStream(to remote: SocketAddress, _ callID: ByteString?) {
        guard let call = self.calls.firstIndex(where: { $0.callID.text == callID }),
            !self.calls[call].streamsRefused.contains(remote),
            self.calls[call].streamsRefused.count < Limits.streamsRefusedMax
        else { return }
        self.calls[call].streamsRefused.append(remote)
    }
}

extension Generator {
    /// What a token looks like before it is drawn.
    fileprivate static func blank(digits count: Int) -> ByteString {
        ByteString([UInt8](repeating: ASCII.zero, count: count))
    }
}

extension ClientEntry {
    /// Nothing at all came back.
    var isUnanswered: Bool {
        switch self.machine {
        case .invite(let machine):
            if case .calling = machine.state { return true }
        case .other(let machine):
            if case .trying = machine.state { return true }
        }
        return false
    }
}
