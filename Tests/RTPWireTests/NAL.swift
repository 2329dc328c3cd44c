// SPDX-License-Identifier: Apache-2.0

import H264

/// NAL units made to measure.
enum NAL {
    static func sps(id: UInt32 = 0, columns: UInt32 = 40, rows: UInt32 = 23, bottomCrop: UInt32? = 4) -> [UInt8] {
        var bits = RBSPWriter()
        bits.bits(66, 8)
        bits.bits(0xC0, 8)
        bits.bits(31, 8)
        bits.unsigned(id)
        bits.unsigned(0)  // log2_max_frame_num - 4
        bits.unsigned(2)  // pic_order_cnt_type
        bits.unsigned(1)
        bits.bits(0, 1)
        bits.unsigned(columns - 1)
        bits.unsigned(rows - 1)
        bits.bits(1, 1)
        bits.bits(1, 1)
        bits.bits(bottomCrop == nil ? 0 : 1, 1)
        if let bottomCrop {
            for side in [0, 0, 0, bottomCrop] { bits.unsigned(side) }
        }
        bits.bits(0, 1)
        return bits.nalUnit(header: 0x67)
    }

    static func pps(id: UInt32 = 0, sps: UInt32 = 0) -> [UInt8] {
        var bits = RBSPWriter()
        bits.unsigned(id)
        bits.unsigned(sps)
        bits.bits(0, 2)
        bits.unsigned(0)
        return bits.nalUnit(header: 0x68)
    }

    /// `kind` as slice_type: 5 is P, 7 is I.
    static func slice(
        idr: Bool = false, firstMacroblock: UInt32 = 0, kind: UInt32? = nil, pps: UInt32 = 0, size: Int = 20,
        fill: UInt8 = 0xAB
    ) -> [UInt8] {
        var bits = RBSPWriter()
        bits.unsigned(firstMacroblock)
        bits.unsigned(kind ?? (idr ? 7 : 5))
        bits.unsigned(pps)
        var bytes = bits.nalUnit(header: idr ? 0x65 : 0x41)
        while bytes.count < size { bytes.append(fill) }
        return bytes
    }

    /// An SEI with some unregistered user data and, after it, a recovery point.
    static func recoveryPoint(frames: UInt32) -> [UInt8] {
        var bits = RBSPWriter()
        bits.bits(5, 8)
        bits.bits(17, 8)
        for byte in 0..<17 { bits.bits(UInt32(byte), 8) }
        bits.bits(6, 8)
        bits.bits(2, 8)
        bits.unsigned(frames)
        bits.bits(0, 4)
        return bits.nalUnit(header: 0x06)
    }
}
