# SPDX-License-Identifier: Apache-2.0
"""Passwords: a far end that asks for them in odd ways, Asterisk 22 and Kamailio 6."""

import contextlib
import time
from pathlib import Path

from peer.asterisk import HERE, Asterisk
from peer.guard import ADDRESS, Guard
from peer.kamailio import ADDRESS as PROXY
from peer.kamailio import Kamailio
from peer.sipp import Scenario
from tests.desk import KIOSK, PEER, Beside, Desk
from tests.race import connect, expect, hang_up, told
from tests.runner import check
from tests.world import THIRD

DOOR = {"sip.user": "door", "sip.password": "secret"}
SENTENCE = "The telephone system does not accept this help point's password. Please tell the staff."


def at_a_desk(name):
    """Declares a function of a Desk, with nothing beside it, as the check `auth/NAME`."""

    def declare(function):
        def run(context):
            with Desk(context.folder) as desk:
                try:
                    return function(desk)
                finally:
                    (context.folder / "wire.txt").write_text(told(desk))

        check(f"auth/{name}")(run)
        return function

    return declare


@contextlib.contextmanager
def asked(desk, ask, **options):
    """The desk's kiosk, with a password, before a far end that asks for it."""
    with Guard(ask, **options) as guard:
        desk.start(changes=DOOR)
        yield guard


def until_let_in(more, algorithm="MD5"):
    """Asks until the digest is right."""
    return lambda guard, request: [] if guard.is_let_in(request) else [guard.challenge(more, algorithm)]


def call(desk):
    connect(desk)
    hang_up(desk)


def refused_call(desk):
    """A call that ends by 401, with the sentence; the index of its first event."""
    mark = desk.mark()
    desk.must("call")
    ended = desk.ended("refused", since=mark)
    expect(ended["text"], ended["text"] == SENTENCE and ended["code"] == 401, f"code {ended['code']}")
    return mark


# How it is asked for


@at_a_desk("several-challenges")
def several(desk):
    def ask(guard, request):
        return [] if guard.is_let_in(request) else [
            guard.challenge(algorithm=name) for name in ("foo", "SHA-512-256", "MD5")]

    with asked(desk, ask) as guard:
        call(desk)
        invite = next(each for each in guard.seen if each.method == "INVITE" and each.credentials)
        ack = next(each for each in reversed(guard.seen) if each.method == "ACK")
        expect("another ACK", ack.credentials == invite.credentials, "the ACK of the 200 has the INVITE's credentials")
        bye = next(each for each in guard.seen if each.method == "BYE")
        expect(f"nc {bye.credentials.get('nc')}", bye.credentials.get("nc") == "00000002", "the BYE is not asked again")
        return invite.credentials["algorithm"]


@at_a_desk("proxy-and-server")
def both(desk):
    with desk.sipp(
            Scenario().recv("INVITE", keep="p").reply(
                "p", 407, tag="p", headers=['Proxy-Authenticate: Digest realm="proxy", nonce="n", qop="auth"'])
            .recv("ACK").recv("INVITE", keep="s").reply(
                "s", 401, tag="s", headers=['WWW-Authenticate: Digest realm="server", nonce="m"'])
            .recv("ACK").answers().is_hung_up()) as peer:
        desk.start(changes=DOOR)
        call(desk)
        peer.done(5)
    last = desk.sent("INVITE")[-1].data.decode()
    fields = [line.split(":")[0] for line in last.split("\r\n") if "Authorization:" in line]
    expect(fields, sorted(fields) == ["Authorization", "Proxy-Authorization"], "both in one INVITE")
    return "both"


@at_a_desk("auth-int")
def auth_int(desk):
    with asked(desk, until_let_in(', qop="auth-int"')) as guard:
        call(desk)
        return guard.seen[-1].credentials["qop"]


@at_a_desk("rfc2069")
def rfc2069(desk):
    with asked(desk, until_let_in("")) as guard:
        call(desk)
        expect(guard.seen[-1].credentials, "nc" not in guard.seen[-1].credentials, "nobody asked for a count")
    return "no qop"


@at_a_desk("stale")
def stale(desk):
    def ask(guard, request):
        if guard.is_let_in(request):
            guard.renew()
            return []
        return [guard.challenge(', qop="auth"' + (", stale=true" if guard.is_right(request) and says_so else ""))]

    for says_so in (True, False):
        with asked(desk, ask) as guard:
            call(desk)
            call(desk)
            count = len([each for each in guard.seen if each.method == "INVITE"])
            expect(f"{count} INVITEs", count == 4, "one more for each new nonce")
    return "let in"


