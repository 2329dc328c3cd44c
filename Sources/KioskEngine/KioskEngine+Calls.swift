// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SDPWire
import SIPEngine
import SIPWire

/// Carries out what the machine decides about calls.
extension KioskEngine {
    // MARK: - Placing

    /// Dials; false where there is a call already.
    @discardableResult
    mutating func dial(_ order: CallOrder, now: Instant) -> Bool {
        switch self.machine.dial(order, now: now) {
        case .refuse: return false
        case .lookUp(let questions, let former):
            if let former { self.finish(former, now: now) }
            self.passwords.releaseAll()
            self.find(questions, now: now)
            if self.configuration.ice.use == .on { self.findWays(now: now) }
            self.emitCall(now: now)
            return true
        }
    }

    mutating func dialNobody(now: Instant) {
        switch self.machine.dialNobody(now: now) {
        case .show(let ended): self.emit(ended, now: now)
        case .doNothing: break
        }
    }

    /// Calls whom this search was for.
    /// - Parameter ways: at least one; nil for those that are left of what was found before.
    mutating func place(_ id: ResolutionID, _ ways: [Flow]?, now: Instant) {
        if self.placingWaits(id, ways, now: now) { return }
        let handle = self.newHandle()
        switch self.machine.resolved(id, ways, as: handle, now: now) {
        case .ignore: break
        case .invite(let targets):
            let call = self.invite(handle, targets, ways, now: now)
            self.session = call.session
            self.placedBy = call.way
        case .inviteBeside(let targets): self.otherCalls.append(self.invite(handle, targets, ways, now: now))
        case .follow(let referrer, let targets):
            self.tell(.followReferral(referrer, by: handle, isLast: targets.ways.count <= 1), now: now)
            let call = self.invite(handle, targets, now: now)
            self.transferSession = call.session
            self.placedBy = call.way
        }
    }

    /// Calls a target of a press.
    private mutating func invite(
        _ handle: CallHandle, _ targets: Targets, _ found: [Flow]?, now: Instant
    ) -> OtherCall {
        let isToServer = !self.policy.servers.isEmpty || self.servers.isNamed(by: targets.current)
        if let found, isToServer {
            let isOnly = !self.policy.servers.isEmpty || self.servers.hosts.count == 1
            self.trust(found, isComplete: isOnly, now: now)
        }
        let call = self.invite(handle, targets, now: now)
        let window = Duration.milliseconds(self.configuration.call.callBackMs)
        self.callBacks.called(targets.current, at: call.way.remote.address, window: window, now: now)
        if window > .zero { self.tell(.trust(self.trusted), now: now) }
        return call
    }

    /// Places a call, and gives its side of the descriptions.
    private mutating func invite(_ handle: CallHandle, _ targets: Targets, now: Instant) -> OtherCall {
        guard let way = targets.ways.first else { preconditionFailure("only whom a way leads to is called") }
        let flow = self.way(way, to: targets.current, now: now)
        let order = self.machine.state.facts?.plan.order
        let world = order?.start == .audio ? self.world.withoutPictures : self.world
        let button = order?.button ?? .call
        var session = MediaSession(
            flow, self.configuration.media, isWithoutFeedback: targets.wantsOlderOffer, generator: &self.generator,
            makeSecret: self.makeSecret)
        session.ways = self.ice.take()
        let offer = self.configuration.sip.isOfferless ? [] : session.makeOffer(world, self.configuration)
        var request = InviteRequest(
            target: targets.current, flow: flow, offer: offer,
            extraHeaders: targets.headers + self.identityHeaders(button),
            sender: self.sender)
        request.sender.displayName = self.configuration[button].callerName
        request.parts = self.configuration.location.parts
        // A datagram that is cut into fragments often never arrives. What does not fit even so goes by TCP.
        if flow.transport == .udp, !offer.isEmpty, self.sip.size(of: request) > SIPEngine.datagramSizeSafe {
            request.offer = session.makeOffer(world, self.configuration, trimmed: true)
        }
        self.tell(.invite(handle, request), now: now)
        return OtherCall(handle: handle, session: session, way: flow)
    }

