// SPDX-License-Identifier: Apache-2.0
// Parameter sets of H.264 out of the kernel's words for them (sections 7.3.2.1.1, 7.3.2.2 and E.1.1): what was not told
// is not in them.
#include "codec.h"

#include <string.h>

struct bits {
    uint8_t bytes[1024];
    size_t used;
    bool is_full;
};

static void put(struct bits *bits, uint32_t value, unsigned count) {
    while (count--) {
        if (bits->used == sizeof bits->bytes * 8) {
            bits->is_full = true;
            return;
        }
        if (value >> count & 1) bits->bytes[bits->used / 8] |= (uint8_t)(0x80 >> bits->used % 8);
        bits->used++;
    }
}

/// Exp-Golomb codes (section 9.1).
static void put_unsigned(struct bits *bits, uint32_t value) {
    unsigned length = 32 - (unsigned)__builtin_clz(value + 1);
    put(bits, 0, length - 1);
    put(bits, value + 1, length);
}

static void put_signed(struct bits *bits, int32_t value) {
    put_unsigned(bits, value > 0 ? 2 * (uint32_t)value - 1 : 2 * (uint32_t)-value);
}

static bool has_chroma_format(uint8_t profile) {
    static const uint8_t profiles[] = {100, 110, 122, 244, 44, 83, 86, 118, 128};
    return memchr(profiles, profile, sizeof profiles) != NULL;
}

static void put_order(struct bits *bits, const struct v4l2_ctrl_h264_sps *set) {
    put_unsigned(bits, set->pic_order_cnt_type);
    if (set->pic_order_cnt_type == 0) put_unsigned(bits, set->log2_max_pic_order_cnt_lsb_minus4);
    if (set->pic_order_cnt_type != 1) return;
    put(bits, !!(set->flags & V4L2_H264_SPS_FLAG_DELTA_PIC_ORDER_ALWAYS_ZERO), 1);
    put_signed(bits, set->offset_for_non_ref_pic);
    put_signed(bits, set->offset_for_top_to_bottom_field);
    put_unsigned(bits, set->num_ref_frames_in_pic_order_cnt_cycle);
    for (int at = 0; at < set->num_ref_frames_in_pic_order_cnt_cycle; at++)
        put_signed(bits, set->offset_for_ref_frame[at]);
}

/// Nothing but that no picture is held back.
static void put_usability(struct bits *bits, const struct v4l2_ctrl_h264_sps *set) {
    put(bits, 0, 8);
    put(bits, 3, 2);
    put_unsigned(bits, 0);
    put_unsigned(bits, 0);
    put_unsigned(bits, 16);
    put_unsigned(bits, 16);
    put_unsigned(bits, 0);
    put_unsigned(bits, set->max_num_ref_frames);
}

static void put_sequence(struct bits *bits, const struct v4l2_ctrl_h264_sps *set) {
    put(bits, 0x67, 8);
    put(bits, set->profile_idc, 8);
    for (int at = 0; at < 6; at++) put(bits, set->constraint_set_flags >> at & 1, 1);
    put(bits, 0, 2);
    put(bits, set->level_idc, 8);
    put_unsigned(bits, set->seq_parameter_set_id);
    if (has_chroma_format(set->profile_idc)) {
        put_unsigned(bits, set->chroma_format_idc);
        put_unsigned(bits, set->bit_depth_luma_minus8);
        put_unsigned(bits, set->bit_depth_chroma_minus8);
        put(bits, !!(set->flags & V4L2_H264_SPS_FLAG_QPPRIME_Y_ZERO_TRANSFORM_BYPASS), 1);
        put(bits, 0, 1);
    }
    put_unsigned(bits, set->log2_max_frame_num_minus4);
    put_order(bits, set);
    put_unsigned(bits, set->max_num_ref_frames);
    put(bits, !!(set->flags & V4L2_H264_SPS_FLAG_GAPS_IN_FRAME_NUM_VALUE_ALLOWED), 1);
    put_unsigned(bits, set->pic_width_in_mbs_minus1);
    put_unsigned(bits, set->pic_height_in_map_units_minus1);
    bool is_frames = set->flags & V4L2_H264_SPS_FLAG_FRAME_MBS_ONLY;
    put(bits, is_frames, 1);
    if (!is_frames) put(bits, !!(set->flags & V4L2_H264_SPS_FLAG_MB_ADAPTIVE_FRAME_FIELD), 1);
    put(bits, !!(set->flags & V4L2_H264_SPS_FLAG_DIRECT_8X8_INFERENCE), 1);
    // What is cut off the kernel is not told.
    put(bits, 0, 1);
    put(bits, 1, 1);
    put_usability(bits, set);
    put(bits, 1, 1);
}

