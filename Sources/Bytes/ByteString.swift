// SPDX-License-Identifier: Apache-2.0

/// Text as bytes (UTF-8, or ASCII where a protocol says so).
///
/// Used instead of `String` on the wire and in the engines: comparison is by byte, nothing is normalised, and the
/// Unicode tables stay out of the binary.
public struct ByteString: Hashable, Sendable {
    public var bytes: [UInt8]

    public init() {
        self.bytes = []
    }

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// Empty, with room for `capacity` bytes.
    public init(reserving capacity: Int) {
        self.bytes = []
        self.bytes.reserveCapacity(capacity)
    }

    public init(_ literal: StaticString) {
        self.bytes = literal.withUTF8Buffer { Array($0) }
    }

    /// Without the blanks, tabs and line ends at both ends of `slice`.
    public init(trimming slice: ArraySlice<UInt8>) {
        var rest = slice
        while let first = rest.first, ASCII.isBlank(first) { rest.removeFirst() }
        while let last = rest.last, ASCII.isBlank(last) { rest.removeLast() }
        self.bytes = Array(rest)
    }

    /// For edges only (command line, C strings): copies the string's UTF-8.
    public init(utf8Of string: String) {
        self.bytes = Array(string.utf8)
    }

    /// Decimal digits of `value`, with a leading minus where negative.
    public init(decimal value: some FixedWidthInteger) {
        self.bytes = []
        self.append(decimal: value)
    }

    public var count: Int { self.bytes.count }
    public var isEmpty: Bool { self.bytes.isEmpty }

    /// For edges only (logs on a terminal, C strings).
    public var string: String { String(decoding: self.bytes, as: UTF8.self) }
}

extension ByteString: ExpressibleByStringLiteral {
    public init(stringLiteral value: StaticString) {
        self.init(value)
    }
}

// MARK: - Building

extension ByteString {
    public mutating func append(_ other: ByteString) {
        self.bytes.append(contentsOf: other.bytes)
    }

    /// As `append("…")`, without a copy in between.
    public mutating func append(literal: StaticString) {
        self.bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    public mutating func append(byte: UInt8) {
        self.bytes.append(byte)
    }

    public mutating func append(decimal value: some FixedWidthInteger) {
        if value < 0 { self.bytes.append(ASCII.minus) }
        var rest = UInt64(value.magnitude)
        var digits: [UInt8] = []
        repeat {
            digits.append(ASCII.zero + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        self.bytes.append(contentsOf: digits.reversed())
    }

    /// Lower-case hexadecimal, at least `width` digits.
    public mutating func append(hex value: UInt64, width: Int = 1) {
        var shift = 60
        while shift > 0 && shift >= width * 4 && (value >> UInt64(shift)) == 0 { shift -= 4 }
        while shift >= 0 {
            self.bytes.append(ASCII.hexDigit(UInt8((value >> UInt64(shift)) & 0xF)))
            shift -= 4
        }
    }

    public static func + (left: ByteString, right: ByteString) -> ByteString {
        var sum = left
        sum.append(right)
        return sum
    }

    public static func += (left: inout ByteString, right: ByteString) {
        left.append(right)
    }
}

// MARK: - Comparing and cutting

extension ByteString {
    /// Equality with ASCII letters folded, as RFC 3261 section 7.3.1 asks for tokens.
    public func equalsIgnoringCase(_ other: ByteString) -> Bool {
        self.count == other.count && self.hasPrefixIgnoringCase(other)
    }

    public func hasPrefixIgnoringCase(_ prefix: ByteString) -> Bool {
        guard self.count >= prefix.count else { return false }
        for index in 0..<prefix.count
        where ASCII.lowercased(self.bytes[index]) != ASCII.lowercased(prefix.bytes[index]) {
            return false
        }
        return true
    }

    public func hasPrefix(_ prefix: ByteString) -> Bool {
        self.bytes.starts(with: prefix.bytes)
    }

    public func hasSuffix(_ suffix: ByteString) -> Bool {
        self.count >= suffix.count && self.bytes[(self.count - suffix.count)...].elementsEqual(suffix.bytes)
    }

    public func contains(_ byte: UInt8) -> Bool {
        self.bytes.contains(byte)
    }

    public func firstIndex(of byte: UInt8) -> Int? {
        self.bytes.firstIndex(of: byte)
    }

    /// Bytes `range`, clamped to what is there.
    public func slice(_ range: Range<Int>) -> ByteString {
        let range = range.clamped(to: 0..<self.count)
        return range.count == self.count ? self : ByteString(self.bytes[range])
    }

    public func lowercasedASCII() -> ByteString {
        ByteString(self.bytes.map(ASCII.lowercased))
    }

    /// Without blanks and tabs (and stray CR, LF) at both ends.
    public func trimmed() -> ByteString {
        guard let first = self.bytes.first, let last = self.bytes.last else { return self }
        return ASCII.isBlank(first) || ASCII.isBlank(last) ? ByteString(trimming: self.bytes[...]) : self
    }

    /// The parts between `separator`s; always one more part than there are separators.
    public func split(on separator: UInt8) -> [ByteString] {
        var parts: [ByteString] = []
        var rest = self.bytes[...]
        while let end = rest.firstIndex(of: separator) {
            parts.append(ByteString(rest[..<end]))
            rest = rest[(end + 1)...]
        }
        parts.append(parts.isEmpty ? self : ByteString(rest))
        return parts
    }

    /// The number these bytes spell in decimal: digits only, no sign, no blanks; nil where empty or above `max`.
    public func decimal(max: UInt64 = UInt64.max) -> UInt64? {
        guard !self.isEmpty else { return nil }
        var value: UInt64 = 0
        for byte in self.bytes {
            guard ASCII.isDigit(byte) else { return nil }
            let (tens, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, carried) = tens.addingReportingOverflow(UInt64(byte - ASCII.zero))
            guard !overflowed, !carried, sum <= max else { return nil }
            value = sum
        }
        return value
    }
}
