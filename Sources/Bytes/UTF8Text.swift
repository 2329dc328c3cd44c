// SPDX-License-Identifier: Apache-2.0

/// UTF-8 from outside (RFC 3629).
public enum UTF8Text {
    /// How many bytes the character at the start takes: 1–4, or 0 where the bytes are not UTF-8 (overlong forms,
    /// surrogates and cut characters included) or there are none.
    public static func characterLength(_ bytes: ArraySlice<UInt8>) -> Int {
        guard let first = bytes.first else { return 0 }
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0...0x7F: return 1
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return 0
        }
        guard bytes.count >= length, second.contains(bytes[bytes.startIndex + 1]) else { return 0 }
        for index in 2..<max(2, length) where bytes[bytes.startIndex + index] & 0xC0 != 0x80 { return 0 }
        return length
    }

    /// Whether all of it is UTF-8, without control characters but line feed, carriage return and tab.
    public static func isPlain(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while let first = rest.first {
            let isBlank = first == ASCII.lineFeed || first == ASCII.carriageReturn || first == ASCII.tab
            let length = isBlank ? 1 : self.visibleLength(rest)
            guard length > 0 else { return false }
            rest = rest.dropFirst(length)
        }
        return true
    }

    /// `text` with bytes that are not UTF-8, and control characters, replaced by `?`; for screens and terminals. It is
    /// cut at the first character at or beyond `bytesMax`.
    public static func displayable(_ text: ByteString, bytesMax: Int) -> ByteString {
        var shown = ByteString()
        var rest = text.bytes[...]
        while !rest.isEmpty, shown.count < bytesMax {
            let length = self.visibleLength(rest)
            if length == 0 {
                shown.append(byte: ASCII.question)
                rest = rest.dropFirst(max(1, self.characterLength(rest)))
            } else {
                shown.bytes.append(contentsOf: rest.prefix(length))
                rest = rest.dropFirst(length)
            }
        }
        return shown
    }

    /// As `characterLength`, and 0 for a control character (U+0080 to U+009F are some as well).
    private static func visibleLength(_ bytes: ArraySlice<UInt8>) -> Int {
        let length = self.characterLength(bytes)
        guard let first = bytes.first, first >= ASCII.space, first != 0x7F else { return 0 }
        if first == 0xC2, length == 2, bytes[bytes.startIndex + 1] < 0xA0 { return 0 }
        return length
    }
}
