// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPEngine
import SIPWire

/// Texts (MESSAGE, RFC 3428) in and out, and who the far end says it is. For a person who does not hear, a text is the
/// call.
extension KioskEngine {
    // MARK: - In

    mutating func received(_ message: IncomingMessage, now: Instant) {
        let isOfCall = message.call != nil && message.call == self.machine.state.handle
        self.notice = Notice(message, now: now)
        self.emit("message", now: now) {
            $0.put("uri", message.from.uri.printed)
            $0.put("in_call", isOfCall)
            $0.put("text", message.text)
        }
    }

    // MARK: - Out

    /// The reply to a word that sends a text: its number, under which `message_sent` tells what came of it.
    mutating func sendText(_ text: ByteString, to uri: SIPURI?, now: Instant) -> ByteString {
        guard let uri else {
            guard case .connected(let state) = self.machine.state else { return Reply.refused("there is no call") }
            let id = self.newTextID()
            self.tell(.message(id, .call(state.handle), text: text), now: now)
            return Self.sending(id)
        }
        // A question that has no answer for so long has none.
        let patience = Duration.milliseconds(KioskTimes.lookUpMs)
        for text in self.waitingTexts where now - text.asked > patience {
            self.finished(text.id, .requestTimeout, now: now)
        }
        self.waitingTexts.removeAll { now - $0.asked > patience }
        guard self.waitingTexts.count < WaitingText.countMax else {
            return Reply.refused("too many texts wait to be sent already")
        }
        let id = self.newTextID()
        let question = self.machine.newResolution()
        self.waitingTexts.append(WaitingText(id: id, uri: uri, text: text, question: question, asked: now))
        self.resolve(question, uri)
        return Self.sending(id)
    }

    private mutating func newTextID() -> MessageID {
        self.textNumber &+= 1
        return MessageID(self.textNumber)
    }

    private static func sending(_ id: MessageID) -> ByteString {
        JSON.object {
            $0.put("ok", true)
            $0.put("id", id.number)
        }
    }

    /// True where the answer was to a question about a text.
    mutating func sendWaitingText(_ id: ResolutionID, _ result: ResolutionResult, now: Instant) -> Bool {
        guard let index = self.waitingTexts.firstIndex(where: { $0.question == id }) else { return false }
        let text = self.waitingTexts.remove(at: index)
        switch result {
        case .failed: self.finished(text.id, .notFound, now: now)
        case .found(let addresses, let local):
            guard let remote = addresses.first else {
                self.finished(text.id, .notFound, now: now)
                return true
            }
            let flow = self.way(self.flow(to: text.uri, remote, local), to: text.uri)
            self.tell(.message(text.id, .address(text.uri, flow, by: self.sender), text: text.text), now: now)
        }
        return true
    }

    mutating func finished(_ id: MessageID, _ status: StatusCode, now: Instant) {
        self.emit("message_sent", now: now) {
            $0.put("id", id.number)
            $0.put("code", status.value)
        }
    }

    // MARK: - Identity

    mutating func identified(_ handle: CallHandle, _ party: NameAddr, now: Instant) {
        guard self.machine.identified(handle, ShownName.text(of: party)) else { return }
        self.emit("identity", now: now) {
            $0.put("uri", party.uri.printed)
            $0.put("name", ShownName.text(of: party))
        }
    }
}
