// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Our own change of the session: re-INVITE and its glare (RFC 3261 section 14.1).
extension SIPEngine {
    mutating func reoffer(_ handle: CallHandle, _ offer: [UInt8], now: Instant) {
    }

    /// Our answer to the offer that a 2xx brought: it goes into the ACK.
    mutating func acknowledge(_ handle: CallHandle, _ answer: [UInt8], now: Instant) {
    }
}
