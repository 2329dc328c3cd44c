// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// The 2xx for our INVITE, of which there may be copies, and one for every branch of a fork: RFC 3261 section 13.2.2.4.
extension SIPEngine {
    mutating func receivedSuccess(_ handle: CallHandle, at client: Int, _ response: SIPMessage, _ now: Instant) {
        let entry = self.clients[client]
        let remoteTag = response.to?.tag
        if let copy = entry.acknowledged.firstIndex(where: { $0.remoteTag == remoteTag }) {
            return self.acknowledgeAgain(copy, at: client, now: now)
        }
        let call = self.callIndex(handle)
        // A copy of the one that waits for our answer: its ACK will be the answer.
        if let call, case .answering = self.calls[call].machine.state, self.calls[call].dialog?.remoteTag == remoteTag {
            return
        }
        guard entry.acknowledged.count < Limits.forksMax else { return self.counters.add(.tooManyForks) }
        guard let dialog = self.dialog(madeBy: response, to: entry, of: call) else {
            preconditionFailure("our INVITE and what the parser lets through have all that a dialog needs")
        }
        guard let index = call else {
            self.acknowledge(dialog, number: entry.number, body: [], at: client)
            return self.discard(dialog, now: now)
        }
        let described = self.content(of: response, at: index)
        switch self.calls[index].machine.receivedSuccess(described.content, now: now) {
        case .acknowledgeAndReport:
            self.acknowledge(dialog, number: entry.number, body: [], at: client)
            self.adopt(dialog, response, at: index, now: now)
            // An UPDATE within the early dialog may have changed ours already.
            if self.calls[index].localDescription.isEmpty, case .sdp(let offer) = entry.request.sessionDescription {
                self.calls[index].localDescription = offer
            }
            self.tell(handle, .answered(described.description))
            self.identify(response, at: index)
        case .reportOffer:
            self.adopt(dialog, response, at: index, now: now)
            self.tell(handle, .answeredWithOffer(described.description))
            self.identify(response, at: index)
        case .acknowledgeAndHangUp(let told):
            self.acknowledge(dialog, number: entry.number, body: [], at: client)
            self.adopt(dialog, response, at: index, now: now)
            self.sendBye(index, told, now: now)
        case .acknowledgeAndDiscard:
            self.acknowledge(dialog, number: entry.number, body: [], at: client)
            self.discard(dialog, now: now)
        }
    }

    /// The early dialog of the same tag goes on, with its numbers: the 2xx has the last word only on the route set and
    /// on the target. Where there was none, the 2xx makes one.
    private func dialog(madeBy response: SIPMessage, to entry: ClientEntry, of call: Int?) -> Dialog? {
        guard var made = Dialog(request: entry.request, response: response, flow: entry.dialogFlow) else { return nil }
        let remoteTag = made.remoteTag
        if let last = entry.earlyNumbers.first(where: { $0.remoteTag == remoteTag }) { made.goOn(after: last.number) }
        guard let call, let early = self.calls[call].earlyIndex(remoteTag) else { return made }
        made.remoteCSeq = self.calls[call].early[early].dialog.remoteCSeq
        return made
    }

    /// This branch has won: the other early dialogs are forgotten.
    private mutating func adopt(_ dialog: Dialog, _ response: SIPMessage, at index: Int, now: Instant) {
        self.calls[index].dialog = dialog
        self.calls[index].early = []
        // An UPDATE within an early dialog was overtaken by the answer.
        self.refusePending(index, .serverInternalError, now: now)
        self.calls[index].peer.learn(from: response)
        self.calls[index].sessionTimer.agreed(response.sessionAgreement, now: now)
    }

    /// What the 2xx says about the session, or where it says nothing, what the same branch said before.
    private func content(
        of response: SIPMessage, at index: Int
    ) -> (content: CallMachine.Content, description: [UInt8]) {
        let isOffering = self.calls[index].invitation?.isOffering ?? true
        if case .sdp(let sdp) = response.sessionDescription { return (isOffering ? .answer : .offer, sdp) }
        guard isOffering, let early = self.calls[index].earlyIndex(response.to?.tag),
            let description = self.calls[index].early[early].description
        else { return (.nothing, []) }
        return (.answer, description)
    }

    /// The user's answer to the offer that a 2xx brought: it goes into the ACK.
    mutating func acknowledge(_ handle: CallHandle, _ answer: [UInt8], now: Instant) {
        guard let index = self.callIndex(handle) else { return self.counters.add(.lateOrder) }
        switch self.calls[index].machine.answered() {
        case .acknowledge:
            self.calls[index].localDescription = answer
            self.acknowledgeOffer(index, answer: answer)
        case .ignore: self.counters.add(.lateOrder)
        }
    }

    /// - Parameter answer: empty where we want out: the far end then gets its ACK, and a BYE.
    mutating func acknowledgeOffer(_ index: Int, answer: [UInt8]) {
        guard let dialog = self.calls[index].dialog, let number = self.calls[index].invitation?.number else {
            preconditionFailure("an offer in a 2xx makes a dialog of our INVITE")
        }
        let client = self.inviteIndex(of: self.calls[index].handle)
        self.acknowledge(dialog, number: number, body: answer, at: client)
    }
}
