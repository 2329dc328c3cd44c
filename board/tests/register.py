# SPDX-License-Identifier: Apache-2.0
"""The kiosk as an account of a registrar: Kamailio 6, and one that answers what others never would."""

import contextlib
import re
import socket
import subprocess
import time

from peer.kamailio import ADDRESS, Kamailio
from peer.registrar import Registrar, granted
from peer.sipp import Scenario, session
from tests.bench import wait_until
from tests.desk import KIOSK, PEER, Desk
from tests.race import connect, hang_up
from tests.runner import Failed, check

ACCOUNT = {"account.uri": f"sip:gate@{PEER}", "account.outbound": "no"}
ELSEWHERE, CALLED_PORT = "10.77.0.12", 5072


def registration(desk, state="registered", since=0, limit_s=5):
    return desk.wait_event("registration", since=since, state=state, limit_s=limit_s)


@contextlib.contextmanager
def alone(context, name, script, changes=None):
    """A kiosk and a registrar that does what the script says: (desk, registrar)."""
    with Desk(context.out / "register" / name) as desk, Registrar(script) as registrar:
        desk.start(changes={**ACCOUNT, **(changes or {})})
        yield desk, registrar


@contextlib.contextmanager
def behind(context, name):
    """A kiosk with an account of Kamailio's: (desk, Kamailio)."""
    folder = context.out / "register" / name
    with Desk(folder / "kiosk") as desk:
        with Kamailio(folder / "registrar", "kamailio-registrar.cfg") as server:
            desk.start(changes={"call.uri": f"sip:help@{ADDRESS}", "account.uri": f"sip:gate@{ADDRESS}"})
            registration(desk)
            yield desk, server
            desk.stop()


