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
        guard self.texts.count < OutgoingText.countMax else {
            return Reply.refused("too many texts wait to be sent already")
        }
        let id = self.newTextID()
        let question = self.machine.newResolution()
        self.texts.append(OutgoingText(id: id, uri: uri, text: text, question: question))
        self.find(question, uri, now: now)
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

    /// True where it was a text's addressee that was looked for; `ways` is empty where none leads there.
    mutating func sendWaitingText(_ question: ResolutionID, _ ways: [Flow], now: Instant) -> Bool {
        guard let index = self.texts.firstIndex(where: { $0.isFound(by: question) }) else { return false }
        guard !ways.isEmpty else {
            let text = self.texts.remove(at: index)
            self.emitSent(text.id, .notFound, now: now)
            return true
        }
        self.texts[index].state = .sent(attempts: [], left: Array(ways.prefix(OutgoingText.waysMax)), nextAt: nil)
        self.sendText(at: index, as: self.texts[index].id, now: now)
        return true
    }

    /// By the next way that is left.
    private mutating func sendText(at index: Int, as id: MessageID, now: Instant) {
        guard let way = self.texts[index].nextWay(as: id, now: now) else { return }
        let text = self.texts[index]
        let flow = self.way(way, to: text.uri, now: now)
        self.tell(.message(id, .address(text.uri, flow, by: self.sender), text: text.text), now: now)
    }

    var textsWakeAt: Instant? {
        self.texts.compactMap { $0.nextAt }.min()
    }

    /// A server that keeps silent is not waited for where there is another one.
    mutating func hurryTexts(now: Instant) {
        for index in self.texts.indices {
            guard let due = self.texts[index].nextAt, now >= due else { continue }
            if let flow = self.texts[index].newest?.flow { self.failed(flow, now: now) }
            self.sendText(at: index, as: self.newTextID(), now: now)
        }
    }

    mutating func finished(_ id: MessageID, _ status: StatusCode, now: Instant) {
        guard let index = self.texts.firstIndex(where: { $0.attempt(id) != nil }) else {
            return self.emitSent(id, status, now: now)
        }
        if let status = self.texts[index].finished(id, status) { self.emitSent(self.texts[index].id, status, now: now) }
        if self.texts[index].isStuck { self.sendText(at: index, as: self.newTextID(), now: now) }
        if self.texts[index].isOver { self.texts.remove(at: index) }
    }

    private mutating func emitSent(_ id: MessageID, _ status: StatusCode, now: Instant) {
        self.emit("message_sent", now: now) {
            $0.put("id", id.number)
            $0.put("code", status.value)
        }
    }

    // MARK: - Identity

    mutating func identified(_ handle: CallHandle, _ party: NameAddr, now: Instant) {
        self.mayCallBack(handle, party, now: now)
        guard self.machine.identified(handle, ShownName.text(of: party)) else { return }
        self.emit("identity", now: now) {
            $0.put("uri", party.uri.printed)
            $0.put("name", ShownName.text(of: party))
        }
    }
}
