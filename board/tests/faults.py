# SPDX-License-Identifier: Apache-2.0
"""Faults that stand, made on the board: what is seen, heard and written of each becomes a row of the table.

The parts go on with the kiosk of away.py, whose devices have come and gone before.
"""

import time

from peer.authority import Authority
from tests.kiosk import PEER
from tests.runner import Failed

FAULT_LAMP, SUPPLY, LID, PAD = "lamp-spare", "spare-1", "spare-2", "Pad of the table"
SMALL = "/run/small"
ARGUMENTS = f"--data {SMALL} --secrets /run/secrets"
FONTS = "/usr/share/fonts"
CHINESE_FONTS = f"{FONTS}/truetype/droid"
SETTINGS = {
    "input.power.line": SUPPLY, "input.tamper.line": LID, "lamp.fault.line": FAULT_LAMP, "keypad.type": "evdev",
    "keypad.device": f"evdev:{PAD}", "call.ring_timeout": "5", "call.media_timeout": "6", "panel.stuck": "3",
    "tls.ca": "/share/authority.pem", "sip.auth_user": "gate", "sip.password": "wrong",
}


def prepare(bench):
    """Before the start of the kiosk: a data folder that is soon full, a keypad, and who signs certificates.

    Two authorities come back: one that the kiosk trusts, and one that it does not.
    """
    bench.must(f"mkdir -p {SMALL} && mount -t tmpfs -o size=256k tmpfs {SMALL}")
    bench.board.plug_keypad(PAD)
    trusted, stranger = (Authority(bench.folder / "certificates", name) for name in ("authority", "somebody"))
    (bench.board.share / "authority.pem").write_bytes(trusted.file.read_bytes())
    return trusted, stranger


def mend(away):
    """Whatever a part that failed has left behind."""
    board = away.bench.board
    board.sh(f"rm -f {SMALL}/full; ip link set vec0 up; ip route replace default via {PEER}")
    board.release(LID)
    board.release(SUPPLY)
    board.plug_keypad(PAD)
    away.kiosk.tell("clear-tamper")
    reload(away, {})


# Faults that stand

def standing(away):
    """{fault: (devices, how it is made, how it is mended)}."""
    board, must, kiosk = away.bench.board, away.bench.must, away.kiosk

    def full():
        # The next line begins a page of its own, for which there is no room. What writes it is neither seen nor heard.
        board.sh(f"truncate -s %4096 {SMALL}/callbox.log; dd if=/dev/zero of={SMALL}/full bs=1k count=1000")
        kiosk.tell("reload")

    def room():
        must(f"rm {SMALL}/full")
        kiosk.tell("reload")

    def close_lid():
        mark = kiosk.mark()
        board.release(LID)
        kiosk.wait_event("input", since=mark, name="tamper", active=False, limit_s=2)
        kiosk.tell("clear-tamper")

    def let_go():
        mark = kiosk.mark()
        board.release("video")
        kiosk.wait_event("button", since=mark, name="video", edge="released", limit_s=2)
        # In a call it was a press.
        kiosk.push("video")

    return {
        "housing opened": (["housing"], lambda: board.press(LID, None), close_lid),
        "the supply fails": (["supply"], lambda: board.press(SUPPLY, None), lambda: board.release(SUPPLY)),
        "keypad pulled": (["panel"], board.unplug_keypad, lambda: board.plug_keypad(PAD)),
        "data folder full": (["storage"], full, room),
        "button held": (["panel"], lambda: board.press("video", None), let_go),
        "network down": (["network"], lambda: must("ip link set vec0 down"), lambda: must(
            f"ip link set vec0 up && ip route replace default via {PEER}")),
    }


def stand_idle(away):
    """Each stands for a while between calls; the next press calls, or says why not."""
    witness, results = away.witness, []
    for name, (devices, make, mend) in standing(away).items():
        after = (lambda: press_fails(away)) if "network" in devices else None
        results.append(away.fault(name, "idle", devices, make, mend, after))
    return f"{len(results)} faults"


def stand_in_call(away):
    """The same in a call, which goes on, and whose buttons work."""
    away.in_call()
    time.sleep(0.5)
    done = [away.fault(name, "call", devices, make, mend, away.witness.press_mutes)
            for name, (devices, make, mend) in standing(away).items()]
    away.kiosk.hang_up()
    away.kiosk.idle()
    return f"{len(done)} faults"


