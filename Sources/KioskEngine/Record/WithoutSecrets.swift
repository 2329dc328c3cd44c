// SPDX-License-Identifier: Apache-2.0
import Bytes

extension ByteString {
    /// The line without what nobody should find in a file: passwords in addresses (`sip:user:password@host`), and keys
    /// that are pressed after the answer (`;postd=…`).
    var withoutSecrets: ByteString {
        var text = ByteString(reserving: self.count)
        var index = 0
        while index < self.count {
            let rest = self.bytes[index...]
            if let secret = Self.secret(in: rest) {
                text.bytes += self.bytes[index..<secret.lowerBound]
                text.append(literal: "***")
                index = secret.upperBound
            } else {
                text.append(byte: self.bytes[index])
                index += 1
            }
        }
        return text
    }

    private static let schemes: [ByteString] = ["sip:", "sips:"]
    private static let keys: ByteString = "postd="
    private static let ends: [UInt8] = [
        ASCII.quote, ASCII.semicolon, ASCII.space, UInt8(ascii: ">"), UInt8(ascii: "?"),
    ]

    /// The secret of an address or parameter that begins here; nil where none does.
    private static func secret(in rest: ArraySlice<UInt8>) -> Range<Int>? {
        if rest.starts(with: self.keys.bytes) {
            let start = rest.startIndex + self.keys.count
            let end = rest[start...].firstIndex { self.ends.contains($0) } ?? rest.endIndex
            return start..<end
        }
        guard let scheme = self.schemes.first(where: { rest.starts(with: $0.bytes) }) else { return nil }
        let user = rest.startIndex + scheme.count
        guard let end = rest[user...].firstIndex(where: { $0 == UInt8(ascii: "@") || self.ends.contains($0) }),
            rest[end] == UInt8(ascii: "@"), let colon = rest[user..<end].firstIndex(of: ASCII.colon)
        else { return nil }
        return colon + 1..<end
    }
}
