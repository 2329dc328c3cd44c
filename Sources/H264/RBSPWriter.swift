// SPDX-License-Identifier: Apache-2.0

/// Writes a NAL unit bit by bit: Exp-Golomb codes, the stop bit, and emulation prevention (H.264 sections 7.3.1, 9.1).
public struct RBSPWriter {
    private var bytes: [UInt8] = []
    /// Bits written.
    private(set) var count = 0

    public init() {}

    /// The low `count` bits of `value`, the highest of them first; at most 32.
    public mutating func bits(_ value: UInt32, _ count: Int) {
        for shift in stride(from: min(count, 32) - 1, through: 0, by: -1) {
            if self.count & 7 == 0 { self.bytes.append(0) }
            let bit = UInt8(truncatingIfNeeded: (value >> UInt32(shift)) & 1)
            self.bytes[self.bytes.count - 1] |= bit << UInt8(7 - self.count & 7)
            self.count += 1
        }
    }

    public mutating func flag(_ value: Bool) {
        self.bits(value ? 1 : 0, 1)
    }

    /// ue(v) up to 2³²−2.
    public mutating func unsigned(_ value: UInt32) {
        let code = UInt64(value) + 1
        let length = 64 - code.leadingZeroBitCount
        self.bits(0, length - 1)
        if length > 32 { self.bits(1, 1) }
        self.bits(UInt32(truncatingIfNeeded: code), min(length, 32))
    }

    /// se(v) above −2³¹.
    public mutating func signed(_ value: Int32) {
        self.unsigned(value > 0 ? value.magnitude &* 2 &- 1 : value.magnitude &* 2)
    }

    /// The NAL unit: `header`, then what was written with a stop bit behind it.
    public func nalUnit(header: UInt8) -> [UInt8] {
        var payload = self
        payload.bits(1, 1)
        var unit: [UInt8] = [header]
        unit.reserveCapacity(payload.bytes.count + payload.bytes.count / 32 + 2)
        var zeros = 0
        for byte in payload.bytes {
            if zeros >= 2 && byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }
}
