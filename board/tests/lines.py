# SPDX-License-Identifier: Apache-2.0
"""A second GPIO chip, as an expander on a cable: a keypad, a relay, a chip that is pulled, an open housing."""

import contextlib
import time

from tests.bench import bench
from tests.kiosk import GUEST
from tests.runner import Failed, check

CHIP, ROWS, COLUMNS = "callbox-pad", [f"row-{n}" for n in range(1, 5)], [f"column-{n}" for n in range(1, 4)]
KEYS, EVENTS = "123456789*0#", "0123456789*#"
LINES = [(name, "pull-up") for name in [*ROWS, *COLUMNS, "far", "housing"]]
LINES += [("door", "pull-down"), ("far-lamp", "pull-down")]
# A finger is quicker than this; so are the debounce and the fake of the wire, most of the time.
HELD_S, PAUSE_S = 0.8, 0.2
# Seven interrupts and their threads are made anew, which takes a busy machine its time.
BACK_S, HOLDS_MS, WATCHED_S = 12, 300, 0.8
CHANGES = {
    "keypad.type": "matrix", "keypad.rows": ", ".join(ROWS), "keypad.columns": ", ".join(COLUMNS),
    # The fake of the wire is a program, and takes its time.
    "keypad.settle": "2000", "keypad.debounce": "50",
    "button.video.line": "far", "lamp.fault.line": "far-lamp", "lamp.fault.connected": "on",
    "relay.1.line": "door", "relay.1.on": "connected", "input.tamper.line": "housing"}
DATA = "--data /tmp/lines"


def panel(context, arguments=""):
    """The kiosk with the second chip."""
    b = bench(context)
    b.peer()
    if context.made.get("second chip") is None:
        context.once("second chip", lambda: b.board.plug_chip(CHIP, LINES) or b.must("mkdir -p /tmp/lines") or True)
    return b, b.ready(CHANGES, DATA + arguments)


def leave_call(kiosk):
    if kiosk.status().get("state") != "idle":
        kiosk.hang_up()
        kiosk.idle()


def expect(board, line, level, when, limit_s=0.5):
    until = time.monotonic() + limit_s
    while board.lamp(line) != level:
        if time.monotonic() > until:
            raise Failed(f"{line} is {1 - level}", f"it was to be {level} {when}")
        time.sleep(0.02)


