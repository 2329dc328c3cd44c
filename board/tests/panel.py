# SPDX-License-Identifier: Apache-2.0
"""The panel as a person uses it: what the lamp shows, presses among all that lines do by themselves, a keypad."""

import random
import time

from measure.figures import blink
from peer import odd
from tests.bench import bench
from tests.kiosk import PEER
from tests.runner import Failed, Late, check

SAMPLED_S = 3.0
REACTIONS, NOISE_SEED = 200, 158
PAD = "Pad of the harness"
# A step may be so much longer than it is written and is still what it says: a glitch of 10 ms no press of 20.
LATE_MS, TRIES = 9, 6
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


@check("board/lamp-latency", again=())
def latency(context):
    """From the line's edge to the lamp's, on the guest's clock; nobody listens at the far end."""
    b = bench(context)
    b.ready({"call.uri": f"sip:nobody@{PEER}:5099"})
    found, held_up = b.board.reaction("call", "lamp-call", "hook", REACTIONS)
    if len(found) < REACTIONS:
        raise Late(f"{len(found)} of {REACTIONS}", f"the machine is too busy: {held_up} measurements were held up")
    found.sort()
    context.log(f"median {found[len(found) // 2]:.1f} worst {found[-1]:.1f}, of which debounce {b.board.debounce_ms}; "
                f"{held_up} did not count; the slowest: {[round(value) for value in found[-8:]]}")
    return found[-1]


def bounced(total_ms, spacing_us, held_ms):
    """A press whose contact chatters for so long as it closes and as it opens."""
    chatter = [(spacing_us, level) for _ in range(max(1, total_ms * 500 // spacing_us)) for level in (True, False)]
    return [*chatter, (held_ms * 1000, True), *[(us, not level) for us, level in chatter], (150_000, False)]


@check("board/noise")
def noise(context):
    """Bounce of 1 to 50 ms, glitches of 10 ms, bursts of 200 us at 100 Hz for 10 s: only what was pressed counts."""
    b = bench(context)
    kiosk, chance = b.ready(), random.Random(NOISE_SEED)
    waves = [(1, bounced(total_ms, chance.choice((500, 1000, 2000)), 80)) for total_ms in (1, 3, 8, 20, 35, 50)]
    waves.append((0, [step for _ in range(40) for step in ((10_000, True), (25_000, False))]))
    burst = []
    for turn in range(1000):
        is_held = turn % 250 in range(100, 115)
        burst += [(200, not is_held), (9_800, is_held)]
    for presses, wave in waves:
        waved(context, kiosk, presses, wave, 10_000)
    waved(context, kiosk, 4, burst, 200)
    made = 4 + sum(presses for presses, _ in waves)
    return f"{made} presses, {made} seen"


def waved(context, kiosk, presses, wave, short_us):
    """Moves the mute button's line; done again where the machine was too busy to do it as it is written."""
    for _ in range(TRIES):
        mark = kiosk.mark()
        late_ms = kiosk.board.wave("mute", wave, short_us)
        time.sleep(0.3)
        if late_ms <= LATE_MS:
            break
        context.log(f"late by {late_ms:.1f} ms")
    else:
        raise Failed(f"{late_ms:.0f} ms late", f"{TRIES} times: the machine is too busy for this check")
    seen = [len(kiosk.find("button", mark, name="mute", edge=edge)) for edge in ("pressed", "released")]
    faults = [entry["text"] for entry in kiosk.find("fault", mark, device="panel")]
    if seen != [presses, presses] or faults:
        raise Failed(f"{seen[0]} pressed, {seen[1]} released", f"{presses} presses were made; faults: {faults}")


@check("board/panel-parts")
def parts(context):
    """One start: a button held since before it, a line that another program has, a keypad, a relay, a noisy line."""
    b = bench(context)
    b.peer()
    kiosk, board = b.kiosk, b.board
    kiosk.stop()
    b.kiosk_options = None
    holder = board.spawn("exec gpioset -c /dev/gpiochip0 --consumer 'another program' spare-1=1", log="gpioset.log")
    board.plug_keypad(PAD)
    board.press("call", None)
    kiosk.start(changes={
        # A pull of ours would be another than the finger's on these lines.
        "button.call.bias": "none", "button.keypad.line": "spare-1",
        "keypad.type": "evdev", "keypad.device": f"evdev:{PAD}",
        "relay.1.line": "lamp-spare", "relay.1.on": "connected"})
    try:
        kiosk.wait_event("call", state="connected", limit_s=8)
        presses = len(kiosk.find("button", name="call", edge="pressed"))
        if presses != 1:
            raise Failed(f"{presses} presses", "the button that was held at the start counts as pressed once")
        board.release("call")
        fault = kiosk.wait_event("fault", device="panel")["text"]
        if "button.keypad" not in fault or "another program" not in fault:
            raise Failed(fault, "the fault was to name the button and who has its line")
        keypad_works(kiosk, board)
        relay_follows(kiosk, board)
        stuck_and_noisy(kiosk, board)
    finally:
        board.release("call")
        board.terminate(holder, 2)
        board.unplug_keypad()
        kiosk.stop()
    return "held, in use, keypad, relay, noisy"


def keypad_works(kiosk, board):
    """Keys are sent, and again after it was pulled and plugged."""
    mark = kiosk.mark()
    board.type_keypad("17*#")
    kiosk.wait_event("key", since=mark, state="sent")
    time.sleep(0.2)
    sent = len(kiosk.find("key", mark, state="sent"))
    if sent != 4:
        raise Failed(f"{sent} keys", "four were typed")
    board.unplug_keypad()
    kiosk.wait_event("fault", since=mark, device="panel", limit_s=2)
    board.plug_keypad(PAD)
    mark = kiosk.mark()
    kiosk.wait_event("fault", since=mark, device="panel", limit_s=5)
    board.type_keypad("5")
    kiosk.wait_event("key", since=mark, state="sent", limit_s=2)


def relay_follows(kiosk, board):
    """On in the call, off after it, and off when the program is killed in between."""
    if board.lamp("lamp-spare") != 1:
        raise Failed("off", "the relay was to be on in the call")
    kiosk.hang_up()
    time.sleep(0.1)
    if board.lamp("lamp-spare") != 0:
        raise Failed("on", "the relay was to be off after the call")
    kiosk.idle()


def stuck_and_noisy(kiosk, board):
    """A line that changes seven hundred times a second is named, the others work, and it heals by itself."""
    mark = kiosk.mark()
    board.wave("video", [(1500, turn % 2 == 0) for turn in range(2400)])
    fault = kiosk.wait_event("fault", since=mark, device="panel", limit_s=2)["text"]
    if "button.video is noisy" not in fault:
        raise Failed(fault, "the fault was to name the button")
    kiosk.press("mute")
    kiosk.wait_event("button", since=mark, name="mute", edge="pressed", limit_s=1)
    until = time.monotonic() + 8
    while "noisy" in kiosk.find("fault", mark, device="panel")[-1]["text"]:
        if time.monotonic() > until:
            raise Failed("8 s", "the noisy line did not heal")
        time.sleep(0.1)
    mark = kiosk.mark()
    kiosk.press("video")
    kiosk.wait_event("button", since=mark, name="video", edge="pressed", limit_s=1)
