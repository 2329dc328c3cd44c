// SPDX-License-Identifier: Apache-2.0

import Bytes

/// When to try again, RFC 3261 section 20.33.
public struct RetryAfter: Hashable, Sendable {
    public var seconds: UInt32

    public init(seconds: UInt32) {
        self.seconds = seconds
    }

    /// Reads the seconds; comment and parameters are for people. Nil for a fault or a number above 2^32 - 1.
    public init?(_ value: ByteString) {
        var scanner = HeaderScanner(value)
        guard let seconds = scanner.run(ASCII.isDigit).decimal(max: UInt64(UInt32.max)) else { return nil }
        scanner.skipBlanks()
        guard scanner.isAtEnd || scanner.peek == ASCII.openParenthesis || scanner.peek == ASCII.semicolon else {
            return nil
        }
        self.init(seconds: UInt32(seconds))
    }

    public var printed: ByteString { ByteString(decimal: self.seconds) }
}
