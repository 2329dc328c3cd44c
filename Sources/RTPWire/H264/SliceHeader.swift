// SPDX-License-Identifier: Apache-2.0

/// The first fields of a slice (H.264 section 7.3.3).
struct SliceHeader {
    /// first_mb_in_slice: 0 in the slice that begins a picture.
    var firstMacroblock: UInt32
    /// Every macroblock is intra coded.
    var isIntra: Bool
    var pictureParameterSetID: UInt32

    /// Three Exp-Golomb codes of at most 63 bits fit well within this.
    private static let bytesMax = 24

    /// Nil where `nalUnit` is no slice.
    static func parse(_ nalUnit: [UInt8]) -> SliceHeader? {
        guard let first = nalUnit.first else { return nil }
        let type = NALUnitType.of(first)
        guard type == NALUnitType.slice || type == NALUnitType.idrSlice || type == NALUnitType.dataPartitionA else {
            return nil
        }
        var reader = RBSPReader(nalUnit.dropFirst(), limit: self.bytesMax)
        guard let firstMacroblock = reader.unsigned(), let kind = reader.unsigned(max: 9),
            let picture = reader.unsigned(max: 255)
        else { return nil }
        let isIntra = kind % 5 == 2 || kind % 5 == 4
        return SliceHeader(firstMacroblock: firstMacroblock, isIntra: isIntra, pictureParameterSetID: picture)
    }
}

/// Finds the message that lets decoding begin at a picture that is not IDR.
enum RecoveryPoint {
    private static let payloadType: UInt32 = 6
    private static let messagesMax = 16

    /// Whether this SEI says that the picture it goes with is right from itself on (H.264 section D.1.8,
    /// recovery_frame_cnt 0).
    static func isImmediate(in nalUnit: [UInt8]) -> Bool {
        guard let first = nalUnit.first, NALUnitType.of(first) == NALUnitType.sei else { return false }
        var reader = RBSPReader(nalUnit.dropFirst(), limit: RTPLimits.parameterSetBytesMax)
        for _ in 0..<self.messagesMax {
            guard let type = self.number(&reader), let size = self.number(&reader) else { return false }
            if type == self.payloadType { return reader.unsigned() == 0 }
            for _ in 0..<size {
                guard reader.bits(8) != nil else { return false }
            }
        }
        return false
    }

    /// A number written as any count of 0xFF and one byte below it.
    private static func number(_ reader: inout RBSPReader) -> UInt32? {
        var sum: UInt32 = 0
        while let byte = reader.bits(8) {
            sum &+= byte
            if byte != 0xFF { return sum }
        }
        return nil
    }
}
