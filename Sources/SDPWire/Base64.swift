// SPDX-License-Identifier: Apache-2.0

import Bytes

/// Base64, RFC 4648 section 4.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// With padding.
    static func encoded(_ bytes: [UInt8]) -> ByteString {
        var text = ByteString(reserving: (bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(byte: Self.alphabet[Int(bits >> UInt32(count) & 63)])
            }
        }
        if count > 0 { text.append(byte: Self.alphabet[Int(bits << UInt32(6 - count) & 63)]) }
        while text.count % 4 != 0 { text.append(byte: ASCII.equals) }
        return text
    }

    /// Nil for a byte outside the alphabet or a length that nothing encodes to. Padding may be missing.
    static func decoded(_ text: ByteString) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        var end = text.count
        while end > 0 && text.bytes[end - 1] == ASCII.equals { end -= 1 }
        guard text.count - end <= 2, end % 4 != 1 else { return nil }
        for byte in text.bytes[..<end] {
            guard let value = self.value(byte) else { return nil }
            bits = bits << 6 | value
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }

    private static func value(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): return UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): return UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return UInt32(byte - UInt8(ascii: "0")) + 52
        case ASCII.plus: return 62
        case ASCII.slash: return 63
        default: return nil
        }
    }
}
