# SPDX-License-Identifier: Apache-2.0
"""Codecs in hardware, by the kernel's test codec (vicodec, which knows FWHT and no H.264), and their pictures on the
planes of its test display (vkms, which does not scale). Tests/Player is the program that is driven."""

import re
import shlex
import statistics
import time
from pathlib import Path

import numpy

from tests.runner import Failed, check
from virtual.board import Board

PLAYER, FAULTS = "/callbox/build/x86_64/player", "/share/faults.so"
FRAMES, SIZE = 24, (1024, 576)
# One side is the screen's, so that nothing has to be scaled.
SIZES = ((1024, 576), (1024, 768), (768, 768), (1024, 400))
# Bytes a picture for each one of luma, by the names that the encoder has for its formats.
RAW = {"YU12": 1.5, "YV12": 1.5, "422P": 2, "NV12": 1.5, "NV21": 1.5, "NV16": 2, "NV61": 2, "NV24": 3, "NV42": 3,
       "YUYV": 2, "YVYU": 2, "UYVY": 2, "BGR3": 3, "RGB3": 3, "BGR4": 4, "XR24": 4, "AR24": 4, "RGB4": 4,
       "BX24": 4, "BA24": 4, "RX24": 4, "RA24": 4, "XB24": 4, "AB24": 4, "GREY": 1}
# No plane and no scaler knows hue and saturation, or this order.
USELESS = ("HSV3", "HSV4", "VYUY")
# What the display calls those that have another name there.
SHOWN = {"422P": "YU16", "BGR3": "RG24", "RGB3": "BG24", "BGR4": "XR24", "RGB4": "BX24", "GREY": "R8  "}
CHANGES, TURNS, PAIRS = 200, 200, 3
# Descriptors and framebuffers must not grow at all; memory by what an allocator keeps.
GROWTH_PAGES_MAX = 512
# Each fault: after how many pictures, what is told of it; the program waits 300 ms at most for a picture.
FAULTED = {"no-buffers": (0, "no-buffers"), "no-export": (0, "no-sharing"), "short": (3, "short-picture"),
           "eio": (3, "failed"), "hang": (3, "stuck"), "vanish": (3, "vanished"), "stamps": (3, "wrong-stamp")}
FAULT_LIMIT_MS = 1500


class Codecs:
    """A board with the clips on it."""

    def __init__(self, folder):
        self.board = Board(folder)
        self.clips = {}

    def __enter__(self):
        self.board.__enter__()
        return self

    def __exit__(self, *words):
        return self.board.__exit__(*words)

    def must(self, command, limit_s=60):
        code, output = self.board.sh(command, timeout=limit_s)
        if code != 0:
            raise Failed(f"exit {code}", f"on the board: {shlex.split(command)[0]}: {output.strip()[-200:]}")
        return output

    def clip(self, form="NV12", size=SIZE, frames=FRAMES):
        """The path, on the board, of a clip that its own encoder made of moving stripes."""
        name = f"{form.strip()}-{size[0]}x{size[1]}-{frames}.fwht"
        if name not in self.clips:
            raw = self.board.share / "raw"
            raw.write_bytes(b"".join(stripes(int(size[0] * size[1] * RAW[form]), size[0], number)
                                     for number in range(frames)))
            self.must('node=$(grep -l stateful-encoder /sys/class/video4linux/*/name) && v4l2-ctl -d '
                      f'"/dev/$(basename "$(dirname "$node")")" --set-fmt-video-out=width={size[0]},height={size[1]},'
                      f"pixelformat={form} --stream-mmap --stream-out-mmap --stream-from=/share/raw "
                      f"--stream-to=/share/{name}")
            self.clips[name] = f"/share/{name}"
        return self.clips[name]

    def play(self, context, *words, fault="", limit_s=120):
        """The lines that the player says."""
        command = f"{fault} {PLAYER} {' '.join(shlex.quote(str(word)) for word in words)}"
        code, output = self.board.sh(command, timeout=limit_s)
        context.log(f"$ {command}\n{output}")
        if code != 0:
            raise Failed(f"exit {code}", f"player {words[0]}: {output.strip()[-160:]}")
        return output.splitlines()

    def sums(self, context, clip, form, way):
        """([checksums], the other lines) of a clip that is shown by one way."""
        found = self.must("ls -d /sys/kernel/debug/dri/*/crtc-0/crc | head -1").strip()
        lines = self.play(context, "crc", clip, SHOWN.get(form, form), way, f"{found}/data")
        return [line.split()[1] for line in lines if line.startswith("crc ")], lines


