// SPDX-License-Identifier: Apache-2.0

import Bytes

/// A command sequence, RFC 3261 section 20.16.
public struct CSeq: Hashable, Sendable {
    public var number: UInt32
    public var method: Method

    public init(_ number: UInt32, _ method: Method) {
        self.number = number
        self.method = method
    }

    /// Reads `1*DIGIT LWS Method`; nil for a fault or a number above 2^32 - 1.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let number = scanner.run(ASCII.isDigit).decimal(max: UInt64(UInt32.max)), !scanner.isAtEnd else {
            return nil
        }
        let start = scanner.position
        scanner.skipBlanks()
        guard scanner.position > start, let method = Method(scanner.rest.trimmed()) else { return nil }
        self.init(UInt32(number), method)
    }

    public var printed: ByteString {
        ByteString(decimal: self.number) + " " + self.method.token
    }
}
