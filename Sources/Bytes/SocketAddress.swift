// SPDX-License-Identifier: Apache-2.0

/// An IPv4 or IPv6 address. IPv4-mapped IPv6 addresses are turned into IPv4 where they enter.
public enum IPAddress: Hashable, Sendable {
    case v4(UInt32)
    case v6(high: UInt64, low: UInt64)

    public var isUnspecified: Bool {
        switch self {
        case .v4(let bits): return bits == 0
        case .v6(let high, let low): return high == 0 && low == 0
        }
    }

    public var isV6: Bool {
        switch self {
        case .v4: return false
        case .v6: return true
        }
    }

    /// Means something on its own network only: private use (RFC 1918, RFC 4193), carriers' translators (RFC 6598),
    /// link and loopback.
    public var isPrivate: Bool {
        switch self {
        case .v4(let bits):
            let (first, second) = (bits >> 24, (bits >> 16) & 0xFF)
            switch first {
            case 10, 127: return true
            case 100: return second >> 6 == 1
            case 169: return second == 254
            case 172: return second >> 4 == 1
            case 192: return second == 168
            default: return false
            }
        case .v6(let high, let low):
            return high >> 57 == 0x7E || high >> 54 == 0x3FA || high == 0 && low == 1
        }
    }

    /// Of use on one link only, and nowhere without the link's name (RFC 3927, RFC 4291 section 2.5.6).
    public var isLinkLocal: Bool {
        switch self {
        case .v4(let bits): return bits >> 16 == 0xA9FE
        case .v6(let high, _): return high >> 54 == 0x3FA
        }
    }

    /// The address as text, without brackets; IPv6 in the form of RFC 5952.
    public var text: ByteString {
        switch self {
        case .v4(let bits):
            var text = ByteString()
            for shift in [24, 16, 8, 0] as [UInt32] {
                if shift != 24 { text.append(byte: ASCII.dot) }
                text.append(decimal: (bits >> shift) & 0xFF)
            }
            return text
        case .v6(let high, let low):
            return Self.text(groups: Self.groups(high) + Self.groups(low))
        }
    }

    private static func groups(_ half: UInt64) -> [UInt16] {
        ([48, 32, 16, 0] as [UInt64]).map { UInt16(truncatingIfNeeded: half >> $0) }
    }

    /// Writes eight groups, the longest run of two or more zero groups as `::`.
    private static func text(groups: [UInt16]) -> ByteString {
        var best = 0..<0
        var index = 0
        while index < groups.count {
            let start = index
            while index < groups.count && groups[index] == 0 { index += 1 }
            if index - start > max(1, best.count) { best = start..<index }
            if index == start { index += 1 }
        }
        var text = ByteString()
        index = 0
        while index < groups.count {
            if index == best.lowerBound && !best.isEmpty {
                text.append("::")
                index = best.upperBound
            } else {
                if index > 0 && index != best.upperBound || index > 0 && best.isEmpty {
                    text.append(byte: ASCII.colon)
                }
                text.append(hex: UInt64(groups[index]))
                index += 1
            }
        }
        return text
    }

    /// Reads dotted IPv4 or IPv6 text (no brackets, no zone). Nil for anything else, host names included.
    public init?(_ text: ByteString) {
        if text.contains(ASCII.colon) {
            guard let address = Self.parseV6(text) else { return nil }
            self = address
        } else {
            guard let bits = Self.parseV4(text) else { return nil }
            self = .v4(bits)
        }
    }

    private static func parseV4(_ text: ByteString) -> UInt32? {
        var bits: UInt32 = 0
        var part: UInt32 = 0
        var digits = 0
        var dots = 0
        for byte in text.bytes {
            if byte == ASCII.dot {
                guard digits > 0, dots < 3 else { return nil }
                bits = (bits << 8) | part
                dots += 1
                (part, digits) = (0, 0)
            } else {
                guard ASCII.isDigit(byte), digits < 3 else { return nil }
                part = part * 10 + UInt32(byte - ASCII.zero)
                digits += 1
                guard part <= 255 else { return nil }
            }
        }
        return dots == 3 && digits > 0 ? (bits << 8) | part : nil
    }

    private static func parseV6(_ text: ByteString) -> IPAddress? {
        guard text.count <= 45, Self.endsAreWhole(text) else { return nil }
        var head: [UInt16] = []
        var tail: [UInt16] = []
        var elided = false
        var parts = text.split(on: ASCII.colon)[...]
        if text.hasPrefix("::") { parts = parts.dropFirst() }
        if text.hasSuffix("::") { parts = parts.dropLast() }
        for (offset, part) in parts.enumerated() {
            if part.isEmpty {
                guard !elided else { return nil }
                elided = true
                continue
            }
            var groups: [UInt16] = []
            if part.contains(ASCII.dot) {
                guard offset == parts.count - 1, let bits = self.parseV4(part) else { return nil }
                groups = [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
            } else {
                guard let group = self.parseGroup(part) else { return nil }
                groups = [group]
            }
            if elided { tail += groups } else { head += groups }
        }
        let filled = head.count + tail.count
        guard elided ? filled <= 7 : filled == 8 else { return nil }
        let all = head + Array(repeating: 0, count: 8 - filled) + tail
        return Self.from(groups: all)
    }

    /// A colon at either end must be half of a `::`.
    private static func endsAreWhole(_ text: ByteString) -> Bool {
        (text.bytes.first != ASCII.colon || text.hasPrefix("::"))
            && (text.bytes.last != ASCII.colon || text.hasSuffix("::"))
    }

    private static func parseGroup(_ part: ByteString) -> UInt16? {
        guard part.count >= 1, part.count <= 4 else { return nil }
        var value: UInt16 = 0
        for byte in part.bytes {
            guard let digit = ASCII.hexValue(byte) else { return nil }
            value = (value << 4) | UInt16(digit)
        }
        return value
    }

    private static func from(groups: [UInt16]) -> IPAddress {
        let high = groups[0..<4].reduce(UInt64(0)) { ($0 << 16) | UInt64($1) }
        let low = groups[4..<8].reduce(UInt64(0)) { ($0 << 16) | UInt64($1) }
        if high == 0 && low >> 32 == 0xFFFF { return .v4(UInt32(truncatingIfNeeded: low)) }
        return .v6(high: high, low: low)
    }
}

/// An IP address and a port.
public struct SocketAddress: Hashable, Sendable {
    public var address: IPAddress
    public var port: UInt16

    public init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// `192.0.2.1:5060` or `[2001:db8::1]:5060`.
    public var text: ByteString {
        var text = ByteString()
        if self.address.isV6 {
            text.append("[")
            text.append(self.address.text)
            text.append("]")
        } else {
            text.append(self.address.text)
        }
        text.append(byte: ASCII.colon)
        text.append(decimal: self.port)
        return text
    }
}
