// SPDX-License-Identifier: Apache-2.0

/// A cursor over bytes from outside. Every read is checked; a read past the end gives nil and moves nothing.
public struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.position = bytes.startIndex
    }

    public init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    /// Bytes not yet read.
    public var remaining: Int { self.bytes.endIndex - self.position }
    public var isAtEnd: Bool { self.position == self.bytes.endIndex }
    public var rest: ArraySlice<UInt8> { self.bytes[self.position...] }

    public func peek() -> UInt8? {
        self.isAtEnd ? nil : self.bytes[self.position]
    }

    public mutating func uint8() -> UInt8? {
        guard self.remaining >= 1 else { return nil }
        defer { self.position += 1 }
        return self.bytes[self.position]
    }

    /// Big-endian, as are all network numbers.
    public mutating func uint16() -> UInt16? {
        guard let value = self.bigEndian(2) else { return nil }
        return UInt16(truncatingIfNeeded: value)
    }

    public mutating func uint24() -> UInt32? {
        guard let value = self.bigEndian(3) else { return nil }
        return UInt32(truncatingIfNeeded: value)
    }

    public mutating func uint32() -> UInt32? {
        guard let value = self.bigEndian(4) else { return nil }
        return UInt32(truncatingIfNeeded: value)
    }

    public mutating func uint64() -> UInt64? {
        self.bigEndian(8)
    }

    /// The next `count` bytes; nil when fewer remain or `count` is negative.
    public mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, self.remaining >= count else { return nil }
        defer { self.position += count }
        return self.bytes[self.position..<self.position + count]
    }

    public mutating func skip(_ count: Int) -> Bool {
        self.take(count) != nil
    }

    /// Bytes up to (without) the next `byte`, which is passed over; nil where there is none.
    public mutating func take(upTo byte: UInt8) -> ArraySlice<UInt8>? {
        guard let end = self.rest.firstIndex(of: byte) else { return nil }
        defer { self.position = end + 1 }
        return self.bytes[self.position..<end]
    }

    private mutating func bigEndian(_ count: Int) -> UInt64? {
        guard let slice = self.take(count) else { return nil }
        return slice.reduce(0) { ($0 << 8) | UInt64($1) }
    }
}

/// Appends big-endian numbers and bytes to a growing packet.
public struct ByteWriter {
    public private(set) var bytes: [UInt8] = []

    public init(reserving capacity: Int = 0) {
        self.bytes.reserveCapacity(capacity)
    }

    public var count: Int { self.bytes.count }

    public mutating func put(_ value: UInt8) {
        self.bytes.append(value)
    }

    public mutating func put(_ value: UInt16) {
        self.bytes.append(UInt8(value >> 8))
        self.bytes.append(UInt8(truncatingIfNeeded: value))
    }

    public mutating func put(_ value: UInt32) {
        self.put(UInt16(value >> 16))
        self.put(UInt16(truncatingIfNeeded: value))
    }

    public mutating func put(_ value: UInt64) {
        self.put(UInt32(value >> 32))
        self.put(UInt32(truncatingIfNeeded: value))
    }

    public mutating func put(uint24 value: UInt32) {
        self.put(UInt8(truncatingIfNeeded: value >> 16))
        self.put(UInt16(truncatingIfNeeded: value))
    }

    public mutating func put(_ bytes: ArraySlice<UInt8>) {
        self.bytes.append(contentsOf: bytes)
    }

    public mutating func put(_ bytes: [UInt8]) {
        self.bytes.append(contentsOf: bytes)
    }

    public mutating func put(_ text: ByteString) {
        self.bytes.append(contentsOf: text.bytes)
    }

    /// Overwrites two bytes written before, for lengths known only at the end.
    public mutating func patch(_ value: UInt16, at offset: Int) {
        precondition(offset >= 0 && offset + 2 <= self.bytes.count, "a patch lies within what was written")
        self.bytes[offset] = UInt8(value >> 8)
        self.bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
    }
}
