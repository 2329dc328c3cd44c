# SPDX-License-Identifier: Apache-2.0
"""Calls by TLS: what each policy makes of each certificate, and whole calls through Kamailio 6."""

import ssl
import time

from peer.authority import Authority
from peer.baresip import Peer
from peer.kamailio import ADDRESS, Kamailio
from peer.tls import BusyByTLS, listen
from tests.bench import wait_until
from tests.desk import PEER, Desk
from tests.race import connect, expect, hang_up
from tests.runner import Failed, check
from tests.world import clip

# Every name below localhost is this machine, without anybody being asked (RFC 6761 section 6.3).
HOST = "sip.example.localhost"
# HOST has two addresses, and a call goes on from one to the other. Here it cannot.
ONE_WAY = "sips:help@127.0.0.1"
GOOD, EARLY = ("refused",), ("insecure", "waits-for-time")


class Table:
    """One kiosk, an authority, and a certificate of each kind."""

    def __init__(self, folder):
        self.desk = Desk(folder / "kiosk")
        self.authority = authority = Authority(folder / "certificates")
        other = Authority(folder / "certificates", "somebody")
        self.kinds = {
            "good": (authority.issue("good", f"DNS:{HOST},IP:127.0.0.1"), set()),
            "expired": (authority.issue("expired", f"DNS:{HOST},IP:127.0.0.1", -20, -1), {"expired"}),
            "early": (authority.issue("early", f"DNS:{HOST}", 3, 300), {"not-yet-valid"}),
            "other": (authority.issue("other", "DNS:sip.example.org"), {"other-name"}),
            "wildcard": (authority.issue("wildcard", "DNS:*.example.localhost"), {"wildcard"}),
            "unknown": (other.issue("unknown", f"DNS:{HOST}"), {"unknown-authority"}),
        }

    def __enter__(self):
        self.desk.__enter__()
        return self

    def __exit__(self, *_):
        self.desk.__exit__(None, None, None)

    def start(self, **settings):
        self.desk.start(changes={
            "call.uri": f"sips:help@{HOST}", "tls.ca": str(self.authority.file),
            **{f"tls.{key}": value for key, value in settings.items()}})

    def fingerprint(self, kind):
        return Authority.fingerprint(self.kinds[kind][0][0])

    def call(self, kind, *outcomes, uri=None, version=None):
        """A call to who shows this certificate ends by one of these; (the `certificate` event, who was seen)."""
        mark = self.desk.mark()
        with BusyByTLS(*self.kinds[kind][0], version=version) as server:
            self.desk.must("call", *([uri] if uri else []))
            self.desk.ended(*outcomes, since=mark)
        told = [event for event in self.desk.events[mark:] if event.get("event") == "certificate"]
        return (told[-1] if told else None), server.seen

    def refused(self, kind, *outcomes, reasons=(), uri=None):
        """It is refused with exactly these reasons beside its own."""
        told, _ = self.call(kind, *(outcomes or ("insecure",)), uri=uri)
        wanted = self.kinds[kind][1] | set(reasons)
        expect(f"{kind}: {told}", told and set(told["reasons"]) == wanted, f"the reasons were to be {wanted}")
        expect(f"{kind}: {told}", told["fingerprint"] == self.fingerprint(kind), "another fingerprint")

    def taken(self, kind, verdict=None):
        told, seen = self.call(kind, *GOOD)
        expect(f"{kind}: {told}", (told or {}).get("verdict") == verdict, f"the verdict was to be {verdict}")
        return seen


def table(name):
    """Declares a function of the Table as the check `tls/NAME`."""

    def declare(function):
        check(f"tls/{name}")(
            lambda context: function(context.once("TLS", lambda: context.keep(Table(context.out / "tls" / "table")))))
        return function

    return declare


@table("strict")
def strict(t):
    """Right in everything, or refused with every reason."""
    t.start()
    seen = t.taken("good")
    expect(seen, seen and seen[0][0] == HOST, f"the server name was to be {HOST}")
    for kind in ("expired", "other", "wildcard", "unknown"):
        t.refused(kind)
    t.refused("early", *EARLY)
    t.start(wildcard="yes")
    t.taken("wildcard")
    return "one of six"


