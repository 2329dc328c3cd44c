// SPDX-License-Identifier: Apache-2.0

@testable import H264

/// Parameter sets and slices made to measure, of pictures of 640 × 360 in baseline syntax.
enum Made {
    static func sps(
        columns: UInt32 = 40, rows: UInt32 = 23, bottomCrop: UInt32? = 4, order: UInt32 = 2, references: UInt32 = 2,
        hasGaps: Bool = false, isFrameOnly: Bool = true, profile: UInt32 = 66, level: UInt32 = 31
    ) -> [UInt8] {
        var bits = BitWriter()
        bits.u(profile, 8)
        bits.u(0xC0, 8)
        bits.u(level, 8)
        bits.ue(0)
        if profile == 100 { for value in [1, 0, 0] as [UInt32] { bits.ue(value) } }
        if profile == 100 { bits.u(0, 2) }
        bits.ue(0)  // 16 frame numbers
        bits.ue(order)
        if order == 0 { bits.ue(0) }
        bits.ue(references)
        bits.u(hasGaps ? 1 : 0, 1)
        bits.ue(columns - 1)
        bits.ue(rows - 1)
        bits.u(isFrameOnly ? 1 : 0, 1)
        if !isFrameOnly { bits.u(0, 1) }
        bits.u(1, 1)
        bits.u(bottomCrop == nil ? 0 : 1, 1)
        if let bottomCrop {
            for side in [0, 0, 0, bottomCrop] { bits.ue(side) }
        }
        bits.u(0, 1)
        return bits.nalUnit(header: 0x67)
    }

    static func pps(id: UInt32 = 0, groups: UInt32 = 1) -> [UInt8] {
        var bits = BitWriter()
        bits.ue(id)
        bits.ue(0)
        bits.u(0, 2)
        bits.ue(groups - 1)
        if groups > 1 { bits.ue(1) }
        for value in [0, 0] as [UInt32] { bits.ue(value) }
        bits.u(0, 3)
        for value in [0, 0, 0] as [Int32] { bits.se(value) }
        bits.u(0, 3)
        return bits.nalUnit(header: 0x68)
    }

    /// The syntax of `sps` of order 0 or 2; `marking` is written as it is, each a ue(v) behind the adaptive flag.
    static func slice(
        _ number: UInt32, kind: UInt32 = 5, idr: Bool = false, reference: UInt8 = 1, macroblock: UInt32 = 0,
        low: UInt32? = nil, active: UInt32? = nil, modifications: [UInt32]? = nil, marking: [UInt32]? = nil,
        isLongTerm: Bool = false, pps: UInt32 = 0
    ) -> [UInt8] {
        var bits = BitWriter()
        bits.ue(macroblock)
        bits.ue(kind)
        bits.ue(pps)
        bits.u(number, 4)
        if idr { bits.ue(0) }
        if let low { bits.u(low, 4) }
        if kind % 5 == 1 { bits.u(1, 1) }
        if kind % 5 != 2 {
            bits.u(active == nil ? 0 : 1, 1)
            if let active {
                bits.ue(active - 1)
                if kind % 5 == 1 { bits.ue(active - 1) }
            }
            bits.u(modifications == nil ? 0 : 1, 1)
            for value in modifications ?? [] { bits.ue(value) }
            if kind % 5 == 1 { bits.u(0, 1) }
        }
        if reference != 0 {
            if idr {
                bits.u(0, 1)
                bits.u(isLongTerm ? 1 : 0, 1)
            } else {
                bits.u(marking == nil ? 0 : 1, 1)
                for value in marking ?? [] { bits.ue(value) }
            }
        }
        bits.se(0)
        bits.u(0xABCD, 16)
        return bits.nalUnit(header: reference << 5 | (idr ? 5 : 1))
    }

    static func idr(low: UInt32? = nil, isLongTerm: Bool = false) -> [UInt8] {
        self.slice(0, kind: 7, idr: true, low: low, isLongTerm: isLongTerm)
    }
}