@check("away/matrix")
def matrix(context):
    """Each of the twelve keys, held for a moment, in a call: at the far end's door once each, in order (RFC 4733)."""
    # Pictures would take the machine from the wire.
    b, kiosk = panel(context, " --camera none --display none")
    leave_call(kiosk)
    kiosk.call()
    time.sleep(1)
    mark, wire = kiosk.mark(), b.wire.mark()
    for index in range(len(KEYS)):
        b.board.connect(ROWS[index // 3], COLUMNS[index % 3], HELD_S)
        time.sleep(PAUSE_S)
    time.sleep(0.3)
    told = len(kiosk.find("key", mark, state="sent"))
    # A header of 12 bytes and an event of 4; all packets of one key have its time stamp.
    packets = [packet.payload for packet in b.wire.rtp(GUEST, None, wire) if len(packet.payload) == 16]
    seen = "".join(EVENTS[event] for event in {bytes(packet[4:8]): packet[12] for packet in packets}.values())
    kiosk.hang_up()
    if seen != KEYS or told != len(KEYS):
        raise Failed(repr(seen), f"{KEYS!r} were pressed; {told} events")
    return f"{len(seen)} keys, once each"


@check("away/chip-pulled")
def pulled(context):
    """In a call; the panel's own buttons go on, and all is as before when the chip is back. The relay stays off."""
    b, kiosk = panel(context)
    board = b.board
    leave_call(kiosk)
    kiosk.call()
    expect(board, "door", 1, "in the call")
    expect(board, "far-lamp", 1, "in the call")
    mark, since = kiosk.mark(), time.monotonic()
    board.unplug_chip(CHIP)
    text = kiosk.wait_event("fault", since=mark, device="panel", limit_s=6)["text"]
    told = time.monotonic() - since
    missing = [part for part in ("button.video", "input.tamper", "lamp.fault", "relay.1", "keypad") if part not in text]
    # Lamps and relays are looked after every five seconds.
    until = time.monotonic() + 6
    while missing and time.monotonic() < until:
        text = " ".join(entry["text"] for entry in kiosk.find("fault", mark, device="panel"))
        missing = [part for part in missing if part not in text]
        time.sleep(0.1)
    if missing:
        raise Failed(" ".join(missing), f"not named: {text}")
    kiosk.push("mute")
    kiosk.wait_event("button", since=mark, name="mute", edge="pressed", limit_s=1)
    mark, since = kiosk.mark(), time.monotonic()
    board.plug_chip(CHIP, LINES)
    kiosk.wait_event("restored", since=mark, device="panel", limit_s=BACK_S)
    back = time.monotonic() - since
    expect(board, "far-lamp", 1, "again, as it was")
    if board.lamp("door") != 0:
        raise Failed("on", "a relay was to stay off until it is switched anew")
    board.press("far", 100)
    kiosk.wait_event("button", since=mark, name="video", edge="pressed", limit_s=1)
    kiosk.hang_up()
    kiosk.idle()
    kiosk.call()
    expect(board, "door", 1, "in the next call")
    kiosk.hang_up()
    return f"told in {told:.1f} s, back in {back:.1f} s"


@check("away/relay-killed", again=())
def killed(context):
    """Killed, and ended by a trap, in a call, on a chip that leaves lines as they were: milliseconds until it is off.

    gpio-sim gives a line back to its pull; a pull that is the relay's "on" is such a chip.
    """
    b, kiosk = panel(context)
    worst = 0
    for number in (9, 4):
        leave_call(kiosk)
        kiosk.call()
        expect(b.board, "door", 1, "in the call")
        b.board.pull("door", "pull-up")
        b.kiosk_options = None
        try:
            b.board.signal(kiosk.process, number)
            worst = max(worst, off_after(context, b.board, number))
            # What the next start finds is on; it begins with off.
            kiosk = b.ready(CHANGES, DATA)
            expect(b.board, "door", 0, "after the start")
        finally:
            b.board.pull("door", "pull-down")
    return worst


def off_after(context, board, number):
    level, edges = board.watch_lamp("door", WATCHED_S)
    context.log(f"signal {number}: {level} {edges}")
    off = next((at for at, to in edges if to == 0), None) if level else 0
    again = next((at for at, to in edges if to == 1 and at >= (off or 0)), WATCHED_S * 1000)
    if off is None or again - off < HOLDS_MS:
        raise Failed(f"{off} to {again} ms", "the relay was to go off, and to be held off for its fall")
    return off


@check("away/relay-stopped")
def stopped(context):
    """SIGTERM in a call: off at once, and no guard is left behind."""
    b, kiosk = panel(context)
    leave_call(kiosk)
    kiosk.call()
    expect(b.board, "door", 1, "in the call")
    b.kiosk_options = None
    kiosk.stop()
    if b.board.lamp("door") != 0:
        raise Failed("on", "the relay was to be off at the end")
    left = b.board.sh("pgrep -l callbox")[1].strip()
    if left:
        raise Failed(left, "a process was left behind")
    return "off, nothing left"


@check("away/tamper")
def tamper(context):
    """The housing is opened and closed: no relay from then on, over a start, until `callbox clear-tamper`."""
    b, kiosk = panel(context)
    board = b.board
    leave_call(kiosk)
    mark = kiosk.mark()
    board.press("housing", None)
    with contextlib.ExitStack() as closing:
        closing.callback(board.release, "housing")
        kiosk.wait_event("input", since=mark, name="tamper", active=True, limit_s=1)
        code, answer = kiosk.tell("clear-tamper")
        if code == 0:
            raise Failed(f"{answer}", "an open housing was to stay so")
    kiosk.wait_event("input", since=mark, name="tamper", active=False, limit_s=1)
    b.kiosk_options = None
    kiosk = b.ready(CHANGES, DATA)
    kiosk.call()
    time.sleep(0.5)
    if board.lamp("door") != 0:
        raise Failed("on", "a relay was switched on though the housing had been open")
    code, answer = kiosk.tell("clear-tamper")
    if code != 0:
        raise Failed(f"exit {code}", f"clear-tamper: {answer}")
    expect(board, "door", 1, "once the owner has looked")
    kiosk.hang_up()
    if board.sh("ls /tmp/lines/tampered")[0] == 0:
        raise Failed("there", "the mark was to be gone")
    return "kept, cleared"
