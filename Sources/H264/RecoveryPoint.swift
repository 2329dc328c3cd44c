// SPDX-License-Identifier: Apache-2.0

/// Finds the message that lets decoding begin at a picture that is not IDR.
public enum RecoveryPoint {
    private static let payloadType: UInt32 = 6
    private static let messagesMax = 16

    /// Whether this SEI says that the picture it goes with is right from itself on (H.264 section D.1.8,
    /// recovery_frame_cnt 0).
    public static func isImmediate(in nalUnit: [UInt8]) -> Bool {
        guard let first = nalUnit.first, NALUnitType.of(first) == NALUnitType.sei else { return false }
        var reader = RBSPReader(nalUnit.dropFirst(), limit: H264Limits.parameterSetBytesMax)
        return (try? self.frames(&reader)) == 0
    }

    /// recovery_frame_cnt of the first such message; nil where there is none.
    private static func frames(_ reader: inout RBSPReader) throws(SyntaxFault) -> UInt32? {
        for _ in 0..<self.messagesMax {
            let type = try self.number(&reader)
            let size = try self.number(&reader)
            if type == self.payloadType { return try reader.unsigned() }
            for _ in 0..<size { _ = try reader.byte() }
        }
        return nil
    }

    /// A number written as any count of 0xFF and one byte below it.
    private static func number(_ reader: inout RBSPReader) throws(SyntaxFault) -> UInt32 {
        var sum: UInt32 = 0
        while true {
            let byte = try reader.bits(8)
            sum &+= byte
            if byte != 0xFF { return sum }
        }
    }
}
