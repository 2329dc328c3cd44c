// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Character classes of RFC 3261 section 25.1.
public enum Token {
    /// A character of `token`.
    public static func isTokenByte(_ byte: UInt8) -> Bool {
        if ASCII.isLetter(byte) || ASCII.isDigit(byte) { return true }
        switch byte {
        case 0x2D, 0x2E, 0x21, 0x25, 0x2A, 0x5F, 0x2B, 0x60, 0x27, 0x7E: return true  // - . ! % * _ + ` ' ~
        default: return false
        }
    }

    /// A character of `word`, of which Call-IDs are made.
    public static func isWordByte(_ byte: UInt8) -> Bool {
        if self.isTokenByte(byte) { return true }
        switch byte {
        case 0x28, 0x29, 0x3C, 0x3E, 0x3A, 0x5C, 0x22, 0x2F, 0x5B, 0x5D, 0x3F, 0x7B, 0x7D: return true  // ( ) < > : \ " / [ ] ? { }
        default: return false
        }
    }

    public static func isToken(_ text: ByteString) -> Bool {
        !text.isEmpty && text.bytes.allSatisfy(self.isTokenByte)
    }
}
