# SPDX-License-Identifier: Apache-2.0
"""The lamp as a person sees it: off, slow, on, fast, sampled from its line."""

import time

from measure.figures import blink
from peer import odd
from tests.bench import bench
from tests.kiosk import PEER
from tests.runner import Failed, check

SAMPLED_S = 3.0
SLOW_MS, FAST_MS = (600, 2500), (80, 450)


def sampled(b, seconds=SAMPLED_S):
    level, edges = b.board.watch_lamp("lamp-call", seconds)
    return blink(edges, level, seconds)


def blinks(seen, period_ms):
    if seen.pattern != "blink" or not period_ms[0] <= seen.period_ms <= period_ms[1] or not 0.25 <= seen.lit <= 0.75:
        raise Failed(f"{seen.pattern}, {seen.period_ms:.0f} ms, lit {seen.lit:.0%}",
                     f"an even blink of {period_ms[0]}–{period_ms[1]} ms was expected")
    return f"blinks every {seen.period_ms:.0f} ms, lit {seen.lit:.0%}"


def steady(seen, pattern):
    if seen.pattern != pattern:
        raise Failed(f"{seen.pattern}, {seen.period_ms:.0f} ms", f"it should be {pattern}")
    return pattern


@check("board/lamp-idle")
def idle(context):
    b = bench(context)
    b.ready()
    b.kiosk.idle(12)
    time.sleep(0.2)
    return steady(sampled(b, 1.5), "off")


@check("board/lamp-calling")
def calling(context):
    b = bench(context)
    b.peer(answer="manual")
    kiosk = b.ready()
    mark = kiosk.mark()
    kiosk.press("call")
    kiosk.wait_event("call", since=mark, state="ringing")
    seen = sampled(b)
    kiosk.hang_up()
    return blinks(seen, SLOW_MS)


@check("board/lamp-in-call")
def in_call(context):
    b = bench(context)
    b.peer()
    b.ready().call()
    time.sleep(0.3)
    seen = sampled(b, 1.5)
    b.kiosk.hang_up()
    return steady(seen, "on")


@check("board/lamp-fault")
def fault(context):
    """After a call that failed."""
    b = bench(context)
    kiosk = b.ready()
    with odd.refuses(context.folder, 503, "Service Unavailable", port=5080):
        mark = kiosk.mark()
        kiosk.tell("call", f"sip:peer@{PEER}:5080")
        kiosk.wait_event("call", since=mark, state="ended")
        time.sleep(0.3)
        return blinks(sampled(b), FAST_MS)


@check("board/bounce")
def bounce(context):
    """Contacts that chatter at 2 ms before they settle: one press, one call."""
    b = bench(context)
    b.peer(answer="manual")
    kiosk = b.ready()
    mark = kiosk.mark()
    b.board.chatter("call", 2, 4)
    kiosk.wait_event("call", since=mark, state="ringing")
    time.sleep(0.3)
    presses = len(kiosk.find("button", mark, name="call", edge="pressed"))
    b.board.release("call")
    kiosk.hang_up()
    return presses
