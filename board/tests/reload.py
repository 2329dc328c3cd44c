# SPDX-License-Identifier: Apache-2.0
"""The configuration file changes under a running kiosk: by SIGHUP and by the word, between calls and in one."""

import contextlib
import signal
import time

from peer.registrar import Registrar, granted
from peer.sipp import Scenario
from tests.desk import PEER, Desk
from tests.race import connect, hang_up
from tests.runner import Failed, check
from tests.servers import rings

FIRST, SECOND = 5070, 5072
NEW_PORT = 5062


def target(port):
    return {"call.uri": f"sip:peer@{PEER}:{port}"}


@contextlib.contextmanager
def desk(context, changes=None):
    with Desk(context.folder / "kiosk") as kiosk:
        kiosk.start(changes={**target(FIRST), **(changes or {})})
        yield kiosk


def read_again(kiosk, data, by_word=False):
    """Writes the file and asks for it; (index of the first event, the `reload` event)."""
    (kiosk.folder / "callbox.conf").write_bytes(data)
    mark = kiosk.mark()
    if by_word:
        kiosk.must("reload")
    else:
        kiosk.process.send_signal(signal.SIGHUP)
    return mark, kiosk.wait_event("reload", since=mark)


def change(kiosk, changes, **how):
    return read_again(kiosk, kiosk.base.changed(changes).encode(), **how)


def expect(event, **fields):
    for name, value in fields.items():
        if event.get(name) != value:
            raise Failed(f"{name} {event.get(name)}", f"{value} was expected: {event}")


def rings_at(kiosk, port):
    """A press rings there and is cancelled; what the INVITE said."""
    since = len(kiosk.sent("INVITE"))
    with kiosk.sipp(rings(), port=port, name=f"rings-{port}-{since}") as far:
        mark = kiosk.mark()
        kiosk.must("call")
        kiosk.wait_event("call", since=mark, state="ringing")
        kiosk.press("hook")
        kiosk.ended("cancelled", since=mark)
        far.done()
    return kiosk.sent("INVITE")[since]


@check("reload/target")
def other_target(context):
    """Whom to call and our name, by the signal and by the word."""
    with desk(context) as kiosk:
        for port, name, by_word in ((SECOND, "South Gate", False), (FIRST, "North Gate", True)):
            _, event = change(kiosk, {**target(port), "sip.name": name}, by_word=by_word)
            expect(event, changed=["call", "sip"], restart=False, waits=False, kept=False)
            sender = rings_at(kiosk, port).header("from")
            if name not in sender:
                raise Failed("old name", f"From {sender}")
        _, event = change(kiosk, {**target(FIRST), "sip.name": "North Gate"})
        expect(event, changed=[], restart=False)
    return "called there"


@check("reload/call")
def in_a_call(context):
    """A call goes on as it was; what was read last counts after it."""
    with desk(context) as kiosk:
        with kiosk.sipp(Scenario().answers().is_hung_up(), port=FIRST, name="call") as far:
            mark = connect(kiosk)
            for port in (FIRST + 1, SECOND):
                _, event = change(kiosk, target(port))
                expect(event, changed=["call"], waits=True)
            kiosk.idle_for(1)
            if kiosk.find("call", since=mark, state="ended"):
                raise Failed("ended", "the call was to go on")
            hang_up(kiosk)
            far.done()
        kiosk.wait_event("reload", since=mark, waits=False)
        rings_at(kiosk, SECOND)
    return "waited"


@check("reload/log")
def log(context):
    """How much is kept follows the word and the file: each message of SIP in a line, without secrets, and then none."""
    with desk(context, {"call.uri": f"sip:peer:hush@{PEER}:{FIRST}"}) as kiosk:
        kept = kiosk.folder / "data" / "callbox.log"

        def messages():
            lines = kept.read_text().splitlines()
            return [line for line in lines if '"event":"sip"' in line], "hush" in kept.read_text()

        rings_at(kiosk, FIRST)
        before, _ = messages()
        kiosk.must("log", "debug", "sip")
        rings_at(kiosk, FIRST)
        asked, leaks = messages()
        change(kiosk, {**target(FIRST), "log.level": "error"})
        rings_at(kiosk, FIRST)
        after, _ = messages()
    words = ("INVITE 1 (SDP)", "180 INVITE 1", "CANCEL 1", "487 INVITE 1", "ACK 1")
    missing = [word for word in words if not any(f'"message":"{word}"' in line for line in asked)]
    if before or missing or leaks or len(after) != len(asked):
        raise Failed(f"{len(before)}, {len(asked)}, {len(after)} lines",
                     f"missing: {missing}; a password: {leaks}; none before the word and none after the file")
    return f"{len(asked)} messages"


@check("reload/restart")
def restart(context):
    """Milliseconds from the signal to ready, with another port: the account is given back, the process stays."""
    account = {"account.uri": f"sip:gate@{PEER}", "account.outbound": "no"}
    with desk(context, account) as kiosk, Registrar(lambda number, register: granted(register, 600)) as registrar:
        kiosk.wait_event("registration", state="registered")
        begin = time.monotonic()
        mark, event = change(kiosk, {**target(FIRST), **account, "sip.listen": f"10.77.0.2:{NEW_PORT}"})
        expect(event, changed=["sip"], restart=True)
        kiosk.wait_event("ready", since=mark)
        took = (time.monotonic() - begin) * 1000
        if not kiosk.alive():
            raise Failed("ended", f"the process was to stay: {kiosk.tail()}")
        kiosk.wait_event("registration", since=mark, state="registered")
        told = [register.header("contact") for register in registrar.registers]
        if not any("expires=0" in contact for contact in told) or f":{NEW_PORT}" not in told[-1]:
            raise Failed("registration", f"the old address was to be given back, and the new one registered: {told}")
        if f":{NEW_PORT}" not in rings_at(kiosk, FIRST).header("via"):
            raise Failed("old port", "Via was to name the new one")
        # A signal is still heard, and a restart leaves nothing open.
        mark, event = change(kiosk, {**target(SECOND), **account, "sip.listen": f"10.77.0.2:{NEW_PORT}"})
        expect(event, changed=["call"], restart=False)
        before = kiosk.status()["fds"]
        mark, _ = change(kiosk, {**target(SECOND), **account})
        kiosk.wait_event("ready", since=mark)
        kiosk.wait_event("registration", since=mark, state="registered")
        after = kiosk.status()["fds"]
        if after > before:
            raise Failed(f"{after} descriptors", f"there were {before} before the restart")
        code, _ = kiosk.stop()
        if code != 0:
            raise Failed(f"exit {code}", "SIGTERM was to be heard after a restart")
    return took


@check("reload/broken")
def broken(context):
    """Rubbish, no address, no file at all: the former settings go on; then a good file counts."""
    with desk(context) as kiosk:
        for data in (b"\xff\xfe\x00\x01 rubbish \x00", b"", b"[call]\nuri = nobody\n"):
            mark, event = read_again(kiosk, data)
            expect(event, changed=[], kept=True)
            kiosk.wait_event("problem", since=mark)
        (kiosk.folder / "callbox.conf").unlink()
        mark = kiosk.mark()
        kiosk.must("reload")
        expect(kiosk.wait_event("reload", since=mark), kept=True)
        rings_at(kiosk, FIRST)
        _, event = change(kiosk, target(SECOND))
        expect(event, changed=["call"], kept=False)
        rings_at(kiosk, SECOND)
    return "kept"