@at_a_desk("nonce-changes")
def nonce_changes(desk):
    def ask(guard, request):
        guard.renew()
        return [guard.challenge(', qop="auth", stale=true')] if asks else []

    asks = True
    with asked(desk, ask) as guard:
        refused_call(desk)
        count = len([each for each in guard.seen if each.method == "INVITE"])
        expect(f"{count} INVITEs", 2 <= count <= 4, "a few tries, and no more")
        asks = False
        call(desk)
    return f"“{SENTENCE}”"


@at_a_desk("wrong-password")
def wrong_password(desk):
    with asked(desk, until_let_in(', qop="auth"'), password="other") as guard:
        mark = refused_call(desk)
        refusal = desk.wait_event("password_refused", since=mark)
        expect(refusal, refusal["realm"] == "guard" and refusal["user"] == "door", "the event says whose it was")
        count = len([each for each in guard.seen if each.method == "INVITE"])
        expect(f"{count} INVITEs", count == 2, "one try")
        # The next refusal has the file read again, and the press after that finds what is right. The reading that
        # followed the first one is over by then.
        time.sleep(0.5)
        secrets = desk.folder / "secrets"
        secrets.write_text("guard door other\n")
        refused_call(desk)
        call(desk)
    log = desk.log_path.read_text()
    expect("in the log", not any(word in log for word in ("secret\"", "response=", "cnonce")), "no secret is logged")
    return f"“{SENTENCE}”"


@at_a_desk("back-off")
def back_off(desk):
    with asked(desk, until_let_in(', qop="auth"'), password="other") as guard:
        held = []
        for _ in range(4):
            mark = refused_call(desk)
            held.append(desk.wait_event("password_refused", since=mark).get("held_ms"))
        expect(held, held == [None, None, 60_000, 120_000], "milliseconds for which it is held back")
        count = len([each for each in guard.seen if each.credentials and each.method == "INVITE"])
        expect(f"{count} of 4", count == 4, "each press tries")
    return "held after 3"


# Servers


class Office(Beside):
    """A kiosk whose calls go to Asterisk."""

    def __init__(self, folder):
        self.desk = Desk(Path(folder) / "kiosk")
        files = {}
        for path in (HERE / "etc-asterisk").iterdir():
            text = path.read_text()
            for name, value in {"@SERVER@": THIRD, "@KIOSK@": KIOSK, "@PEER@": PEER}.items():
                text = text.replace(name, value)
            files[path.name] = text
        self.server = Asterisk(Path(folder) / "asterisk", files)


class Lodge(Beside):
    """A kiosk whose calls go through Kamailio to a telephone."""

    def __init__(self, folder, algorithm):
        self.desk = Desk(Path(folder) / "kiosk")
        self.server = Kamailio(Path(folder) / "proxy", "kamailio-guard.cfg", ALGORITHM=algorithm, KIOSK=KIOSK)


def asterisk(name):
    def run(context):
        with Office(context.folder) as office:
            desk = office.desk
            desk.start(changes={"call.uri": f"sip:echo@{THIRD}", "sip.user": f"door-{name}", "sip.password": "secret"})
            try:
                connect(desk)
                challenges = desk.got("401")
                expect(f"{len(challenges)} challenges", len(challenges) == 1, "Asterisk asks for the password")
                hang_up(desk)
            finally:
                (context.folder / "wire.txt").write_text(told(desk))
            return "in a call"

    return run


def kamailio(algorithm):
    def run(context):
        with Lodge(context.folder, algorithm) as lodge:
            desk = lodge.desk
            desk.start(changes={**DOOR, "call.uri": f"sip:door@{PROXY}"})
            try:
                with desk.sipp(Scenario(proxied=True).answers().is_hung_up(), name="first") as peer:
                    connect(desk)
                    # The nonce of the INVITE is too old by then.
                    desk.idle_for(3)
                    hang_up(desk)
                    peer.done(5)
                expect("not asked", len(desk.got("407")) >= 2, "Kamailio asks, and again when the nonce is too old")
                expect("wrong algorithm", algorithm.encode() in desk.sent("BYE")[-1].data, "what the BYE says")
            finally:
                (context.folder / "wire.txt").write_text(told(desk))
            return "in a call"

    return run


check("auth/asterisk-md5")(asterisk("md5"))
check("auth/asterisk-sha-256")(asterisk("sha"))
check("auth/kamailio-md5")(kamailio("MD5"))
check("auth/kamailio-sha-256")(kamailio("SHA-256"))
