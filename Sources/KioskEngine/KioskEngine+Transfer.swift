// SPDX-License-Identifier: Apache-2.0
import Bytes
import SDPWire
import SIPEngine
import SIPWire

/// Calling others than who was dialled: redirections, and being handed over by the far end.
extension KioskEngine {
    // MARK: - Redirections

    /// The person at the panel notices nothing but that it takes longer.
    mutating func tryNext(_ question: KioskMachine.Question, isLeader: Bool = true, now: Instant) {
        if isLeader {
            self.stopMedia()
            self.session = nil
        }
        self.find(question.id, question.uri, now: now)
        self.emit("redirected", now: now) { $0.put("uri", question.uri.printed) }
    }

    // MARK: - Being handed over

    mutating func referred(_ handle: CallHandle, _ referral: Referral, now: Instant) {
        guard self.isAllowed(referral.target, after: self.session) else {
            return self.tell(.refuseReferral(handle, .decline), now: now)
        }
        switch self.machine.referred(handle, referral, policy: self.configuration.call.transfer, now: now) {
        case .refuse(let status): self.tell(.refuseReferral(handle, status), now: now)
        case .lookUp(let question):
            self.find(question.id, question.uri, now: now)
            self.emitTransfer("trying", question.uri.printed, now: now)
        }
    }

    /// Whoever we were handed over to has answered.
    mutating func takeOver(
        from former: CallHandle, _ negotiated: NegotiatedSession, _ wishes: Wishes, now: Instant
    ) {
        self.stopMedia()
        self.session = self.transferSession
        self.transferSession = nil
        self.awaitsAnswerInACK = false
        self.startMedia(negotiated, wishes)
        self.tell(.hangUp(former, .normal), now: now)
        self.emitTransfer("done", self.machine.state.facts?.peer ?? ByteString(), now: now)
        self.emitCall(now: now)
    }

    mutating func transferFailed(_ failed: KioskMachine.FailedTransfer, now: Instant) {
        switch failed.step {
        case .undecided(let referrer): self.tell(.refuseReferral(referrer, .notFound), now: now)
        case .placed(let handle):
            self.tell(.hangUp(handle, .normal), now: now)
            self.concludeTransfer(failed.outcome, now: now)
        case .over: self.concludeTransfer(failed.outcome, now: now)
        case .nextWay(let id, let former): return self.transferFailsOver(id, former, now: now)
        }
        self.transferSession = nil
        self.emit("transfer", now: now) {
            $0.put("state", "failed")
            $0.put("uri", failed.facts.peer)
            $0.put("reason", failed.outcome.reason)
            $0.put("code", failed.outcome.code)
        }
    }

    /// What was held back while there was another way to try.
    private mutating func concludeTransfer(_ outcome: CallOutcome, now: Instant) {
        guard let referrer = self.machine.state.handle else { return }
        let status = (300...699).contains(outcome.code) ? StatusCode(outcome.code) : .serviceUnavailable
        self.tell(.concludeReferral(referrer, status), now: now)
    }

    /// The server by which whoever is to take over was called is of no use; the call at hand goes on meanwhile.
    private mutating func transferFailsOver(_ id: ResolutionID, _ handle: CallHandle?, now: Instant) {
        let former = self.placedBy
        if let former { self.failed(former, now: now) }
        if let handle { self.tell(.hangUp(handle, .normal), now: now) }
        self.transferSession = nil
        self.place(id, nil, now: now)
        if let former, let way = self.placedBy { self.emitFailover(from: former, to: way, now: now) }
    }

    /// The far end has left us alone with whoever it handed us over to.
    mutating func waitForTransfer(now: Instant) {
        self.stopMedia()
        self.session = self.transferSession
        self.transferSession = nil
        self.emitCall(now: now)
    }

    mutating func emitTransfer(_ state: ByteString, _ uri: ByteString, now: Instant) {
        self.emit("transfer", now: now) {
            $0.put("state", state)
            $0.put("uri", uri)
        }
    }
}
