# SPDX-License-Identifier: Apache-2.0
"""What the kernel's test decoder (visl) says it was told, by its trace events, beside what slices_fields.py expects."""

import re

from tests import slices_fields

EVENT = re.compile(r"^ *\S+-\d+ +\[\d+\] \S+ +[\d.]+: v4l2_(?:ctrl_)?h264_(\w+): ?", re.M)


def runs(text):
    """[{event: [its text]}] of what the decoder was given, one a buffer."""
    parts, found = EVENT.split(text)[1:], []
    for event, body in zip(parts[::2], parts[1::2]):
        if event == "sps":
            found.append({})
        found[-1].setdefault(event, []).append(body)
    return found


def fields(event, body, wanted):
    """(field, as the decoder was told, as is expected) of one event's lines."""
    for name, value in wanted.items():
        found = re.search(rf"(?:^|\s){re.escape(name)} ([^\n]*)", body)
        yield f"{event} {name}", read(found[1].strip() if found else "", value), value


def read(text, like):
    """The text of a field, in the kind of what is expected."""
    if isinstance(like, set):
        return set(text.split("|")) - {""}
    if isinstance(like, list):
        return [int(word, 16) for word in text.strip("{}").split(",")]
    number = int(text or "0")
    # Numbers of one byte are told as words without a sign.
    return number - (1 << 32) if number >= 1 << 31 and isinstance(like, int) else number


def controls(run, picture):
    """Of parameter sets, lists of weights, and the picture."""
    sps, pps = picture.slices[0].sps, picture.slices[0].pps
    yield from fields("sps", run["sps"][0], slices_fields.of_sequence(sps))
    yield from fields("pps", run["pps"][0], slices_fields.of_parameters(sps, pps))
    yield from fields("picture", run["decode_params"][0], slices_fields.of_picture(picture))
    weights = [int(word, 16) for word in re.findall(r"\b[0-9a-f]{2}\b", run["scaling_matrix"][0])]
    expected = slices_fields.matrix(sps, pps)
    for index, one in enumerate(expected):
        begin = 16 * min(index, 6) + 64 * max(index - 6, 0)
        yield f"list {index}", weights[begin:begin + len(one)], one


def references(run, picture):
    """Of the frames to refer to: each is there once, and nothing else."""
    entries = [body for body in run["dpb_entry"] if "VALID" in body]
    yield "frames", sorted(stamp(body) for body in entries), sorted(one.number for one in picture.references)
    # All stands in one line there.
    words = r"[, ]+(?=(?:pic_num|frame_num|fields|top_field_order_cnt|bottom_field_order_cnt|flags) )"
    known = {stamp(body): re.sub(words, "\n", body) for body in entries}
    for frame in picture.references:
        if frame.number in known:
            yield from fields(f"frame {frame.number}", known[frame.number], slices_fields.of_frame(picture, frame))


def stamp(body):
    """Pictures are counted in microseconds."""
    return int(re.search(r"reference_ts (\d+)", body)[1]) // 1000


def of_one_slice(run, picture, one):
    yield from fields("slice", run["slice_params"][0], slices_fields.of_slice(one))
    stamps = [stamp(body) for body in run["dpb_entry"]]
    for index, event in enumerate(("ref_pic_list0", "ref_pic_list1")):
        entries = [body for body in run[event] if "FIELD_REF" in body]
        mine = [stamps[int(re.search(r"index (\d+)", body)[1])] for body in entries]
        yield f"list {index}", mine, [frame.number for frame in one.lists[index]]
        in_order = [int(re.search(r"\[(\d+)\]", body)[1]) for body in entries]
        yield f"list {index}, places", in_order, list(range(len(one.lists[index])))
    wanted = slices_fields.of_weights(one)
    if wanted:
        told = weights(run["pred_weights"][0])
        for name, value in wanted.items():
            yield f"weights {name}", told.get(name), value


def weights(body):
    """The same names as slices_fields.of_weights has."""
    told = {name: int(re.search(rf"{name} (\d+)", body)[1])
            for name in ("luma_log2_weight_denom", "chroma_log2_weight_denom")}
    for index in (0, 1):
        for name in ("luma_weight", "luma_offset"):
            text = re.search(rf"weight_factor\[{index}\]\.{name} {{([^}}]*)}}", body)[1]
            for entry, word in enumerate(text.split(",")):
                told[f"{name}[{index}][{entry}]"] = signed(int(word, 16))
        for name in ("chroma_weight", "chroma_offset"):
            text = re.search(rf"weight_factor\[{index}\]\.{name} {{([^}}]*)}}", body)[1]
            data = bytes.fromhex("".join(text.split()))
            for entry in range(len(data) // 4):
                told[f"{name}[{index}][{entry}]"] = [
                    int.from_bytes(data[at:at + 2], "little", signed=True) for at in (4 * entry, 4 * entry + 2)]
    return told


def signed(word):
    return word - (1 << 16) if word >= 1 << 15 else word
