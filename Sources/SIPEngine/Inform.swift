// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// INFO within a call: RFC 6086.
extension SIPEngine {
    mutating func inform(_ handle: CallHandle, _ type: ByteString, _ body: [UInt8], now: Instant) {
    }
}
