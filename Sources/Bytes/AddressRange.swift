// SPDX-License-Identifier: Apache-2.0

/// Every address whose first bits are the same: `192.0.2.0/24`, `2001:db8::/32`, or one address alone.
public struct AddressRange: Hashable, Sendable {
    public let address: IPAddress
    /// Bits that count: 0...32 of IPv4, 0...128 of IPv6.
    public let prefixLength: Int

    /// Reads `ADDRESS` or `ADDRESS/BITS`; nil for anything else. Bits of the address beyond the prefix do not count.
    public init?(_ text: ByteString) {
        let parts = text.split(on: UInt8(ascii: "/"))
        guard parts.count <= 2, let address = IPAddress(parts[0]) else { return nil }
        let bits: UInt64 = address.isV6 ? 128 : 32
        guard let length = parts.count == 2 ? parts[1].decimal(max: bits) : bits else { return nil }
        self.address = address
        self.prefixLength = Int(length)
    }

    public func contains(_ other: IPAddress) -> Bool {
        switch (self.address, other) {
        case (.v4(let own), .v4(let other)):
            return Self.isSame(UInt64(own) << 32, UInt64(other) << 32, bits: self.prefixLength)
        case (.v6(let ownHigh, let ownLow), .v6(let high, let low)):
            return Self.isSame(ownHigh, high, bits: min(self.prefixLength, 64))
                && Self.isSame(ownLow, low, bits: max(self.prefixLength - 64, 0))
        case (.v4, .v6), (.v6, .v4):
            return false
        }
    }

    private static func isSame(_ left: UInt64, _ right: UInt64, bits: Int) -> Bool {
        bits == 0 || (left ^ right) >> UInt64(64 - bits) == 0
    }
}