def text_through(server, user, text):
    """Sends a MESSAGE by a server; the status that comes back, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind((PEER, 0))
        line.settimeout(3)
        port = line.getsockname()[1]
        line.sendto("\r\n".join([
            f"MESSAGE sip:{user}@{server} SIP/2.0", f"Via: SIP/2.0/UDP {PEER}:{port};branch=z9hG4bK{port}{len(text)}",
            "Max-Forwards: 70", f"From: <sip:desk@{PEER}>;tag=t{port}", f"To: <sip:{user}@{server}>",
            f"Call-ID: text-{port}-{time.monotonic()}", "CSeq: 1 MESSAGE", "Content-Type: text/plain",
            f"Content-Length: {len(text)}", "", text]).encode(), (server, 5060))
        with contextlib.suppress(TimeoutError):
            return int(line.recv(65536).split()[1])
    return None


@check("register/kamailio")
def kamailio(context):
    """Registered from the start; who asks the registrar reaches the kiosk, though only the registrar knows it."""
    with behind(context, "kamailio") as (desk, _):
        mark = desk.mark()
        status = text_through(ADDRESS, "gate", "hello")
        if status != 200:
            raise Failed(status, f"a text through the registrar was to be taken; passed: {desk.ladder()}")
        desk.wait_event("message", since=mark, text="hello")
    return "registered, reached"


@check("register/refresh")
def refresh(context):
    with alone(context, "refresh", lambda number, register: granted(register, 10)) as (desk, registrar):
        registration(desk)
        wait_until(lambda: len(registrar.registers) >= 4, 30, "three refreshes")
        same = {(register.header("call-id"), register.header("contact"), register.tag("From"))
                for register in registrar.registers}
        numbers = [register.cseq for register in registrar.registers]
        if len(same) != 1 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            raise Failed("not the same", f"{same}, CSeq {numbers}")
    return "one binding"


@check("register/restart")
def restart(context):
    with behind(context, "restart") as (desk, server):
        server.__exit__()
        mark = desk.mark()
        registration(desk, "failed", mark, limit_s=15)
        server.__enter__()
        registration(desk, since=mark, limit_s=60)
        if text_through(ADDRESS, "gate", "back") != 200:
            raise Failed("not reached", "a text through the registrar that came back was to be taken")
    return "registered again"


@check("register/leave")
def leave(context):
    """The longer of the two times."""
    taken = []
    for name, answers in (("polite", True), ("silent", False)):
        with Desk(context.out / "register" / f"leave-{name}") as desk:
            with Registrar(lambda number, register: granted(register, 600)) as registrar:
                desk.start(changes=ACCOUNT)
                registration(desk)
                if answers:
                    taken.append(desk.stop(limit_s=6)[1])
            if not answers:
                # Nobody listens, and nothing says so: the address is taken by a socket that never answers.
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
                    deaf.bind((PEER, 5060))
                    taken.append(desk.stop(limit_s=6)[1])
            last = desk.sent("REGISTER")[-1]
            if last.header("expires") != "0" or "*" in last.header("contact"):
                raise Failed("not removed", f"the last REGISTER: {last.data.decode()}")
    return max(taken)


@check("register/too-brief")
def too_brief(context):
    def script(number, register):
        return (423, ["Min-Expires: 3600"]) if number == 1 else granted(register, 3600)

    with alone(context, "too-brief", script) as (desk, registrar):
        registration(desk)
        return registrar.registers[1].header("expires")


@check("register/two-contacts")
def two_contacts(context):
    """The grant of our own binding counts, whatever was asked for."""
    with alone(context, "two-contacts", lambda number, register: granted(
            register, 120, contacts=("<sip:gate@192.0.2.77:5060>;expires=0",))) as (desk, _):
        return f"{registration(desk)['expires']} s"


@check("register/busy")
def busy(context):
    def script(number, register):
        return (503, ["Retry-After: 2"]) if number == 1 else granted(register, 600)

    with alone(context, "busy", script) as (desk, _):
        first = registration(desk, "refused")
        second = registration(desk)
        waited = second["t"] - first["t"]
        if not 1990 <= waited <= 3000:
            raise Failed(f"{waited:.0f} ms", "the next try was to come after two seconds")
    return "after 2 s"


@check("register/grants")
def grants(context):
    """A grant of a second: not more than a REGISTER in five; of a week: registered, and quiet."""
    for seconds, least, most in ((1, 2, 5), (604800, 1, 1)):
        with alone(context, f"grants-{seconds}", lambda number, register: granted(register, seconds)) as found:
            desk, registrar = found
            registration(desk)
            desk.idle_for(20)
            if not least <= len(registrar.registers) <= most:
                raise Failed(f"{len(registrar.registers)} REGISTERs", f"in 20 s, where {seconds} s were granted")
    return "neither floods nor sleeps"


def move(address):
    """From now on the kiosk speaks to the far end from this address."""
    subprocess.run(["ip", "address", "replace", f"{address}/24", "dev", "lo"], check=True)
    subprocess.run(["ip", "route", "replace", "local", PEER, "dev", "lo", "table", "local", "src", address], check=True)


@check("register/move")
def moved(context):
    """The longer of: registered from the new address; and in a call, the re-INVITE from there."""
    changes = {"sip.listen": "any:5060", "call.uri": f"sip:peer@{PEER}:{CALLED_PORT}"}
    called = Scenario().answers(tag="one").recv("INVITE", keep="r")
    called.reply("r", 200, body=session(version=2), retrans=True).recv("ACK").is_hung_up()
    with alone(context, "move", lambda number, register: granted(register, 600), changes) as (desk, registrar):
        registration(desk)
        with desk.sipp(called, port=CALLED_PORT) as far:
            mark, count = connect(desk), len(registrar.registers)
            begin = time.monotonic()
            move(ELSEWHERE)
            wait_until(lambda: len(registrar.registers) > count, 5, "a REGISTER from the new address")
            registered = time.monotonic() - begin
            desk.wait_event("change", since=mark, code=200)
            changed = time.monotonic() - begin
            hang_up(desk)
            far.done()
        last = registrar.registers[-1]
        contacts = last.headers("contact")
        if len(contacts) != 2 or ELSEWHERE not in contacts[0] or not re.search(rf"{KIOSK}.*expires=0", contacts[1]):
            raise Failed("old address", f"Contact {contacts}")
        if KIOSK + ":" in last.header("via"):
            raise Failed("old address", f"Via {last.header('via')}")
    return max(registered, changed) * 1000
