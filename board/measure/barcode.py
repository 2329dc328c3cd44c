#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A frame's number as black and white cells in the picture itself: it survives coding, scaling and a crop to 4:3.

One row of cells across the middle, where neither a self view nor a legend covers it: black, white, 16 bits (highest
first), the same 16 bits inverted. White is 1. The inverted copy makes a misread a refusal, never a wrong number.
"""

import numpy

BITS = 16
CELLS = 2 + 2 * BITS
# In a picture 640 pixels wide. 34 cells of 12 stay inside the 480 pixels a fill of a 4:3 screen leaves.
CELL_WIDTH, CELL_HEIGHT, FRAME_WIDTH, FRAME_HEIGHT = 12, 24, 640, 360
LEFT, TOP = (FRAME_WIDTH - CELLS * CELL_WIDTH) // 2, 158


def cells(number):
    bits = [number >> (BITS - 1 - position) & 1 for position in range(BITS)]
    return [0, 1, *bits, *(1 - bit for bit in bits)]


def draw(frame, number):
    """Paints the number into a 640x360 frame in place, with a black edge around it."""
    if not 0 <= number < 1 << BITS:
        raise ValueError(f"frame number {number} does not fit {BITS} bits")
    frame[TOP - 4 : TOP + CELL_HEIGHT + 4, LEFT - 4 : LEFT + CELLS * CELL_WIDTH + 4] = 0
    for position, bit in enumerate(cells(number)):
        left = LEFT + position * CELL_WIDTH
        frame[TOP : TOP + CELL_HEIGHT, left : left + CELL_WIDTH] = 255 * bit


def read(picture):
    """The number in a picture of a whole frame at any size, or None when it cannot be read."""
    height, width = picture.shape[:2]
    across, down = width / FRAME_WIDTH, height / FRAME_HEIGHT
    grey = picture.astype(numpy.float32).mean(axis=2)
    rows = slice(int((TOP + CELL_HEIGHT * 0.3) * down), max(1, int((TOP + CELL_HEIGHT * 0.7) * down)))
    values = []
    for position in range(CELLS):
        left = (LEFT + (position + 0.3) * CELL_WIDTH) * across
        right = max(left + 1, (LEFT + (position + 0.7) * CELL_WIDTH) * across)
        values.append(float(grey[rows, int(left) : int(right)].mean()))
    black, white = values[0], values[1]
    if white - black < 80:
        return None
    bits = [value > (black + white) / 2 for value in values[2:]]
    if any(bit == inverse for bit, inverse in zip(bits[:BITS], bits[BITS:])):
        return None
    return sum(bit << (BITS - 1 - position) for position, bit in enumerate(bits[:BITS]))


def self_test():
    from PIL import Image

    for number in (0, 1, 1234, 65535):
        frame = numpy.full((FRAME_HEIGHT, FRAME_WIDTH, 3), 90, dtype=numpy.uint8)
        draw(frame, number)
        assert read(frame) == number
        for size in ((1024, 576), (320, 180), (1920, 1080)):
            scaled = numpy.asarray(Image.fromarray(frame).resize(size, Image.Resampling.BILINEAR))
            assert read(scaled) == number, (number, size)
        noise = numpy.random.default_rng(number).normal(0, 25, frame.shape)
        assert read(numpy.clip(frame + noise, 0, 255).astype(numpy.uint8)) == number
    assert read(frame[:, ::-1]) is None, "a mirrored frame has no number"
    frame[TOP : TOP + CELL_HEIGHT, LEFT + 5 * CELL_WIDTH : LEFT + 6 * CELL_WIDTH] = 0
    assert read(frame) is None, "one wrong cell is a refusal"
    assert read(numpy.zeros_like(frame)) is None


if __name__ == "__main__":
    self_test()
    print("barcode: ok")
