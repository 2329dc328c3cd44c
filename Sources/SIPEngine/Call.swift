// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// One call: its machines and what belongs to it.
struct Call {
    /// What a 1xx made (RFC 3261 section 12.1.2): one for each To tag, so one for each branch of a fork.
    struct Early {
        var dialog: Dialog
        /// What this branch says of its session.
        var description: [UInt8]?
        /// `description` came in a reliable 1xx: it is the answer to our offer.
        var isAnswered = false
        /// The number of the last reliable 1xx (RFC 3262 section 4).
        var lastRSeq: UInt32?
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
    var change = OwnChange()
    var sessionTimer = SessionTimer()
    var provisional: ReliableProvisional
    /// Outgoing: what we asked for. Nil for a call that came in.
    var invitation: Invitation?
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
    /// Our session description that stands.
    var localDescription: [UInt8] = []
    var peer = PeerAbilities()
    /// The shortest session interval that the way to the peer takes, as a 422 told; in seconds.
    var minSESeconds: UInt32 = 0
    /// Incoming: the number of the INVITE.
    var inviteNumber: UInt32?
    /// Incoming: the call whose place this one takes once it is answered.
    var replaces: CallHandle?
    /// Who the far end says it is, as it was told last.
    var identity: NameAddr?

    /// Whether a request of the peer's belongs to this call.
    func owns(_ envelope: Envelope) -> Bool {
        guard envelope.to.tag == self.localTag, envelope.callID == self.callID else { return false }
        if let dialog = self.dialog { return envelope.from.tag == dialog.remoteTag }
        return self.earlyIndex(envelope.from.tag) != nil
    }

    func earlyIndex(_ remoteTag: ByteString?) -> Int? {
        self.early.firstIndex { $0.dialog.remoteTag == remoteTag }
    }

    /// Takes note of the number of a request of the peer's in the dialog that it belongs to.
    mutating func received(_ envelope: Envelope) -> Dialog.OnNumber {
        if let order = self.dialog?.received(number: envelope.cseq.number) { return order }
        guard let early = self.earlyIndex(envelope.from.tag) else { return .inOrder }
        return self.early[early].dialog.received(number: envelope.cseq.number)
    }

    /// The Contact of a target refresh request of the peer's.
    mutating func renewTarget(from request: Inbound) {
        self.dialog?.renewTarget(from: request.message)
        guard let early = self.earlyIndex(request.envelope.from.tag) else { return }
        self.early[early].dialog.renewTarget(from: request.message)
    }

    /// What a branch of our INVITE says now of its session.
    mutating func describe(_ description: [UInt8], from remoteTag: ByteString?) {
        guard let early = self.earlyIndex(remoteTag) else { return }
        self.early[early].description = description
    }

    var nextWakeUp: WakeUp? {
        let inDialog = WakeUp.sooner(self.change.timers.next, self.sessionTimer.timers.next)
        return .sooner(.sooner(self.machine.timers.next, self.provisional.timers.next), inDialog)
    }

    /// One timer that is due; nil when none is left.
    mutating func expire(now: Instant) -> SIPTimer? {
        self.machine.expire(now: now) ?? self.change.expire(now: now) ?? self.sessionTimer.expire(now: now)
            ?? self.provisional.expire(now: now)
    }
}

/// What the peer said that it can do.
struct PeerAbilities: Hashable {
    var allowsUpdate = false
    /// Nil until it says what it allows.
    var allowsInfo: Bool?
    /// It may change its From within the dialog (RFC 4916).
    var changesFrom = false

