# SPDX-License-Identifier: Apache-2.0
"""Calls that fail, each in its way, made on the board for the table of faults; and accounts that nobody registers."""

import contextlib
import time

from peer import odd
from peer.refuser import Refuser
from peer.registrar import Registrar, granted
from tests.faults import reload
from tests.kiosk import GUEST, PEER
from tests.runner import Failed

REFUSES, SILENT, CLOSED, RINGS = 5081, 5082, 5099, 5083
REGISTRARS = {403: 5091, 401: 5093}
TIRED = 5094
# Of what is granted, which is renewed when a half to nine tenths of it are over.
GRANTED_S = 10
CODES = (301, 401, 403, 404, 480, 486, 488, 499, 503, 599, 603, 699)


def calls(away):
    """One call for each meaning of an answer, and for what else ends calls; each press after it calls again."""
    bench, rows = away.bench, {f"answer {code}": f"sip:{code}@{PEER}:{REFUSES}" for code in CODES}
    rows["sent in circles"] = f"sip:loop@{PEER}:{REFUSES}"
    rows["codec of no use"] = f"sip:media@{PEER}:{REFUSES}"
    rows["an answer that says nothing"] = f"sip:empty@{PEER}:{REFUSES}"
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


def account_in_call(away):
    """The one account is refused when it is to be renewed, in a call, which goes on; then none is wanted."""
    kiosk, is_tired = away.kiosk, [False]

    def script(number, register):
        return (403, []) if is_tired[0] else granted(register, GRANTED_S)

    with Registrar(script, port=TIRED) as registrar:
        mark = kiosk.mark()
        reload(away, {"account.uri": f"sip:gate@{PEER}", "account.registrar": f"sip:{PEER}:{TIRED}"})
        kiosk.wait_event("registration", since=mark, state="registered")
        away.in_call()
        moment = away.witness.moment(["accounts"])
        count, is_tired[0] = len(registrar.registers), True
        until = time.monotonic() + GRANTED_S
        while len(registrar.registers) == count:
            if time.monotonic() > until:
                raise Failed("no REGISTER", f"it was to be renewed within {GRANTED_S} s")
            time.sleep(0.05)
        told = away.witness.stands((*moment[:2], time.monotonic()), ["accounts"])
        away.row("the account is refused", "call", told, away.witness.press_mutes())
        mark, is_tired[0] = kiosk.mark(), False
        kiosk.hang_up()
        kiosk.idle()
        reload(away, {})
        kiosk.wait_event("restored", since=mark, device="accounts", limit_s=5)
    return f"told in {told[0]:.1f} s, the call goes on"
