# SPDX-License-Identifier: Apache-2.0
"""The table of faults, live: each is made on the board, and what is seen, heard and written of it becomes a row.

The parts go on with the kiosk of away.py, whose devices have come and gone before.
"""

import contextlib
import re
import time
from pathlib import Path

from peer import odd
from peer.authority import Authority
from peer.background import accepted
from peer.refuser import Refuser
from peer.registrar import Registrar
from peer.tls import BusyByTLS
from tests.kiosk import GUEST, PEER
from tests.runner import Failed
from virtual.channel import BoardError

ERRORS = Path(__file__).resolve().parents[2] / "docs" / "errors.md"
TABLE = "away/faults"
FAULT_LAMP, SUPPLY, LID, PAD = "lamp-spare", "spare-1", "spare-2", "Pad of the table"
SMALL = "/run/small"
REFUSES, SILENT, CLOSED, RINGS, NO_TLS = 5081, 5082, 5099, 5083, 5084
REGISTRARS = {403: 5091, 401: 5093}
ARGUMENTS = f"--data {SMALL} --secrets /run/secrets"
SETTINGS = {
    "input.power.line": SUPPLY, "input.tamper.line": LID, "lamp.fault.line": FAULT_LAMP, "keypad.type": "evdev",
    "keypad.device": f"evdev:{PAD}", "call.ring_timeout": "5", "call.media_timeout": "6",
    "tls.ca": "/share/authority.pem", "sip.auth_user": "gate", "sip.password": "wrong",
}
# What is not made here, and why.
NOT_HERE = {
    "CB-CALL-FULL": "takes minutes of calls that end in the background; its outcome is one of those of the unit tests",
    "CB-SIP-FAULT": "only a stream can be that wrong, and its call is the same outcome; race/stream-* and fuzz/dialog",
    "CB-SRTP-NONE": "takes another configuration; secure/refused",
    "CB-SRTP-KEYS": "no far end here fails its handshake; the unit tests of calls with keys",
    "CB-TLS-EARLY": "a certificate from tomorrow is CB-TLS-TIME here; tls/strict",
    "CB-TLS-WILDCARD": "the board has no names; tls/strict", "CB-TLS-PIN": "another policy; tls/pin",
    "CB-TLS-CHANGED": "another policy; tls/tofu",
    "CB-TLS-SIGNATURE": "as CB-TLS-CA; unit tests of certificates", "CB-TLS-REVOKED": "as CB-TLS-CA",
    "CB-TLS-WEAK": "as CB-TLS-CA; unit tests of certificates", "CB-TLS-PURPOSE": "as CB-TLS-CA",
    "CB-TLS-OTHER": "as CB-TLS-CA",
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
    with contextlib.suppress(BoardError):
        board.unplug_keypad()
    board.plug_keypad(PAD)
    away.kiosk.tell("clear-tamper")
    if away.bench.kiosk_options:
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

    return {
        "housing opened": (["housing"], lambda: board.press(LID, None), close_lid),
        "the supply fails": (["supply"], lambda: board.press(SUPPLY, None), lambda: board.release(SUPPLY)),
        "keypad pulled": (["panel"], board.unplug_keypad, lambda: board.plug_keypad(PAD)),
        "data folder full": (["storage"], full, room),
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
    kiosk.press("call", 60)
    ended = kiosk.wait_event("call", since=mark, state="ended", limit_s=5)
    kiosk.press("hook", 60)
    kiosk.idle()
    return f"the next press says {ended['fault_code']}"


# Calls that fail

CODES = (301, 401, 403, 404, 480, 486, 488, 499, 503, 599, 603, 699)


def calls(away):
    """One call for each meaning of an answer, and for what else ends calls; each press after it calls again."""
    bench, rows = away.bench, {f"answer {code}": f"sip:{code}@{PEER}:{REFUSES}" for code in CODES}
    rows["sent in circles"] = f"sip:loop@{PEER}:{REFUSES}"
    rows["codec of no use"] = f"sip:media@{PEER}:{REFUSES}"
    rows["rings for ever"] = f"sip:peer@{PEER}:{RINGS}"
    rows["nobody at the port"] = f"sip:peer@{PEER}:{CLOSED};transport=tcp"
    rows["no such name"] = "sip:peer@no-such-host.invalid"
    with Refuser(PEER, REFUSES), odd.rings(bench.folder, port=RINGS):
        for name, uri in rows.items():
            wire, begin = bench.wire.mark(), time.monotonic()
            fails(away, name, uri)
            if str(RINGS) in uri and not bench.wire.wait_sip("CANCEL", GUEST, 0.1, wire):
                raise Failed("no CANCEL", f"the far end would ring on; {time.monotonic() - begin:.1f} s")
    return f"{len(rows)} calls"


def fails(away, name, uri, limit_s=8):
    witness, kiosk = away.witness, away.kiosk
    moment = witness.moment()
    code, answer = kiosk.tell("call", uri)
    if code:
        raise Failed(f"{name}: not called", str(answer))
    try:
        told = witness.fails(moment, limit_s)
        away.row(name, "press", told, witness.press_calls())
    except Failed as fault:
        raise Failed(f"{name}: {fault.figure}", fault.why) from fault


def certificates(away):
    """Servers that cannot be trusted, and one whose certificate ends soon, which is only written down."""
    kiosk, here, (good, stranger) = away.kiosk, f"IP:{PEER}", away.authorities
    kinds = {
        "certificate expired": good.issue("expired", here, -20, -1), "from tomorrow": good.issue("early", here, 3, 300),
        "for another name": good.issue("other", "DNS:sip.example.org"),
        "of somebody": stranger.issue("unknown", here),
    }
    for name, identity in kinds.items():
        with BusyByTLS(*identity):
            fails(away, name, f"sips:help@{PEER}")
    with accepted(PEER, NO_TLS, lambda stream: stream.sendall(b"no TLS here\r\n")):
        fails(away, "no TLS at the port", f"sips:help@{PEER}:{NO_TLS}")
    moment = away.witness.moment()
    with BusyByTLS(*good.issue("soon", here, -20, 5)):
        kiosk.tell("call", f"sips:help@{PEER}")
        told = kiosk.wait_event("certificate", since=moment[0], verdict="ends-soon")
        kiosk.wait_event("call", since=moment[0], state="ended")
    quiet(away, told["fault_code"], "certificate ends soon", "press", moment, told["verdict"])
    away.witness.press_calls()
    return f"{len(kinds) + 2} servers"


def quiet(away, code, name, when, moment, sentence):
    """Only the log tells of it."""
    away.witness.row(code, name, when, time.monotonic() - moment[2], "", "", "the call is as it was", sentence)


def silence(away):
    """Nobody is there, not even an ICMP error: seven INVITEs in 32 s. Meanwhile accounts fail, each in its way."""
    kiosk, bench = away.kiosk, away.bench
    scripts = {403: lambda number, register: (403, []), 401: lambda number, register: (401, [
        f'WWW-Authenticate: Digest realm="gate", nonce="n{number}", algorithm=MD5, qop="auth"'])}
    with contextlib.ExitStack() as stack:
        for code, port in REGISTRARS.items():
            stack.enter_context(Registrar(scripts[code], port=port))
        silent = stack.enter_context(odd.Silent(port=SILENT))
        accounts(away)
        moment, swallowed = away.witness.moment(), len(silent.swallowed)
        kiosk.tell("call", f"sip:peer@{PEER}:{SILENT}")
        kiosk.wait_event("call", since=moment[0], state="ended", limit_s=40)
        took = time.monotonic() - moment[2]
        told = away.witness.fails((moment[0], moment[1], time.monotonic()))
        invites = sum(data.startswith(b"INVITE") for data in silent.swallowed[swallowed:])
        if invites != 7 or not 31 < took < 34:
            raise Failed(f"{invites} INVITEs, {took:.1f} s", "seven are due in 32 s: RFC 3261, timer B")
        away.row("nobody there", "press", told, away.witness.press_calls())
        late = kiosk.wait_event("registration", state="failed", code=408, limit_s=3)
        away.witness.row(late["fault_code"], "registrar silent", "idle", 0, "", "", "tried again by itself",
                         f"{late['account']}, after 32 s")
        reload(away, {})
        kiosk.wait_event("restored", since=moment[0], device="accounts", limit_s=5)
    return f"{took:.1f} s"


def accounts(away):
    """Four accounts, none of which is registered."""
    kiosk, kinds = away.kiosk, {"": f":{REGISTRARS[403]}", ".2": f":{REGISTRARS[401]}",
                                ".3": f":{CLOSED};transport=tcp", ".4": f":{SILENT}"}
    changes = {}
    for number, where in kinds.items():
        changes[f"account{number}.uri"] = f"sip:gate{number.strip('.')}@{PEER}"
        changes[f"account{number}.registrar"] = f"sip:{PEER}{where}"
    moment = away.witness.moment()
    reload(away, changes)
    told = away.witness.stands(moment, ["accounts"])
    away.row("no account registered", "idle", told, away.witness.press_calls())
    for event, code in (("registration", "CB-REG-403"), ("registration", "CB-REG-REACH"),
                        ("password_refused", "CB-REG-PASSWORD")):
        told = kiosk.wait_event(event, since=moment[0], fault_code=code)
        quiet(away, code, event, "idle", moment, told.get("account") or told.get("realm", ""))


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
    """Writes the file anew and has it read: the base with these changes, and text after it."""
    kiosk = away.kiosk
    options, _ = away.bench.kiosk_options
    data = kiosk.base.changed({**options, **changes}) + text
    (kiosk.board.share / f"callbox-{kiosk.starts}.conf").write_text(data)
    mark = kiosk.mark()
    kiosk.tell("reload")
    return kiosk.wait_event("reload", since=mark)


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
    kiosk.wait_event("lamp", since=mark, limit_s=1, name="call", pattern="fast")
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
        kiosk.press("call", 60)
        failed = witness.fails(moment)
        away.row("line held by a program", "start", told, "the others work")
        witness.row(opened["fault_code"], "the file is wrong", "start", told[0], told[2], told[3], "", opened["text"])
        away.row("nobody to call", "press", failed, "the sentence at each press")
    finally:
        board.terminate(holder, 2)
        (prompts / "busy.wav").unlink()
        kiosk.stop()
    return "named"


def table(away):
    """All rows; each code of docs/errors.md is among them, or is told why not."""
    folder = away.context.out / TABLE
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "faults.txt").write_text("\n".join(away.witness.table()) + "\n")
    seen = {code for row in away.witness.rows for code in row[0].split()}
    missing = [code for code in sorted(listed()) if code not in NOT_HERE and not any(covers(code, one) for one in seen)]
    if missing:
        raise Failed(f"{len(missing)} faults", f"neither made nor told why not: {', '.join(missing)}")
    whens = [row[2] for row in away.witness.rows]
    return f"{len(seen)} codes: {sum('idle' in when or 'start' in when for when in whens)} rows idle, " \
           f"{sum('call' in when for when in whens)} in a call, {whens.count('press')} of presses"


def listed():
    """The codes of the document, which is made from the table of faults."""
    rows = [line.split("|")[1] for line in ERRORS.read_text().splitlines() if line.startswith("| `CB-")]
    return {row.split()[0].strip("`") for row in rows}


def covers(code, seen):
    """`CB-SIP-4nn` is any number of its class."""
    return re.fullmatch(code.replace("n", r"\d"), seen) is not None


PARTS = {"away/standing": stand_idle, "away/calls": calls, "away/certificates": certificates, "away/silence": silence,
         "away/standing-call": stand_in_call, "away/file": problems, "away/start": start, TABLE: table}