    /// A message without Allow or Supported says nothing new.
    mutating func learn(from message: SIPMessage) {
        if let allow = message.allow {
            self.allowsUpdate = allow.contains(.update)
            self.allowsInfo = allow.contains(.info)
        }
        if message.contains(.supported) {
            self.changesFrom = ByteString.contains("from-change", in: message.supported)
        }
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
    mutating func end(_ index: Int, _ reason: EndReason, now: Instant) {
        precondition(self.calls[index].machine.state == .ended, "a call ends where its machine says so")
        self.stopSession(index, now: now)
        self.tell(self.calls[index].handle, .ended(reason))
    }

    /// Nothing of the session goes on while the call ends. The answer to a re-INVITE that is out is still acknowledged.
    mutating func stopSession(_ index: Int, now: Instant) {
        self.calls[index].change.stop()
        self.calls[index].sessionTimer.stop()
        self.calls[index].provisional.overtake()
        if let reinvite = self.reinviteIndex(of: self.calls[index].handle) { self.abandonInvite(reinvite, now: now) }
    }

    /// Whether one more call fits. A press must place a call: where the table is full of calls that only wait for
    /// a dead peer to agree to their end, the oldest of them is forgotten.
    mutating func makeRoomForCall(now: Instant) -> Bool {
        let live = self.calls.indices.filter { self.calls[$0].machine.state != .ended }
        guard live.count >= Limits.callsMax else { return true }
        for index in live {
            switch self.calls[index].machine.forsake() {
            case .end(let reason):
                if let invite = self.inviteIndex(of: self.calls[index].handle) { self.abandonInvite(invite, now: now) }
                self.end(index, reason, now: now)
                return true
            case .keep: break
            }
        }
        self.counters.add(.tooManyCalls)
        return false
    }

    /// Refuses the peer's INVITE or UPDATE that waits for a decision.
    mutating func refusePending(_ index: Int, _ status: StatusCode, now: Instant) {
        guard let id = self.calls[index].pending, let server = self.serverIndex(id) else { return }
        self.calls[index].pending = nil
        let request = self.servers[server].request
        self.answer(id, with: self.response(to: request, status, tag: self.calls[index].localTag), now: now)
    }
}

// MARK: - The user's will

extension SIPEngine {
    mutating func hangUp(_ handle: CallHandle, _ reason: HangUpReason, now: Instant) {
        guard let index = self.callIndex(handle) else { return self.counters.add(.lateOrder) }
        self.hangUp(at: index, reason, as: nil, now: now)
    }

    /// - Parameter reason: what the user is told in the end; nil for what a hang-up is in the call's state.
    mutating func hangUp(at index: Int, _ told: HangUpReason, as reason: EndReason?, now: Instant) {
        switch self.calls[index].machine.hangUp(told, as: reason, now: now) {
        case .sendCancel(let told): self.sendCancel(index, told, now: now)
        case .refuseOfferAndSendCancel(let told):
            self.refusePending(index, .requestTerminated, now: now)
            self.sendCancel(index, told, now: now)
        case .sendBye(let told): self.sendBye(index, told, now: now)
        case .acknowledgeAndSendBye(let told):
            self.acknowledgeOffer(index, answer: [])
            self.sendBye(index, told, now: now)
        case .refuse(let status):
            self.refusePending(index, status, now: now)
            self.end(index, reason ?? .localHangUp, now: now)
        case .refuseOfferAndSendBye(let told):
            self.refusePending(index, .requestTerminated, now: now)
            self.sendBye(index, told, now: now)
        case .doNothing: break
        }
    }

    // MARK: - Time

    mutating func callFired(_ timer: SIPTimer, at index: Int, now: Instant) {
        switch timer {
        case .glare: self.calls[index].change.fired()
        case .refresh, .sessionExpiry: self.sessionFired(timer, at: index, now: now)
        case .provisional, .provisionalLimit: self.provisionalFired(timer, at: index, now: now)
        case .accept, .acceptLimit, .cancelLimit, .decision, .changeLimit:
            self.machineFired(timer, at: index, now: now)
        case .a, .b, .d, .e, .f, .g, .h, .i, .j, .k, .l, .m, .trying, .abandoned, .referral, .registration,
            .ping, .pong:
            preconditionFailure("timers of transactions, referrals and registrations run there")
        }
    }

    private mutating func machineFired(_ timer: SIPTimer, at index: Int, now: Instant) {
        switch self.calls[index].machine.fired(timer, now: now) {
        case .sendAcceptAgain: self.sendAcceptAgain(index)
        case .sendBye(let told): self.sendBye(index, told, now: now)
        case .acknowledgeAndSendBye(let told):
            self.acknowledgeOffer(index, answer: [])
            self.sendBye(index, told, now: now)
        case .abandonAndEnd(let reason):
            if let invite = self.inviteIndex(of: self.calls[index].handle) { self.abandonInvite(invite, now: now) }
            self.counters.add(.unanswered)
            self.end(index, reason, now: now)
        case .refuseAndEnd(let status, let reason):
            self.refusePending(index, status, now: now)
            self.end(index, reason, now: now)
        case .drop:
            self.counters.add(.unanswered)
            self.drop(index, .timedOut, .fault(.requestTimeout, text: "no answer to re-INVITE"), now: now)
        case .refuse(let status): self.refusePending(index, status, now: now)
        case .doNothing: break
        }
    }
}
