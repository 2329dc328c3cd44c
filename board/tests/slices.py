# SPDX-License-Identifier: Apache-2.0
"""The decoder that is told of each picture, by the kernel's test decoder of that kind (visl): it takes all controls,
tells them by trace events, and draws what it was told instead of decoding. The streams are those of bitstream.py."""

import re
import shutil

from tests import bitstream, slices_fields, slices_traces
from tests.runner import Failed, check
from virtual.board import Board

PLAYER = "/callbox/build/x86_64/player"
TRACING = "/sys/kernel/tracing"
# Streams that hardware is given, and such that reorder: those are refused in calls only.
PLAYED = [name for name, stream in bitstream.STREAMS.items() if stream[3] in (bitstream.TAKEN, bitstream.REORDERS)]
ROUNDS, BUFFER_KIB = 20, 16384
# And what the test decoder takes of them.
SIZES = ((16, 16), (18, 34), (64, 64), (4096, 64), (64, 2304), (1366, 768), (4096, 2304), (64, 4096), (4096, 4096))
WIDTHS, HEIGHTS = range(64, 4097), range(64, 2305)


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
    return play_file(context, name, f"/share/streams/{bitstream.streams(context)[name].name}", mode, times)


def play_file(context, name, path, mode, times=1, may_fail=False):
    code, output = board(context).sh(
        f"echo > {TRACING}/trace; {PLAYER} slices - {mode} {path} {times} && cat {TRACING}/trace > /share/trace",
        timeout=60)
    context.log(f"$ {name}, by {mode}\n{output}")
    if code != 0 and not may_fail or f"mode {mode}" not in output:
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
        # Two columns on the left, four rows above, six columns on the right and eight rows below are cut off.
        seen = f"{int(width) - 8}x{int(height) - 12} at 2,4" if name == "cropped" else f"{width}x{height} at 0,0"
        if f"size {seen} " not in said:
            raise Failed("wrong part", f"{name}: {said.strip()[-160:]}, {seen} is to be seen")
        count, faults = compared(context, name, mode)
        equal, wrong = equal + count, wrong + [f"{name}: {fault}" for fault in faults]
        context.log(f"{count} fields are equal")
    if wrong:
        context.log(*wrong[:200])
        raise Failed(f"{len(wrong)} differ", wrong[0])
    return equal


def compared(context, name, mode):
    """(how many fields are equal, which are not) of one stream."""
    told = slices_traces.runs((board(context).share / "trace").read_text())
    pictures = slices_fields.pictures(bitstream.traced(context, bitstream.streams(context)[name]))
    wanted = [(picture, one) for picture in pictures
              for one in (picture.slices if mode == "slice" else picture.slices[:1])]
    if len(told) != len(wanted) or not told:
        return 0, [f"{len(told)} times something to decode, {len(wanted)} expected"]
    equal, wrong = 0, []
    for number, (run, (picture, one)) in enumerate(zip(told, wanted)):
        pairs = [*slices_traces.controls(run, picture), *slices_traces.references(run, picture)]
        if mode == "slice":
            pairs += slices_traces.of_one_slice(run, picture, one)
        equal += sum(mine == theirs for _, mine, theirs in pairs)
        wrong += [f"{number}, {field}: {mine}, libavcodec's parse has {theirs}" for field, mine, theirs in pairs
                  if mine != theirs]
    return equal, wrong


@check("slices/frames")
def frames(context):
    return decoded(context, "frame")


@check("slices/slices")
def slices(context):
    return decoded(context, "slice")


@check("slices/refused")
def refused(context):
    """Kinds of streams that no device is given: told in words at once, without a picture."""
    kinds = [name for name in bitstream.STREAMS if name not in PLAYED]
    for name in kinds:
        path = f"/share/streams/{bitstream.streams(context)[name].name}"
        said = play_file(context, name, path, "frame", may_fail=True)
        expected = f"not-taken after \\d+ ms: H.264 is not decoded by hardware: {bitstream.STREAMS[name][3]}."
        if not re.search(expected, said) or "pictures " in said:
            raise Failed(name, said.strip()[-160:])
    return ", ".join(kinds)


