// SPDX-License-Identifier: Apache-2.0

/// slice_type modulo 5 (H.264 table 7-6).
public enum SliceKind: UInt8, Sendable {
    case p = 0
    case b = 1
    case i = 2
    case sp = 3
    case si = 4

    /// Every macroblock is intra coded.
    public var isIntra: Bool { self == .i || self == .si }
    /// How many reference lists it has.
    public var lists: Int { self.isIntra ? 0 : self == .b ? 2 : 1 }
}

/// The first fields of a slice, which can be read without its parameter sets (H.264 section 7.3.3).
public struct SlicePrefix: Hashable, Sendable {
    /// first_mb_in_slice: 0 in the slice that begins a picture.
    public var firstMacroblock: UInt32
    /// slice_type: 5 and above where all slices of the picture are of this kind.
    public var type: UInt8
    public var pictureParameterSetID: UInt32

    public var kind: SliceKind { SliceKind(rawValue: self.type % 5) ?? .i }
    public var isIntra: Bool { self.kind.isIntra }

    /// Three Exp-Golomb codes of at most 63 bits fit well within this.
    private static let bytesMax = 24

    /// Nil where `nalUnit` is no slice.
    public static func parse(_ nalUnit: [UInt8]) -> SlicePrefix? {
        guard let first = nalUnit.first else { return nil }
        let type = NALUnitType.of(first)
        guard type == NALUnitType.slice || type == NALUnitType.idrSlice || type == NALUnitType.dataPartitionA else {
            return nil
        }
        var reader = RBSPReader(nalUnit.dropFirst(), limit: self.bytesMax)
        return try? SlicePrefix(&reader)
    }

    init(_ reader: inout RBSPReader) throws(SyntaxFault) {
        self.firstMacroblock = try reader.unsigned()
        self.type = try reader.small(max: 9)
        self.pictureParameterSetID = try reader.unsigned(max: 255)
    }
}

/// All fields of a slice's header (H.264 section 7.3.3); inferred where they are absent.
public struct SliceHeader: Hashable, Sendable {
    /// nal_ref_idc: 0 where no other picture refers to this one.
    public var referenceIDC: UInt8
    public var isIDR: Bool
    public var prefix: SlicePrefix
    /// colour_plane_id.
    public var plane: UInt8 = 0
    public var frameNumber: UInt32
    public var isField = false
    public var isBottomField = false
    public var idrPictureID: UInt32 = 0
    /// pic_order_cnt_lsb.
    public var orderLow: UInt32 = 0
    /// delta_pic_order_cnt_bottom.
    public var orderBottom: Int32 = 0
    /// delta_pic_order_cnt[0] and [1].
    public var orderOff: [Int32] = [0, 0]
    public var redundantCount: UInt8 = 0
    /// direct_spatial_mv_pred_flag.
    public var isDirectSpatial = false
    /// num_ref_idx_active_override_flag.
    public var overridesActive = false
    /// num_ref_idx_l0_active_minus1 + 1 and that of list 1: 0 where there is no such list.
    public var activeReferences: [UInt8] = [0, 0]
    /// For each list its commands; nil where the list stays as it is initially.
    public var modifications: [[ListModification]?] = [nil, nil]
    public var weights: PredictionWeights?
    public var marking = ReferenceMarking.none
    public var cabacInit: UInt8 = 0
    public var qualityOff: Int32 = 0
    public var switches = false
    public var switchingQualityOff: Int32 = 0
    /// disable_deblocking_filter_idc.
    public var deblocking: UInt8 = 0
    /// slice_alpha_c0_offset_div2 and slice_beta_offset_div2.
    public var deblockingAlpha: Int8 = 0
    public var deblockingBeta: Int8 = 0
    public var sliceGroupChange: UInt32 = 0

    /// Sizes in bits, emulation prevention bytes not counted: from the NAL unit's first byte to slice_data(),
    public var headerBits = 0
    /// of all syntax elements about picture order count,
    public var orderBits = 0
    /// and of dec_ref_pic_marking().
    public var markingBits = 0

    public var kind: SliceKind { self.prefix.kind }
    public var isReference: Bool { self.referenceIDC != 0 }
}
