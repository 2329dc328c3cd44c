# SPDX-License-Identifier: Apache-2.0
"""Calls that fail, each in its way, made on the board for the table of faults; and accounts that nobody registers."""

import contextlib
import time

from peer import odd
from peer.background import accepted
from peer.refuser import Refuser
from peer.registrar import Registrar
from peer.tls import BusyByTLS
from tests.faults import reload
from tests.kiosk import GUEST, PEER
from tests.runner import Failed

REFUSES, SILENT, CLOSED, RINGS, NO_TLS = 5081, 5082, 5099, 5083, 5084
# The far end has 5061.
TLS = 5085
REGISTRARS = {403: 5091, 401: 5093}
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
            wire = bench.wire.mark()
            took = fails(away, name, uri)
            if str(RINGS) not in uri:
                continue
            if not 4.5 < took < 6.5:
                raise Failed(f"{took:.1f} s", "it was to ring for `ring_timeout`, five seconds")
            if not bench.wire.wait_sip("CANCEL", GUEST, 0.1, wire):
                raise Failed("no CANCEL", "the far end would ring on")
    return f"{len(rows)} calls"


def fails(away, name, uri, limit_s=8):
    """A call there fails, and the next press calls: the seconds that it took to fail."""
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
    return told[0]


def certificates(away):
    """Servers that cannot be trusted, and one whose certificate ends soon, which is only written down."""
    kiosk, here, (good, stranger) = away.kiosk, f"IP:{PEER}", away.authorities
    kinds = {
        "certificate expired": good.issue("expired", here, -20, -1), "from tomorrow": good.issue("early", here, 3, 300),
        "for another name": good.issue("other", "DNS:sip.example.org"),
        "of somebody": stranger.issue("unknown", here),
    }
    for name, identity in kinds.items():
        with BusyByTLS(*identity, port=TLS):
            fails(away, name, f"sips:help@{PEER}:{TLS}")
    with accepted(PEER, NO_TLS, lambda stream: stream.sendall(b"no TLS here\r\n")):
        fails(away, "no TLS at the port", f"sips:help@{PEER}:{NO_TLS}")
    moment = away.witness.moment()
    with BusyByTLS(*good.issue("soon", here, -20, 5), port=TLS):
        kiosk.tell("call", f"sips:help@{PEER}:{TLS}")
        told = kiosk.wait_event("certificate", since=moment[0], verdict="ends-soon")
        kiosk.wait_event("call", since=moment[0], state="ended")
    quiet(away, told["fault_code"], "certificate ends soon", "press", moment, told["verdict"])
    away.witness.press_calls()
    return f"{len(kinds) + 2} servers"


def secured(away):
    """Calls that would not be private by what the file asks for: keys for sound, a fingerprint, a good certificate."""
    here, (good, stranger) = f"IP:{PEER}", away.authorities
    fine, other = good.issue("fine", here), stranger.issue("other-day", here)
    rows = {
        "no keys for sound": ({"media.encryption": "required"}, None),
        "another fingerprint": ({"tls.verify": "pin", "tls.pins": good.fingerprint(other[0])}, fine),
        "for clients only": ({}, good.issue("client", here, use="clientAuth")),
        "of a short key": ({}, good.issue("short", here, key=("rsa:1024",))),
    }
    for name, (changes, identity) in rows.items():
        reload(away, changes)
        if identity is None:
            fails(away, name, f"sip:peer@{PEER}")
            continue
        with BusyByTLS(*identity, port=TLS):
            fails(away, name, f"sips:help@{PEER}:{TLS}")
    reload(away, {"tls.verify": "tofu"})
    with BusyByTLS(*other, port=TLS):
        mark = away.kiosk.mark()
        away.kiosk.tell("call", f"sips:help@{PEER}:{TLS}")
        away.kiosk.wait_event("certificate", since=mark, verdict="first-seen")
        away.kiosk.wait_event("call", since=mark, state="ended")
    with BusyByTLS(*fine, port=TLS):
        fails(away, "another certificate", f"sips:help@{PEER}:{TLS}")
    reload(away, {})
    return f"{len(rows) + 1} calls"


