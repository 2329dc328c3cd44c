// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Texts: MESSAGE (RFC 3428).
extension SIPEngine {
    /// A text that is taken is told once; copies of it meet its transaction.
    /// - Parameter id: its transaction; nil outside of a call, where it gets one in the strangers' part of the table.
    mutating func receivedMessage(_ request: Inbound, in call: CallHandle?, _ id: UInt64?, now: Instant) {
        guard let id = id ?? self.startServer(request, .forStrangers, now: now) else {
            return self.refuse(request, Refusal(.serviceUnavailable))
        }
        let refusal = MessageText.refusal(of: request.message)
        let tag = self.statelessTag(for: request.message)
        var response = self.response(to: request, refusal?.status ?? .ok, tag: tag)
        response.headers += refusal?.headers ?? []
        self.answer(id, with: response, now: now)
        guard refusal == nil, !request.message.body.isEmpty else { return }
        let text = ByteString(request.message.body)
        self.put(.message(IncomingMessage(call: call, from: request.envelope.from, text: text)))
    }

    mutating func sendMessage(_ id: MessageID, _ destination: MessageDestination, _ text: ByteString, now: Instant) {
        if let status = MessageText.fault(of: text.bytes) { return self.put(.messageFinished(id, status)) }
        guard self.outstandingMessages < Limits.messagesMax else {
            return self.put(.messageFinished(id, .serviceUnavailable))
        }
        switch destination {
        case .call(let handle):
            guard let index = self.callIndex(handle), self.calls[index].machine.state.isConfirmed,
                let number = self.calls[index].dialog?.takeNumber(), let dialog = self.calls[index].dialog
            else { return self.put(.messageFinished(id, .callOrTransactionDoesNotExist)) }
            self.send(dialog.request(.message, number: number), text, on: dialog.nextHop, id, now: now)
        case .address(let target, let flow, let sender):
            guard let message = self.messageOutsideDialog(to: target, on: flow, by: sender) else {
                return self.put(.messageFinished(id, .badRequest))
            }
            self.send(message, text, on: flow, id, now: now)
        }
    }

    private var outstandingMessages: Int {
        self.clients.filter {
            if case .message = $0.purpose { return !$0.isTerminated && !$0.isLingering }
            return false
        }.count
    }

    /// Nil where the address cannot be written so that we could read it ourselves.
    private mutating func messageOutsideDialog(to target: SIPURI, on flow: Flow, by sender: Sender) -> SIPMessage? {
        let uri = target.asRequestURI
        let tag = self.newTag()
        var message = SIPMessage(startLine: .request(.message, .sip(uri)))
        message.add(.maxForwards, "70")
        message.add(sender.routes)
        message.add(.from, self.from(flow, tag: tag, by: sender).printed)
        message.add(.to, NameAddr(uri: .sip(uri.asAddress)).printed)
        message.add(.callID, self.newCallID())
        message.add(.cseq, CSeq(1, .message).printed)
        return message.from?.tag == tag && message.to != nil ? message : nil
    }

    private mutating func send(
        _ message: SIPMessage, _ text: ByteString, on flow: Flow, _ id: MessageID, now: Instant
    ) {
        var message = message
        if !self.configuration.userAgent.isEmpty { message.add(.userAgent, self.configuration.userAgent) }
        message.add(.contentType, "text/plain;charset=utf-8")
        message.body = text.bytes
        self.sendRequest(message, on: flow, for: .message(id), now: now)
    }
}

/// What may be said in a MESSAGE.
enum MessageText {
    /// Nil for a text that is taken.
    static func refusal(of message: SIPMessage) -> Refusal? {
        guard !message.body.isEmpty else { return nil }
        guard message.contentEncodings.isEmpty else {
            return Refusal(.unsupportedMediaType, [Header(.acceptEncoding, "identity")])
        }
        let charset = message.contentType?.parameters.text(of: "charset") ?? "utf-8"
        guard message.contentType?.matches("text", "plain") ?? false,
            charset.equalsIgnoringCase("utf-8") || charset.equalsIgnoringCase("us-ascii")
        else { return Refusal(.unsupportedMediaType, [Header(.accept, "text/plain;charset=utf-8")]) }
        return self.fault(of: message.body).map { Refusal($0) }
    }

    /// Too long, not UTF-8, or with control characters; nil for a text that anybody can read.
    static func fault(of text: [UInt8]) -> StatusCode? {
        if text.count > SIPEngine.messageBytesMax { return .requestEntityTooLarge }
        return UTF8Text.isPlain(text[...]) ? nil : .badRequest
    }
}
