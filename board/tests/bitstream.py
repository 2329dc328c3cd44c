# SPDX-License-Identifier: Apache-2.0
"""What is read of H.264 streams made by x264, element by element against libavcodec's own parse (trace_headers)."""

import re

from tests.runner import Failed, check

SCRATCH = "/cache/bitstream"
LISTER = f"{SCRATCH}/debug/Bitstream"
FRAMES = 24
# name: (x264's parameters, the pixel format, the size, what a decoder in a call says of it).
REORDERS, TAKEN = "its pictures are not shown in the order they come in", "taken"
CALL = "bframes=0:"
STREAMS = {
    "baseline": ("bframes=0:cabac=0:8x8dct=0:weightp=0:ref=1", "yuv420p", "176x144", TAKEN),
    "cavlc-references": ("bframes=0:cabac=0:8x8dct=0:ref=8", "yuv420p", "176x144", TAKEN),
    "cabac-8x8": (CALL + "8x8dct=1:ref=3", "yuv420p", "176x144", TAKEN),
    "weighted": (CALL + "weightp=2:ref=5:keyint=12", "yuv420p", "176x144", TAKEN),
    "slices": (CALL + "slices=5:ref=2", "yuv420p", "320x240", TAKEN),
    "slices-by-size": (CALL + "slice-max-size=300", "yuv420p", "320x240", TAKEN),
    "cropped": (CALL + "crop-rect=2,4,6,8", "yuv420p", "178x146", TAKEN),
    "preset-scaling": (CALL + "cqm=jvt", "yuv420p", "176x144", TAKEN),
    "own-scaling": (CALL + "cqm4=6,13,20,28,13,20,28,32,20,28,32,37,28,32,37,42", "yuv420p", "176x144", TAKEN),
    "long-gop": (CALL + "keyint=infinite:scenecut=0:ref=4", "yuv420p", "176x144", TAKEN),
    "intra-refresh": (CALL + "intra-refresh=1:keyint=8", "yuv420p", "176x144", TAKEN),
    "intra-only": ("keyint=1:bframes=0", "yuv420p", "176x144", TAKEN),
    "level-1": (CALL + "level=1.0:ref=1", "yuv420p", "176x144", TAKEN),
    "level-5.1": (CALL + "level=5.1:ref=16", "yuv420p", "176x144", TAKEN),
    "usability": (CALL + "sar=12/11:overscan=show:videoformat=pal:fullrange=on:colorprim=bt709:transfer=bt709:"
                  "colormatrix=bt709:chromaloc=2:nal-hrd=vbr:vbv-maxrate=300:vbv-bufsize=300", "yuv420p", "176x144",
                  TAKEN),
    "constant-rate": (CALL + "nal-hrd=cbr:vbv-maxrate=300:vbv-bufsize=300:bitrate=300:aud=1:filler=1", "yuv420p",
                      "176x144", TAKEN),
    "deblocking": (CALL + "deblock=-3,4:constrained-intra=1:chroma-qp-offset=-5", "yuv420p", "176x144", TAKEN),
    "no-deblocking": (CALL + "no-deblock=1", "yuv420p", "176x144", TAKEN),
    "b-spatial": ("bframes=2:b-adapt=0:direct=spatial:b-pyramid=none:keyint=10", "yuv420p", "176x144", REORDERS),
    "b-temporal": ("bframes=2:b-adapt=0:direct=temporal:weightb=1:ref=4", "yuv420p", "176x144", REORDERS),
    "b-pyramid": ("bframes=5:b-adapt=0:b-pyramid=normal:ref=6:weightp=2", "yuv420p", "176x144", REORDERS),
    "b-pyramid-strict": ("bframes=4:b-adapt=0:b-pyramid=strict:ref=4:cabac=0", "yuv420p", "176x144", REORDERS),
    "open-gop": ("bframes=2:b-adapt=0:open-gop=1:keyint=8", "yuv420p", "176x144", REORDERS),
    "interlaced": ("bframes=2:tff=1:ref=4:weightp=0", "yuv420p", "176x160", "it is interlaced"),
    "pretended-interlaced": (CALL + "fake-interlaced=1", "yuv420p", "176x160", "it is interlaced"),
    "4:2:2": (CALL, "yuv422p", "176x144", "its colours are 4:2:2"),
    "4:4:4": (CALL + "cqm=jvt", "yuv444p", "176x144", "its colours are 4:4:4"),
    "monochrome": (CALL + "weightp=2", "gray", "176x144", "it has no colours"),
    "10-bit": (CALL, "yuv420p10le", "176x144", "its samples have 10 bits"),
}
# What says nothing of its own, and the operands behind a scaling list's flag.
FRAMING = {"forbidden_zero_bit", "rbsp_stop_one_bit", "rbsp_alignment_zero_bit", "cabac_alignment_one_bit",
           "cabac_zero_word"}
BLOCKS = {"Sequence Parameter Set", "Picture Parameter Set", "Slice Header"}
ELEMENT = re.compile(r"(\d+) +(\S+) +([01]+) = (-?\d+)$")


def made(context):
    """{name: file} of the streams; each has a moving picture that fades, so that weights are worth sending."""
    folder = context.out / "bitstream" / "streams"
    folder.mkdir(parents=True, exist_ok=True)
    streams = {}
    for name, (parameters, pixels, size, _) in STREAMS.items():
        streams[name] = folder / f"{name.replace(':', '')}.h264"
        context.run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size={size}:rate=25,fade=in:0:20",
                    "-frames:v", FRAMES, "-pix_fmt", pixels, "-c:v", "libx264", "-preset", "medium", "-x264-params",
                    f"threads=1:{parameters}".rstrip(":"), "-y", streams[name], keep=False)
    return streams


