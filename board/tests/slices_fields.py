# SPDX-License-Identifier: Apache-2.0
"""What a decoder is to be told of each picture of a stream, from libavcodec's own parse of it, under the names of the
kernel's trace events (drivers/media/test-drivers/visl)."""

from measure import h264_model
from measure.h264_model import B, I, P

HIGH = {100, 110, 122, 244, 44, 83, 86, 118, 128}
FLAT4, FLAT8 = [16] * 16, [16] * 64
# Tables 7-3 and 7-4, in zig-zag order.
PRESET4 = ([6, 13, 13, 20, 20, 20, 28, 28, 28, 28, 32, 32, 32, 37, 37, 42],
           [10, 14, 14, 20, 20, 20, 24, 24, 24, 24, 27, 27, 27, 30, 30, 34])
PRESET8 = ([6, 10, 10, 13, 11, 13, 16, 16, 16, 16, 18, 18, 18, 18, 18, 23, 23, 23, 23, 23, 23, 25, 25, 25, 25, 25, 25,
            25, 27, 27, 27, 27, 27, 27, 27, 27, 29, 29, 29, 29, 29, 29, 29, 31, 31, 31, 31, 31, 31, 33, 33, 33, 33, 33,
            36, 36, 36, 36, 38, 38, 38, 40, 40, 42],
           [9, 13, 13, 15, 13, 15, 17, 17, 17, 17, 19, 19, 19, 19, 19, 21, 21, 21, 21, 21, 21, 22, 22, 22, 22, 22, 22,
            22, 24, 24, 24, 24, 24, 24, 24, 24, 25, 25, 25, 25, 25, 25, 25, 27, 27, 27, 27, 27, 27, 28, 28, 28, 28, 28,
            30, 30, 30, 30, 32, 32, 32, 33, 33, 35])
SPS_FLAGS = {"separate_colour_plane_flag": "SEPARATE_COLOUR_PLANE",
             "qpprime_y_zero_transform_bypass_flag": "QPPRIME_Y_ZERO_TRANSFORM_BYPASS",
             "delta_pic_order_always_zero_flag": "DELTA_PIC_ORDER_ALWAYS_ZERO",
             "gaps_in_frame_num_allowed_flag": "GAPS_IN_FRAME_NUM_VALUE_ALLOWED",
             "frame_mbs_only_flag": "FRAME_MBS_ONLY", "mb_adaptive_frame_field_flag": "MB_ADAPTIVE_FRAME_FIELD",
             "direct_8x8_inference_flag": "DIRECT_8X8_INFERENCE"}
PPS_FLAGS = {"entropy_coding_mode_flag": "ENTROPY_CODING_MODE",
             "bottom_field_pic_order_in_frame_present_flag": "BOTTOM_FIELD_PIC_ORDER_IN_FRAME_PRESENT",
             "weighted_pred_flag": "WEIGHTED_PRED",
             "deblocking_filter_control_present_flag": "DEBLOCKING_FILTER_CONTROL_PRESENT",
             "constrained_intra_pred_flag": "CONSTRAINED_INTRA_PRED",
             "redundant_pic_cnt_present_flag": "REDUNDANT_PIC_CNT_PRESENT",
             "transform_8x8_mode_flag": "TRANSFORM_8X8_MODE"}


def pictures(events):
    """The pictures of a stream, by what `bitstream.traced` says of it."""
    decoder, sets, found, unit = h264_model.Decoder(), {}, [], None
    for said in [*events, ""]:
        if not isinstance(said, str):
            if unit is not None:
                unit.append(said)
            continue
        if unit:
            names = {name: value for name, value, _, _ in unit}
            if "profile_idc" in names:
                sets["sps", names["seq_parameter_set_id"]] = {**names, "lists": scaling(unit)}
            elif "first_mb_in_slice" in names:
                pps = sets["pps", names["pic_parameter_set_id"]]
                sps = sets["sps", pps["seq_parameter_set_id"]]
                elements = [(name, value, bits) for name, value, _, bits in unit if name not in TAIL]
                end = max(ends for name, _, ends, _ in unit if name not in TAIL)
                if decoder.take(h264_model.Slice(elements, end, sps, pps)):
                    found.append(decoder.picture)
            else:
                sets["pps", names["pic_parameter_set_id"]] = {**names, "lists": scaling(unit)}
        unit = [] if said else None
    return found


