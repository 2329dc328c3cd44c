// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A `c=` line (RFC 8866 section 5.7).
public enum Connection: Hashable, Sendable {
    /// A unicast address; the unspecified one is the old way to say hold.
    case address(IPAddress)
    /// A host name, a multicast address, another network type: kept as written, never sent to.
    case other(ByteString)

    /// Never fails: what is not a plain unicast address is `.other`.
    public init(_ value: ByteString) {
        let fields = Fields.split(value)
        guard fields.count == 3, fields[0].equalsIgnoringCase("IN"), let address = IPAddress(fields[2]),
            fields[1].equalsIgnoringCase(address.isV6 ? "IP6" : "IP4") || Self.isMapped(fields),
            !Self.isMulticast(address)
        else {
            self = .other(value)
            return
        }
        self = .address(address)
    }

    public var address: IPAddress? {
        switch self {
        case .address(let address): return address
        case .other: return nil
        }
    }

    public var printed: ByteString {
        switch self {
        case .address(let address): return Self.printed(address)
        case .other(let value): return value
        }
    }

    /// `IN IP4 192.0.2.1`.
    static func printed(_ address: IPAddress) -> ByteString {
        (address.isV6 ? "IN IP6 " : "IN IP4 ") + address.text
    }

    /// An IPv4-mapped address was turned into IPv4 where it was read, and yet says IP6 rightly.
    private static func isMapped(_ fields: [ByteString]) -> Bool {
        fields[1].equalsIgnoringCase("IP6") && fields[2].contains(ASCII.colon)
    }

    private static func isMulticast(_ address: IPAddress) -> Bool {
        switch address {
        case .v4(let bits): return bits >> 28 == 0xE
        case .v6(let high, _): return high >> 56 == 0xFF
        }
    }
}

/// Space-separated fields of a line.
enum Fields {
    /// The fields, however many blanks lie between them.
    static func split(_ value: ByteString) -> [ByteString] {
        value.bytes.split { $0 == ASCII.space || $0 == ASCII.tab }.map { ByteString($0) }
    }
}
