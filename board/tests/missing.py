# SPDX-License-Identifier: Apache-2.0
"""A missing device of each family, switched off or absent: told, and the kiosk still calls."""

import time

from tests.bench import bench
from tests.kiosk import GUEST, PEER
from tests.runner import Failed, check

ABSENT_CAMERA = "/dev/v4l/by-path/platform-nowhere-video-index0"


def still_calls(context, changes=None, arguments="", fault=None, button=True, least=20):
    """Starts the kiosk so, and makes a call with sound both ways on the wire. Figure: packets out in a second."""
    b = bench(context)
    b.peer()
    kiosk = b.ready(changes, arguments)
    if fault:
        told(kiosk, fault)
    mark = kiosk.mark()
    if button:
        kiosk.press("call")
    else:
        kiosk.tell("call")
    kiosk.wait_event("call", since=mark, state="connected")
    time.sleep(0.8)
    begin = b.wire.mark()
    time.sleep(1)
    out, back = len(b.wire.rtp(GUEST, None, begin)), len(b.wire.rtp(PEER, None, begin))
    kiosk.tell("hangup")
    kiosk.wait_event("call", since=mark, state="ended")
    if not kiosk.alive():
        raise Failed("ended", f"callbox is gone: {kiosk.tail()}")
    context.log(f"RTP packets in a second: out {out}, back {back}")
    if out < least or back < 20:
        raise Failed(f"{out} out, {back} back", "too few RTP packets in a second")
    return f"{out} packets out, {back} back in a second"


def told(kiosk, fault, limit_s=5):
    """A device that is missing is told as soon as somebody has looked."""
    until = time.monotonic() + limit_s
    while not [entry for entry in kiosk.find("fault") if entry.get("device") in fault]:
        if time.monotonic() > until:
            raise Failed("not told", f"no fault event names {' or '.join(fault)}")
        time.sleep(0.1)


CASES = {
    # 50 packets of sound, and pictures beside them.
    "board/automatic": dict(changes={"camera.device": "auto", "display.connector": "auto"}, least=65),
    "board/no-display": dict(arguments="--display none"),
    "board/absent-display": dict(changes={"display.connector": "HDMI-A-9"}, fault=("display",)),
    "board/no-camera": dict(arguments="--camera none"),
    "board/absent-camera": dict(changes={"camera.device": ABSENT_CAMERA}, fault=("camera",)),
    "board/no-sound": dict(arguments="--audio null"),
    "board/absent-sound": dict(changes={"audio.playback": "plughw:Nowhere,0", "audio.capture": "plughw:Nowhere,0"},
                               fault=("playback", "capture")),
    "board/absent-button": dict(changes={"button.call.line": "no-such-line"}, fault=("panel",), button=False),
    "board/absent-lamp": dict(changes={"lamp.call.line": "no-such-line"}, fault=("panel",)),
    "board/nothing-at-all": dict(
        changes={"button.call.line": "no-such-line", "lamp.call.line": "no-such-line"},
        arguments="--display none --camera none --audio null", button=False),
}

for _name, _case in CASES.items():
    check(_name)(lambda context, case=_case: still_calls(context, **case))
