// SPDX-License-Identifier: Apache-2.0

import H264

extension Listing {
    mutating func list(_ header: SliceHeader, _ picture: PictureParameterSet, _ sequence: SequenceParameterSet) {
        self.put("first_mb_in_slice", header.prefix.firstMacroblock)
        self.put("slice_type", header.prefix.type)
        self.put("pic_parameter_set_id", header.prefix.pictureParameterSetID)
        if sequence.hasSeparatePlanes { self.put("colour_plane_id", header.plane) }
        self.put("frame_num", header.frameNumber)
        if !sequence.isFrameOnly {
            self.put("field_pic_flag", header.isField)
            if header.isField { self.put("bottom_field_flag", header.isBottomField) }
        }
        if header.isIDR { self.put("idr_pic_id", header.idrPictureID) }
        self.listOrder(header, sequence, hasBottom: picture.hasBottomOrder && !header.isField)
        if picture.hasRedundancy { self.put("redundant_pic_cnt", header.redundantCount) }
        if header.kind == .b { self.put("direct_spatial_mv_pred_flag", header.isDirectSpatial) }
        if !header.kind.isIntra { self.listReferences(header) }
        if let weights = header.weights { self.list(weights, hasChroma: sequence.chromaArray != 0) }
        self.list(header.marking)
        if picture.isArithmetic, !header.kind.isIntra { self.put("cabac_init_idc", header.cabacInit) }
        self.put("slice_qp_delta", header.qualityOff)
        if header.kind == .sp { self.put("sp_for_switch_flag", header.switches) }
        if header.kind == .sp || header.kind == .si { self.put("slice_qs_delta", header.switchingQualityOff) }
        if picture.controlsDeblocking {
            self.put("disable_deblocking_filter_idc", header.deblocking)
            if header.deblocking != 1 {
                self.put("slice_alpha_c0_offset_div2", header.deblockingAlpha)
                self.put("slice_beta_offset_div2", header.deblockingBeta)
            }
        }
        self.put("header bits", header.headerBits)
    }

    private mutating func listOrder(_ header: SliceHeader, _ sequence: SequenceParameterSet, hasBottom: Bool) {
        switch sequence.order {
        case .sent:
            self.put("pic_order_cnt_lsb", header.orderLow)
            if hasBottom { self.put("delta_pic_order_cnt_bottom", header.orderBottom) }
        case .cycle(let cycle) where !cycle.isExact:
            self.put("delta_pic_order_cnt[0]", header.orderOff[0])
            if hasBottom { self.put("delta_pic_order_cnt[1]", header.orderOff[1]) }
        case .cycle, .decoding: break
        }
    }

    private mutating func listReferences(_ header: SliceHeader) {
        self.put("num_ref_idx_active_override_flag", header.overridesActive)
        if header.overridesActive {
            for list in 0..<header.kind.lists {
                self.put("num_ref_idx_l\(list)_active_minus1", header.activeReferences[list] - 1)
            }
        }
        for list in 0..<header.kind.lists {
            self.put("ref_pic_list_modification_flag_l\(list)", header.modifications[list] != nil)
            guard let commands = header.modifications[list] else { continue }
            for command in commands {
                switch command {
                case .backward(let off): self.put(0, "abs_diff_pic_num_minus1", off - 1)
                case .forward(let off): self.put(1, "abs_diff_pic_num_minus1", off - 1)
                case .longTerm(let number): self.put(2, "long_term_pic_num", number)
                }
            }
            self.put("modification_of_pic_nums_idc", 3)
        }
    }

    private mutating func put(_ code: Int, _ operand: String, _ value: UInt32) {
        self.put("modification_of_pic_nums_idc", code)
        self.put(operand, value)
    }

    private mutating func list(_ weights: PredictionWeights, hasChroma: Bool) {
        self.put("luma_log2_weight_denom", weights.lumaDenominator)
        if hasChroma { self.put("chroma_log2_weight_denom", weights.chromaDenominator) }
        for (list, entries) in weights.lists.enumerated() {
            for (index, entry) in entries.enumerated() {
                self.put("luma_weight_l\(list)_flag[\(index)]", entry.isLumaSent)
                if entry.isLumaSent {
                    self.put("luma_weight_l\(list)[\(index)]", entry.luma.weight)
                    self.put("luma_offset_l\(list)[\(index)]", entry.luma.offset)
                }
                if hasChroma { self.put("chroma_weight_l\(list)_flag[\(index)]", entry.isChromaSent) }
                guard entry.isChromaSent else { continue }
                for (plane, factor) in entry.chroma.enumerated() {
                    self.put("chroma_weight_l\(list)[\(index)][\(plane)]", factor.weight)
                    self.put("chroma_offset_l\(list)[\(index)][\(plane)]", factor.offset)
                }
            }
        }
    }

    private mutating func list(_ marking: ReferenceMarking) {
        switch marking {
        case .none: break
        case .idr(let dropsOutput, let isLongTerm):
            self.put("no_output_of_prior_pics_flag", dropsOutput)
            self.put("long_term_reference_flag", isLongTerm)
        case .slidingWindow: self.put("adaptive_ref_pic_marking_mode_flag", 0)
        case .adaptive(let commands):
            self.put("adaptive_ref_pic_marking_mode_flag", 1)
            for command in commands { self.list(command) }
            self.put("memory_management_control_operation", 0)
        }
    }

    private mutating func list(_ command: ReferenceMarking.Command) {
        let name = "memory_management_control_operation"
        switch command {
        case .dropShort(let off):
            self.put(name, 1)
            self.put("difference_of_pic_nums_minus1", off - 1)
        case .dropLong(let number):
            self.put(name, 2)
            self.put("long_term_pic_num", number)
        case .keepLong(let off, let index):
            self.put(name, 3)
            self.put("difference_of_pic_nums_minus1", off - 1)
            self.put("long_term_frame_idx", index)
        case .boundLong(let end):
            self.put(name, 4)
            self.put("max_long_term_frame_idx_plus1", end)
        case .dropAll: self.put(name, 5)
        case .keepThisLong(let index):
            self.put(name, 6)
            self.put("long_term_frame_idx", index)
        }
    }
}
