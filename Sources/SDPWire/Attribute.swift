// SPDX-License-Identifier: Apache-2.0

import Bytes

/// An `a=` line, known or not (RFC 8866 section 5.13).
public struct Attribute: Hashable, Sendable {
    public var name: ByteString
    /// What stands after the colon; nil for a property (`a=sendrecv`).
    public var value: ByteString?

    public init(_ name: ByteString, _ value: ByteString? = nil) {
        self.name = name
        self.value = value
    }
}

/// A line of a type that the product keeps but does not read.
public struct OtherLine: Hashable, Sendable {
    /// The letter before the equals sign.
    public var type: UInt8
    public var value: ByteString

    public init(type: UInt8, value: ByteString) {
        self.type = type
        self.value = value
    }
}