def stripes(count, width, number):
    """Bytes of slopes and edges that move with the number of the picture."""
    places = numpy.arange(count, dtype=numpy.int64)
    column, row = places % width, places // width
    return ((column // 2 + row // 3 + number * 9) % 219 + 16).astype(numpy.uint8).tobytes()


def codecs(context):
    folder = context.out / "codec" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    if not (context.project / "build" / "x86_64" / "player").exists():
        raise Failed("not built", "there is no build/x86_64/player: board/build x86_64 makes it")
    return context.once("the board with codecs", lambda: context.keep(Codecs(folder)))


def value(lines, word, after):
    """The number that follows a word in the line that begins with another."""
    for line in lines:
        parts = line.split()
        if parts[:1] == [after] and word in parts:
            return int(parts[parts.index(word) + 1])
    raise Failed("no answer", f"the player said nothing of {word}: {lines[-1:]}")


@check("codec/checksums")
def checksums(context):
    c = codecs(context)
    clip = c.clip()
    direct, lines = c.sums(context, clip, "NV12", "direct")
    software, _ = c.sums(context, clip, "NV12", "software")
    if value(lines, "copies", "shown"):
        raise Failed(f"{value(lines, 'copies', 'shown')} copied", "pictures were to go to their plane as they lie")
    if len(set(direct)) < FRAMES:
        raise Failed(f"{len(set(direct))} pictures", "the stripes move: each picture has another checksum")
    return sum(one == other and one != "lost" for one, other in zip(direct, software))


@check("codec/formats")
def formats(context):
    """Every raw format of the codec's: as it lies, or by software with a reason; those of our display's software look
    the same both ways."""
    c = codecs(context)
    offered = set(re.findall(r"'(.{4})'", c.must(
        'node=$(grep -l stateful-encoder /sys/class/video4linux/*/name) && v4l2-ctl -d '
        '"/dev/$(basename "$(dirname "$node")")" --list-formats-out')))
    if offered != {*RAW, *USELESS}:
        raise Failed(f"{len(offered)} formats", f"unexpected: {sorted(offered ^ {*RAW, *USELESS})}")
    direct = 0
    for form in RAW:
        sums, lines = c.sums(context, c.clip(form, frames=2), form, "direct")
        copies, reasons = value(lines, "copies", "shown"), [line for line in lines if line.startswith("reason ")]
        if len(sums) != 2 or "lost" in sums or bool(copies) != bool(reasons):
            raise Failed(form, f"{sums}, {copies} copies, {reasons}")
        direct += not copies
        if form in ("NV12", "YU12"):
            same, _ = c.sums(context, c.clip(form, frames=2), form, "software")
            if same != sums:
                raise Failed(form, f"by software it looks different: {same}, {sums}")
    return f"{len(RAW)} formats, {direct} of them as they lie"


@check("codec/changes")
def changes(context):
    c = codecs(context)
    parts = [Path(c.board.share / Path(c.clip(size=size, frames=2)).name).read_bytes() for size in SIZES]
    (c.board.share / "changing.fwht").write_bytes(b"".join(parts))
    lines = c.play(context, "changes", "/share/changing.fwht", CHANGES, limit_s=300)
    held = [[int(word) for word in line.split()[1:]] for line in lines if line.startswith("held ")]
    if len(held) != 2:
        raise Failed("no answer", f"{lines[-1:]}")
    (_, *first), (_, *last) = held
    if last[0] > first[0] or last[1] > first[1] or last[2] - first[2] > GROWTH_PAGES_MAX:
        raise Failed(f"{first} to {last}", "descriptors, framebuffers or pages grew")
    if value(lines, "copies", "shown"):
        raise Failed("copied", "pictures were to go to their plane as they lie")
    return value(lines, "changes", "changes")


@check("codec/flush")
def flush(context):
    lines = codecs(context).play(context, "flush", codecs(context).clip())
    half = FRAMES // 2
    before, after = value(lines, "before", "before"), value(lines, "after", "before")
    if (before, after) != (half, 2 * half):
        raise Failed(f"{before}, {after}", f"{half} pictures before, twice as many after were expected: {lines}")
    return f"{before} before, {after} after"


@check("codec/encoder")
def encoder(context):
    """What the decoder gives is encoded where it lies and from a copy; a key frame comes when it is ordered."""
    c = codecs(context)
    for way, copies in (("shared", 0), ("copied", FRAMES)):
        lines = c.play(context, "encode", c.clip(), way)
        units, copied = value(lines, "units", "units"), value(lines, "copies", "units")
        keys = next((line.split()[1:] for line in lines if line.startswith("keys")), [])
        again = value(lines, "decoded", "decoded")
        if (units, copied, again) != (FRAMES, copies, FRAMES) or str(FRAMES // 2) not in keys or "0" not in keys:
            raise Failed(way, f"{units} units, {copied} copies, {again} decoded, key frames {keys}")
    return "shared without a copy, copied once, a key frame when ordered"


@check("codec/faults")
def faults(context):
    c = codecs(context)
    context.run("cc", "-shared", "-fPIC", "-Wall", "-Werror", "-O1", "-o", c.board.share / "faults.so",
                context.project / "board" / "virtual" / "faults.c")
    for fault, (after, told) in FAULTED.items():
        lines = c.play(context, "fault", c.clip(), limit_s=20,
                       fault=f"LD_PRELOAD={FAULTS} CALLBOX_FAULT={fault} CALLBOX_FAULT_AFTER={after}")
        said = next((line.split() for line in lines if line.startswith("error ")), [])
        if said[1:2] != [told] or int(said[3]) > FAULT_LIMIT_MS:
            raise Failed(fault, f"the player said {lines[-1:]}, not {told} within {FAULT_LIMIT_MS} ms")
    lines = c.play(context, "fault", c.clip(), limit_s=20, fault=f"LD_PRELOAD={FAULTS} CALLBOX_FAULT=damaged")
    if value(lines, "pictures", "pictures") or value(lines, "damaged", "pictures") != FRAMES:
        raise Failed("damaged", f"{lines[-1:]}")
    return f"{len(FAULTED) + 1} faults, each by its name"


def paced(context, c, way):
    """Seconds of this machine's processors for so many turns of the display, or as long a wait."""
    log = c.board.share / f"pace-{way}.log"
    log.unlink(missing_ok=True)
    process = c.board.spawn(f"{PLAYER} pace {c.clip()} {TURNS} {way}", log=log.name)
    times = []
    for word in ("ready", "paced"):
        until = time.monotonic() + 30
        while not (log.exists() and word in log.read_text()):
            if time.monotonic() > until:
                raise Failed("30 s", f"waited in vain for the player to say {word}")
            time.sleep(0.02)
        times.append(processor_s(c.board.process.pid))
    while c.board.running(process):
        time.sleep(0.05)
    if "copies 0" not in log.read_text():
        raise Failed("copied", f"not as they lie: {log.read_text()[-200:]}")
    return times[1] - times[0]


def processor_s(session):
    """Of all processes of a session so far."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[3]) != session:
                continue
            for part in stat.parent.glob("task/*/schedstat"):
                total += int(part.read_text().split()[0])
        except OSError:
            continue
    return total / 1e9


@check("codec/display-cost", again=())
def cost(context):
    """Milliseconds of this machine that one picture on its plane takes: the median of pairs with and without it."""
    c = codecs(context)
    found = [(paced(context, c, "show") - paced(context, c, "hold")) / TURNS * 1000 for _ in range(PAIRS)]
    context.log(f"{found} ms")
    return statistics.median(found)
