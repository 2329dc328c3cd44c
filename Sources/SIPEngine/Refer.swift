// SPDX-License-Identifier: Apache-2.0
import Bytes
import SIPWire

/// Being transferred: REFER (RFC 3515) and the NOTIFYs about it.
extension SIPEngine {
    mutating func receivedRefer(_ request: Inbound, at index: Int, _ id: UInt64, now: Instant) {
        self.refuse(request, Refusal(.methodNotAllowed, [self.allowHeader]), id, now: now)
    }

    mutating func followReferral(_ handle: CallHandle, by other: CallHandle, now: Instant) {
    }

    mutating func refuseReferral(_ handle: CallHandle, _ status: StatusCode, now: Instant) {
    }
}
