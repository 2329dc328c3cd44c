// SPDX-License-Identifier: Apache-2.0

import CStateless
import H264

/// A picture in the words of the kernel (V4L2_CID_STATELESS_H264_*). Fields are not known here: all is frames.
extension callbox_h264_controls {
    /// What is of all slices. Frames are named by their stamps, which are their ids.
    init(_ picture: CodedPicture) {
        self.init()
        self.sps = v4l2_ctrl_h264_sps(picture.sequence)
        self.pps = v4l2_ctrl_h264_pps(picture)
        for (list, weights) in picture.scaling.lists.enumerated() {
            callbox_h264_set_scaling(&self.matrix, UInt32(list), weights, UInt32(weights.count))
        }
        self.picture = v4l2_ctrl_h264_decode_params(picture)
    }

    /// Takes over what is of one slice only.
    mutating func take(_ slice: CodedPicture.Slice) {
        self.slice = v4l2_ctrl_h264_slice_params(slice)
        self.weights = v4l2_ctrl_h264_pred_weights()
        guard let weights = slice.header.weights else { return }
        self.weights.luma_log2_weight_denom = UInt16(weights.lumaDenominator)
        self.weights.chroma_log2_weight_denom = UInt16(weights.chromaDenominator)
        for (list, entries) in weights.lists.enumerated() {
            for (index, entry) in entries.enumerated() {
                let place = (UInt32(list), UInt32(index))
                callbox_h264_set_weight(&self.weights, place.0, place.1, entry.luma.weight, entry.luma.offset)
                for (plane, factor) in entry.chroma.enumerated() {
                    callbox_h264_set_chroma_weight(
                        &self.weights, place.0, place.1, UInt32(plane), factor.weight, factor.offset)
                }
            }
        }
    }
}

extension v4l2_ctrl_h264_sps {
    init(_ set: SequenceParameterSet) {
        self.init()
        self.profile_idc = set.profile
        // Set 0 is the lowest bit there.
        for flag in 0..<6 as Range<UInt8> where set.constraints & 0x80 >> flag != 0 {
            self.constraint_set_flags |= 1 << flag
        }
        self.level_idc = set.level
        self.seq_parameter_set_id = UInt8(truncatingIfNeeded: set.id)
        self.chroma_format_idc = set.chromaFormat
        self.bit_depth_luma_minus8 = set.bitDepthLuma &- 8
        self.bit_depth_chroma_minus8 = set.bitDepthChroma &- 8
        self.log2_max_frame_num_minus4 = set.frameNumberBits &- 4
        self.max_num_ref_frames = set.referenceFrames
        self.pic_width_in_mbs_minus1 = set.columns &- 1
        self.pic_height_in_map_units_minus1 = set.rows &- 1
        var isExact = false
        switch set.order {
        case .sent(let bits): self.log2_max_pic_order_cnt_lsb_minus4 = bits &- 4
        case .cycle(let cycle):
            self.pic_order_cnt_type = 1
            isExact = cycle.isExact
            self.offset_for_non_ref_pic = cycle.offsetOfUnreferenced
            self.offset_for_top_to_bottom_field = cycle.offsetOfBottom
            self.num_ref_frames_in_pic_order_cnt_cycle = UInt8(truncatingIfNeeded: cycle.offsets.count)
            for (index, offset) in cycle.offsets.enumerated() {
                callbox_h264_set_cycle(&self, UInt32(index), offset)
            }
        case .decoding: self.pic_order_cnt_type = 2
        }
        let flags: [(Bool, Int32)] = [
            (set.hasSeparatePlanes, V4L2_H264_SPS_FLAG_SEPARATE_COLOUR_PLANE),
            (set.isLosslessAtZero, V4L2_H264_SPS_FLAG_QPPRIME_Y_ZERO_TRANSFORM_BYPASS),
            (isExact, V4L2_H264_SPS_FLAG_DELTA_PIC_ORDER_ALWAYS_ZERO),
            (set.hasGaps, V4L2_H264_SPS_FLAG_GAPS_IN_FRAME_NUM_VALUE_ALLOWED),
            (set.isFrameOnly, V4L2_H264_SPS_FLAG_FRAME_MBS_ONLY),
            (set.isAdaptive, V4L2_H264_SPS_FLAG_MB_ADAPTIVE_FRAME_FIELD),
            (set.infersDirect8x8, V4L2_H264_SPS_FLAG_DIRECT_8X8_INFERENCE),
        ]
        for (isSet, flag) in flags where isSet { self.flags |= UInt32(flag) }
    }
}

