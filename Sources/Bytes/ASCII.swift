// SPDX-License-Identifier: Apache-2.0

/// The ASCII characters that protocols give a meaning.
public enum ASCII {
    public static let tab: UInt8 = 0x09
    public static let lineFeed: UInt8 = 0x0A
    public static let carriageReturn: UInt8 = 0x0D
    public static let space: UInt8 = 0x20
    public static let quote: UInt8 = 0x22
    public static let hash: UInt8 = 0x23
    public static let percent: UInt8 = 0x25
    public static let ampersand: UInt8 = 0x26
    public static let openParenthesis: UInt8 = 0x28
    public static let closeParenthesis: UInt8 = 0x29
    public static let star: UInt8 = 0x2A
    public static let plus: UInt8 = 0x2B
    public static let comma: UInt8 = 0x2C
    public static let minus: UInt8 = 0x2D
    public static let dot: UInt8 = 0x2E
    public static let slash: UInt8 = 0x2F
    public static let zero: UInt8 = 0x30
    public static let colon: UInt8 = 0x3A
    public static let semicolon: UInt8 = 0x3B
    public static let less: UInt8 = 0x3C
    public static let equals: UInt8 = 0x3D
    public static let greater: UInt8 = 0x3E
    public static let question: UInt8 = 0x3F
    public static let at: UInt8 = 0x40
    public static let openBracket: UInt8 = 0x5B
    public static let backslash: UInt8 = 0x5C
    public static let closeBracket: UInt8 = 0x5D
    public static let openBrace: UInt8 = 0x7B
    public static let closeBrace: UInt8 = 0x7D

    public static func isDigit(_ byte: UInt8) -> Bool {
        byte >= 0x30 && byte <= 0x39
    }

    public static func isLetter(_ byte: UInt8) -> Bool {
        let folded = byte | 0x20
        return folded >= 0x61 && folded <= 0x7A
    }

    /// Space, tab, CR or LF.
    public static func isBlank(_ byte: UInt8) -> Bool {
        byte == self.space || byte == self.tab || byte == self.carriageReturn || byte == self.lineFeed
    }

    public static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    /// The lower-case hexadecimal digit of the low four bits.
    public static func hexDigit(_ nibble: UInt8) -> UInt8 {
        let value = nibble & 0xF
        return value < 10 ? self.zero + value : 0x61 + value - 10
    }

    /// The value of a hexadecimal digit of either case.
    public static func hexValue(_ byte: UInt8) -> UInt8? {
        if self.isDigit(byte) { return byte - self.zero }
        let folded = byte | 0x20
        return folded >= 0x61 && folded <= 0x66 ? folded - 0x61 + 10 : nil
    }
}
