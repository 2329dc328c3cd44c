// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A Call-ID, RFC 3261 section 20.8. Compared with case, byte by byte.
public struct CallID: Hashable, Sendable {
    public let text: ByteString

    /// `word [ "@" word ]`; nil where it is anything else, or longer than we keep.
    public init?(_ text: ByteString) {
        guard text.count <= SIPLimits.identifierBytes, let first = text.bytes.first, first != ASCII.at,
            text.bytes.last != ASCII.at
        else { return nil }
        var ats = 0
        for byte in text.bytes {
            if byte == ASCII.at { ats += 1 } else if !Token.isWordByte(byte) { return nil }
        }
        guard ats <= 1 else { return nil }
        self.text = text
    }
}
