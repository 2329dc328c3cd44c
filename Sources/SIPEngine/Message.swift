// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Texts: MESSAGE (RFC 3428).
extension SIPEngine {
    /// - Parameter id: its transaction; nil outside of a call, where it is answered without state.
    mutating func receivedMessage(_ request: Inbound, in call: CallHandle?, _ id: UInt64?, now: Instant) {
        let refusal = Refusal(.methodNotAllowed, [self.allowHeader])
        guard let id else { return self.refuse(request, refusal) }
        self.refuse(request, refusal, id, now: now)
    }

    mutating func sendMessage(_ id: MessageID, _ destination: MessageDestination, _ text: ByteString, now: Instant) {
        self.put(.messageFinished(id, .serviceUnavailable))
    }
}
