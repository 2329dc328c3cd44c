# SPDX-License-Identifier: Apache-2.0
"""The decoder that is told of each picture, by the kernel's test decoder of that kind (visl): it takes all controls,
tells them by trace events, and draws what it was told instead of decoding. The streams are those of bitstream.py."""

import re
import shutil

from tests import bitstream, slices_fields
from tests.runner import Failed, check
from virtual.board import Board

PLAYER = "/callbox/build/x86_64/player"
TRACING = "/sys/kernel/tracing"
# Streams that hardware is given, and such that reorder: those are refused in calls only.
PLAYED = [name for name, stream in bitstream.STREAMS.items() if stream[3] in (bitstream.TAKEN, bitstream.REORDERS)]
ROUNDS, BUFFER_KIB = 20, 16384
EVENT = re.compile(r"^ *\S+-\d+ +\[\d+\] \S+ +[\d.]+: v4l2_(?:ctrl_)?h264_(\w+): ?", re.M)


def board(context):
    def start():
        made = context.keep(Board(context.out / "slices"))
        (made.share / "streams").mkdir()
        for path in bitstream.streams(context).values():
            shutil.copy(path, made.share / "streams" / path.name)
        code, output = made.sh(f"mount -t tracefs tracefs {TRACING} && echo {BUFFER_KIB} > {TRACING}/buffer_size_kb && "
                               f"echo 1 > {TRACING}/events/visl_h264_controls/enable")
        if code != 0:
            raise Failed("no traces", output.strip()[-160:])
        return made

    return context.once("the board", start)


def play(context, name, mode, times=1):
    """What the player says of a stream, as one text; what the decoder was told lies in the share as `trace`."""
    path = f"/share/streams/{bitstream.streams(context)[name].name}"
    code, output = board(context).sh(
        f"echo > {TRACING}/trace; {PLAYER} slices - {mode} {path} {times} && cat {TRACING}/trace > /share/trace",
        timeout=60)
    context.log(f"$ {name}, by {mode}\n{output}")
    if code != 0 or f"mode {mode}" not in output:
        raise Failed(f"exit {code}", f"{name}, by {mode}: {output.strip()[-160:]}")
    return output


def decoded(context, mode):
    """Every stream comes out whole and in its size; each control is as libavcodec's own parse has it."""
    equal, wrong = 0, []
    for name in PLAYED:
        said = play(context, name, mode)
        width, height = bitstream.STREAMS[name][2].split("x")
        if f"units {bitstream.FRAMES} pictures {bitstream.FRAMES} damaged 0" not in said:
            raise Failed("not all", f"{name}: {said.strip()[-160:]}")
        size = re.search(r"size (\d+)x(\d+)", said).groups()
        if name != "cropped" and size != (width, height):
            raise Failed("wrong size", f"{name} is {size[0]} x {size[1]}")
        count, faults = compared(context, name, mode)
        equal, wrong = equal + count, wrong + [f"{name}: {fault}" for fault in faults]
        context.log(f"{count} fields are equal")
    if wrong:
        context.log(*wrong[:200])
        raise Failed(f"{len(wrong)} differ", wrong[0])
    return equal


def compared(context, name, mode):
    """(how many fields are equal, which are not) of one stream."""
    told = runs((board(context).share / "trace").read_text())
    pictures = slices_fields.pictures(bitstream.traced(context, bitstream.streams(context)[name]))
    wanted = [(picture, one) for picture in pictures
              for one in (picture.slices if mode == "slice" else picture.slices[:1])]
    if len(told) != len(wanted) or not told:
        return 0, [f"{len(told)} times something to decode, {len(wanted)} expected"]
    equal, wrong = 0, []
    for number, (run, (picture, one)) in enumerate(zip(told, wanted)):
        pairs = [*controls(run, picture), *references(run, picture)]
        if mode == "slice":
            pairs += of_one_slice(run, picture, one)
        equal += sum(mine == theirs for _, mine, theirs in pairs)
        wrong += [f"{number}, {field}: {mine}, libavcodec's parse has {theirs}" for field, mine, theirs in pairs
                  if mine != theirs]
    return equal, wrong


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


@check("slices/frames")
def frames(context):
    return decoded(context, "frame")


@check("slices/slices")
def slices(context):
    return decoded(context, "slice")


@check("slices/again-and-again")
def again(context):
    """Descriptors that are open after many rounds, beyond those after the first."""
    said = play(context, "b-pyramid", "slice", times=ROUNDS)
    wanted = bitstream.FRAMES * ROUNDS
    if f"pictures {wanted} damaged 0" not in said:
        raise Failed("not all", said.strip()[-160:])
    return int(re.search(r"grown (-?\d+)", said)[1])