static void put_picture_set(struct bits *bits, const struct v4l2_ctrl_h264_pps *set) {
    put(bits, 0x68, 8);
    put_unsigned(bits, set->pic_parameter_set_id);
    put_unsigned(bits, set->seq_parameter_set_id);
    put(bits, !!(set->flags & V4L2_H264_PPS_FLAG_ENTROPY_CODING_MODE), 1);
    put(bits, !!(set->flags & V4L2_H264_PPS_FLAG_BOTTOM_FIELD_PIC_ORDER_IN_FRAME_PRESENT), 1);
    put_unsigned(bits, set->num_slice_groups_minus1);
    put_unsigned(bits, set->num_ref_idx_l0_default_active_minus1);
    put_unsigned(bits, set->num_ref_idx_l1_default_active_minus1);
    put(bits, !!(set->flags & V4L2_H264_PPS_FLAG_WEIGHTED_PRED), 1);
    put(bits, set->weighted_bipred_idc, 2);
    put_signed(bits, set->pic_init_qp_minus26);
    put_signed(bits, set->pic_init_qs_minus26);
    put_signed(bits, set->chroma_qp_index_offset);
    put(bits, !!(set->flags & V4L2_H264_PPS_FLAG_DEBLOCKING_FILTER_CONTROL_PRESENT), 1);
    put(bits, !!(set->flags & V4L2_H264_PPS_FLAG_CONSTRAINED_INTRA_PRED), 1);
    put(bits, !!(set->flags & V4L2_H264_PPS_FLAG_REDUNDANT_PIC_CNT_PRESENT), 1);
    bool transforms_8x8 = set->flags & V4L2_H264_PPS_FLAG_TRANSFORM_8X8_MODE;
    if (transforms_8x8 || set->second_chroma_qp_index_offset != set->chroma_qp_index_offset) {
        put(bits, transforms_8x8, 1);
        put(bits, 0, 1);
        put_signed(bits, set->second_chroma_qp_index_offset);
    }
    put(bits, 1, 1);
}

/// With its start code and emulation prevention (section 7.3.1); where it ends, or 0.
static size_t write_unit(const struct bits *bits, uint8_t *to, size_t at, size_t room) {
    size_t count = (bits->used + 7) / 8, zeros = 0;
    if (bits->is_full || room - at < 4 + count * 3 / 2 + 1) return 0;
    memcpy(to + at, "\0\0\0\1", 4);
    at += 4;
    for (size_t index = 0; index < count; index++) {
        if (zeros == 2 && bits->bytes[index] <= 3) to[at++] = 3, zeros = 0;
        zeros = bits->bytes[index] ? 0 : zeros + 1;
        to[at++] = bits->bytes[index];
    }
    return at;
}

size_t sets_write(const struct told *told, uint8_t *to, size_t room) {
    struct bits sequence = {0}, picture = {0};
    // Neither is in the streams of calls.
    if (told->picture_set.num_slice_groups_minus1) return 0;
    if (told->picture_set.flags & V4L2_H264_PPS_FLAG_SCALING_MATRIX_PRESENT) return 0;
    put_sequence(&sequence, &told->sequence);
    put_picture_set(&picture, &told->picture_set);
    size_t at = write_unit(&sequence, to, 0, room);
    return at ? write_unit(&picture, to, at, room) : 0;
}
