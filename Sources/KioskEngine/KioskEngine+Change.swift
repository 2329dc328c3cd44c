// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine
import SIPWire

/// Changes of the session within a call, and offers that come where usually answers do.
extension KioskEngine {
    // MARK: - The far end's offers

    /// An ACK came. It matters where the offer was ours.
    mutating func confirmed(_ handle: CallHandle, _ answer: [UInt8]?, now: Instant) {
        guard self.machine.state.handle == handle, self.awaitsAnswerInACK else { return }
        self.awaitsAnswerInACK = false
        guard let answer, let negotiated = self.session?.accept(answer) else {
            return self.fail(handle, self.session?.outcomeOfFault ?? .unusableMedia, now: now)
        }
        self.renegotiated(handle, negotiated, now: now)
    }

    mutating func reoffered(_ handle: CallHandle, _ offer: [UInt8]?, now: Instant) {
        switch self.machine.reoffered(handle) {
        case .refuse(let status): self.tell(.respond(handle, status, body: []), now: now)
        case .negotiateEarly: self.reofferedEarly(handle, offer, now: now)
        case .negotiate:
            guard let offer else {
                self.awaitsAnswerInACK = true
                let body = self.session?.makeOffer(self.world, self.configuration) ?? []
                return self.tell(.respond(handle, .ok, body: body), now: now)
            }
            guard let answer = self.session?.makeAnswer(to: offer, self.world, self.configuration) else {
                return self.tell(.respond(handle, .notAcceptableHere, body: []), now: now)
            }
            self.tell(.respond(handle, .ok, body: answer.body), now: now)
            self.renegotiated(handle, answer.session, now: now)
        }
    }

    private mutating func renegotiated(_ handle: CallHandle, _ negotiated: NegotiatedSession, now: Instant) {
        switch self.machine.renegotiated(handle, MediaShape(negotiated), now: now) {
        case .ignore: break
        case .updateMedia(let hold, let waiting):
            self.follow(negotiated)
            if let hold { self.emit("hold", now: now) { $0.put("on", hold) } }
            // What we want has to follow from what was agreed upon just now.
            if let waiting { self.offer(waiting, in: handle, now: now) }
        }
    }

    /// Media that go on as they did are not told anything.
    private mutating func follow(_ negotiated: NegotiatedSession) {
        guard case .connected(let state) = self.machine.state else { return }
        if !self.mediaRuns { return self.startMedia(negotiated, state.wishes) }
        if self.session?.hasChanged ?? false { self.updateMedia(negotiated) }
    }

    /// What a branch of the call offers before it answers (UPDATE) takes the place of its early answer.
    private mutating func reofferedEarly(_ handle: CallHandle, _ offer: [UInt8]?, now: Instant) {
        guard let offer, let answer = self.session?.makeAnswer(to: offer, self.world, self.configuration) else {
            return self.tell(.respond(handle, .notAcceptableHere, body: []), now: now)
        }
        self.tell(.respond(handle, .ok, body: answer.body), now: now)
        self.progressed(handle, .media, answer.session, now: now)
    }

    // MARK: - An INVITE without an offer

    mutating func answered(_ handle: CallHandle, withOffer offer: [UInt8], now: Instant) {
        self.lead(handle, now: now)
        let isTransfer = self.machine.state.transferHandle == handle
        guard isTransfer || self.machine.state.handle == handle else {
            return self.tell(.hangUp(handle, .normal), now: now)
        }
        let answer =
            isTransfer
            ? self.transferSession?.makeAnswer(to: offer, self.world, self.configuration)
            : self.session?.makeAnswer(to: offer, self.world, self.configuration)
        guard let answer else {
            let session = isTransfer ? self.transferSession : self.session
            return self.fail(handle, session?.outcomeOfFault ?? .unusableMedia, now: now)
        }
        self.tell(.acknowledge(handle, answer: answer.body), now: now)
        self.answered(handle, answer.session, now: now)
    }

    // MARK: - Our changes

    /// The reply to a word that asks for a change.
    mutating func change(_ change: MediaChange, now: Instant) -> ByteString {
        switch self.machine.change(change) {
        case .noCall: return Reply.refused("there is no call")
        case .busy: return Reply.refused("the call is being changed already")
        case .alreadySo: return Reply.refused("it is so already")
        case .offer(let handle, let intent):
            self.offer(intent, in: handle, now: now)
            return Reply.done
        }
    }

    private mutating func offer(_ intent: MediaIntent, in handle: CallHandle, now: Instant) {
        guard let offer = self.session?.makeReoffer(self.world, self.configuration, intent) else { return }
        self.tell(.reoffer(handle, offer: offer), now: now)
    }

    mutating func changed(_ handle: CallHandle, _ answer: [UInt8], now: Instant) {
        guard self.machine.state.handle == handle else { return }
        // An answer that makes no sense is none: the session stands as it was.
        guard let negotiated = self.session?.accept(answer) else {
            return self.changeRefused(handle, .notAcceptableHere, now: now)
        }
        switch self.machine.changed(handle, MediaShape(negotiated), now: now) {
        case .ignore: break
        case .updateMedia(let intent):
            if case .connected(let state) = self.machine.state, intent != nil { self.order(state.wishes) }
            self.follow(negotiated)
            if let intent { self.emitChange(intent, code: 200, now: now) }
        }
    }

    mutating func changeRefused(_ handle: CallHandle, _ status: StatusCode, now: Instant) {
        switch self.machine.changeRefused(handle) {
        case .ignore: break
        case .rollBack(let intent, let isMisunderstood):
            self.session?.rollBack()
            self.emitChange(intent, code: status.value, now: now)
            if isMisunderstood { self.changeTakenLate(handle, now: now) }
        }
    }

    mutating func changeTakenLate(_ handle: CallHandle, now: Instant) {
        switch self.machine.changeTakenLate(handle) {
        case .ignore: break
        case .offer(let intent):
            self.session?.sayAnew()
            self.offer(intent, in: handle, now: now)
        }
    }

    private mutating func emitChange(_ intent: MediaIntent, code: Int, now: Instant) {
        self.emit("change", now: now) {
            $0.put("holding", intent.isHolding)
            $0.put("video", intent.hasVideo)
            $0.put("code", code)
        }
    }
}
