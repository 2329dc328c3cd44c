// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine
import SIPWire

/// Calls from outside.
extension KioskEngine {
    mutating func incoming(_ handle: CallHandle, _ call: IncomingCall, now: Instant) {
        // A call that takes the place of the one at hand goes on with it.
        let isOpen = !self.isCallOver && (!self.isOutOfService || call.replaces != nil)
        guard isOpen else { return self.refuse(handle, .temporarilyUnavailable, call, now: now) }
        switch self.machine.incoming(self.treatment(of: call), replaces: call.replaces) {
        case .refuse(let status): self.refuse(handle, status, call, now: now)
        case .alert(let isAnswered): self.alert(handle, call, isAnswered: isAnswered, now: now)
        case .replace: self.replace(handle, call, now: now)
        }
    }

    /// What the file says of a caller; who was called lately may at least ring.
    private func treatment(of call: IncomingCall) -> CallSettings.Incoming {
        if call.isAnsweredAutomatically { return .answer }
        let isOpen = self.configuration.sip.acceptFrom == .anyone
        let treatment = self.configuration.call.treatment(of: call.from.uri, isOpen: isOpen)
        guard treatment == .refuse, self.callBacks.contains(call.from.uri, from: call.flow.remote.address) else {
            return treatment
        }
        return .ring
    }

    /// Behind the address that was called there may be others, one of whom has answered.
    mutating func mayCallBack(_ handle: CallHandle, _ party: NameAddr, now: Instant) {
        guard self.machine.state.handle == handle, self.machine.state.facts?.direction == .outgoing,
            let uri = party.uri.sip, let way = self.placedBy
        else { return }
        let window = Duration.milliseconds(self.configuration.call.callBackMs)
        self.callBacks.called(uri, at: way.remote.address, window: window, now: now)
    }

    // MARK: - Alerting

    private mutating func alert(_ handle: CallHandle, _ call: IncomingCall, isAnswered: Bool, now: Instant) {
        // It must not ring for a call that could not be answered.
        guard self.describe(call) != nil else { return self.refuse(handle, .notAcceptableHere, call, now: now) }
        switch self.machine.alerted(handle, Self.facts(of: call, now: now), isAnswered: isAnswered, now: now) {
        case .ignore: self.refuse(handle, .busyHere, call, now: now)
        case .tell:
            self.alerting = call
            self.tell(.respond(handle, .ringing, body: []), now: now)
            if self.wantsWays(call) { self.findWays(now: now) }
            self.emitCall(now: now)
        }
    }

    /// The person at the panel answers; false where nobody calls.
    @discardableResult
    mutating func pickUp(now: Instant) -> Bool {
        switch self.machine.pickUp() {
        case .ignore: return false
        case .answer(let handle):
            self.answer(handle, now: now)
            return true
        }
    }

    /// Answers the call that alerts.
    mutating func answer(_ handle: CallHandle, now: Instant) {
        guard let call = self.alerting else { return }
        self.alerting = nil
        self.accept(handle, call, now: now)
    }

    // MARK: - Answering

    /// Our side of a call from outside.
    private struct Description {
        var session: MediaSession
        var body: [UInt8]
        /// Nil where the caller wanted our offer: what the call has is known when its ACK comes.
        var negotiated: NegotiatedSession?

        var shape: MediaShape { self.negotiated.map { MediaShape($0) } ?? MediaShape() }
    }

    /// Nil where nothing in the caller's offer fits us.
    private mutating func describe(_ call: IncomingCall, _ ways: ICEMachine.Found? = nil) -> Description? {
        var session = MediaSession(
            call.flow, self.configuration.media, generator: &self.generator, makeSecret: self.makeSecret)
        session.ways = ways
        guard let offer = call.offer else {
            let body = session.makeOffer(self.world, self.configuration)
            return Description(session: session, body: body, negotiated: nil)
        }
        guard let answer = session.makeAnswer(to: offer, self.world, self.configuration) else { return nil }
        return Description(session: session, body: answer.body, negotiated: answer.session)
    }

    mutating func accept(_ handle: CallHandle, _ call: IncomingCall, now: Instant) {
        if self.acceptingWaits(handle, call, now: now) { return }
        guard let description = self.describe(call, self.ice.take()) else {
            self.forgetWays()
            if self.machine.state.handle == handle { return self.fail(handle, .unusableMedia, now: now) }
            return self.refuse(handle, .notAcceptableHere, call, now: now)
        }
        switch self.machine.accepted(handle, description.shape, now: now) {
        case .ignore:
            self.forgetWays()
            self.refuse(handle, .busyHere, call, now: now)
        case .startMedia(let wishes): self.answer(handle, description, wishes, now: now)
        }
    }

    private mutating func answer(
        _ handle: CallHandle, _ description: Description, _ wishes: Wishes, now: Instant
    ) {
        self.session = description.session
        self.awaitsAnswerInACK = description.negotiated == nil
        self.tell(.respond(handle, .ok, body: description.body), now: now)
        if let negotiated = description.negotiated { self.startMedia(negotiated, wishes) }
        self.announceLive(now: now)
    }

    /// The far end has handed us over to somebody who now calls (RFC 3891): for the person here the call goes on.
    private mutating func replace(_ handle: CallHandle, _ call: IncomingCall, now: Instant) {
        guard let description = self.describe(call) else {
            return self.refuse(handle, .notAcceptableHere, call, now: now)
        }
        self.dropOthers(now: now)
        let facts = Self.facts(of: call, now: now)
        switch self.machine.replaced(by: handle, facts, description.shape, now: now) {
        case .ignore: self.refuse(handle, .decline, call, now: now)
        case .startMedia(let wishes, let dropped):
            if let dropped { self.tell(.hangUp(dropped, .normal), now: now) }
            self.transferSession = nil
            self.stopMedia()
            self.answer(handle, description, wishes, now: now)
            self.emit("replaced", now: now) { $0.put("uri", facts.peer) }
        }
    }

    private static func facts(of call: IncomingCall, now: Instant) -> CallFacts {
        CallFacts(
            direction: .incoming, peer: call.from.uri.printed, began: now, name: ShownName.text(of: call.from))
    }

    /// Nobody here pressed anything: whoever stands by hears that somebody listens.
    private mutating func announceLive(now: Instant) {
        self.put(.chime(.key))
        self.emitCall(now: now)
    }

    private mutating func refuse(_ handle: CallHandle, _ status: StatusCode, _ call: IncomingCall, now: Instant) {
        self.tell(.respond(handle, status, body: []), now: now)
        self.emit("incoming_refused", now: now) {
            $0.put("uri", call.from.uri.printed)
            $0.put("code", status.value)
        }
    }
}
