// SPDX-License-Identifier: Apache-2.0

/// The part of a sequence parameter set that says what the picture is (H.264 section 7.3.2.1.1).
public struct SequenceParameterSet: Hashable, Sendable {
    public var id: UInt32
    /// profile_idc.
    public var profile: UInt8
    /// The constraint_set flags, set 0 in the highest bit.
    public var constraints: UInt8
    /// level_idc: ten times the level.
    public var level: UInt8
    /// In pixels, cropping taken off.
    public var width: Int
    public var height: Int

    /// Sides above this are taken for broken.
    private static let sideMax = 16384

    /// Nil where the bytes are not a sequence parameter set, or say a size of zero or above 16384.
    public static func parse(_ nalUnit: [UInt8]) -> SequenceParameterSet? {
        guard let first = nalUnit.first, NALUnitType.of(first) == NALUnitType.sequenceParameterSet else { return nil }
        var reader = RBSPReader(nalUnit.dropFirst(), limit: RTPLimits.parameterSetBytesMax)
        guard let profile = reader.bits(8), let constraints = reader.bits(8), let level = reader.bits(8),
            let id = reader.unsigned(max: 31), let format = self.chromaFormat(&reader, profile: profile),
            self.skipCounters(&reader), let size = self.size(&reader, chroma: format)
        else { return nil }
        return SequenceParameterSet(
            id: id, profile: UInt8(profile), constraints: UInt8(constraints), level: UInt8(level), width: size.width,
            height: size.height)
    }

    /// Profiles whose sets carry chroma format, bit depth and scaling lists.
    private static func hasChroma(_ profile: UInt32) -> Bool {
        switch profile {
        case 100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135: return true
        default: return false
        }
    }

    /// chroma_format_idc as cropping sees it: 0 for monochrome and for separate colour planes.
    private static func chromaFormat(_ reader: inout RBSPReader, profile: UInt32) -> UInt32? {
        guard self.hasChroma(profile) else { return 1 }
        guard var format = reader.unsigned(max: 3) else { return nil }
        if format == 3 {
            guard let isSeparate = reader.flag() else { return nil }
            if isSeparate { format = 0 }
        }
        guard reader.unsigned(max: 6) != nil, reader.unsigned(max: 6) != nil, reader.flag() != nil,
            let hasMatrix = reader.flag()
        else { return nil }
        if hasMatrix {
            for list in 0..<(format == 3 ? 12 : 8) {
                guard self.skipScalingList(&reader, size: list < 6 ? 16 : 64) else { return nil }
            }
        }
        return format
    }

    private static func skipScalingList(_ reader: inout RBSPReader, size: Int) -> Bool {
        guard let isPresent = reader.flag() else { return false }
        guard isPresent else { return true }
        var last: Int32 = 8
        for _ in 0..<size {
            guard let delta = reader.signed() else { return false }
            let next = (last &+ delta) & 0xFF
            if next == 0 { return true }
            last = next
        }
        return true
    }

    /// Frame numbers, picture order count, reference frames.
    private static func skipCounters(_ reader: inout RBSPReader) -> Bool {
        guard reader.unsigned(max: 12) != nil, let order = reader.unsigned(max: 2) else { return false }
        if order == 0 {
            guard reader.unsigned(max: 12) != nil else { return false }
        } else if order == 1 {
            guard reader.flag() != nil, reader.signed() != nil, reader.signed() != nil,
                let cycle = reader.unsigned(max: 255)
            else { return false }
            for _ in 0..<cycle {
                guard reader.signed() != nil else { return false }
            }
        }
        return reader.unsigned(max: 16) != nil && reader.flag() != nil
    }

    private static func size(_ reader: inout RBSPReader, chroma: UInt32) -> (width: Int, height: Int)? {
        guard let columns = reader.unsigned(max: 1023), let rows = reader.unsigned(max: 1023),
            let isFrameOnly = reader.flag()
        else { return nil }
        if !isFrameOnly {
            guard reader.flag() != nil else { return nil }
        }
        guard reader.flag() != nil, let isCropped = reader.flag() else { return nil }
        let fields = isFrameOnly ? 1 : 2
        var width = (Int(columns) + 1) * 16
        var height = (Int(rows) + 1) * 16 * fields
        if isCropped {
            let bound = UInt32(self.sideMax)
            guard let left = reader.unsigned(max: bound), let right = reader.unsigned(max: bound),
                let top = reader.unsigned(max: bound), let bottom = reader.unsigned(max: bound)
            else { return nil }
            width -= (Int(left) + Int(right)) * (chroma == 1 || chroma == 2 ? 2 : 1)
            height -= (Int(top) + Int(bottom)) * (chroma == 1 ? 2 : 1) * fields
        }
        guard width > 0, height > 0, width <= self.sideMax, height <= self.sideMax else { return nil }
        return (width, height)
    }
}
