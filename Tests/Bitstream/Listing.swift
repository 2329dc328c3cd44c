// SPDX-License-Identifier: Apache-2.0

import H264

/// Syntax elements as "name = value", in the order of the specification, each only where the stream has it.
struct Listing {
    private(set) var lines: [String] = []
    private var sequences: [UInt32: SequenceParameterSet] = [:]
    private var pictures: [UInt32: PictureParameterSet] = [:]

    mutating func add(_ unit: [UInt8]) {
        guard let first = unit.first else { return }
        let type = NALUnitType.of(first)
        switch type {
        case NALUnitType.sequenceParameterSet:
            self.begin(first)
            guard let set = SequenceParameterSet.parse(unit) else { return self.unreadable() }
            self.sequences[set.id] = set
            self.list(set)
        case NALUnitType.pictureParameterSet:
            self.begin(first)
            guard let ids = PictureParameterSet.ids(unit), let sequence = self.sequences[ids.sequence],
                let set = PictureParameterSet.parse(unit, sequence: sequence)
            else { return self.unreadable() }
            self.pictures[set.id] = set
            self.list(set, sequence)
        case NALUnitType.slice, NALUnitType.idrSlice:
            self.begin(first)
            let header = SliceHeader.parse(unit) { id in
                self.pictures[id].flatMap { picture in self.sequences[picture.sequenceID].map { (picture, $0) } }
            }
            guard let header, let picture = self.pictures[header.prefix.pictureParameterSetID],
                let sequence = self.sequences[picture.sequenceID]
            else { return self.unreadable() }
            self.list(header, picture, sequence)
        default: break
        }
    }

    private mutating func begin(_ first: UInt8) {
        self.lines.append("unit \(NALUnitType.of(first))")
        self.put("nal_ref_idc", first >> 5 & 3)
        self.put("nal_unit_type", NALUnitType.of(first))
    }

    private mutating func unreadable() { self.lines.append("unreadable") }

    mutating func put(_ name: String, _ value: some BinaryInteger) { self.lines.append("\(name) = \(value)") }

    mutating func put(_ name: String, _ value: Bool) { self.put(name, value ? 1 : 0) }

    private mutating func list(_ lists: ScalingLists?, _ prefix: String) {
        self.put("\(prefix)_scaling_matrix_present_flag", lists != nil)
        for (index, list) in (lists?.lists ?? []).enumerated() {
            self.put("\(prefix)_scaling_list_present_flag[\(index)]", list != .absent)
            switch list {
            case .absent: break
            case .preset: self.lines.append("list = preset")
            case .sent(let weights):
                self.lines.append("list = " + weights.map { String($0) }.joined(separator: " "))
            }
        }
    }
}

// MARK: - Parameter sets

extension Listing {
    private mutating func list(_ set: SequenceParameterSet) {
        self.put("profile_idc", set.profile)
        for flag in 0..<6 { self.put("constraint_set\(flag)_flag", set.constraints >> UInt8(7 - flag) & 1) }
        self.put("reserved_zero_2bits", set.constraints & 3)
        self.put("level_idc", set.level)
        self.put("seq_parameter_set_id", set.id)
        if [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(set.profile) {
            self.put("chroma_format_idc", set.chromaFormat)
            if set.chromaFormat == 3 { self.put("separate_colour_plane_flag", set.hasSeparatePlanes) }
            self.put("bit_depth_luma_minus8", set.bitDepthLuma - 8)
            self.put("bit_depth_chroma_minus8", set.bitDepthChroma - 8)
            self.put("qpprime_y_zero_transform_bypass_flag", set.isLosslessAtZero)
            self.list(set.scaling, "seq")
        }
        self.put("log2_max_frame_num_minus4", set.frameNumberBits - 4)
        self.list(set.order)
        self.put("max_num_ref_frames", set.referenceFrames)
        self.put("gaps_in_frame_num_allowed_flag", set.hasGaps)
        self.put("pic_width_in_mbs_minus1", set.columns - 1)
        self.put("pic_height_in_map_units_minus1", set.rows - 1)
        self.put("frame_mbs_only_flag", set.isFrameOnly)
        if !set.isFrameOnly { self.put("mb_adaptive_frame_field_flag", set.isAdaptive) }
        self.put("direct_8x8_inference_flag", set.infersDirect8x8)
        self.put("frame_cropping_flag", set.cropping != nil)
        if let cropping = set.cropping {
            self.put("frame_crop_left_offset", cropping.left)
            self.put("frame_crop_right_offset", cropping.right)
            self.put("frame_crop_top_offset", cropping.top)
            self.put("frame_crop_bottom_offset", cropping.bottom)
        }
        self.put("vui_parameters_present_flag", set.usability != nil)
        if let usability = set.usability { self.list(usability) }
    }

    private mutating func list(_ order: SequenceParameterSet.PictureOrder) {
        switch order {
        case .sent(let bits):
            self.put("pic_order_cnt_type", 0)
            self.put("log2_max_pic_order_cnt_lsb_minus4", bits - 4)
        case .cycle(let cycle):
            self.put("pic_order_cnt_type", 1)
            self.put("delta_pic_order_always_zero_flag", cycle.isExact)
            self.put("offset_for_non_ref_pic", cycle.offsetOfUnreferenced)
            self.put("offset_for_top_to_bottom_field", cycle.offsetOfBottom)
            self.put("num_ref_frames_in_pic_order_cnt_cycle", cycle.offsets.count)
            for (index, offset) in cycle.offsets.enumerated() { self.put("offset_for_ref_frame[\(index)]", offset) }
        case .decoding: self.put("pic_order_cnt_type", 2)
        }
    }

    private mutating func list(_ set: PictureParameterSet, _ sequence: SequenceParameterSet) {
        self.put("pic_parameter_set_id", set.id)
        self.put("seq_parameter_set_id", set.sequenceID)
        self.put("entropy_coding_mode_flag", set.isArithmetic)
        self.put("bottom_field_pic_order_in_frame_present_flag", set.hasBottomOrder)
        self.put("num_slice_groups_minus1", set.sliceGroupCount - 1)
        self.put("num_ref_idx_l0_default_active_minus1", set.activeReferences[0] - 1)
        self.put("num_ref_idx_l1_default_active_minus1", set.activeReferences[1] - 1)
        self.put("weighted_pred_flag", set.isWeighted)
        self.put("weighted_bipred_idc", set.biprediction)
        self.put("pic_init_qp_minus26", set.qualityOffset)
        self.put("pic_init_qs_minus26", set.switchingQualityOffset)
        self.put("chroma_qp_index_offset", set.chromaOffset)
        self.put("deblocking_filter_control_present_flag", set.controlsDeblocking)
        self.put("constrained_intra_pred_flag", set.isIntraConstrained)
        self.put("redundant_pic_cnt_present_flag", set.hasRedundancy)
        guard let more = set.more else { return }
        self.put("transform_8x8_mode_flag", more.transforms8x8)
        self.list(more.scaling, "pic")
        self.put("second_chroma_qp_index_offset", more.secondChromaOffset)
    }
}
