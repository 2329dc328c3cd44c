// SPDX-License-Identifier: Apache-2.0
import Bytes
import MediaEngine
import SDPWire
import SIPEngine
import SIPWire

/// Carries out what the machine decides about calls.
extension KioskEngine {
    static let portStandard: UInt16 = 5060

    // MARK: - Placing

    /// Dials; false where there is a call already.
    @discardableResult
    mutating func dial(_ uri: SIPURI, now: Instant) -> Bool {
        switch self.machine.dial(uri, now: now) {
        case .refuse: return false
        case .lookUp(let id, let former):
            if let former { self.finish(former, now: now) }
            let transport = uri.transport.flatMap { SIPTransport($0) } ?? self.configuration.sip.transport
            let port = uri.port ?? Self.portStandard
            self.put(.resolve(id, host: (uri.maddr ?? uri.host).plain, port: port, transport))
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

    mutating func resolved(_ id: ResolutionID, _ result: ResolutionResult, now: Instant) {
        switch result {
        case .failed(let text):
            self.unresolved(id, text, now: now)
        case .found(let addresses, let local):
            guard let remote = addresses.first else {
                return self.unresolved(id, "no address", now: now)
            }
            let handle = self.newHandle()
            switch self.machine.resolved(id, as: handle, now: now) {
            case .ignore: break
            case .invite(let uri):
                let transport = uri.transport.flatMap { SIPTransport($0) } ?? self.configuration.sip.transport
                var session = MediaSession(address: local.address, generator: &self.generator)
                let offer = session.makeOffer(self.world, self.configuration)
                self.session = session
                let flow = Flow(transport: transport, local: local, remote: remote)
                self.tell(.invite(handle, InviteRequest(target: uri, flow: flow, offer: offer)), now: now)
            }
        }
    }

    private mutating func unresolved(_ id: ResolutionID, _ text: ByteString, now: Instant) {
        switch self.machine.unresolved(id, now: now) {
        case .show(let ended): self.emit(ended, detail: text, now: now)
        case .ignore: break
        }
    }

    // MARK: - Ending

    /// False where there was nothing to end.
    @discardableResult
    mutating func hangUp(now: Instant) -> Bool {
        switch self.machine.hangUp(now: now) {
        case .hangUp(let handle, _):
            self.tell(.hangUp(handle, .normal), now: now)
            self.stopMedia()
            self.emitCall(now: now)
            return true
        case .finish(let ended):
            self.finish(ended, now: now)
            return true
        case .dismiss, .doNothing:
            return false
        }
    }

    mutating func terminate(now: Instant) {
        switch self.machine.terminate(now: now) {
        case .exit(let ended): self.leave(ended, now: now)
        case .hangUp(let handle, _):
            self.tell(.hangUp(handle, .normal), now: now)
            self.stopMedia()
            self.emitCall(now: now)
        case .wait: break
        }
    }

    private mutating func leave(_ ended: EndedCall?, now: Instant) {
        if let ended { self.finish(ended, now: now) }
        self.exit(now: now)
    }

    mutating func alarm(now: Instant) {
        switch self.machine.timePassed(now: now) {
        case .doNothing, .dismiss: break
        case .show(let ended): self.finish(ended, now: now)
        case .giveUp(let handle, let ended): self.giveUp(handle, ended, now: now)
        case .finish(let ended): self.finish(ended, now: now)
        case .exit(let ended): self.leave(ended, now: now)
        }
    }

    private mutating func fail(_ handle: CallHandle, _ outcome: CallOutcome, now: Instant) {
        switch self.machine.failed(handle, outcome, now: now) {
        case .giveUp(let handle, let ended): self.giveUp(handle, ended, now: now)
        case .ignore: break
        }
    }

    /// The far end is told why; whatever it says to that no longer matters.
    private mutating func giveUp(_ handle: CallHandle, _ ended: EndedCall, now: Instant) {
        let reason: HangUpReason
        switch ended.outcome {
        case .notAnswered: reason = .normal
        case .vanished: reason = .fault(.requestTimeout, text: "No media received")
        case .unusableMedia: reason = .fault(.notAcceptableHere, text: "Unusable session description")
        case .hungUp, .cancelled, .remoteHungUp, .refused, .noResponse, .unreachable, .unknownHost, .protocolFault,
            .noAddress, .outOfRoom, .stopped:
            reason = .normal
        }
        self.tell(.hangUp(handle, reason), now: now)
        self.finish(ended, now: now)
    }

    /// The call is over for everybody here.
    private mutating func finish(_ ended: EndedCall, now: Instant) {
        self.stopMedia()
        self.session = nil
        self.emit(ended, now: now)
    }

    // MARK: - What SIP tells

    mutating func call(_ handle: CallHandle, _ event: CallEvent, now: Instant) {
        switch event {
        case .trying: self.progressed(handle, .trying, nil, now: now)
        case .ringing: self.progressed(handle, .ringing, nil, now: now)
        case .earlyMedia(let answer, let status): self.early(handle, answer, status, now: now)
        case .answered(let answer): self.answered(handle, answer, now: now)
        case .incoming(let call): self.incoming(handle, call, now: now)
        case .confirmed(let answer): self.confirmed(handle, answer, now: now)
        case .reoffered(let offer): self.reoffered(handle, offer, now: now)
        case .keyFrameRequested: if self.machine.state.handle == handle { self.put(.media(.encodeKeyFrame)) }
        case .answeredWithOffer, .changed, .changeRefused, .identified, .digit, .informed, .referred: break
        case .ended(let reason):
            switch self.machine.ended(handle, reason, now: now) {
            case .finish(let ended): self.finish(ended, now: now)
            case .exit(let ended): self.leave(ended, now: now)
            case .ignore: break
            }
        }
    }

    /// A description that makes no sense before the answer costs nothing: the status alone counts.
    private mutating func early(_ handle: CallHandle, _ answer: [UInt8], _ status: StatusCode, now: Instant) {
        guard self.machine.state.handle == handle, let preview = self.session?.preview(answer), preview.audio != nil
        else { return self.progressed(handle, status == .ringing ? .ringing : .trying, nil, now: now) }
        if status == .ringing { self.progressed(handle, .ringing, nil, now: now) }
        self.progressed(handle, .media, preview, now: now)
    }

    private mutating func progressed(
        _ handle: CallHandle, _ progress: KioskMachine.Progress, _ preview: NegotiatedSession?, now: Instant
    ) {
        switch self.machine.progressed(handle, progress, now: now) {
        case .ignore: break
        case .tell: self.emitCall(now: now)
        case .startMedia:
            self.startEarly(preview)
            self.emitCall(now: now)
        case .updateMedia:
            guard let session = self.session, let preview else { return }
            self.put(.media(.update(session.earlyPlan(preview, ntpAtZero: self.world.ntpAtZero), nil)))
        }
    }

    private mutating func answered(_ handle: CallHandle, _ answer: [UInt8], now: Instant) {
        guard self.machine.state.handle == handle else { return }
        guard let negotiated = self.session?.accept(answer) else {
            return self.fail(handle, .unusableMedia, now: now)
        }
        switch self.machine.answered(handle, MediaShape(negotiated), now: now) {
        case .ignore: break
        case .startMedia(let wishes):
            self.startMedia(negotiated, wishes)
            self.emitCall(now: now)
        case .updateMedia(let wishes, let isHeard):
            self.order(wishes)
            self.updateMedia(negotiated)
            self.emitCall(now: now)
            if isHeard { self.emit("first_sound", now: now) { $0.put("ms_since_answer", msOf: Duration.zero) } }
        }
    }

    // MARK: - Media

    private mutating func order(_ wishes: Wishes) {
        self.put(.media(.mute(wishes.isMuted)))
        self.put(.media(.sendVideo(!wishes.isVideoOff)))
    }

    /// The microphone stays silent until somebody has answered; silence is sent because some networks let sound in only
    /// where sound went out.
    private mutating func startEarly(_ preview: NegotiatedSession?) {
        guard let session = self.session, let preview else { return }
        self.put(.media(.mute(true)))
        self.put(.media(.sendVideo(false)))
        self.put(.media(.start(session.earlyPlan(preview, ntpAtZero: self.world.ntpAtZero), nil)))
        self.mediaRuns = true
        self.counters = nil
    }

    mutating func startMedia(_ negotiated: NegotiatedSession, _ wishes: Wishes) {
        guard let session = self.session else { return }
        self.order(wishes)
        let encoder = EncoderPlan(negotiated, self.world, self.configuration)
        self.put(.media(.start(session.plan(negotiated, self.world), encoder)))
        self.mediaRuns = true
        self.counters = nil
    }

    mutating func updateMedia(_ negotiated: NegotiatedSession) {
        guard let session = self.session else { return }
        let encoder = EncoderPlan(negotiated, self.world, self.configuration)
        self.put(.media(.update(session.plan(negotiated, self.world), encoder)))
    }

    private mutating func stopMedia() {
        guard self.mediaRuns else { return }
        self.mediaRuns = false
        self.put(.media(.stop))
    }

    /// For the files beside this one, which must not end calls by themselves.
    mutating func failUnusable(_ handle: CallHandle, now: Instant) {
        self.fail(handle, .unusableMedia, now: now)
    }
}

extension Host {
    /// As the resolver wants it: IPv6 without brackets.
    fileprivate var plain: ByteString {
        switch self {
        case .name(let name): return name
        case .address(let address): return address.text
        }
    }
}
