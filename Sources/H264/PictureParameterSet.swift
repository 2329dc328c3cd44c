// SPDX-License-Identifier: Apache-2.0

/// A picture parameter set (H.264 section 7.3.2.2).
public struct PictureParameterSet: Hashable, Sendable {
    /// slice_group_map_type with what belongs to it (flexible macroblock ordering).
    public enum SliceGroups: Hashable, Sendable {
        /// Type 0: run_length_minus1 of each group.
        case interleaved([UInt32])
        /// Type 1.
        case dispersed
        /// Type 2: top_left and bottom_right of each group but the last.
        case foreground([Rectangle])
        /// Types 3 to 5.
        case changing(type: UInt8, isReversed: Bool, rate: UInt32)
        /// Type 6: slice_group_id of each map unit.
        case assigned([UInt8])
    }

    public struct Rectangle: Hashable, Sendable {
        public var topLeft: UInt32
        public var bottomRight: UInt32
    }

    /// What stands behind the parts of the first edition: only where it was sent.
    public struct Extension: Hashable, Sendable {
        public var transforms8x8: Bool
        public var scaling: ScalingLists?
        /// second_chroma_qp_index_offset: −12 to 12.
        public var secondChromaOffset: Int8
    }

    public var id: UInt32
    public var sequenceID: UInt32
    /// entropy_coding_mode_flag.
    public var isArithmetic: Bool
    /// bottom_field_pic_order_in_frame_present_flag.
    public var hasBottomOrder: Bool
    /// num_slice_groups_minus1 + 1: 1 to 8.
    public var sliceGroupCount: UInt8
    public var sliceGroups: SliceGroups?
    /// num_ref_idx_l0_default_active_minus1 + 1: 1 to 32; the second for list 1.
    public var activeReferences: [UInt8]
    /// weighted_pred_flag, for P slices.
    public var isWeighted: Bool
    /// weighted_bipred_idc, for B slices: 0 not, 1 as sent, 2 by distance.
    public var biprediction: UInt8
    /// pic_init_qp_minus26 and pic_init_qs_minus26.
    public var qualityOffset: Int8
    public var switchingQualityOffset: Int8
    /// chroma_qp_index_offset: −12 to 12.
    public var chromaOffset: Int8
    public var controlsDeblocking: Bool
    /// constrained_intra_pred_flag.
    public var isIntraConstrained: Bool
    /// redundant_pic_cnt_present_flag.
    public var hasRedundancy: Bool
    public var more: Extension?

    /// second_chroma_qp_index_offset, as inferred where it is absent.
    public var secondChromaOffset: Int8 { self.more?.secondChromaOffset ?? self.chromaOffset }

    /// Both ids, which can be read without the sequence parameter set.
    public static func ids(_ nalUnit: [UInt8]) -> (picture: UInt32, sequence: UInt32)? {
        guard let first = nalUnit.first, NALUnitType.of(first) == NALUnitType.pictureParameterSet else { return nil }
        var reader = RBSPReader(nalUnit.dropFirst(), limit: 16)
        guard let picture = try? reader.unsigned(max: 255), let sequence = try? reader.unsigned(max: 31) else {
            return nil
        }
        return (picture, sequence)
    }

    /// Nil where the bytes are no picture parameter set for this sequence.
    public static func parse(_ nalUnit: [UInt8], sequence: SequenceParameterSet) -> PictureParameterSet? {
        guard let first = nalUnit.first, NALUnitType.of(first) == NALUnitType.pictureParameterSet else { return nil }
        var reader = RBSPReader(nalUnit.dropFirst(), limit: H264Limits.parameterSetBytesMax)
        guard let set = try? PictureParameterSet(&reader, sequence: sequence), set.sequenceID == sequence.id else {
            return nil
        }
        return set
    }
}

// MARK: - Reading

extension PictureParameterSet {
    init(_ reader: inout RBSPReader, sequence: SequenceParameterSet) throws(SyntaxFault) {
        self.id = try reader.unsigned(max: 255)
        self.sequenceID = try reader.unsigned(max: 31)
        self.isArithmetic = try reader.flag()
        self.hasBottomOrder = try reader.flag()
        self.sliceGroupCount = try reader.small(max: 7) + 1
        if self.sliceGroupCount > 1 {
            self.sliceGroups = try SliceGroups(&reader, count: self.sliceGroupCount)
        }
        let active = UInt8(H264Limits.referencesMax - 1)
        self.activeReferences = [try reader.small(max: active) + 1, try reader.small(max: active) + 1]
        self.isWeighted = try reader.flag()
        self.biprediction = try reader.byte(2)
        guard self.biprediction < 3 else { throw .range }
        // As low as six for each further bit of a sample.
        self.qualityOffset = Int8(truncatingIfNeeded: try reader.signed(in: -62...25))
        self.switchingQualityOffset = Int8(truncatingIfNeeded: try reader.signed(in: -26...25))
        self.chromaOffset = Int8(truncatingIfNeeded: try reader.signed(in: -12...12))
        self.controlsDeblocking = try reader.flag()
        self.isIntraConstrained = try reader.flag()
        self.hasRedundancy = try reader.flag()
        if reader.hasMore { self.more = try Extension(&reader, chromaFormat: sequence.chromaFormat) }
    }
}

extension PictureParameterSet.Extension {
    init(_ reader: inout RBSPReader, chromaFormat: UInt8) throws(SyntaxFault) {
        self.transforms8x8 = try reader.flag()
        if try reader.flag() {
            let large = self.transforms8x8 ? (chromaFormat == 3 ? 6 : 2) : 0
            self.scaling = try ScalingLists(&reader, count: 6 + large)
        }
        self.secondChromaOffset = Int8(truncatingIfNeeded: try reader.signed(in: -12...12))
    }
}

extension PictureParameterSet.SliceGroups {
    init(_ reader: inout RBSPReader, count: UInt8) throws(SyntaxFault) {
        let type = try reader.small(max: 6)
        switch type {
        case 0:
            var runs: [UInt32] = []
            for _ in 0..<count { runs.append(try reader.unsigned()) }
            self = .interleaved(runs)
        case 1: self = .dispersed
        case 2:
            var rectangles: [PictureParameterSet.Rectangle] = []
            for _ in 1..<count {
                rectangles.append(.init(topLeft: try reader.unsigned(), bottomRight: try reader.unsigned()))
            }
            self = .foreground(rectangles)
        case 6:
            let size = try reader.unsigned()
            let bits = count > 4 ? 3 : count > 2 ? 2 : 1
            // As many as there are bits for: what is left of the set bounds them.
            guard size < UInt32(clamping: reader.remaining / bits) else { throw .end }
            var groups: [UInt8] = []
            for _ in 0...size { groups.append(try reader.byte(bits)) }
            self = .assigned(groups)
        default:
            self = .changing(type: type, isReversed: try reader.flag(), rate: try reader.unsigned())
        }
    }
}
