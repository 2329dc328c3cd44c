#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The picture the far end sends: drawn here, so that every frame is known to the last pixel.

640x360, 30 frames a second: fields of colour, fine detail, something that moves, and the frame's number as a barcode.
"""

import fcntl
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measure import barcode  # noqa: E402

WIDTH, HEIGHT, RATE, SECONDS = barcode.FRAME_WIDTH, barcode.FRAME_HEIGHT, 30, 240
# baresip pauses for a second and jumps back in time when a clip ends: longer than any call that is measured.
FRAMES = RATE * SECONDS
CONVERSION = "scale=out_color_matrix=bt601:out_range=tv:flags=accurate_rnd+full_chroma_int"

FIELDS = ((200, 40, 40), (40, 170, 60), (40, 70, 200), (210, 190, 40), (180, 60, 170), (40, 170, 180), (230, 230, 230),
          (60, 60, 60))


def backdrop():
    """All that stands still: eight fields, a grey ramp, gratings, text-like strokes, a frame at the very edge.

    Colour changes only on even pixels and fine detail is grey: 4:2:0 keeps it, so the clip is nearly what is drawn.
    """
    image = Image.new("RGB", (WIDTH, HEIGHT), (96, 96, 96))
    draw = ImageDraw.Draw(image)
    for index, colour in enumerate(FIELDS):
        draw.rectangle((index * 80, 0, index * 80 + 79, 149), fill=colour)
    for column in range(WIDTH):
        level = 20 + column * 215 // WIDTH
        draw.line((column, 316, column, 351), fill=(level, level, level))
    for column in range(20, 220, 8):
        draw.rectangle((column, 200, column + 3, 300), fill=(220, 220, 220))
    for row in range(200, 300, 6):
        draw.rectangle((420, row, 620, row + 2), fill=(40, 40, 40))
    for index in range(60):
        across, down = 232 + index % 12 * 15, 204 + index // 12 * 19
        draw.line((across, down, across + 5 + index % 5, down + 12 - index % 7), fill=(240, 240, 240), width=2)
    draw.rectangle((0, 0, WIDTH - 1, HEIGHT - 1), outline=(250, 250, 250), width=2)
    return numpy.asarray(image).copy()


_BACKDROP = None


def frame(number):
    """The frame as height x width x 3. A white square with a dark core goes round; a bar sweeps at another pace."""
    global _BACKDROP
    if _BACKDROP is None:
        _BACKDROP = backdrop()
    picture = _BACKDROP.copy()
    left = 40 + number * 4 % 520
    top = 30 + 2 * int(20 * (1 + numpy.sin(number / 15)))
    picture[top : top + 36, left : left + 36] = 245
    picture[top + 10 : top + 26, left + 10 : left + 26] = (20, 20, 120)
    sweep = 8 + number * 6 % (WIDTH - 24)
    picture[318:350, sweep : sweep + 6] = (250, 60, 60)
    barcode.draw(picture, number)
    return picture


def recipe():
    """Changes when the drawing or the coding changes: names the file in the cache."""
    here = Path(__file__).read_bytes() + (Path(barcode.__file__)).read_bytes()
    return hashlib.sha256(here).hexdigest()[:12]


def make(folder):
    """The clip's path in `folder`; drawn and coded once, in about half a minute, whoever else wants it meanwhile."""
    path = Path(folder) / f"clip-{recipe()}.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            draw_and_code(path)
    return path


def draw_and_code(path):
    print(f"drawing the far end's clip of {SECONDS} s", flush=True)
    part = path.with_suffix(".part")
    # Colours as a camera's: BT.601, limited range.
    command = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}",
               "-r", str(RATE), "-i", "-", "-vf", CONVERSION, "-pix_fmt", "yuv420p", "-c:v", "libx264",
               "-preset", "superfast", "-tune", "zerolatency,fastdecode", "-crf", "8", "-g", "60", "-bf", "0",
               "-f", "mp4", str(part)]
    coder = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        for number in range(FRAMES):
            coder.stdin.write(frame(number).tobytes())
        coder.stdin.close()
        if coder.wait(timeout=120) != 0:
            raise RuntimeError("ffmpeg could not code the clip")
        part.rename(path)
    finally:
        if coder.poll() is None:
            coder.kill()
            coder.wait()
        part.unlink(missing_ok=True)


def self_test():
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from measure import image

    assert barcode.read(frame(0)) == 0 and barcode.read(frame(FRAMES - 1)) == FRAMES - 1
    assert (frame(5) != frame(6)).any()
    good = image.psnr(frame(100), frame(100))
    shifted = image.psnr(frame(100)[:, 2:], frame(100)[:, :-2])
    swapped = image.psnr(frame(100), frame(100)[:, :, ::-1])
    assert good == 99 and shifted < 24 and swapped < 20, (shifted, swapped)
    smooth = Image.fromarray(frame(100)).resize((1024, 576), Image.Resampling.BICUBIC)
    assert image.psnr(numpy.asarray(smooth), image.scale(frame(100), 1024, 576)) > 30


if __name__ == "__main__":
    self_test()
    print("clip: ok")
    if len(sys.argv) > 1:
        print(make(sys.argv[1]))