@check("slices/sizes")
def sizes(context):
    """Whole, and all of it to be seen; sizes that the device does not take are told of."""
    share = board(context).share / "streams"
    for width, height in SIZES:
        path = share / f"{width}x{height}.h264"
        context.run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size={width}x{height}:rate=25",
                    "-frames:v", 3, "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-y", path)
        said = play_file(context, path.stem, f"/share/streams/{path.name}", "frame", may_fail=True)
        expected = f"units 3 pictures 3 damaged 0 size {width}x{height} at 0,0 "
        if width not in WIDTHS or height not in HEIGHTS:
            coded = f"{-(-width // 16) * 16} × {-(-height // 16) * 16}"
            expected = f"not-taken after \\d+ ms: H.264 is not decoded by hardware: the decoder does not do {coded}."
        if not re.search(expected, " ".join(said.split())):
            raise Failed(path.stem, said.strip()[-160:])
    return ", ".join(f"{width}x{height}" for width, height in SIZES)


@check("slices/broken")
def broken(context):
    """Streams that lack a parameter set, or change one where no key frame is: pictures from the next key frame on."""
    one, other = (nal_units(bitstream.streams(context)[name]) for name in ("baseline", "cropped"))
    half, frames = bitstream.FRAMES // 2, bitstream.FRAMES
    changed = first_frames(one, half) + other[:sets(other)] + frames_from(other, half)
    streams = {
        "no-picture-set": ([unit for unit in one if kind(unit) != PPS], 0, frames),
        "no-sequence-set": ([unit for unit in one if kind(unit) != SPS], 0, frames),
        "changed": (changed, half, half),
        "changed-back": (changed + one, half + frames, half),
        "begins-late": (one[:sets(one)] + frames_from(one, half) + one, frames, half),
    }
    for name, (units, pictures, damaged) in streams.items():
        path = board(context).share / "streams" / f"{name}.h264"
        path.write_bytes(b"".join(b"\0\0\0\1" + unit for unit in units))
        said = play_file(context, name, f"/share/streams/{path.name}", "frame")
        if f"pictures {pictures} damaged {damaged} " not in " ".join(said.split()):
            raise Failed(name, f"{said.strip()[-160:]}; {pictures} pictures, {damaged} damaged expected")
    return f"{len(streams)} streams"


SPS, PPS, IDR, SLICE = 7, 8, 5, 1


def kind(unit):
    return unit[0] & 31


def nal_units(path):
    return [unit for unit in re.split(rb"\x00*\x00\x00\x01", path.read_bytes()) if unit]


def sets(units):
    """How many units stand before the first picture."""
    return next(index for index, unit in enumerate(units) if kind(unit) in (IDR, SLICE))


def first_frames(units, count):
    return units[:sets(units) + count]


def frames_from(units, number):
    return units[sets(units) + number:]


@check("slices/again-and-again")
def again(context):
    """Descriptors that are open after many rounds, beyond those after the first."""
    said = play(context, "b-pyramid", "slice", times=ROUNDS)
    wanted = bitstream.FRAMES * ROUNDS
    if f"pictures {wanted} damaged 0" not in said:
        raise Failed("not all", said.strip()[-160:])
    return int(re.search(r"grown (-?\d+)", said)[1])


@check("slices/cut")
def cut(context):
    """What was put in is to be forgotten, at each place of a stream: all that is put in then comes out."""
    wanted = bitstream.FRAMES * ROUNDS
    for mode in ("frame", "slice"):
        said = play(context, "slices", mode, times=f"{ROUNDS} cut")
        grown = int(re.search(r"grown (-?\d+)", said)[1])
        if f"pictures {wanted} damaged 0" not in said or grown > 0:
            raise Failed("not all", f"by {mode}: {said.strip()[-160:]}")
    return wanted
