// SPDX-License-Identifier: Apache-2.0

import Bytes

/// How a message's end is known, RFC 3261 section 18.3.
public enum SIPFraming: Hashable, Sendable {
    /// The datagram is the message: Content-Length may be missing, surplus bytes are ignored, missing ones are a fault.
    case datagram
    /// Cut out of a stream by `SIPStreamFramer`: Content-Length is required and exact.
    case stream
}

extension SIPMessage {
    /// Reads one message and checks what no part of the product can do without: Via, From, To, Call-ID, CSeq (its method
    /// that of the request), single fields single, readable contacts and routes, sane lengths (RFC 3261 sections 8.1.1,
    /// 18.3 and 20; the faults of RFC 4475).
    public static func parse(_ bytes: [UInt8], framing: SIPFraming) throws(SIPParseError) -> SIPMessage {
        throw SIPParseError(.drop, "not written yet")
    }
}
