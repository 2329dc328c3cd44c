# SPDX-License-Identifier: Apache-2.0
"""Pictures of cameras that send JPEG, by a fake of a board's decoder of it (board/virtual/codec). No camera of the
virtual board sends JPEG: the player stands for one."""

from tests.codec import codecs
from tests.hardware import JPEG, compiled
from tests.runner import Failed, check

WIDTH, HEIGHT, PICTURES = 640, 360, 5
# What the player says of each fault: the first picture is decoded by software in any case, and compared.
SAID = {"none": "decoded by callbox-fake, the board's own",
        "damage": "decoded by software. The video codec decodes",
        "hang": "decoded by software. The video codec has given nothing",
        "refuse": "decoded by software. The video codec",
        "short": "decoded by software. The video codec", "no-buffers": "decoded by software. The video codec",
        "vanish": "decoded by software. "}


@check("codec/jpeg")
def jpeg(context):
    c = codecs(context)
    compiled(context, JPEG, c.board.share)
    context.run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size={WIDTH}x{HEIGHT}", "-frames:v", 1,
                "-pix_fmt", "yuvj420p", "-q:v", 3, "-y", c.board.share / "picture.jpg")
    for fault, wanted in SAID.items():
        (c.board.share / "jpeg-fault").write_text(fault + "\n")
        lines = c.play(context, "jpeg", "/share/picture.jpg", WIDTH, HEIGHT, limit_s=20,
                       fault=f"LD_PRELOAD=/share/{JPEG.library}.so {JPEG.device} {JPEG.fault}=/share/jpeg-fault")
        if not lines or not lines[-1].startswith(f"pictures {PICTURES} {wanted}"):
            raise Failed(fault, f"{lines[-1:]}, {PICTURES} pictures {wanted!r} expected")
    without = c.play(context, "jpeg", "/share/picture.jpg", WIDTH, HEIGHT)
    if not without[-1].startswith(f"pictures {PICTURES} decoded by software. This board has no video codec"):
        raise Failed("no device", f"{without[-1:]}")
    return f"{len(SAID)} kinds, {PICTURES} pictures each"