TAIL = {"cabac_alignment_one_bit", "rbsp_stop_one_bit", "rbsp_alignment_zero_bit", "cabac_zero_word"}


def scaling(unit):
    """{list: its weights in zig-zag order, or None for the preset} of what a set sends; None where it has no lists."""
    sent, index, deltas = None, None, []

    def close():
        if index is not None:
            weights, last = [], 8
            for delta in deltas:
                last = (last + delta) % 256
                if last == 0:
                    break
                weights.append(last)
            size = 16 if index < 6 else 64
            sent[index] = weights + [weights[-1]] * (size - len(weights)) if weights else None

    for name, value, _, _ in unit:
        if name in ("seq_scaling_matrix_present_flag", "pic_scaling_matrix_present_flag") and value:
            sent = {}
        elif "scaling_list_present_flag" in name:
            close()
            index, deltas = (int(name[name.index("[") + 1:-1]), []) if value else (None, [])
        elif name.startswith("delta_scale"):
            deltas.append(value)
        elif index is not None:
            close()
            index = None
    close()
    return sent


def matrix(sps, pps):
    """Twelve lists in raster order, by the rules of table 7-2."""
    lists = [FLAT4] * 6 + [FLAT8] * 6
    for number, sent in enumerate((sps["lists"], pps["lists"])):
        if sent is None:
            continue
        before = lists if number and sps["lists"] is not None else None
        made = []
        for index in range(12):
            preset = (PRESET4[index // 3] if index < 6 else PRESET8[index % 2])
            first = index in (0, 3, 6, 7)
            if index in sent:
                made.append(sent[index] or preset)
            elif first:
                made.append(before[index] if before else preset)
            else:
                made.append(made[index - (1 if index < 6 else 2)])
        lists = made
    return [raster(one) for one in lists]


def raster(weights):
    """Figure 8-8: diagonals, up and down by turns."""
    side = 4 if len(weights) == 16 else 8
    places = sorted(((row, column) for row in range(side) for column in range(side)),
                    key=lambda at: (sum(at), at[0] if sum(at) % 2 else at[1]))
    made = [0] * len(weights)
    for weight, (row, column) in zip(weights, places):
        made[row * side + column] = weight
    return made


def flags(names, elements):
    return {word for name, word in names.items() if elements.get(name)}


def of_sequence(sps):
    high = sps["profile_idc"] in HIGH
    return {"profile_idc": sps["profile_idc"],
            "constraint_set_flags": {f"CONSTRAINT_SET{index}_FLAG" for index in range(6)
                                     if sps[f"constraint_set{index}_flag"]},
            "level_idc": sps["level_idc"], "seq_parameter_set_id": sps["seq_parameter_set_id"],
            "chroma_format_idc": sps["chroma_format_idc"] if high else 1,
            "pic_order_cnt_type": sps["pic_order_cnt_type"], "offset_for_ref_frame": [0] * 255, "flags":
            flags(SPS_FLAGS, sps),
            **{name: sps.get(name, 0) for name in (
                "bit_depth_luma_minus8", "bit_depth_chroma_minus8", "log2_max_frame_num_minus4",
                "log2_max_pic_order_cnt_lsb_minus4", "max_num_ref_frames", "num_ref_frames_in_pic_order_cnt_cycle",
                "offset_for_non_ref_pic", "offset_for_top_to_bottom_field", "pic_width_in_mbs_minus1",
                "pic_height_in_map_units_minus1")}}


def of_parameters(sps, pps):
    lists = matrix(sps, pps)
    flat = all(weight == 16 for one in lists for weight in one)
    return {**{name: pps[name] for name in (
                "pic_parameter_set_id", "seq_parameter_set_id", "num_slice_groups_minus1",
                "num_ref_idx_l0_default_active_minus1", "num_ref_idx_l1_default_active_minus1", "weighted_bipred_idc",
                "pic_init_qp_minus26", "pic_init_qs_minus26", "chroma_qp_index_offset")},
            "second_chroma_qp_index_offset": pps.get("second_chroma_qp_index_offset", pps["chroma_qp_index_offset"]),
            "flags": flags(PPS_FLAGS, pps) | (set() if flat else {"SCALING_MATRIX_PRESENT"})}


def of_picture(picture):
    first, kinds = picture.slices[0], {one.kind for one in picture.slices}
    frames = {"IDR_PIC"} if first.get("nal_unit_type") == 5 else set()
    return {"nal_ref_idc": first.get("nal_ref_idc"), "frame_num": first.get("frame_num"),
            "top_field_order_cnt": picture.top, "bottom_field_order_cnt": picture.bottom,
            "idr_pic_id": first.get("idr_pic_id"), "pic_order_cnt_lsb": first.get("pic_order_cnt_lsb"),
            "delta_pic_order_cnt_bottom": first.get("delta_pic_order_cnt_bottom"),
            "delta_pic_order_cnt0": first.get("delta_pic_order_cnt[0]"),
            "delta_pic_order_cnt1": first.get("delta_pic_order_cnt[1]"),
            "dec_ref_pic_marking_bit_size": first.bits(
                "no_output_of_prior_pics_flag", "long_term_reference_flag", "adaptive_ref_pic_marking_mode_flag",
                "memory_management_control_operation", "difference_of_pic_nums_minus1"),
            "pic_order_cnt_bit_size": first.bits(
                "pic_order_cnt_lsb", "delta_pic_order_cnt_bottom", "delta_pic_order_cnt[0]", "delta_pic_order_cnt[1]"),
            "slice_group_change_cycle": 0,
            "flags": frames | ({"BFRAME"} if B in kinds else {"PFRAME"} if P in kinds else set())}


def of_frame(picture, frame):
    limit = 1 << picture.slices[0].sps["log2_max_frame_num_minus4"] + 4
    number = frame.frame_num - limit if frame.frame_num > picture.slices[0].get("frame_num") else frame.frame_num
    return {"pic_num": number, "frame_num": frame.frame_num, "fields": {"TOP_FIELD_REF", "BOTTOM_FIELD_REF"},
            "top_field_order_cnt": frame.top, "bottom_field_order_cnt": frame.bottom, "flags": {"VALID", "ACTIVE"}}


def of_slice(one):
    names = ("first_mb_in_slice", "colour_plane_id", "redundant_pic_cnt", "cabac_init_idc", "slice_qp_delta",
             "slice_qs_delta", "disable_deblocking_filter_idc", "slice_alpha_c0_offset_div2",
             "slice_beta_offset_div2")
    return {**{name: one.get(name) for name in names}, "header_bit_size": one.end,
            "slice_type": {P: {"P"}, B: {"B"}, I: {"I"}}[one.kind],
            "num_ref_idx_l0_active_minus1": max(0, one.active(0) - 1),
            "num_ref_idx_l1_active_minus1": max(0, one.active(1) - 1),
            "flags": {"DIRECT_SPATIAL_MV_PRED"} if one.get("direct_spatial_mv_pred_flag") else set()}


def of_weights(one):
    """None where the slice has none of its own."""
    if not one.bits("luma_log2_weight_denom"):
        return None
    luma, chroma = one.get("luma_log2_weight_denom"), one.get("chroma_log2_weight_denom")
    made = {"luma_log2_weight_denom": luma, "chroma_log2_weight_denom": chroma}
    for index in (0, 1):
        for entry in range(one.active(index)):
            at, key = f"_l{index}[{entry}]", f"[{index}][{entry}]"
            made["luma_weight" + key] = one.get(f"luma_weight{at}", 1 << luma)
            made["luma_offset" + key] = one.get(f"luma_offset{at}", 0)
            made["chroma_weight" + key] = [one.get(f"chroma_weight{at}[{part}]", 1 << chroma) for part in (0, 1)]
            made["chroma_offset" + key] = [one.get(f"chroma_offset{at}[{part}]", 0) for part in (0, 1)]
    return made
