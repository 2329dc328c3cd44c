#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures as arrays: height x width x 3, 8 bits, red green blue.

A rectangle is (x, y, width, height) in pixels of the picture it is in.
"""

import os
import tempfile

import numpy
from PIL import Image

# Limited-range ITU-R BT.601: what a camera and a decoder say when they say nothing.
KR, KB = 0.299, 0.114


def load(path):
    """A PNG or PPM file; alpha, when there is one, is dropped."""
    with Image.open(path) as picture:
        return numpy.asarray(picture.convert("RGB"))


def save(picture, path):
    """Written whole or not at all: somebody may be looking at the file."""
    part = f"{path}.part"
    Image.fromarray(picture).save(part, format="PNG")
    os.replace(part, path)


def crop(picture, rectangle):
    x, y, width, height = rectangle
    rows, columns = picture.shape[:2]
    if x < 0 or y < 0 or width <= 0 or height <= 0 or x + width > columns or y + height > rows:
        raise ValueError(f"the rectangle {rectangle} is not inside a picture of {columns}x{rows}")
    return picture[y : y + height, x : x + width]


def scale(picture, width, height):
    """Bilinear with an area filter when shrinking: between what swscale, a plane and a GPU make."""
    if picture.shape[1] == width and picture.shape[0] == height:
        return picture
    return numpy.asarray(Image.fromarray(picture).resize((width, height), Image.Resampling.BILINEAR))


def mirror(picture):
    return picture[:, ::-1]


def psnr(one, other, mask=None):
    """Peak signal to noise in dB over all three colours; 99 when equal. `mask` (height x width) picks pixels."""
    if one.shape != other.shape:
        raise ValueError(f"pictures of {one.shape} and {other.shape} cannot be compared")
    error = (one.astype(numpy.float32) - other.astype(numpy.float32)) ** 2
    if mask is not None:
        error = error[mask]
    if error.size == 0:
        raise ValueError("nothing is left to compare")
    mean = float(error.mean())
    return 99.0 if mean < 1e-9 else min(99.0, 10 * numpy.log10(255.0**2 / mean))


def psnr_in(screen, rectangle, source, covered=()):
    """PSNR of `source`, scaled to `rectangle`, against what `screen` shows there.

    `covered` are rectangles of the screen where something else lies on top: not counted.
    """
    x, y, width, height = rectangle
    mask = numpy.ones((height, width), dtype=bool)
    for left, top, columns, rows in covered:
        mask[max(0, top - y) : max(0, top - y + rows), max(0, left - x) : max(0, left - x + columns)] = False
    return psnr(crop(screen, rectangle), scale(source, width, height), mask)


def fit(source_size, area):
    """The largest rectangle of the source's aspect, centred in `area`; even sizes are not forced."""
    width, height = source_size
    x, y, columns, rows = area
    if width * rows >= columns * height:
        fitted = (columns, max(1, round(columns * height / width)))
    else:
        fitted = (max(1, round(rows * width / height)), rows)
    return (x + (columns - fitted[0]) // 2, y + (rows - fitted[1]) // 2, *fitted)


def find(screen, small):
    """The rectangle of `screen` that is most like the picture `small`: least squares over all places at once."""
    luma, template = (part.astype(numpy.float64).mean(axis=2) for part in (screen, small))
    (rows, columns), (height, width) = luma.shape, template.shape
    spectrum = numpy.fft.rfft2(luma) * numpy.conj(numpy.fft.rfft2(template, s=luma.shape))
    correlation = numpy.fft.irfft2(spectrum, s=luma.shape)[: rows - height + 1, : columns - width + 1]
    sums = numpy.pad(numpy.cumsum(numpy.cumsum(luma**2, axis=0), axis=1), ((1, 0), (1, 0)))
    power = sums[height:, width:] - sums[:-height, width:] - sums[height:, :-width] + sums[:-height, :-width]
    y, x = numpy.unravel_index(numpy.argmin(power - 2 * correlation), correlation.shape)
    return (int(x), int(y), width, height)


def bars(picture, threshold=0):
    """Black rows and columns at each edge: (top, bottom, left, right). Black is every colour <= threshold."""
    lit = (picture > threshold).any(axis=2)
    rows, columns = numpy.flatnonzero(lit.any(axis=1)), numpy.flatnonzero(lit.any(axis=0))
    if rows.size == 0:
        return (picture.shape[0], 0, picture.shape[1], 0)
    height, width = lit.shape
    return (int(rows[0]), int(height - 1 - rows[-1]), int(columns[0]), int(width - 1 - columns[-1]))


def without(picture, rectangles):
    """A copy with the rectangles painted black, so that what lies on top does not hide the bars."""
    copy = picture.copy()
    for x, y, width, height in rectangles:
        copy[max(0, y) : y + height, max(0, x) : x + width] = 0
    return copy


def from_yuyv(raw, width, height):
    """One raw frame of V4L2's YUYV, limited BT.601, to red green blue."""
    if len(raw) < width * height * 2:
        raise ValueError(f"{len(raw)} bytes are no YUYV frame of {width}x{height}")
    data = numpy.frombuffer(raw, dtype=numpy.uint8, count=width * height * 2).reshape(height, width // 2, 4)
    luma = data[:, :, 0::2].reshape(height, width).astype(numpy.float32)
    blue, red = (numpy.repeat(data[:, :, index], 2, axis=1).astype(numpy.float32) - 128 for index in (1, 3))
    return from_yuv(luma, blue, red)


def kept_by_coding(picture, difference_max=24):
    """A mask (height x width) of the rows that 4:2:0 can carry: it has one colour for each two rows.

    Where the colours of two such rows are far apart, one coder mixes them, another takes the first: neither is wrong.
    """
    red, green, blue = (picture[:, :, index].astype(numpy.float32) for index in range(3))
    luma = KR * red + (1 - KR - KB) * green + KB * blue
    apart = numpy.maximum(abs((blue - luma)[0::2] - (blue - luma)[1::2]), abs((red - luma)[0::2] - (red - luma)[1::2]))
    return numpy.repeat(apart <= difference_max, 2, axis=0)


def from_yuv(luma, blue, red):
    """Planes of one size: luma 16–235, the two differences centred on 0."""
    grey = (luma - 16) * (255 / 219)
    scaled_blue, scaled_red = blue * (255 / 224), red * (255 / 224)
    kg = 1 - KR - KB
    colours = (
        grey + 2 * (1 - KR) * scaled_red,
        grey - (2 * (1 - KB) * KB * scaled_blue + 2 * (1 - KR) * KR * scaled_red) / kg,
        grey + 2 * (1 - KB) * scaled_blue,
    )
    return numpy.clip(numpy.rint(numpy.stack(colours, axis=2)), 0, 255).astype(numpy.uint8)


def expand_range(picture):
    """Repairs a picture whose limited-range YUV was turned to RGB as if it were full range (baresip's snapshots)."""
    red, green, blue = (picture[:, :, index].astype(numpy.float32) for index in range(3))
    luma = KR * red + (1 - KR - KB) * green + KB * blue
    return from_yuv(luma, (blue - luma) / (2 * (1 - KB)), (red - luma) / (2 * (1 - KR)))


def self_test():
    generator = numpy.random.default_rng(7)
    coarse = generator.integers(0, 256, (9, 16, 3), dtype=numpy.uint8)
    source = numpy.asarray(Image.fromarray(coarse).resize((640, 360), Image.Resampling.BICUBIC))
    assert fit((640, 360), (0, 0, 1024, 768)) == (0, 96, 1024, 576)
    assert fit((480, 640), (0, 0, 1024, 768)) == (224, 0, 576, 768)
    screen = numpy.zeros((768, 1024, 3), dtype=numpy.uint8)
    screen[96:672] = scale(source, 1024, 576)
    assert bars(screen) == (96, 96, 0, 0), bars(screen)
    assert psnr_in(screen, (0, 96, 1024, 576), source) == 99.0
    screen[500:600, 700:900] = 255
    assert psnr_in(screen, (0, 96, 1024, 576), source) < 25
    assert psnr_in(screen, (0, 96, 1024, 576), source, [(700, 500, 200, 100)]) == 99.0
    screen[300:444, 700:956] = scale(mirror(source), 256, 144)
    assert find(screen, scale(mirror(source), 256, 144)) == (700, 300, 256, 144)
    screen[90:96, 10] = 9
    assert bars(screen) == (90, 96, 0, 0) and bars(screen, 16) == (96, 96, 0, 0)
    assert bars(without(screen, [(0, 0, 20, 96)])) == (96, 96, 0, 0)
    assert psnr(mirror(source), source) < 20
    noisy = numpy.clip(source.astype(int) + generator.normal(0, 5, source.shape), 0, 255).astype(numpy.uint8)
    assert 33 < psnr(source, noisy) < 36, psnr(source, noisy)
    red = from_yuyv(bytes([81, 90, 81, 240]) * 8, 4, 4)
    assert abs(red.astype(int) - (255, 0, 0)).max() <= 2, red[0, 0]
    assert kept_by_coding(red).all()
    striped = from_yuyv((bytes([81, 90, 81, 240]) * 2 + bytes([145, 54, 145, 34]) * 2) * 2, 4, 4)
    assert not kept_by_coding(striped).any() and kept_by_coding(numpy.roll(striped, 1, axis=1)[0:4:2]).all()
    narrow = numpy.rint(source * (219 / 255) + 16).astype(numpy.uint8)
    assert psnr(expand_range(narrow), source) > 35 > psnr(narrow, source)
    with tempfile.TemporaryDirectory() as folder:
        save(source, f"{folder}/a.png")
        assert (load(f"{folder}/a.png") == source).all()
        with open(f"{folder}/b.ppm", "wb") as file:
            file.write(b"P6\n640 360\n255\n" + source.tobytes())
        assert (load(f"{folder}/b.ppm") == source).all()


if __name__ == "__main__":
    self_test()
    print("image: ok")