extension v4l2_ctrl_h264_pps {
    init(_ picture: CodedPicture) {
        self.init()
        let set = picture.parameters
        self.pic_parameter_set_id = UInt8(truncatingIfNeeded: set.id)
        self.seq_parameter_set_id = UInt8(truncatingIfNeeded: set.sequenceID)
        self.num_slice_groups_minus1 = set.sliceGroupCount &- 1
        self.num_ref_idx_l0_default_active_minus1 = set.activeReferences[0] &- 1
        self.num_ref_idx_l1_default_active_minus1 = set.activeReferences[1] &- 1
        self.weighted_bipred_idc = set.biprediction
        self.pic_init_qp_minus26 = set.qualityOffset
        self.pic_init_qs_minus26 = set.switchingQualityOffset
        self.chroma_qp_index_offset = set.chromaOffset
        self.second_chroma_qp_index_offset = set.secondChromaOffset
        let flags: [(Bool, Int32)] = [
            (set.isArithmetic, V4L2_H264_PPS_FLAG_ENTROPY_CODING_MODE),
            (set.hasBottomOrder, V4L2_H264_PPS_FLAG_BOTTOM_FIELD_PIC_ORDER_IN_FRAME_PRESENT),
            (set.isWeighted, V4L2_H264_PPS_FLAG_WEIGHTED_PRED),
            (set.controlsDeblocking, V4L2_H264_PPS_FLAG_DEBLOCKING_FILTER_CONTROL_PRESENT),
            (set.isIntraConstrained, V4L2_H264_PPS_FLAG_CONSTRAINED_INTRA_PRED),
            (set.hasRedundancy, V4L2_H264_PPS_FLAG_REDUNDANT_PIC_CNT_PRESENT),
            (set.more?.transforms8x8 == true, V4L2_H264_PPS_FLAG_TRANSFORM_8X8_MODE),
            (!picture.scaling.isFlat, V4L2_H264_PPS_FLAG_SCALING_MATRIX_PRESENT),
        ]
        for (isSet, flag) in flags where isSet { self.flags |= UInt16(flag) }
    }
}

extension v4l2_ctrl_h264_decode_params {
    init(_ picture: CodedPicture) {
        self.init()
        let header = picture.header
        self.nal_ref_idc = UInt16(header.referenceIDC)
        self.frame_num = UInt16(truncatingIfNeeded: header.frameNumber)
        self.top_field_order_cnt = picture.order.top
        self.bottom_field_order_cnt = picture.order.bottom
        self.idr_pic_id = UInt16(truncatingIfNeeded: header.idrPictureID)
        self.pic_order_cnt_lsb = UInt16(truncatingIfNeeded: header.orderLow)
        self.delta_pic_order_cnt_bottom = header.orderBottom
        self.delta_pic_order_cnt0 = header.orderOff[0]
        self.delta_pic_order_cnt1 = header.orderOff[1]
        self.dec_ref_pic_marking_bit_size = UInt32(truncatingIfNeeded: header.markingBits)
        self.pic_order_cnt_bit_size = UInt32(truncatingIfNeeded: header.orderBits)
        self.slice_group_change_cycle = header.sliceGroupChange
        let kinds = picture.slices.map { $0.header.kind }
        if header.isIDR { self.flags |= UInt32(V4L2_H264_DECODE_PARAM_FLAG_IDR_PIC) }
        if kinds.contains(.b) {
            self.flags |= UInt32(V4L2_H264_DECODE_PARAM_FLAG_BFRAME)
        } else if kinds.contains(.p) {
            self.flags |= UInt32(V4L2_H264_DECODE_PARAM_FLAG_PFRAME)
        }
        for (index, frame) in picture.references.enumerated() {
            var entry = v4l2_h264_dpb_entry(frame)
            if frame.longTerm == nil {
                let number = frame.number(for: header.frameNumber, end: picture.sequence.frameNumberEnd)
                entry.pic_num = UInt32(bitPattern: number)
            }
            callbox_h264_set_frame(&self, UInt32(index), &entry)
        }
    }
}

extension v4l2_h264_dpb_entry {
    /// For a long-term frame its index stands in the place of both numbers, as the kernel wants it.
    init(_ frame: ReferenceFrame) {
        self.init()
        // Of the stamp in microseconds.
        self.reference_ts = frame.id &* 1000
        self.pic_num = frame.longTerm ?? 0
        self.frame_num = UInt16(truncatingIfNeeded: frame.longTerm ?? frame.frameNumber)
        self.fields = UInt8(V4L2_H264_FRAME_REF)
        self.top_field_order_cnt = frame.order.top
        self.bottom_field_order_cnt = frame.order.bottom
        self.flags = UInt32(V4L2_H264_DPB_ENTRY_FLAG_VALID | V4L2_H264_DPB_ENTRY_FLAG_ACTIVE)
        if frame.longTerm != nil { self.flags |= UInt32(V4L2_H264_DPB_ENTRY_FLAG_LONG_TERM) }
    }
}

extension v4l2_ctrl_h264_slice_params {
    init(_ slice: CodedPicture.Slice) {
        self.init()
        let header = slice.header
        self.header_bit_size = UInt32(truncatingIfNeeded: header.headerBits)
        self.first_mb_in_slice = header.prefix.firstMacroblock
        self.slice_type = header.kind.rawValue
        self.colour_plane_id = header.plane
        self.redundant_pic_cnt = header.redundantCount
        self.cabac_init_idc = header.cabacInit
        self.slice_qp_delta = Int8(truncatingIfNeeded: header.qualityOff)
        self.slice_qs_delta = Int8(truncatingIfNeeded: header.switchingQualityOff)
        self.disable_deblocking_filter_idc = header.deblocking
        self.slice_alpha_c0_offset_div2 = header.deblockingAlpha
        self.slice_beta_offset_div2 = header.deblockingBeta
        if header.activeReferences[0] > 0 { self.num_ref_idx_l0_active_minus1 = header.activeReferences[0] &- 1 }
        if header.activeReferences[1] > 0 { self.num_ref_idx_l1_active_minus1 = header.activeReferences[1] &- 1 }
        if header.isDirectSpatial { self.flags |= UInt32(V4L2_H264_SLICE_FLAG_DIRECT_SPATIAL_MV_PRED) }
        for (list, entries) in slice.lists.enumerated() {
            for (index, frame) in entries.enumerated() {
                callbox_h264_set_reference(&self, UInt32(list), UInt32(index), frame)
            }
        }
    }
}
