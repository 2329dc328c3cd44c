// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Our own change of the session: re-INVITE and its glare (RFC 3261 section 14.1).
extension SIPEngine {
    mutating func reoffer(_ handle: CallHandle, _ offer: [UInt8], now: Instant) {
        guard let index = self.callIndex(handle) else { return self.counters.add(.lateOrder) }
        guard !offer.isEmpty, self.calls[index].machine.isEstablished, self.calls[index].change.offer(offer) == .taken
        else { return self.tell(handle, .changeRefused(.requestPending)) }
    }

    /// Sends the re-INVITEs whose session has become free.
    mutating func sendWaitingChanges(now: Instant) {
        for index in self.calls.indices {
            guard case .queued = self.calls[index].change.state, self.calls[index].machine.change(now: now) == .send,
                let attempt = self.calls[index].change.take()
            else { continue }
            var message = self.sessionRequest(.invite, at: index)
            message.add(.contentType, "application/sdp")
            switch attempt.wish {
            case .offer(let offer): message.body = offer
            case .refresh: message.body = self.calls[index].localDescription
            }
            guard let dialog = self.calls[index].dialog else {
                preconditionFailure("only a session that stands is changed")
            }
            let handle = self.calls[index].handle
            self.sendRequest(message, on: dialog.nextHop, for: .reinvite(handle), in: dialog, now: now)
        }
    }

    /// A request that refreshes the target and the session (RFC 3261 section 12.2, RFC 4028 section 7.4).
    mutating func sessionRequest(_ method: Method, at index: Int) -> SIPMessage {
        guard let number = self.calls[index].dialog?.takeNumber(), let dialog = self.calls[index].dialog else {
            preconditionFailure("a session has a dialog")
        }
        var message = dialog.request(method, number: number)
        message.add(.contact, self.contact(dialog.nextHop, isSecure: dialog.remoteTarget.isSecure))
        message.headers.append(self.allowHeader)
        // No 100rel: there is nothing to say before the answer to a re-INVITE.
        message.add(.supported, ByteString.list(Self.extensions.filter { $0 != "100rel" }))
        message.headers += self.sessionHeaders(at: index)
        if !self.configuration.userAgent.isEmpty { message.add(.userAgent, self.configuration.userAgent) }
        return message
    }

    // MARK: - Its answers

    /// A 2xx, or a copy of it. It is acknowledged even where the call is over.
    mutating func reinviteSucceeded(_ handle: CallHandle, at client: Int, _ response: SIPMessage, now: Instant) {
        let entry = self.clients[client]
        if let copy = entry.acknowledged.first { return self.send(copy.bytes, on: copy.flow) }
        let call = self.callIndex(handle)
        guard var dialog = call.flatMap({ self.calls[$0].dialog }) ?? entry.dialog else {
            preconditionFailure("a re-INVITE is sent within a dialog")
        }
        dialog.renewTarget(from: response)
        self.acknowledge(dialog, number: entry.number, body: [], at: client)
        guard let index = call else { return }
        guard client == self.reinviteIndex(of: handle), self.calls[index].machine.changeFinished() == .report,
            let attempt = self.calls[index].change.finished()
        else {
            // Given up, with its flow, but the peer has taken it.
            guard self.calls[index].machine.isEstablished, entry.request.body != self.calls[index].localDescription
            else { return }
            return self.tell(handle, .changeTakenLate)
        }
        self.calls[index].dialog = dialog
        self.calls[index].peer.learn(from: response)
        self.calls[index].sessionTimer.agreed(response.sessionAgreement, now: now)
        if case .sdp(let answer) = response.sessionDescription {
            self.calls[index].localDescription = entry.request.body
            self.tell(handle, .changed(answer: answer))
        } else if attempt.wish != .refresh {
            // Our offer was not answered: RFC 3261 has no such 2xx. The session stands as it was.
            self.tell(handle, .changeRefused(.notAcceptableHere))
        }
        self.identify(response, at: index)
    }

    mutating func reinviteRefused(_ handle: CallHandle, _ response: SIPMessage, _ status: StatusCode, now: Instant) {
        guard let index = self.callIndex(handle) else { return }
        guard !self.isDead(status) else { return self.died(index, status, now: now) }
        guard self.calls[index].machine.changeFinished() == .report else { return }
        switch status {
        case .requestPending:
            let delayMs = self.glareDelayMs(at: index)
            if self.calls[index].change.collided(delayMs: delayMs, now: now) == .again { return }
        case .sessionIntervalTooSmall:
            self.calls[index].raiseInterval(response.minSESeconds)
            if self.calls[index].change.collided(delayMs: 0, now: now) == .again { return }
        default: break
        }
        self.changeRefused(index, status, now: now)
    }

    /// No answer at all, or the flow failed.
    mutating func reinviteFailed(_ handle: CallHandle, _ reason: EndReason, now: Instant) {
        guard let index = self.callIndex(handle) else { return }
        guard reason == .flowFailed else { return self.died(index, .requestTimeout, now: now) }
        guard self.calls[index].machine.changeFinished() == .report else { return }
        self.changeRefused(index, .serviceUnavailable, now: now)
    }

    private mutating func changeRefused(_ index: Int, _ status: StatusCode, now: Instant) {
        guard let attempt = self.calls[index].change.finished() else { return }
        self.calls[index].sessionTimer.refused(now: now)
        switch attempt.wish {
        case .offer: self.tell(self.calls[index].handle, .changeRefused(status))
        case .refresh: break
        }
    }

    /// Who made the Call-ID waits longer, so that the two do not meet again.
    private mutating func glareDelayMs(at index: Int) -> Int {
        guard self.calls[index].invitation != nil else {
            return Int(self.random(below: Limits.glareCalleeSteps)) * Limits.glareStepMs
        }
        return Limits.glareCallerMinMs + Int(self.random(below: Limits.glareCallerSteps)) * Limits.glareStepMs
    }
}

// MARK: - A far end that is gone

extension SIPEngine {
    /// Whether the answer to a request within a dialog says that the dialog is gone (RFC 3261 section 12.2.1.2).
    func isDead(_ status: StatusCode) -> Bool {
        status == .requestTimeout || status == .callOrTransactionDoesNotExist
    }

    mutating func died(_ index: Int, _ status: StatusCode, now: Instant) {
        let reason: EndReason =
            status == .requestTimeout ? .timedOut : .remoteHangUp(cause: status, q850: nil, text: ByteString())
        self.drop(index, reason, .fault(status, text: "the dialog is gone"), now: now)
    }

    /// Ends a session at once: its BYE goes out, and nobody waits for the answer.
    mutating func drop(_ index: Int, _ reason: EndReason, _ told: HangUpReason, now: Instant) {
        let action = self.calls[index].machine.drop()
        switch action {
        case .sendBye: break
        case .refuseOfferAndSendBye: self.refusePending(index, .requestTerminated, now: now)
        case .ignore: return
        }
        self.sendBye(index, told, for: .discard, now: now)
        self.end(index, reason, now: now)
    }
}
