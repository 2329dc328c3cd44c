// SPDX-License-Identifier: Apache-2.0

@testable import RTPWire

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

/// NAL units made to measure.
enum NAL {
    static func sps(id: UInt32 = 0, columns: UInt32 = 40, rows: UInt32 = 23, bottomCrop: UInt32? = 4) -> [UInt8] {
        var bits = BitWriter()
        bits.u(66, 8)
        bits.u(0xC0, 8)
        bits.u(31, 8)
        bits.ue(id)
        bits.ue(0)  // log2_max_frame_num - 4
        bits.ue(2)  // pic_order_cnt_type
        bits.ue(1)
        bits.u(0, 1)
        bits.ue(columns - 1)
        bits.ue(rows - 1)
        bits.u(1, 1)
        bits.u(1, 1)
        bits.u(bottomCrop == nil ? 0 : 1, 1)
        if let bottomCrop {
            for side in [0, 0, 0, bottomCrop] { bits.ue(side) }
        }
        bits.u(0, 1)
        return bits.nalUnit(header: 0x67)
    }

    static func pps(id: UInt32 = 0, sps: UInt32 = 0) -> [UInt8] {
        var bits = BitWriter()
        bits.ue(id)
        bits.ue(sps)
        bits.u(0, 2)
        bits.ue(0)
        return bits.nalUnit(header: 0x68)
    }

    /// `kind` as slice_type: 5 is P, 7 is I.
    static func slice(
        idr: Bool = false, firstMacroblock: UInt32 = 0, kind: UInt32? = nil, pps: UInt32 = 0, size: Int = 20,
        fill: UInt8 = 0xAB
    ) -> [UInt8] {
        var bits = BitWriter()
        bits.ue(firstMacroblock)
        bits.ue(kind ?? (idr ? 7 : 5))
        bits.ue(pps)
        var bytes = bits.nalUnit(header: idr ? 0x65 : 0x41)
        while bytes.count < size { bytes.append(fill) }
        return bytes
    }

    /// An SEI with some unregistered user data and, after it, a recovery point.
    static func recoveryPoint(frames: UInt32) -> [UInt8] {
        var bits = BitWriter()
        bits.u(5, 8)
        bits.u(17, 8)
        for byte in 0..<17 { bits.u(UInt32(byte), 8) }
        bits.u(6, 8)
        bits.u(2, 8)
        bits.ue(frames)
        bits.u(0, 4)
        return bits.nalUnit(header: 0x06)
    }
}
