// SPDX-License-Identifier: Apache-2.0

import H264

extension Listing {
    mutating func list(_ usability: VideoUsability) {
        self.put("aspect_ratio_info_present_flag", usability.aspect != nil)
        if let aspect = usability.aspect { self.put("aspect_ratio_idc", aspect) }
        if let sides = usability.sampleAspect {
            self.put("sar_width", sides.width)
            self.put("sar_height", sides.height)
        }
        self.put("overscan_info_present_flag", usability.overscan != nil)
        if let overscan = usability.overscan { self.put("overscan_appropriate_flag", overscan) }
        self.put("video_signal_type_present_flag", usability.signal != nil)
        if let signal = usability.signal { self.list(signal) }
        self.put("chroma_loc_info_present_flag", usability.chromaLocation != nil)
        if let location = usability.chromaLocation {
            self.put("chroma_sample_loc_type_top_field", location.top)
            self.put("chroma_sample_loc_type_bottom_field", location.bottom)
        }
        self.put("timing_info_present_flag", usability.timing != nil)
        if let timing = usability.timing {
            self.put("num_units_in_tick", timing.unitsInTick)
            self.put("time_scale", timing.timeScale)
            self.put("fixed_frame_rate_flag", timing.isFixed)
        }
        self.put("nal_hrd_parameters_present_flag", usability.nalReference != nil)
        if let reference = usability.nalReference { self.list(reference) }
        self.put("vcl_hrd_parameters_present_flag", usability.vclReference != nil)
        if let reference = usability.vclReference { self.list(reference) }
        if let isLowDelay = usability.isLowDelay { self.put("low_delay_hrd_flag", isLowDelay) }
        self.put("pic_struct_present_flag", usability.hasPictureStructure)
        self.put("bitstream_restriction_flag", usability.restriction != nil)
        if let restriction = usability.restriction { self.list(restriction) }
    }

    private mutating func list(_ signal: VideoUsability.Signal) {
        self.put("video_format", signal.format)
        self.put("video_full_range_flag", signal.isFullRange)
        self.put("colour_description_present_flag", signal.colours != nil)
        guard let colours = signal.colours else { return }
        self.put("colour_primaries", colours.primaries)
        self.put("transfer_characteristics", colours.transfer)
        self.put("matrix_coefficients", colours.matrix)
    }

    private mutating func list(_ restriction: VideoUsability.Restriction) {
        self.put("motion_vectors_over_pic_boundaries_flag", restriction.vectorsOverBoundaries)
        self.put("max_bytes_per_pic_denom", restriction.bytesDenominator)
        self.put("max_bits_per_mb_denom", restriction.bitsDenominator)
        self.put("log2_max_mv_length_horizontal", restriction.vectorBitsHorizontal)
        self.put("log2_max_mv_length_vertical", restriction.vectorBitsVertical)
        self.put("max_num_reorder_frames", restriction.reorderedFrames)
        self.put("max_dec_frame_buffering", restriction.bufferedFrames)
    }

    private mutating func list(_ reference: ReferenceDecoder) {
        self.put("cpb_cnt_minus1", reference.schedules.count - 1)
        self.put("bit_rate_scale", reference.bitRateScale)
        self.put("cpb_size_scale", reference.bufferSizeScale)
        for (index, schedule) in reference.schedules.enumerated() {
            self.put("bit_rate_value_minus1[\(index)]", schedule.bitRate)
            self.put("cpb_size_value_minus1[\(index)]", schedule.bufferSize)
            self.put("cbr_flag[\(index)]", schedule.isConstantRate)
        }
        self.put("initial_cpb_removal_delay_length_minus1", reference.initialDelayBits - 1)
        self.put("cpb_removal_delay_length_minus1", reference.removalDelayBits - 1)
        self.put("dpb_output_delay_length_minus1", reference.outputDelayBits - 1)
        self.put("time_offset_length", reference.timeOffsetBits)
    }
}
