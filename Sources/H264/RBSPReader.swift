// SPDX-License-Identifier: Apache-2.0

/// Why a NAL unit cannot be read.
public enum SyntaxFault: Error, Hashable, Sendable {
    /// It ends within what has to be there.
    case end
    /// A value outside of what H.264 allows.
    case range
}

/// Reads bits and Exp-Golomb codes of a NAL unit's raw byte sequence payload, emulation prevention bytes taken out
/// (H.264 sections 7.3.1 and 9.1). Throws past the end; never reads more than it was given.
public struct RBSPReader {
    private let bytes: [UInt8]
    /// Bits read so far, emulation prevention bytes not counted.
    public private(set) var position = 0

    /// Bits not yet read.
    public var remaining: Int { self.bytes.count * 8 - self.position }

    /// `payload` is what follows the NAL unit's header byte; at most `limit` bytes of it are looked at.
    public init(_ payload: ArraySlice<UInt8>, limit: Int) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(payload.count, limit))
        var zeros = 0
        for byte in payload.prefix(limit) {
            if zeros >= 2 && byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        self.bytes = bytes
    }

    public mutating func bit() throws(SyntaxFault) -> UInt32 {
        guard self.position < self.bytes.count * 8 else { throw .end }
        let byte = self.bytes[self.position >> 3]
        let bit = (byte >> UInt8(7 - self.position & 7)) & 1
        self.position += 1
        return UInt32(bit)
    }

    public mutating func flag() throws(SyntaxFault) -> Bool {
        try self.bit() == 1
    }

    /// At most 32 bits, the first the highest.
    public mutating func bits(_ count: Int) throws(SyntaxFault) -> UInt32 {
        guard count >= 0, count <= 32, self.remaining >= count else { throw .end }
        var value: UInt32 = 0
        for _ in 0..<count { value = (value << 1) | (try self.bit()) }
        return value
    }

    /// At most 8 bits.
    public mutating func byte(_ count: Int = 8) throws(SyntaxFault) -> UInt8 {
        UInt8(truncatingIfNeeded: try self.bits(min(count, 8)))
    }

    /// ue(v) up to 2³²−2; out of range above `max`.
    public mutating func unsigned(max: UInt32 = UInt32.max) throws(SyntaxFault) -> UInt32 {
        var zeros = 0
        while try self.bit() == 0 {
            zeros += 1
            guard zeros < 32 else { throw .range }
        }
        let value = ((UInt32(1) << UInt32(zeros)) &- 1) &+ (try self.bits(zeros))
        guard value <= max else { throw .range }
        return value
    }

    /// ue(v) of at most 255.
    public mutating func small(max: UInt8) throws(SyntaxFault) -> UInt8 {
        UInt8(truncatingIfNeeded: try self.unsigned(max: UInt32(max)))
    }

    /// se(v).
    public mutating func signed() throws(SyntaxFault) -> Int32 {
        let code = try self.unsigned()
        let half = Int32(bitPattern: code >> 1)
        return code & 1 == 1 ? half &+ 1 : 0 &- half
    }

    /// se(v); out of range outside of `range`.
    public mutating func signed(in range: ClosedRange<Int32>) throws(SyntaxFault) -> Int32 {
        let value = try self.signed()
        guard range.contains(value) else { throw .range }
        return value
    }

    /// More than the stop bit and its zeros is left (more_rbsp_data, H.264 section 7.2).
    public var hasMore: Bool {
        guard let last = self.bytes.lastIndex(where: { $0 != 0 }) else { return false }
        return self.position < last * 8 + 7 - self.bytes[last].trailingZeroBitCount
    }
}
