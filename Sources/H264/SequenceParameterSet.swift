// SPDX-License-Identifier: Apache-2.0

/// A sequence parameter set: what all pictures of a stream have in common (H.264 section 7.3.2.1.1).
public struct SequenceParameterSet: Hashable, Sendable {
    /// How pictures tell the order in which they are shown (pic_order_cnt_type, H.264 section 8.2.1).
    public enum PictureOrder: Hashable, Sendable {
        /// Type 0: the low so many bits of it are sent.
        case sent(bits: UInt8)
        /// Type 1: it follows a cycle, from which a picture tells how far it is off.
        case cycle(Cycle)
        /// Type 2: that of decoding.
        case decoding
    }

    public struct Cycle: Hashable, Sendable {
        /// delta_pic_order_always_zero_flag.
        public var isExact: Bool
        public var offsetOfUnreferenced: Int32
        public var offsetOfBottom: Int32
        /// offset_for_ref_frame, at most 255 of them.
        public var offsets: [Int32]
    }

    /// Frame cropping, in the units of the chroma format.
    public struct Cropping: Hashable, Sendable {
        public var left: UInt32
        public var right: UInt32
        public var top: UInt32
        public var bottom: UInt32
    }

    public var id: UInt32
    /// profile_idc.
    public var profile: UInt8
    /// The constraint_set flags, set 0 in the highest bit.
    public var constraints: UInt8
    /// level_idc: ten times the level.
    public var level: UInt8
    /// chroma_format_idc: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chromaFormat: UInt8 = 1
    public var hasSeparatePlanes = false
    /// 8 to 14.
    public var bitDepthLuma: UInt8 = 8
    public var bitDepthChroma: UInt8 = 8
    /// qpprime_y_zero_transform_bypass_flag.
    public var isLosslessAtZero = false
    public var scaling: ScalingLists?
    /// Bits of frame_num: 4 to 16.
    public var frameNumberBits: UInt8
    public var order: PictureOrder
    /// max_num_ref_frames: 0 to 16.
    public var referenceFrames: UInt8
    /// gaps_in_frame_num_value_allowed_flag.
    public var hasGaps: Bool
    /// In macroblocks, and in rows of macroblocks of a frame or (unless `isFrameOnly`) field.
    public var columns: UInt16
    public var rows: UInt16
    /// frame_mbs_only_flag: nothing is interlaced.
    public var isFrameOnly: Bool
    /// mb_adaptive_frame_field_flag.
    public var isAdaptive = false
    public var infersDirect8x8: Bool
    public var cropping: Cropping?
    /// Nil where it is absent, or cannot be read: what stands before it is enough to decode.
    public var usability: VideoUsability?

    /// ChromaArrayType: 0 where planes are coded each as if monochrome.
    public var chromaArray: UInt8 { self.hasSeparatePlanes ? 0 : self.chromaFormat }
    /// MaxFrameNum: 16 to 65 536.
    public var frameNumberEnd: UInt32 { 1 << UInt32(self.frameNumberBits) }
    /// In pixels, as coded.
    public var codedWidth: Int { Int(self.columns) * 16 }
    public var codedHeight: Int { Int(self.rows) * (self.isFrameOnly ? 16 : 32) }
    /// In pixels, what is to be seen.
    public var left: Int { Int(self.cropping?.left ?? 0) * self.cropUnit.width }
    public var top: Int { Int(self.cropping?.top ?? 0) * self.cropUnit.height }
    public var width: Int { self.codedWidth - self.left - Int(self.cropping?.right ?? 0) * self.cropUnit.width }
    public var height: Int { self.codedHeight - self.top - Int(self.cropping?.bottom ?? 0) * self.cropUnit.height }

    /// CropUnitX and CropUnitY.
    private var cropUnit: (width: Int, height: Int) {
        let fields = self.isFrameOnly ? 1 : 2
        return (
            self.chromaArray == 1 || self.chromaArray == 2 ? 2 : 1, (self.chromaArray == 1 ? 2 : 1) * fields
        )
    }