    /// Which button called, who we are, and where we stand.
    private func identityHeaders(_ name: ButtonName) -> [Header] {
        let label = self.configuration[name].label ?? name.text
        let button = label.isEmpty ? [] : [Header(.other("X-Callbox-Button"), label)]
        return button + self.configuration.identity.headers + self.configuration.location.headers
    }

    mutating func unresolved(_ id: ResolutionID, _ text: ByteString, now: Instant) {
        switch self.machine.unresolved(id, now: now) {
        case .failed(let failed): self.failed(failed, detail: text, now: now)
        case .lookUp(let question): self.tryNext(question, now: now)
        case .lookUpBeside(let question): self.tryNext(question, isLeader: false, now: now)
        case .transferFailed(let failed): self.transferFailed(failed, now: now)
        case .ignore: break
        }
    }

    // MARK: - Ending

    /// False where there was nothing to end.
    @discardableResult
    mutating func hangUp(now: Instant) -> Bool {
        self.dropOthers(now: now)
        switch self.machine.hangUp(now: now) {
        case .hangUp(let handles, _):
            self.hangUp(handles, now: now)
            return true
        case .decline(let handle, let ended):
            self.decline(handle, .decline, ended, now: now)
            return true
        case .finish(let ended):
            self.finish(ended, now: now)
            return true
        case .dismiss, .doNothing:
            return false
        }
    }

    private mutating func hangUp(_ handles: [CallHandle], now: Instant) {
        for handle in handles { self.tell(.hangUp(handle, .normal), now: now) }
        self.transferSession = nil
        self.postDial = nil
        self.stopMedia()
        self.emitCall(now: now)
    }

    mutating func terminate(now: Instant) {
        if self.cancelRestart() { return }
        guard self.leaveBy == nil else { return self.exit(now: now) }
        self.leaveAccounts(now: now)
        self.dropOthers(now: now)
        switch self.machine.terminate(now: now) {
        case .exit(let ended): self.leave(ended, now: now)
        case .hangUp(let handles, _): self.hangUp(handles, now: now)
        case .declineAndExit(let handle, let ended):
            self.decline(handle, .temporarilyUnavailable, ended, now: now)
            self.leave(nil, now: now)
        case .wait: break
        }
    }

    mutating func leave(_ ended: EndedCall?, now: Instant) {
        if let ended { self.finish(ended, now: now) }
        self.isCallOver = true
        self.exitWhereLeft(now: now)
    }

    mutating func alarm(now: Instant) {
        let way = self.callWay
        switch self.machine.timePassed(now: now) {
        case .doNothing, .dismiss: break
        case .failed(let failed):
            // A server that never answered may be of no use to the next one either.
            if let way, failed.outcome == .noResponse { self.failed(way, now: now) }
            self.failed(failed, now: now)
        case .lookUp(let question): self.tryNext(question, now: now)
        case .step(let questions): self.beginStep(questions, now: now)
        case .failOver(let id, let handle):
            if let way { self.failed(way, now: now) }
            self.tell(.hangUp(handle, .normal), now: now)
            self.failOver(id, from: way, now: now)
            self.failOverOthers(now: now)
        case .transferFailed(let failed): self.transferFailed(failed, now: now)
        case .giveUp(let handle, let ended): self.giveUp([handle], ended, now: now)
        case .decline(let handle, let ended): self.decline(handle, .temporarilyUnavailable, ended, now: now)
        case .answer(let handle): self.answer(handle, now: now)
        case .warn: self.warn(now: now)
        case .finish(let ended): self.finish(ended, now: now)
        case .exit(let ended): self.leave(ended, now: now)
        }
    }

    /// Refuses the call that alerts.
    private mutating func decline(
        _ handle: CallHandle, _ status: StatusCode, _ ended: EndedCall, now: Instant
    ) {
        self.tell(.respond(handle, status, body: []), now: now)
        self.finish(ended, now: now)
    }

