// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A Call-ID, RFC 3261 section 20.8. Compared with case, byte by byte.
public struct CallID: Hashable, Sendable {
    public let text: ByteString

    /// `word [ "@" word ]`; nil where it is anything else, or longer than we keep.
    public init?(_ text: ByteString) {
        guard !text.isEmpty, text.count <= SIPLimits.identifierBytes else { return nil }
        let words = text.split(on: ASCII.at)
        guard words.count <= 2, words.allSatisfy({ !$0.isEmpty && $0.bytes.allSatisfy(Token.isWordByte) }) else {
            return nil
        }
        self.text = text
    }
}
