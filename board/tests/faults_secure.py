# SPDX-License-Identifier: Apache-2.0
"""Calls that would not be private, or with somebody else, made on the board for the table of faults."""

from peer.background import accepted
from peer.names import SERVER, Names
from peer.refuser import MEDIA_PORT, Refuser
from peer.tls import BusyByTLS, handshakes
from tests.faults import reload
from tests.faults_calls import REFUSES, fails, quiet
from tests.kiosk import PEER
from tests.schedule import vouch

# The far end has 5061.
NO_TLS, TLS = 5084, 5085


def certificates(away):
    """Servers that cannot be trusted, and one whose certificate ends soon, which is only written down."""
    kiosk, here, (good, stranger) = away.kiosk, f"IP:{PEER}", away.authorities
    kinds = {
        "certificate expired": good.issue("expired", here, -20, -1), "from tomorrow": good.issue("early", here, 3, 300),
        "for another name": good.issue("other", "DNS:sip.example.org"),
        "of somebody": stranger.issue("unknown", here), "with a forged signature": good.forge("forged", here),
        "with what nobody knows": good.issue("rare", here, extension="1.2.3.4=critical,DER:0500"),
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
    vouch(away.bench)
    try:
        with BusyByTLS(*kinds["from tomorrow"], port=TLS):
            fails(away, "from tomorrow, by a good clock", f"sips:help@{PEER}:{TLS}")
    finally:
        vouch(away.bench, False)
    return f"{len(kinds) + 3} servers"


def named(away):
    """A certificate for all names of a domain; the name is asked of a name server."""
    host, (good, _) = "gate.example.test", away.authorities
    with Names(away.bench.folder / "names", [(host, PEER)]), \
            BusyByTLS(*good.issue("wildcard", "DNS:*.example.test"), port=TLS):
        reload(away, {"network.dns": SERVER})
        fails(away, "for all names", f"sips:help@{host}:{TLS}")
    reload(away, {})
    return "1 server"


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
    reload(away, {"media.encryption": "required"})
    with Refuser(PEER, REFUSES):
        fails(away, "answered in the clear", f"sip:plain@{PEER}:{REFUSES}")
        moment = away.witness.moment()
        with handshakes(PEER, MEDIA_PORT, *other, away.bench.folder / "handshakes.log"):
            fails(away, "keys with somebody else", f"sip:handshake@{PEER}:{REFUSES}")
        told = away.kiosk.wait_event("not_secured", since=moment[0])
        quiet(away, told["fault_code"], "keys with somebody else", "press", moment, told["text"])
    reload(away, {"tls.verify": "tofu"})
    with BusyByTLS(*other, port=TLS):
        mark = away.kiosk.mark()
        away.kiosk.tell("call", f"sips:help@{PEER}:{TLS}")
        away.kiosk.wait_event("certificate", since=mark, verdict="first-seen")
        away.kiosk.wait_event("call", since=mark, state="ended")
    with BusyByTLS(*fine, port=TLS):
        fails(away, "another certificate", f"sips:help@{PEER}:{TLS}")
    reload(away, {})
    return f"{len(rows) + 3} calls"
