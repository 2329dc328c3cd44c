#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A fake of the room round the virtual board, between its loudspeaker and its microphone: room.py NAME.

48 kHz, one channel, 16 bits: what is played comes in, what the microphone hears goes out, 10 ms at a time, and is kept
as /share/NAME. The direct sound 12 dB down and its reflections from walls of stone within 50 ms; how late it is in all
is up to the sound cards on both sides.
"""

import sys

import numpy

FRAMES, LOSS_DB, TAIL_FRAMES, REFLECTIONS = 480, 12, 2400, 60


def reflections():
    random = numpy.random.default_rng(7)
    response = numpy.zeros(TAIL_FRAMES)
    places = random.integers(1, TAIL_FRAMES, REFLECTIONS)
    response[places] = 0.3 * random.choice([-1, 1], REFLECTIONS) * numpy.exp(-5 * places / TAIL_FRAMES)
    response[0] = 1
    return response / numpy.sqrt(numpy.sum(response**2)) * 10 ** (-LOSS_DB / 20)


def main(name):
    response, line = reflections(), numpy.zeros(TAIL_FRAMES - 1)
    with open(f"/share/{name}", "wb", buffering=0) as kept:
        while len(data := sys.stdin.buffer.read(2 * FRAMES)) == 2 * FRAMES:
            line = numpy.concatenate((line, numpy.frombuffer(data, dtype="<i2")))
            heard = numpy.convolve(line, response, mode="valid").clip(-32768, 32767).astype("<i2").tobytes()
            line = line[FRAMES:]
            sys.stdout.buffer.write(heard)
            sys.stdout.buffer.flush()
            kept.write(heard)


if __name__ == "__main__":
    main(sys.argv[1])
