# SPDX-License-Identifier: Apache-2.0
"""The camera's picture is turned in a call: what the far end sees then, and what it was offered."""

import time

import numpy

from measure import image
from tests.bench import bench, wait_until
from tests.kiosk import GUEST
from tests.runner import Failed, check

PSNR_MIN = 25


def level(b, picture, quarters):
    """PSNR of what the far end decoded against the camera's picture after so many quarter turns clockwise."""
    source = numpy.ascontiguousarray(numpy.rot90(b.camera_picture, -quarters))
    if picture.shape != source.shape:
        return 0.0
    return image.psnr(picture, source, image.kept_by_coding(source))


@check("board/camera-turned")
def camera_turned(context):
    """Turned by a word to 90, 270, 180 and 0 degrees: each is seen at the far end, and each new size was offered."""
    b = bench(context)
    peer, kiosk = b.peer(), b.ready()
    mark, _ = kiosk.call()
    kiosk.wait_event("first_frame", since=mark)
    begin, levels = b.wire.mark(), []
    try:
        for quarters in (1, 3, 2, 0):
            code, answer = kiosk.tell("rotate", "camera", str(quarters * 90))
            if code:
                raise Failed(f"exit {code}", f"callbox rotate: {answer}")
            found = [0.0]

            def is_turned():
                seen = image.expand_range(image.load(peer.snapshot(f"turned-{quarters}.png")))
                found[0] = level(b, seen, quarters)
                return found[0] > PSNR_MIN

            wait_until(is_turned, 4, f"the picture at {quarters * 90} degrees; PSNR {found[0]:.1f} dB")
            levels.append(found[0])
            time.sleep(0.3)
        state = kiosk.status()["state"]
    finally:
        kiosk.tell("rotate", "camera", "0")
    kiosk.hang_up()
    sizes = [packet.payload.split(b"a=imageattr:* send ")[1].split(b" ")[0].decode()
             for packet in b.wire.sip(GUEST, begin) if b"a=imageattr:" in packet.payload]
    context.log(f"{[round(found, 1) for found in levels]} dB; offered {sizes}")
    if state != "connected":
        raise Failed(state, "the call goes on")
    if list(dict.fromkeys(sizes)) != ["[x=360,y=640]", "[x=640,y=360]"] or len(sizes) < 2:
        raise Failed(f"{sizes}", "upright is offered at the first turn, and lying at the third")
    return min(levels)