def press_fails(away):
    """Without a network the next press has a sentence."""
    kiosk, mark = away.kiosk, away.kiosk.mark()
    kiosk.push("call")
    ended = kiosk.wait_event("call", since=mark, state="ended", limit_s=5)
    kiosk.push("hook")
    kiosk.idle()
    return f"the next press says {ended['fault_code']}"


# The file

BAD = """[nonsense]
x = 1
[call]
url = x
max_duration = soon
media_timeout = 7
no line at all
"""


def reload(away, changes, text=""):
    """Writes the file anew and has it read: the base with these changes, and text after it. Some have it start anew."""
    kiosk = away.kiosk
    options, _ = away.options
    data = kiosk.base.changed({**options, **changes}) + text
    (kiosk.board.share / f"callbox-{kiosk.starts}.conf").write_text(data)
    mark = kiosk.mark()
    kiosk.tell("reload")
    event = kiosk.wait_event("reload", since=mark)
    if event["restart"]:
        kiosk.wait_event("ready", since=mark)
    return event


def problems(away):
    """The file gets worse between calls, and is gone in a call; the last good settings go on."""
    kiosk, witness = away.kiosk, away.witness
    moment = witness.moment()
    reload(away, {}, BAD)
    wrong(away, ("SECTION", "KEY", "VALUE", "TWICE", "LINE"), "idle", moment, witness.press_calls)
    reload(away, {})
    away.in_call()
    path = kiosk.board.share / f"callbox-{kiosk.starts}.conf"
    moment = witness.moment()
    path.unlink()
    kiosk.tell("reload")
    wrong(away, ("FILE",), "call", moment, witness.press_mutes)
    kiosk.hang_up()
    reload(away, {})
    return "6 codes"


def wrong(away, codes, when, moment, press):
    kiosk, witness, (mark, heard, since) = away.kiosk, away.witness, moment
    events = [kiosk.wait_event("problem", since=mark, fault_code=f"CB-CFG-{code}") for code in codes]
    took = time.monotonic() - since
    witness.alarms(events[0])
    lamp, sound = witness.lit(), witness.ear.wait(["lost"], heard)
    witness.shown(kiosk.find("problem", mark)[0]["text"])
    after = press()
    for event in events:
        witness.row(event["fault_code"], "the file is wrong", when, took, lamp, sound, after, event["text"])


def start(away):
    """A start with nobody to call, a line that another program has, and a prompt that is none."""
    kiosk, board, witness = away.kiosk, away.bench.board, away.witness
    kiosk.stop()
    away.bench.kiosk_options = None
    holder = board.spawn("exec gpioset -c /dev/gpiochip0 --consumer 'another program' video=1", log="gpioset.log")
    prompts = board.share / "prompts" / "en"
    prompts.mkdir(parents=True, exist_ok=True)
    (prompts / "busy.wav").write_bytes(b"RIFF broken")
    try:
        moment = 0, witness.ear.mark(), time.monotonic()
        kiosk.start(changes={"lamp.fault.line": FAULT_LAMP, "call.uri": None})
        told = witness.stands(moment, ["panel"])
        if "button.video" not in told[4] or "another program" not in told[4]:
            raise Failed(told[4], "the fault was to name the button and who has its line")
        opened = kiosk.wait_event("problem", fault_code="CB-CFG-OPEN")
        moment = witness.moment()
        kiosk.push("call")
        failed = witness.fails(moment)
        away.row("line held by a program", "start", told, "the others work")
        witness.row(opened["fault_code"], "the file is wrong", "start", told[0], told[2], told[3], "", opened["text"])
        away.row("nobody to call", "press", failed, "the sentence at each press")
    finally:
        board.terminate(holder, 2)
        (prompts / "busy.wav").unlink()
        kiosk.stop()
    return "named"


def fonts(away):
    """The letters of a language are in no font; then there is none at all: both are said, and the next press calls."""
    kiosk, told = away.kiosk, []
    away.bench.kiosk_options = None
    for folder, first, wanted in (CHINESE_FONTS, "zh", "letters of zh"), (FONTS, "en", "letters of en"):
        kiosk.stop()
        away.bench.must(f"mount -t tmpfs tmpfs {folder}")
        try:
            moment = 0, away.witness.ear.mark(), time.monotonic()
            kiosk.start(changes={"lamp.fault.line": FAULT_LAMP, "language.first": first})
            wrong(away, ("OPEN",), "start", moment, away.witness.press_calls)
            told.append(kiosk.find("problem")[0]["text"])
            if wanted not in told[-1]:
                raise Failed(told[-1], f"the {wanted} were to be missed")
        finally:
            kiosk.stop()
            away.bench.must(f"umount {folder}")
    return "; ".join(told)
