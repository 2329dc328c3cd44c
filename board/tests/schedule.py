# SPDX-License-Identifier: Apache-2.0
"""Calls at a time of day, on a board whose clock somebody vouches for."""

import time

from tests.bench import bench
from tests.runner import Failed, check

# As NTP does it (adjtimex(2)): a status with or without STA_UNSYNC, and no error known.
VOUCH = """python3 -Ic "import ctypes, struct
state = ctypes.create_string_buffer(struct.pack('@Iqqqqi', 0x1C, 0, 0, 0, 0, {status}), 512)
exit(ctypes.CDLL(None).adjtimex(state) < 0)"
"""
STA_UNSYNC = 0x40
NOON_S, AHEAD_S, COUNTDOWN_S = 12 * 3600, 7, 3


def vouch(b, is_known=True):
    """Somebody vouches for the board's clock, or nobody."""
    b.must(VOUCH.format(status=0 if is_known else STA_UNSYNC))


def at_noon(b):
    """(the kiosk that is to call at noon, which is soon; what is taken from UTC to have its local time).

    POSIX, section 8.3, writes a zone as what is added to local time, by the second.
    """
    vouch(b)
    ahead = (utc(b) - (NOON_S - AHEAD_S)) % 86400
    whole = int(ahead)
    kiosk = b.ready({"auto_call.allow": "yes", "auto_call.at": "12:00", "auto_call.countdown": f"{COUNTDOWN_S}",
                     "auto_call.zone": f"XST{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"})
    return kiosk, whole


def utc(b):
    return float(b.must("date +%s.%N").strip().splitlines()[-1])


@check("board/time-of-day")
def time_of_day(context):
    """At noon a countdown, which a press ends, and no call; at the next noon, the call. Figure: seconds from noon."""
    b = bench(context)
    b.peer()
    kiosk, _ = at_noon(b)
    kiosk.wait_event("auto_call", limit_s=10, state="scheduled", by="time")
    b.board.press("mute", 60)
    kiosk.wait_event("auto_call", state="cancelled")
    time.sleep(COUNTDOWN_S + 0.5)
    placed = kiosk.find("call")
    if placed:
        raise Failed(f"{placed[0]}", "the press was to end it")
    kiosk, zone_s = at_noon(b)
    scheduled = kiosk.wait_event("auto_call", limit_s=10, state="scheduled")
    kiosk.wait_event("auto_call", limit_s=5, state="executed")
    seconds = (utc(b) - zone_s) % 86400 - NOON_S
    kiosk.wait_event("call", state="connected", limit_s=5)
    kiosk.hang_up()
    if abs(scheduled["ms"] - 1000 * COUNTDOWN_S) > 100:
        raise Failed(f"{scheduled['ms']} ms", "three seconds are counted")
    return seconds
