// SPDX-License-Identifier: Apache-2.0

/// Reads bits and Exp-Golomb codes of a NAL unit's raw byte sequence payload, emulation prevention bytes taken out
/// (H.264 sections 7.3.1 and 9.1). Nil past the end; never reads more than it was given.
struct RBSPReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Bits not yet read.
    var remaining: Int { self.bytes.count * 8 - self.position }

    /// `payload` is what follows the NAL unit's header byte; at most `limit` bytes of it are looked at.
    init(_ payload: ArraySlice<UInt8>, limit: Int) {
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

    mutating func bit() -> UInt32? {
        guard self.position < self.bytes.count * 8 else { return nil }
        let byte = self.bytes[self.position >> 3]
        let bit = (byte >> UInt8(7 - self.position & 7)) & 1
        self.position += 1
        return UInt32(bit)
    }

    mutating func flag() -> Bool? {
        self.bit().map { $0 == 1 }
    }

    /// At most 32 bits, the first the highest.
    mutating func bits(_ count: Int) -> UInt32? {
        guard count >= 0, count <= 32, self.remaining >= count else { return nil }
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let bit = self.bit() else { return nil }
            value = (value << 1) | bit
        }
        return value
    }

    /// ue(v) up to 2³²−2; nil above `max`.
    mutating func unsigned(max: UInt32 = UInt32.max) -> UInt32? {
        var zeros = 0
        while true {
            guard let bit = self.bit() else { return nil }
            if bit == 1 { break }
            zeros += 1
            guard zeros < 32 else { return nil }
        }
        guard let rest = self.bits(zeros) else { return nil }
        let value = ((UInt32(1) << UInt32(zeros)) &- 1) &+ rest
        return value <= max ? value : nil
    }

    /// se(v).
    mutating func signed() -> Int32? {
        guard let code = self.unsigned() else { return nil }
        let half = Int32(bitPattern: code >> 1)
        return code & 1 == 1 ? half &+ 1 : 0 &- half
    }
}
