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
        case ASCII.openParenthesis, ASCII.closeParenthesis, ASCII.less, ASCII.greater, ASCII.colon, ASCII.backslash,
            ASCII.quote, ASCII.slash, ASCII.openBracket, ASCII.closeBracket, ASCII.question, ASCII.openBrace,
            ASCII.closeBrace:
            return true
        default: return false
        }
    }

    public static func isToken(_ text: ByteString) -> Bool {
        !text.isEmpty && text.bytes.allSatisfy(self.isTokenByte)
    }
}