def streams(context):
    return context.once("the streams", lambda: made(context))


def lister(context, *words):
    context.once("the lister's build", lambda: context.run(
        "swift", "build", "--product", "Bitstream", "--scratch-path", SCRATCH))
    return context.run(LISTER, *words, keep=False)


def own(text):
    """[(type, [element])] of each NAL unit, as the product reads it."""
    units = []
    for line in text.splitlines():
        if line.startswith("unit "):
            units.append([])
        else:
            units[-1].append(line)
    return units


def traced(context, path):
    """What libavcodec's own parse says of a stream: the name of each block, and in it (name, value, the bit at which
    the element ends, its bits)."""
    said = context.run("ffmpeg", "-v", "trace", "-i", path, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-",
                       keep=False)
    began = False
    for line in said.splitlines():
        if not (found := re.match(r"\[trace_headers @ \w+\] (.*)", line)):
            continue
        text = found[1].rstrip()
        # What stands before the first packet is told again with it.
        began = began or text.startswith("Packet:")
        if element := ELEMENT.match(text):
            bits = len(element[3])
            yield element[2], int(element[4]), int(element[1]) + bits, bits
        else:
            yield text if began and text in BLOCKS else ""


def theirs(context, path):
    """The same of libavcodec's parse."""
    units, unit, deltas, end = [], None, None, 0
    for said in traced(context, path):
        if isinstance(said, str):
            close(unit, deltas, end)
            unit, deltas = [] if said else None, None
            if unit is not None:
                units.append(unit)
            continue
        name, value, ends, _ = said
        if unit is None or name in FRAMING:
            continue
        end = ends
        if name.startswith("delta_scale"):
            deltas.append(value)
            continue
        flush(unit, deltas)
        deltas = [] if "scaling_list_present_flag" in name and value else None
        unit.append(f"{name} = {value}")
    close(unit, deltas, end)
    return units


def close(unit, deltas, end):
    """Ends a unit: a slice's header ends where its last element does."""
    if unit is not None:
        flush(unit, deltas)
        if any(line.startswith("first_mb_in_slice") for line in unit):
            unit.append(f"header bits = {end}")


def flush(unit, deltas):
    """The list that differences of weights make (H.264 section 7.3.2.1.1.1)."""
    if deltas is None:
        return
    # Lists of 4 × 4 come first, and have an index below six.
    index = int(re.search(r"\[(\d+)\]", unit[-1])[1])
    weights, last = [], 8
    for delta in deltas:
        value = (last + delta) % 256
        if value == 0:
            break
        weights.append(value)
        last = value
    size = 16 if index < 6 else 64
    weights += [last] * (size - len(weights)) if weights else []
    unit.append("list = " + (" ".join(map(str, weights)) if weights else "preset"))


def differences(name, mine, other):
    """(how many elements are equal, what is not)."""
    if len(mine) != len(other):
        return 0, [f"{name}: {len(mine)} units, libavcodec has {len(other)}"]
    equal, wrong = 0, []
    for number, (left, right) in enumerate(zip(mine, other)):
        equal += sum(one == two for one, two in zip(left, right))
        wrong += [f"{name}, unit {number}: {one}, libavcodec has {two}" for one, two in zip(left, right) if one != two]
        if len(left) != len(right):
            wrong.append(f"{name}, unit {number}: {len(left)} elements, libavcodec has {len(right)}")
    return equal, wrong


@check("bitstream/elements")
def elements(context):
    equal, wrong, seen = 0, [], set()
    for name, path in streams(context).items():
        other = theirs(context, path)
        count, faults = differences(name, own(lister(context, path)), other)
        equal, wrong = equal + count, wrong + faults
        seen |= {re.sub(r"\[\d+\]", "", line.split(" = ")[0]) for unit in other for line in unit}
        context.log(f"{name}: {count} equal")
    context.log(f"{len(seen)} kinds of elements: {', '.join(sorted(seen))}")
    if wrong:
        context.log(*wrong)
        raise Failed(f"{len(wrong)} differ", wrong[0])
    return equal


@check("bitstream/refusals")
def refusals(context):
    wrong = []
    for name, path in streams(context).items():
        said = lister(context, "--judged", path).strip()
        if said != STREAMS[name][3]:
            wrong.append(f"{name}: {said}")
    if wrong:
        context.log(*wrong)
        raise Failed(f"{len(wrong)} judged wrong", wrong[0])
    return f"{len(STREAMS)} streams"


@check("bitstream/without-reordering")
def without_reordering(context):
    """Sets that are told not to wait: another parser reads them as meant, and the pictures stay the same."""
    folder, told = context.out / "bitstream", 0
    for name, path in streams(context).items():
        rewritten = folder / "rewritten.h264"
        lister(context, "--rewritten", path, rewritten)
        before, after = pictures(context, path), pictures(context, rewritten)
        if before != after or not before:
            raise Failed("differs", f"{name} decodes to other pictures")
        allowed = restriction(theirs(context, rewritten))
        if STREAMS[name][3] == TAKEN:
            told += 1
            if allowed != {0}:
                raise Failed("may wait", f"{name}: max_num_reorder_frames is {allowed}")
        elif STREAMS[name][3] == REORDERS and allowed != restriction(theirs(context, path)):
            raise Failed("changed", f"{name} reorders, and is told not to")
    return f"{told} streams told"


def pictures(context, path):
    said = context.run("ffmpeg", "-v", "error", "-i", path, "-f", "framemd5", "-", keep=False)
    return [line.rsplit(",", 1)[1] for line in said.splitlines() if not line.startswith("#")]


def restriction(units):
    return {int(line.split(" = ")[1]) for unit in units for line in unit if line.startswith("max_num_reorder_frames")}
