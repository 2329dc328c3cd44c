// SPDX-License-Identifier: Apache-2.0

/// Writes NAL units bit by bit, emulation prevention included, independently of the reader under test.
struct BitWriter {
    private var bits: [UInt8] = []

    mutating func u(_ value: UInt32, _ count: Int) {
        for shift in stride(from: count - 1, through: 0, by: -1) {
            self.bits.append(UInt8((value >> UInt32(shift)) & 1))
        }
    }

    mutating func ue(_ value: UInt32) {
        let code = UInt64(value) + 1
        let length = 64 - code.leadingZeroBitCount
        for _ in 1..<max(1, length) { self.bits.append(0) }
        for shift in stride(from: length - 1, through: 0, by: -1) {
            self.bits.append(UInt8((code >> UInt64(shift)) & 1))
        }
    }

    mutating func se(_ value: Int32) {
        self.ue(value > 0 ? UInt32(value) * 2 - 1 : UInt32(-value) * 2)
    }

    func nalUnit(header: UInt8) -> [UInt8] {
        var bits = self.bits + [1]
        while bits.count % 8 != 0 { bits.append(0) }
        var bytes: [UInt8] = [header]
        var zeros = 0
        for start in stride(from: 0, to: bits.count, by: 8) {
            let byte = bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
            if zeros >= 2 && byte <= 3 {
                bytes.append(3)
                zeros = 0
            }
            bytes.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return bytes
    }
}