    /// Profiles whose sets carry chroma format, bit depth and scaling lists.
    static func hasChroma(_ profile: UInt8) -> Bool {
        switch profile {
        case 100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135: return true
        default: return false
        }
    }
}

// MARK: - Reading

extension SequenceParameterSet {
    /// Nil where the bytes are not a sequence parameter set, or say a size of zero or above 16384.
    public static func parse(_ nalUnit: [UInt8]) -> SequenceParameterSet? {
        guard let first = nalUnit.first, NALUnitType.of(first) == NALUnitType.sequenceParameterSet else { return nil }
        var reader = RBSPReader(nalUnit.dropFirst(), limit: H264Limits.parameterSetBytesMax)
        guard let set = try? SequenceParameterSet(&reader), set.hasSaneSize else { return nil }
        return set
    }

    init(_ reader: inout RBSPReader) throws(SyntaxFault) {
        self.profile = try reader.byte()
        self.constraints = try reader.byte()
        self.level = try reader.byte()
        self.id = try reader.unsigned(max: 31)
        if Self.hasChroma(self.profile) {
            self.chromaFormat = try reader.small(max: 3)
            if self.chromaFormat == 3 { self.hasSeparatePlanes = try reader.flag() }
            self.bitDepthLuma = try reader.small(max: 6) + 8
            self.bitDepthChroma = try reader.small(max: 6) + 8
            self.isLosslessAtZero = try reader.flag()
            if try reader.flag() {
                self.scaling = try ScalingLists(&reader, count: self.chromaFormat == 3 ? 12 : 8)
            }
        }
        self.frameNumberBits = try reader.small(max: 12) + 4
        self.order = try PictureOrder(&reader)
        self.referenceFrames = try reader.small(max: UInt8(H264Limits.framesMax))
        self.hasGaps = try reader.flag()
        self.columns = UInt16(truncatingIfNeeded: try reader.unsigned(max: 1023) + 1)
        self.rows = UInt16(truncatingIfNeeded: try reader.unsigned(max: 1023) + 1)
        self.isFrameOnly = try reader.flag()
        if !self.isFrameOnly { self.isAdaptive = try reader.flag() }
        self.infersDirect8x8 = try reader.flag()
        if try reader.flag() { self.cropping = try Cropping(&reader) }
        // A set is not thrown away for a tail that decoding does without.
        var tail = reader
        if (try? tail.flag()) == true { self.usability = try? VideoUsability(&tail) }
    }

    private var hasSaneSize: Bool {
        let sides = 1...H264Limits.sideMax
        return sides.contains(self.width) && sides.contains(self.height) && self.codedHeight <= H264Limits.sideMax
    }
}

extension SequenceParameterSet.PictureOrder {
    init(_ reader: inout RBSPReader) throws(SyntaxFault) {
        switch try reader.unsigned(max: 2) {
        case 0: self = .sent(bits: try reader.small(max: 12) + 4)
        case 1:
            var cycle = SequenceParameterSet.Cycle(
                isExact: try reader.flag(), offsetOfUnreferenced: try reader.signed(),
                offsetOfBottom: try reader.signed(), offsets: [])
            for _ in 0..<(try reader.unsigned(max: 255)) { cycle.offsets.append(try reader.signed()) }
            self = .cycle(cycle)
        default: self = .decoding
        }
    }
}

extension SequenceParameterSet.Cropping {
    init(_ reader: inout RBSPReader) throws(SyntaxFault) {
        let bound = UInt32(H264Limits.sideMax)
        self.left = try reader.unsigned(max: bound)
        self.right = try reader.unsigned(max: bound)
        self.top = try reader.unsigned(max: bound)
        self.bottom = try reader.unsigned(max: bound)
    }
}
