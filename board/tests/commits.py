# SPDX-License-Identifier: Apache-2.0
"""When pictures are given to the display: late, so that all that comes before it reads them goes out together."""

import statistics
import time

from tests.bench import bench
from tests.runner import Failed, check

LOOK_S, FEWEST = 4.0, 60
# A little more than a mode's 60 pictures a second.
PER_SECOND_MAX = 62


@check("board/commit-lead", again=())
def commit_lead(context):
    """Milliseconds from a commit to the moment the display reads it, of both pictures of a call: the median."""
    b = bench(context)
    context.run("cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
                b.board.share / "commits.so", context.project / "board" / "measure" / "commits.c", "-ldl")
    times = b.board.share / "commits"
    times.unlink(missing_ok=True)
    b.kiosk.environment, b.kiosk_options = "LD_PRELOAD=/share/commits.so CALLBOX_COMMITS=/share/commits", None
    try:
        b.peer(codecs=("opus",))
        kiosk = b.ready()
        mark, _ = kiosk.call()
        kiosk.wait_event("first_frame", since=mark)
        time.sleep(1.0)
        begin = times.stat().st_size
        time.sleep(LOOK_S)
        lines = times.read_bytes()[begin:].decode().split("\n")[1:-1]
        kiosk.hang_up()
    finally:
        b.kiosk.environment, b.kiosk_options = "", None
        b.kiosk.stop()
    leads, committed = [], None
    for line in lines:
        what, ns = line.split()
        if what == "commit":
            committed = int(ns)
        elif committed is not None:
            leads.append((int(ns) - committed) / 1e6)
            committed = None
    spread = statistics.quantiles(leads, n=10) if len(leads) > 1 else []
    context.log(f"{len(leads)} commits in {LOOK_S} s; tenths, ms: {[round(one, 1) for one in spread]}")
    if not FEWEST <= len(leads) <= PER_SECOND_MAX * LOOK_S:
        raise Failed(f"{len(leads)} commits", f"in {LOOK_S} s")
    return statistics.median(leads)
