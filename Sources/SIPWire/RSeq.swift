// SPDX-License-Identifier: Apache-2.0

import Bytes

/// The number of a provisional response that wants a PRACK, RFC 3262 section 7.1: 1...2^32 - 1, the first of a
/// transaction at most 2^31 - 1.
public struct RSeq: Hashable, Sendable {
    public var number: UInt32

    public init(_ number: UInt32) {
        self.number = number
    }

    /// Nil for a fault, zero, or a number above 2^32 - 1.
    public init?(_ value: ByteString) {
        guard let number = value.decimal(max: UInt64(UInt32.max)), number > 0 else { return nil }
        self.init(UInt32(number))
    }

    public var printed: ByteString { ByteString(decimal: self.number) }
}
