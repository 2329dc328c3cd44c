// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Questions that change nothing in a call: OPTIONS (RFC 3261 section 11) and INFO (RFC 6086, RFC 5168).
extension SIPEngine {
    mutating func answerOptions(_ request: Inbound) {
        let response = self.optionsResponse(to: request, tag: self.statelessTag(for: request.message))
        self.send(response.printed(), on: request.reply)
    }

    func optionsResponse(to request: Inbound, tag: ByteString?) -> SIPMessage {
        var response = self.response(to: request, .ok, tag: tag)
        response.add(.accept, "application/sdp")
        response.add(.acceptEncoding, "identity")
        response.add(.acceptLanguage, "en")
        return response
    }

    /// A request for a key frame is passed on. What we cannot use is refused, not swallowed: the sender may then try
    /// another way (digits as RFC 4733 events).
    mutating func receivedInfo(_ request: Inbound, at index: Int, _ id: UInt64, now: Instant) {
        let isPictureControl = request.message.contentType?.matches("application", "media_control+xml") ?? false
        guard request.message.body.isEmpty || isPictureControl else {
            let refusal = Refusal(.unsupportedMediaType, [Header(.accept, "application/media_control+xml")])
            return self.refuse(request, refusal, id, now: now)
        }
        self.answer(id, with: self.response(to: request, .ok, tag: nil), now: now)
        if isPictureControl && ByteString(request.message.body).containsIgnoringCase("picture_fast_update") {
            self.tell(self.calls[index].handle, .keyFrameRequested)
        }
    }
}
