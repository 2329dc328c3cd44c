# SPDX-License-Identifier: Apache-2.0
"""A hundred calls in a row, and what the board's kernel says of it all."""

import time

from measure.figures import growth
from tests.bench import bench
from tests.runner import Failed, check

# What SIP knows of a call stays for 32 s after it (RFC 3261 timers H, J and K): as many calls are needed at this pace
# until one is forgotten for each new one.
CALLS, SETTLED, PACE_S, LATE_GROWTH_KB_MAX = 100, 40, 0.8, 128


def hundred(context):
    """[status after each call]: each one dialled by the button, seen, and ended by hook."""
    b = bench(context)
    b.peer(video_bitrate=1_000_000)
    kiosk, after = b.ready(), []
    for number in range(1, CALLS + 1):
        begin = time.monotonic()
        mark, _ = kiosk.call()
        kiosk.wait_event("first_frame", since=mark)
        kiosk.hang_up()
        kiosk.idle(12)
        time.sleep(max(0, begin + PACE_S - time.monotonic()))
        status = kiosk.status()
        after.append(status)
        context.log(f"call {number}: fds {status['fds']} threads {status['threads']} rss {status['rss_kb']} KiB "
                    f"framebuffers {status['framebuffers']}")
    return after[SETTLED - 1 :]


def settled(context, key):
    values = [status[key] for status in context.once("a hundred calls", lambda: hundred(context))]
    context.log(key, *values)
    return values


@check("board/hundred-calls")
def all_connected(context):
    return len(settled(context, "fds")) + SETTLED - 1


for _name, _key in (("descriptors", "fds"), ("threads", "threads"), ("framebuffers", "framebuffers")):
    check(f"board/hundred-{_name}")(lambda context, key=_key: settled(context, key)[-1] - settled(context, key)[0])


@check("board/hundred-memory")
def memory(context):
    """A leak of a few KiB a call shows in the second half, when every pool has its size.

    One step, however large, is no leak: the allocator takes its memory in pieces of 132 KiB and more, and one such
    piece may come late. What grows beside the largest step counts.
    """
    values = settled(context, "rss_kb")
    half = values[len(values) // 2 :]
    step = max(0, *(after - before for before, after in zip(half, half[1:])))
    late = growth(half) - step
    context.log(f"second half: {late} KiB more, and one step of {step} KiB")
    if late > LATE_GROWTH_KB_MAX:
        raise Failed(f"{late} KiB", "still growing in the second half of the calls")
    return values[-1] - values[0]


@check("board/zombies")
def zombies(context):
    b = bench(context)
    code, text = b.board.sh("ps -eo stat,comm | awk '$1 ~ /^Z/ { print $2 }'")
    if code != 0:
        raise Failed(f"exit {code}", text.strip()[:100])
    return len(text.split())


def own_faults(lines):
    """How many traces the virtual devices made themselves: vivid's thread scolds when it woke up too late to wait."""
    return sum("wrong timeout value" in first and "Comm: vivid-" in second for first, second in zip(lines, lines[1:]))


@check("board/kernel-warnings")
def kernel_warnings(context):
    board = bench(context).board
    found = board.kernel_complaints()
    explained = own_faults(board.console.read_text(errors="replace").splitlines())
    context.log(f"{explained} traces by vivid for being late;", *found)
    traces = sum("Call Trace" in line for line in found)
    return len(found) - min(explained, traces)


@check("board/poweroff")
def poweroff(context):
    """The last check of the board: switched off cleanly, and nothing of it is left."""
    b = bench(context)
    b.kiosk.stop()
    b.drop_peer()
    return b.board.stop()
