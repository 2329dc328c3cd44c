// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// OPTIONS: what we can do (RFC 3261 section 11).
extension SIPEngine {
    mutating func answerOptions(_ request: Inbound) {
        let response = self.optionsResponse(to: request, tag: self.statelessTag(for: request.message))
        self.send(response.printed(), on: request.reply)
    }

    func optionsResponse(to request: Inbound, tag: ByteString?) -> SIPMessage {
        var response = self.response(to: request, .ok, tag: tag)
        response.add(.accept, "application/sdp, text/plain, " + InfoBody.accepted)
        response.add(.acceptEncoding, "identity")
        response.add(.acceptLanguage, "en")
        return response
    }
}