def silent(away):
    """A server that says nothing, to a call and to a registration: half a minute of trying, then words."""
    kiosk, where = away.kiosk, f"{PEER}:{SILENT}"
    with odd.Silent(port=SILENT):
        moment = away.witness.moment()
        reload(away, {"account.uri": f"sip:gate@{PEER}", "account.registrar": f"sip:{where}"})
        fails(away, "a silent server", f"sip:peer@{where}", 40)
        told = kiosk.wait_event("registration", since=moment[0], limit_s=10, fault_code="CB-REG-SILENT")
        quiet(away, told["fault_code"], "a silent registrar", "idle", moment, "")
        mark = kiosk.mark()
        reload(away, {})
        kiosk.wait_event("restored", since=mark, device="accounts", limit_s=5)
        # It has alarmed, whenever it was meanwhile, and does not so again at once.
        away.witness.told_at["accounts"] = time.monotonic()
    return "2 servers"


def quiet(away, code, name, when, moment, sentence):
    """Only the log tells of it."""
    away.witness.row(code, name, when, time.monotonic() - moment[2], "", "", "the call is as it was", sentence)


def vanishes(away):
    """The far end freezes: after `media_timeout` the call is over, and the next one works."""
    away.in_call()
    kiosk, peer, begin = away.kiosk, away.bench.current_peer, time.monotonic()
    moment, wire = away.witness.moment(), away.bench.wire.mark()
    peer.vanish()
    try:
        kiosk.wait_event("call", since=moment[0], state="ended", limit_s=12)
        took = time.monotonic() - begin
        told = away.witness.fails((*moment[:2], time.monotonic()))
        if not away.bench.wire.wait_sip("BYE", GUEST, 1, wire):
            raise Failed("no BYE", "the far end was not told")
    finally:
        peer.come_back()
        away.bench.drop_peer()
        away.bench.peer()
    away.row("the far end vanishes", "call", told, away.witness.press_calls())
    if not 5 < took < 9:
        raise Failed(f"{took:.1f} s", "the call was to end after `media_timeout`, six seconds")
    return f"told after {took:.1f} s, at once"


def accounts(away):
    """Four accounts, none of which is registered, each in its way; then none is wanted any more."""
    kiosk, kinds = away.kiosk, {"": f":{REGISTRARS[403]}", ".2": f":{REGISTRARS[401]}",
                                ".3": f":{CLOSED};transport=tcp", ".4": f":{SILENT}"}
    scripts = {403: lambda number, register: (403, []), 401: lambda number, register: (401, [
        f'WWW-Authenticate: Digest realm="gate", nonce="n{number}", algorithm=MD5, qop="auth"'])}
    changes = {}
    for number, where in kinds.items():
        changes[f"account{number}.uri"] = f"sip:gate{number.strip('.')}@{PEER}"
        changes[f"account{number}.registrar"] = f"sip:{PEER}{where}"
    with contextlib.ExitStack() as stack:
        for code, port in REGISTRARS.items():
            stack.enter_context(Registrar(scripts[code], port=port))
        stack.enter_context(odd.Silent(port=SILENT))
        moment = away.witness.moment(["accounts"])
        reload(away, changes)
        told = away.witness.stands(moment, ["accounts"])
        away.row("no account registered", "idle", told, away.witness.press_calls())
        for event, code in (("registration", "CB-REG-403"), ("registration", "CB-REG-REACH"),
                            ("password_refused", "CB-REG-PASSWORD")):
            told = kiosk.wait_event(event, since=moment[0], fault_code=code)
            quiet(away, code, event, "idle", moment, told.get("account") or told.get("realm", ""))
        mark = kiosk.mark()
        reload(away, {})
        kiosk.wait_event("restored", since=mark, device="accounts", limit_s=5)
    return f"{len(kinds)} accounts"
