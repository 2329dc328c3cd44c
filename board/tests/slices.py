# SPDX-License-Identifier: Apache-2.0
"""The decoder that is told of each picture, by the kernel's test decoder of that kind (visl): it checks and takes all
controls, and draws what it was told instead of decoding. The streams are those of bitstream.py.

In no table and no plan yet: these checks have not been run."""

import re
import shutil

from tests import bitstream
from tests.runner import Failed, check
from virtual.board import Board

PLAYER = "/callbox/build/x86_64/player"
# Streams that hardware is given, and such that reorder: those are refused in calls only.
PLAYED = [name for name, stream in bitstream.STREAMS.items() if stream[3] in (bitstream.TAKEN, bitstream.REORDERS)]
ROUNDS = 20


def board(context):
    def start():
        made = context.keep(Board(context.out / "slices"))
        (made.share / "streams").mkdir()
        for name, path in bitstream.streams(context).items():
            shutil.copy(path, made.share / "streams" / path.name)
        return made

    return context.once("the board", start)


def play(context, name, mode, times=1):
    """What the player says of a stream, as one text."""
    path = f"/share/streams/{bitstream.streams(context)[name].name}"
    board(context)
    code, output = board(context).sh(f"{PLAYER} slices - {mode} {path} {times}", timeout=60)
    context.log(f"$ {name}, by {mode}\n{output}")
    if code != 0 or f"mode {mode}" not in output:
        raise Failed(f"exit {code}", f"{name}, by {mode}: {output.strip()[-160:]}")
    return output


def decoded(context, mode):
    pictures = 0
    for name in PLAYED:
        said = play(context, name, mode)
        width, height = bitstream.STREAMS[name][2].split("x")
        expected = f"units {bitstream.FRAMES} pictures {bitstream.FRAMES} damaged 0"
        if expected not in said:
            raise Failed("not all", f"{name}: {said.strip()[-160:]}")
        size = re.search(r"size (\d+)x(\d+)", said).groups()
        if name != "cropped" and size != (width, height):
            raise Failed("wrong size", f"{name} is {size[0]} x {size[1]}")
        pictures += bitstream.FRAMES
    return f"{pictures} pictures of {len(PLAYED)} streams"


@check("slices/frames")
def frames(context):
    return decoded(context, "frame")


@check("slices/slices")
def slices(context):
    return decoded(context, "slice")


@check("slices/again-and-again")
def again(context):
    said = play(context, "b-pyramid", "slice", times=ROUNDS)
    wanted = bitstream.FRAMES * ROUNDS
    if f"pictures {wanted} damaged 0" not in said:
        raise Failed("not all", said.strip()[-160:])
    return int(re.search(r"grown (-?\d+)", said)[1])