@table("pin")
def pin(t):
    """The listed ones whatever else they say; the good one that was taken off the list no more."""
    t.start(verify="pin", pins=", ".join(t.fingerprint(kind) for kind in ("good", "expired", "unknown")))
    t.taken("good")
    for kind in ("expired", "unknown"):
        t.taken(kind, "tolerated")
    t.refused("other", reasons={"not-pinned"})
    t.start(verify="pin", pins=t.fingerprint("expired"))
    t.refused("good", reasons={"not-pinned"})
    return "the listed ones"


@table("tofu")
def tofu(t):
    """The first, after a start too; no other."""
    t.start(verify="tofu")
    t.taken("unknown", "first-seen")
    t.refused("good", reasons={"changed"})
    t.start(verify="tofu")
    t.taken("unknown", "tolerated")
    t.refused("good", reasons={"changed"})
    return "the first one"


@table("off")
def off(t):
    """All, each with a warning."""
    t.start(verify="off")
    t.taken("good")
    for kind in ("expired", "early", "other", "wildcard", "unknown"):
        t.taken(kind, "tolerated")
    return "all"


@table("ask")
def ask(t):
    """A program takes one for good, which then needs no question; and one that hangs refuses."""
    program = t.desk.folder / "ask"
    program.write_text("#!/bin/sh\nread line\ncase $line in *unknown-authority*) echo pin ;; *) sleep 60 ;; esac\n")
    program.chmod(0o755)
    (t.desk.folder / "data" / "certificates").unlink(missing_ok=True)
    t.start(ask=str(program))
    t.taken("unknown", "pinned")
    begin = time.monotonic()
    t.refused("expired", uri=ONE_WAY)
    took_s = time.monotonic() - begin
    t.start()
    t.taken("unknown", "tolerated")
    expect(f"{took_s:.1f} s", 2.5 < took_s < 4.5, "who says nothing was to have three seconds")
    return f"pinned; silence refuses after {took_s:.1f} s"


@table("address")
def address(t):
    """An address is compared with addresses, and is never sent as the server name."""
    t.start()
    _, seen = t.call("good", *GOOD, uri="sips:help@127.0.0.1")
    expect(seen, seen and seen[0][0] is None, "the server name was to be left out")
    t.call("other", "insecure", uri="sips:help@127.0.0.1")
    return "no server name"


@table("versions")
def versions(t):
    """TLS 1.2 and 1.3."""
    t.start()
    found = [t.call("good", *GOOD, version=version)[1][0][1]
             for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)]
    expect(found, found == ["TLSv1.2", "TLSv1.3"], "other versions")
    return ", ".join(found)


@table("silent")
def silent(t):
    """A server that takes the connection and never shakes hands."""
    t.start()
    mark, begin = t.desk.mark(), time.monotonic()
    with listen():
        t.desk.must("call", ONE_WAY)
        t.desk.ended("insecure", since=mark, limit_s=8)
    return (time.monotonic() - begin) * 1000


@check("tls/kamailio")
def kamailio(context):
    """Calls through Kamailio with 1.2 and 1.3 to baresip behind: sound both ways; the end by us, and by them."""
    folder = context.out / "tls" / "kamailio"
    authority = Authority(folder / "certificates")
    identity = authority.issue("proxy", f"IP:{ADDRESS}")
    for version in ("TLSv1.2", "TLSv1.3"):
        with Desk(folder / version) as desk, Kamailio(folder / f"proxy-{version}", tls=(*identity, version)), \
                Peer(folder / f"peer-{version}", clip(), PEER) as peer:
            desk.start(changes={"call.uri": f"sip:one@{ADDRESS};transport=tls", "tls.ca": str(authority.file)})
            mark = connect(desk)
            desk.wait_event("first_sound", since=mark)
            heard = peer.heard_samples()
            wait_until(lambda: peer.heard_samples() > heard + 24000, 3, "sound at the far end")
            closed = peer.mark()
            hang_up(desk)
            peer.wait_event("CALL_CLOSED", since=closed)
            mark = connect(desk)
            peer.hang_up()
            desk.ended("remote-hangup", since=mark)
            if desk.sent("INVITE"):
                raise Failed("in the clear", "an INVITE was seen on the wire")
            desk.stop()
    return "1.2 and 1.3"
