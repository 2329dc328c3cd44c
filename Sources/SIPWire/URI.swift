// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A URI as SIP carries it: one of our own schemes taken apart, or any other left whole.
public enum URI: Hashable, Sendable {
    /// `sip:` or `sips:`.
    case sip(SIPURI)
    /// Any other scheme (`tel:`, `http:`, `urn:` …), as written. Not to be dialled: answered 416 where it is a target.
    case other(ByteString)

    /// Reads an absolute URI without angle brackets; nil where it is none, or is a faulty `sip:` one.
    public init?(_ text: ByteString) {
        guard let colon = text.firstIndex(of: ASCII.colon), colon > 0, colon + 1 < text.count,
            ASCII.isLetter(text.bytes[0]), text.bytes[..<colon].allSatisfy(Self.isSchemeByte)
        else { return nil }
        let scheme = text.slice(0..<colon)
        if scheme.equalsIgnoringCase("sip") || scheme.equalsIgnoringCase("sips") {
            guard let uri = SIPURI(text) else { return nil }
            self = .sip(uri)
        } else {
            guard text.bytes.allSatisfy(Self.isURIByte) else { return nil }
            self = .other(text)
        }
    }

    public var printed: ByteString {
        switch self {
        case .sip(let uri): return uri.printed
        case .other(let text): return text
        }
    }

    public var sip: SIPURI? {
        switch self {
        case .sip(let uri): return uri
        case .other: return nil
        }
    }

    static func isSchemeByte(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == ASCII.plus || byte == ASCII.minus || byte == ASCII.dot
    }

    /// Visible, and none of the delimiters that end a URI in a header.
    static func isURIByte(_ byte: UInt8) -> Bool {
        byte > ASCII.space && byte < 0x7F && byte != ASCII.less && byte != ASCII.greater && byte != ASCII.quote
    }
}

/// Where a URI or a Via points: a name to be looked up, or an address.
public enum Host: Hashable, Sendable {
    /// As written; compare with `matches`.
    case name(ByteString)
    case address(IPAddress)

    /// Reads a host name, a dotted IPv4 address, or an IPv6 address in brackets.
    public init?(_ text: ByteString) {
        if text.bytes.first == ASCII.openBracket {
            guard text.bytes.last == ASCII.closeBracket,
                let address = Self.v6(text.slice(1..<max(1, text.count - 1)))
            else { return nil }
            self = .address(address)
        } else if let address = IPAddress(text) {
            guard !text.contains(ASCII.colon) else { return nil }
            self = .address(address)
        } else {
            guard !text.isEmpty, text.count <= 255, text.bytes.allSatisfy(Self.isNameByte),
                text.bytes[0] != ASCII.dot, text.bytes[0] != ASCII.minus
            else { return nil }
            self = .name(text)
        }
    }

    /// Reads what stands in the brackets. The grammar of RFC 3261 gave an address with an IPv4 tail three colons where
    /// it meant two, and RFC 5118 section 4.10 wants both to be taken.
    private static func v6(_ text: ByteString) -> IPAddress? {
        guard text.contains(ASCII.colon) else { return nil }
        guard let last = text.bytes.lastIndex(of: ASCII.colon), text.contains(ASCII.dot),
            text.slice(0..<last + 1).hasSuffix(":::")
        else { return IPAddress(text) }
        return IPAddress(text.slice(0..<last) + text.slice(last + 1..<text.count))
    }

    /// IPv6 addresses in brackets.
    public var printed: ByteString {
        switch self {
        case .name(let name): return name
        case .address(let address): return address.isV6 ? "[" + address.text + "]" : address.text
        }
    }

    /// Equality with the letters of names folded.
    public func matches(_ other: Host) -> Bool {
        switch (self, other) {
        case (.name(let left), .name(let right)): return left.equalsIgnoringCase(right)
        case (.address(let left), .address(let right)): return left == right
        case (.name, .address), (.address, .name): return false
        }
    }

    /// Letters, digits, `-`, `.`, and the `_` that real networks have.
    static func isNameByte(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == ASCII.minus || byte == ASCII.dot || byte == 0x5F
    }
}

/// The transports this product speaks. A Via or URI may name others; those stay bytes.
public enum SIPTransport: Hashable, Sendable {
    case udp, tcp, tls

    public init?(_ token: ByteString) {
        if token.equalsIgnoringCase("udp") {
            self = .udp
        } else if token.equalsIgnoringCase("tcp") {
            self = .tcp
        } else if token.equalsIgnoringCase("tls") {
            self = .tls
        } else {
            return nil
        }
    }

    /// As a Via writes it.
    public var token: ByteString {
        switch self {
        case .udp: return "UDP"
        case .tcp: return "TCP"
        case .tls: return "TLS"
        }
    }

    /// Whether transactions need no retransmission of their own (RFC 3261 section 17).
    public var isReliable: Bool {
        switch self {
        case .udp: return false
        case .tcp, .tls: return true
        }
    }

    /// The port where none is named (RFC 3261 section 19.1.2).
    public var standardPort: UInt16 {
        switch self {
        case .udp, .tcp: return 5_060
        case .tls: return 5_061
        }
    }
}
