// SPDX-License-Identifier: Apache-2.0

import Bytes

/// `%HH` escapes in URIs, RFC 3261 sections 19.1.2 and 25.1.
enum Escape {
    /// A byte that may stand unescaped in the user part.
    static func isUserByte(_ byte: UInt8) -> Bool {
        if self.isUnreserved(byte) { return true }
        switch byte {
        case ASCII.ampersand, ASCII.equals, ASCII.plus, 0x24, ASCII.comma, ASCII.semicolon, ASCII.question, ASCII.slash:
            return true  // 0x24 is the dollar sign.
        default: return false
        }
    }

    /// Letters, digits and marks: escaped or not, they mean the same.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        if ASCII.isLetter(byte) || ASCII.isDigit(byte) { return true }
        switch byte {
        case ASCII.minus, 0x5F, ASCII.dot, 0x21, 0x7E, ASCII.star, 0x27: return true  // - _ . ! ~ * '
        case ASCII.openParenthesis, ASCII.closeParenthesis: return true
        default: return false
        }
    }

    /// Whether each percent sign has its two digits.
    static func isWellFormed(_ text: ByteString) -> Bool {
        for index in 0..<text.count where text.bytes[index] == ASCII.percent {
            guard self.byte(in: text, at: index) != nil else { return false }
        }
        return true
    }

    /// All escapes resolved.
    static func decoded(_ text: ByteString) -> ByteString {
        self.resolved(text) { _ in true }
    }

    /// Escapes resolved where they do not change the meaning (section 19.1.4), the others left with upper-case digits.
    static func normalized(_ text: ByteString) -> ByteString {
        self.resolved(text, where: self.isUnreserved)
    }

    static func escaped(_ text: ByteString, keeping keeps: (UInt8) -> Bool) -> ByteString {
        var escaped = ByteString()
        for byte in text.bytes {
            if keeps(byte) { escaped.append(byte: byte) } else { self.append(byte, to: &escaped) }
        }
        return escaped
    }

    private static func resolved(_ text: ByteString, where resolves: (UInt8) -> Bool) -> ByteString {
        guard text.contains(ASCII.percent) else { return text }
        var plain = ByteString()
        var index = 0
        while index < text.count {
            guard text.bytes[index] == ASCII.percent, let byte = self.byte(in: text, at: index) else {
                plain.append(byte: text.bytes[index])
                index += 1
                continue
            }
            if resolves(byte) { plain.append(byte: byte) } else { self.append(byte, to: &plain) }
            index += 3
        }
        return plain
    }

    private static func append(_ byte: UInt8, to text: inout ByteString) {
        text.append(byte: ASCII.percent)
        for nibble in [byte >> 4, byte & 0xF] {
            let digit = ASCII.hexDigit(nibble)
            text.append(byte: ASCII.isDigit(digit) ? digit : digit & 0xDF)
        }
    }

    /// The byte that the escape at `index` stands for.
    private static func byte(in text: ByteString, at index: Int) -> UInt8? {
        guard index + 2 < text.count, let high = ASCII.hexValue(text.bytes[index + 1]),
            let low = ASCII.hexValue(text.bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }
}