    mutating func fail(_ handle: CallHandle, _ outcome: CallOutcome, now: Instant) {
        switch self.machine.failed(handle, outcome, now: now) {
        case .giveUp(let handles, let ended): self.giveUp(handles, ended, now: now)
        case .failed(let failed): self.failed(failed, now: now)
        case .transferFailed(let failed): self.transferFailed(failed, now: now)
        case .ignore: break
        }
    }

    /// The far end is told why; whatever it says to that no longer matters.
    mutating func giveUp(_ handles: [CallHandle], _ ended: EndedCall, now: Instant) {
        let reason = HangUpReason(ended.outcome)
        for handle in handles { self.tell(.hangUp(handle, reason), now: now) }
        self.finish(ended, now: now)
    }

    /// The call is over for everybody here.
    mutating func finish(_ ended: EndedCall, detail: ByteString = "", now: Instant) {
        self.stopMedia()
        self.forgetWays()
        self.session = nil
        self.otherCalls = []
        self.postDial = nil
        self.callBacks.finished(window: .milliseconds(self.configuration.call.callBackMs), now: now)
        self.transferSession = nil
        self.awaitsAnswerInACK = false
        self.alerting = nil
        self.emit(ended, detail: detail, now: now)
    }

    // MARK: - What SIP tells

    mutating func call(_ handle: CallHandle, _ event: CallEvent, now: Instant) {
        self.learn(from: event, of: handle, now: now)
        switch event {
        case .trying: self.progressed(handle, .trying, nil, now: now)
        case .ringing(let status): self.progressed(handle, KioskMachine.Progress(status), nil, now: now)
        case .earlyMedia(let answer, let status): self.early(handle, answer, status, now: now)
        case .answered(let answer): self.answered(handle, answer, now: now)
        case .incoming(let call): self.incoming(handle, call, now: now)
        case .confirmed(let answer): self.confirmed(handle, answer, now: now)
        case .reoffered(let offer): self.reoffered(handle, offer, now: now)
        case .keyFrameRequested: if self.machine.state.handle == handle { self.put(.media(.encodeKeyFrame)) }
        case .referred(let referral): self.referred(handle, referral, now: now)
        case .answeredWithOffer(let offer): self.answered(handle, withOffer: offer, now: now)
        case .changed(let answer): self.changed(handle, answer, now: now)
        case .changeRefused(let status): self.changeRefused(handle, status, now: now)
        case .changeTakenLate: self.changeTakenLate(handle, now: now)
        case .identified(let party): self.identified(handle, party, now: now)
        case .digit(let key, _): self.digit(handle, key, now: now)
        case .informed(let isTaken): self.informed(handle, isTaken: isTaken, now: now)
        case .ended(let reason):
            if self.ice.forget(handle) { self.put(.media(.forgetWays)) }
            let reason = self.withoutDowngrade(reason, of: handle)
            let way = self.callWay
            let other = self.otherCalls.first { $0.handle == handle }
            self.otherCalls.removeAll { $0.handle == handle }
            let hasOlderOffer = (other?.session ?? self.session)?.hasOlderOffer ?? false
            switch self.machine.ended(
                handle, reason, fault: self.tlsFault, hasOlderOffer: hasOlderOffer, now: now)
            {
            case .finish(let ended): self.finish(ended, now: now)
            case .failed(let failed): self.failed(failed, now: now)
            case .lookUp(let question): self.tryNext(question, now: now)
            case .lookUpBeside(let question): self.tryNext(question, isLeader: false, now: now)
            case .failOver(let id): self.failOver(id, from: way, now: now)
            case .failOverBeside(let id): self.place(id, nil, now: now)
            case .offerAgain(let id): self.offerAgain(id, now: now)
            case .transferFailed(let failed): self.transferFailed(failed, now: now)
            case .waitForTransfer: self.waitForTransfer(now: now)
            case .exit(let ended): self.leave(ended, now: now)
            case .ignore: break
            }
        }
    }
}
