// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Provisional responses that are acknowledged: RFC 3262.
extension SIPEngine {
    // MARK: - As the caller

    /// Acknowledges a reliable 1xx within its early dialog. The transaction repeats the PRACK; what becomes of it does
    /// not matter, for the 1xx comes again where it was lost.
    mutating func sendPrack(_ rseq: RSeq, early: Int, of client: Int, at index: Int, now: Instant) {
        let invite = CSeq(self.clients[client].number, .invite)
        let number = self.calls[index].early[early].dialog.takeNumber()
        let dialog = self.calls[index].early[early].dialog
        self.clients[client].noteEarly(number, dialog.remoteTag)
        var message = dialog.request(.prack, number: number)
        message.add(.rack, RAck(rseq, invite).printed)
        self.sendRequest(message, on: dialog.nextHop, for: .prack, now: now)
    }

    // MARK: - As the callee

    /// Sends a 1xx of ours as the caller asked: reliably where it requires that, else plainly.
    ///
    /// A caller that wants reliable 1xx and makes no offer would have to get ours in the first of them (section 5). We
    /// keep our description for the 2xx, and such a caller gets no 1xx but 100.
    mutating func sendProvisional(
        _ response: SIPMessage, _ status: StatusCode, _ id: UInt64, at index: Int, now: Instant
    ) {
        guard let server = self.serverIndex(id) else { return self.counters.add(.lateOrder) }
        let invite = self.servers[server].request.message
        guard invite.isReliable, status > .trying else { return self.answer(id, with: response, now: now) }
        guard !invite.body.isEmpty else { return }
        switch self.calls[index].provisional.send(status) {
        case .send(let rseq):
            var response = response
            response.add(.require, "100rel")
            response.add(.rseq, rseq.printed)
            self.answer(id, with: response, now: now)
            self.calls[index].provisional.sent(response.printed(), now: now)
        case .wait: break
        }
    }

    mutating func provisionalFired(_ timer: SIPTimer, at index: Int, now: Instant) {
        switch self.calls[index].provisional.fired(timer, now: now) {
        case .sendAgain(let bytes):
            guard let id = self.calls[index].pending, let server = self.serverIndex(id) else { return }
            self.counters.add(.answeredAgain)
            self.send(bytes, on: self.servers[server].request.reply)
        case .giveUp:
            self.counters.add(.unanswered)
            // Section 3: 5xx.
            switch self.calls[index].machine.respond(.serverTimeout, now: now) {
            case .sendAndEnd:
                self.refusePending(index, .serverTimeout, now: now)
                self.end(index, .timedOut, now: now)
            case .send, .sendUntilAcknowledged, .ignore: break
            }
        case .doNothing: break
        }
    }

    /// A PRACK of the peer's. An offer in it is refused with 488, though the PRACK counts: the caller has had no answer
    /// to the offer in its INVITE yet, so it must not make another one (section 5).
    mutating func receivedPrack(_ request: Inbound, at index: Int, _ id: UInt64, now: Instant) {
        guard let rack = request.message.rack, rack.cseq.method == .invite,
            rack.cseq.number == self.calls[index].inviteNumber
        else { return self.refuse(request, Refusal(.callOrTransactionDoesNotExist), id, now: now) }
        switch self.calls[index].provisional.acknowledged(rack.rseq.number) {
        case .take(let next):
            if request.message.body.isEmpty {
                self.answer(id, with: self.response(to: request, .ok, tag: nil), now: now)
            } else {
                self.refuse(request, Refusal(.notAcceptableHere), id, now: now)
            }
            if let next { self.respond(self.calls[index].handle, next, body: [], now: now) }
        case .refuse: self.refuse(request, Refusal(.callOrTransactionDoesNotExist), id, now: now)
        }
    }
}
