// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// One call: its machine and what belongs to it.
struct Call {
    /// A 1xx that made an early dialog (RFC 3261 section 12.1.2).
    struct Early {
        let remoteTag: ByteString?
        var description: [UInt8]?
    }

    /// A 2xx of ours to an INVITE, sent again until its ACK.
    struct Accept {
        let bytes: [UInt8]
        let reply: Flow
        /// The number of the INVITE, and of its ACK.
        let number: UInt32
        /// The INVITE had no offer, so that ours is in the 2xx and their answer in the ACK.
        let owesAnswer: Bool
    }

    let handle: CallHandle
    let callID: CallID
    let localTag: ByteString
    var machine: CallMachine
    /// Outgoing: nil until a 2xx comes.
    var dialog: Dialog?
    /// Outgoing: what the branches of the INVITE said before there was a dialog.
    var early: [Early] = []
    /// The transaction of the peer's INVITE or UPDATE that waits for our decision.
    var pending: UInt64?
    var accept: Accept?
    /// Hops that take no TCP: large requests go there by UDP at once.
    var streamsRefused: [SocketAddress] = []
    /// INFO requests, of which the first is out.
    var informs: [Inform] = []
    /// A REFER came before.
    var wasReferred = false

    /// Whether a request of the peer's belongs to this call.
    func owns(_ envelope: Envelope) -> Bool {
        guard envelope.to.tag == self.localTag, envelope.callID == self.callID else { return false }
        if let dialog = self.dialog { return envelope.from.tag == dialog.remoteTag }
        return self.early.contains { $0.remoteTag == envelope.from.tag }
    }
}

extension SIPEngine {
    func callIndex(_ handle: CallHandle) -> Int? {
        self.calls.firstIndex { $0.handle == handle && $0.machine.state != .ended }
    }

    func callIndex(owning envelope: Envelope) -> Int? {
        self.calls.firstIndex { $0.machine.state != .ended && $0.owns(envelope) }
    }

    /// Tells the end. The machine has moved already; the entry goes with the next sweep.
    mutating func end(_ index: Int, _ reason: EndReason) {
        precondition(self.calls[index].machine.state == .ended, "a call ends where its machine says so")
        self.tell(self.calls[index].handle, .ended(reason))
    }

    /// Whether one more call fits. A press must place a call: where the table is full of calls that only wait for
    /// a dead peer to agree to their end, the oldest of them is forgotten.
    mutating func makeRoomForCall() -> Bool {
        let live = self.calls.indices.filter { self.calls[$0].machine.state != .ended }
        guard live.count >= Limits.callsMax else { return true }
        for index in live {
            switch self.calls[index].machine.forsake() {
            case .end(let reason):
                if let invite = self.inviteIndex(of: self.calls[index].handle) { self.abandonClient(invite) }
                self.end(index, reason)
                return true
            case .keep: break
            }
        }
        self.counters.add(.tooManyCalls)
        return false
    }

    // MARK: - The user's will

    mutating func hangUp(_ handle: CallHandle, _ reason: HangUpReason, now: Instant) {
        guard let index = self.callIndex(handle) else { return self.counters.add(.lateOrder) }
        switch self.calls[index].machine.hangUp(reason, now: now) {
        case .sendCancel(let told): self.sendCancel(index, told, now: now)
        case .sendBye(let told): self.sendBye(index, told, now: now)
        case .refuse(let status):
            self.refusePending(index, status, now: now)
            self.end(index, .localHangUp)
        case .refuseOfferAndSendBye(let told):
            self.refusePending(index, .requestTerminated, now: now)
            self.sendBye(index, told, now: now)
        case .doNothing: break
        }
    }

    mutating func callFired(_ timer: SIPTimer, at index: Int, now: Instant) {
        switch self.calls[index].machine.fired(timer, now: now) {
        case .sendAcceptAgain: self.sendAcceptAgain(index)
        case .sendBye(let told): self.sendBye(index, told, now: now)
        case .abandonAndEnd(let reason):
            if let invite = self.inviteIndex(of: self.calls[index].handle) { self.abandonClient(invite) }
            self.counters.add(.unanswered)
            self.end(index, reason)
        case .refuseAndEnd(let status, let reason):
            self.refusePending(index, status, now: now)
            self.end(index, reason)
        case .refuse(let status): self.refusePending(index, status, now: now)
        case .doNothing: break
        }
    }

    /// Refuses the peer's INVITE or UPDATE that waits for a decision.
    mutating func refusePending(_ index: Int, _ status: StatusCode, now: Instant) {
        guard let id = self.calls[index].pending, let server = self.serverIndex(id) else { return }
        self.calls[index].pending = nil
        let request = self.servers[server].request
        self.answer(id, with: self.response(to: request, status, tag: self.calls[index].localTag), now: now)
    }
}
