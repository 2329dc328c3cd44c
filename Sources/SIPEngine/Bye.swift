// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// BYE in both directions: RFC 3261 section 15.
extension SIPEngine {
    /// Sends BYE within the call's dialog; the call waits for its answer.
    mutating func sendBye(_ index: Int, _ told: HangUpReason, now: Instant) {
        self.sendBye(index, told, for: .bye(self.calls[index].handle), now: now)
    }

    /// - Parameter purpose: `discard` where nobody waits for the answer.
    mutating func sendBye(_ index: Int, _ told: HangUpReason, for purpose: ClientEntry.Purpose, now: Instant) {
        guard let number = self.calls[index].dialog?.takeNumber(), let dialog = self.calls[index].dialog else {
            preconditionFailure("the machine says BYE only where there is a dialog")
        }
        self.calls[index].accept = nil
        self.stopSession(index, now: now)
        var message = dialog.request(.bye, number: number)
        message.headers += told.headers
        self.sendRequest(message, on: dialog.nextHop, for: purpose, now: now)
    }

    /// Ends a dialog that no call wants.
    mutating func discard(_ dialog: Dialog, now: Instant) {
        var dialog = dialog
        let message = dialog.request(.bye, number: dialog.takeNumber())
        self.sendRequest(message, on: dialog.nextHop, for: .discard, now: now)
    }

    /// Remembers a BYE that reached nobody, where the 2xx that made its dialog may still be repeated.
    mutating func noteUnheard(_ client: Int) {
        let entry = self.clients[client]
        guard entry.method == .bye, let remoteTag = entry.request.to?.tag else { return }
        let callID = entry.request.first(.callID)
        for invite in self.clients.indices where self.clients[invite].request.first(.callID) == callID {
            let made = self.clients[invite].acknowledged.firstIndex { $0.remoteTag == remoteTag }
            guard let made else { continue }
            self.clients[invite].acknowledged[made].unheardBye = .init(
                request: entry.request, lastNumber: entry.lastNumber)
        }
    }

    /// A BYE that was never answered goes out once more where it went over a stream: there nothing repeats it, and a
    /// proxy that lost its own stream has lost the BYE. Without it the far end would stay in a call with nobody.
    mutating func sayByeAgain(_ client: Int, now: Instant) {
        let entry = self.clients[client]
        guard entry.method == .bye, entry.purpose != .lastBye, entry.flow.transport.isReliable else { return }
        self.sendRequest(self.again(entry.request, after: entry.lastNumber), on: entry.flow, for: .lastBye, now: now)
    }

    /// The same BYE as a new request, after all that was sent since in its dialog: its call may be over, but what is
    /// told about a REFER goes on counting (RFC 3261 section 12.2.1.1).
    mutating func again(_ bye: SIPMessage, after last: UInt32) -> SIPMessage {
        let number = last &+ 1
        for index in self.calls.indices where self.calls[index].dialog?.owns(bye) ?? false {
            self.calls[index].dialog?.goOn(after: number)
        }
        for index in self.referrals.indices where self.referrals[index].dialog?.owns(bye) ?? false {
            self.referrals[index].dialog?.goOn(after: number)
        }
        var message = bye
        message.remove(.via)
        message.set(.cseq, CSeq(number, .bye).printed)
        return message
    }

    /// Takes note of a number used in a dialog after its BYE, should that be said again.
    mutating func noteNumber(_ number: UInt32, in dialog: Dialog) {
        for index in self.clients.indices {
            if self.clients[index].method == .bye, dialog.owns(self.clients[index].request) {
                self.clients[index].lastNumber = number
            }
            for made in self.clients[index].acknowledged.indices {
                guard let bye = self.clients[index].acknowledged[made].unheardBye, dialog.owns(bye.request) else {
                    continue
                }
                self.clients[index].acknowledged[made].unheardBye?.lastNumber = number
            }
        }
    }

    mutating func byeFinished(_ handle: CallHandle, now: Instant) {
        guard let index = self.callIndex(handle) else { return }
        switch self.calls[index].machine.byeFinished() {
        case .end(let reason): self.end(index, reason, now: now)
        case .ignore: break
        }
    }

    /// A BYE is always honoured.
    /// - Parameter id: its transaction; nil where there was no room for one.
    mutating func receivedBye(_ request: Inbound, at index: Int, _ id: UInt64?, now: Instant) {
        let response = self.response(to: request, .ok, tag: nil)
        if let id {
            self.answer(id, with: response, now: now)
        } else {
            self.send(response.printed(), on: request.reply)
        }
        let reason = request.message.hangUpReason
        switch self.calls[index].machine.receivedBye(reason, now: now) {
        case .end(let reason): self.end(index, reason, now: now)
        case .refuseAndEnd(let reason):
            self.refusePending(index, .requestTerminated, now: now)
            self.end(index, reason, now: now)
        case .sendCancel(let told):
            self.refusePending(index, .requestTerminated, now: now)
            self.sendCancel(index, told, now: now)
        case .acknowledgeAndEnd(let reason):
            self.acknowledgeOffer(index, answer: [])
            self.end(index, reason, now: now)
        case .ignore: break
        }
    }
}

extension SIPMessage {
    /// The cause and the words of the Reason header. Q.850 causes (RFC 3326) give words, but no status.
    fileprivate var hangUpReason: EndReason {
        let reasons = self.reasons
        let sip = reasons.first { $0.protocolName.equalsIgnoringCase("SIP") }
        let cause = sip?.cause.flatMap { StatusCode(wire: UInt64(clamping: $0)) }
        return .remoteHangUp(cause: cause, q850: self.q850, text: (sip ?? reasons.first)?.text ?? ByteString())
    }
}
