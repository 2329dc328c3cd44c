// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Provisional responses that are acknowledged: RFC 3262.
extension SIPEngine {
    mutating func receivedPrack(_ request: Inbound, at index: Int, _ id: UInt64, now: Instant) {
        self.refuse(request, Refusal(.callOrTransactionDoesNotExist), id, now: now)
    }
}
