# SPDX-License-Identifier: Apache-2.0
"""Ways of media found by ICE: beside baresip and a far end with ICE lite, and through routers that let nothing in."""

import contextlib
import os
import subprocess

from measure.wire import Wire
from peer import packetfilter
from peer.authority import Authority
from peer.baresip import Peer
from peer.coturn import PASSWORD, USER, Coturn
from peer.lite import Lite
from tests.arm import camera_file
from tests.bench import wait_until
from tests.desk import PEER, Desk
from tests.race import hang_up
from tests.runner import Failed, check
from tests.secure import connected, plays
from tests.world import clip


class Network:
    """A network of its own, for as long as this is used as a context; the former one is where its links begin."""

    def __enter__(self):
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self.name = f"/proc/{self.holder.pid}/ns/net"
        self.enter = ["nsenter", f"--net={self.name}"]
        wait_until(lambda: os.readlink(self.name) != os.readlink("/proc/thread-self/ns/net"), 3, "a network")
        self.run("ip", "link", "set", "lo", "up")
        return self

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.wait()

    def run(self, *words):
        subprocess.run([*self.enter, *words], check=True)

    def filter(self, rules):
        packetfilter.apply(rules, self.enter)


def link(here, name, address, there, other_name, other_address):
    """Joins two networks (None: the one this runs in)."""
    words = ["ip", "link", "add", "dev", name, "type", "veth", "peer", "name", other_name, "netns",
             str(there.holder.pid)]
    subprocess.run([*(here.enter if here else []), *words], check=True)
    for network, device, own in ((here, name, address), (there, other_name, other_address)):
        for rest in (["address", "add", f"{own}/24", "dev", device], ["link", "set", device, "up"]):
            subprocess.run([*(network.enter if network else []), "ip", *rest], check=True)
    # The kernel tells programs of a new link's carrier only after a while.
    wait_until(lambda: all(runs(*end) for end in ((here, name), (there, other_name))), 5, "links")


def runs(network, device):
    words = [*(network.enter if network else []), "ip", "-oneline", "link", "show", "dev", device]
    return " state UP " in subprocess.run(words, check=True, capture_output=True, text=True).stdout


# One link

FAR, KIOSK = "10.78.0.1", "10.78.0.2"


class Link:
    """A kiosk in a network of its own, joined to that of a far end. libnice does not speak from loopback."""

    def __init__(self, folder):
        self.desk, self.stack = Desk(folder / "kiosk"), contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.desk)
            self.home = stack.enter_context(Network())
            # baresip takes the first address for its own.
            subprocess.run(["ip", "address", "delete", f"{PEER}/24", "dev", "lo"], check=True)
            link(None, "far", FAR, self.home, "near", KIOSK)
            self.wire = stack.enter_context(Wire("far"))
            self.desk.before = self.home.enter
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        with self.stack:
            self.desk.stop()

    def start(self, **changes):
        self.desk.start(changes={
            "sip.listen": "any:5060", "call.uri": f"sip:peer@{FAR}", "sip.accept_from": "anyone",
            "call.incoming": "answer", "call.incoming_from": "anyone", "audio.codecs": "pcmu",
            **{key.replace("__", "."): value for key, value in changes.items()}})
        return self.desk


def selected(desk, since, media="audio", limit_s=6):
    """(ours, theirs): the kinds of candidates of the way that media go."""
    event = desk.wait_event("ice", since=since, limit_s=limit_s, state="selected", media=media)
    return event["local"], event["remote"]


def beside_baresip(context, name, encryption=None, way="no", directions=("out", "in"), **changes):
    seen = []
    with Link(context.folder / name) as found, Peer(
            context.folder / f"peer-{name}", clip(), FAR, codecs=("pcmu",), encryption=encryption, ice=True) as peer:
        desk = found.start(ice__use="on", **changes)
        for direction in directions:
            mark = desk.mark()
            if direction == "out":
                desk.must("call")
            else:
                peer.dial(f"sip:callbox@{KIOSK}")
            event = desk.wait_event("call", since=mark, state="connected", limit_s=8)
            if event.get("secure") != way:
                raise Failed(f"secure: {event.get('secure')}", f"the call was to be {way}")
            seen.append("/".join(selected(desk, mark)))
            plays(desk, peer)
            hang_up(desk)
            desk.idle()
    return ", ".join(seen)


@check("ice/baresip")
def baresip(context):
    return beside_baresip(context, "plain")


@check("ice/keys")
def keys(context):
    return beside_baresip(context, "sdes", "srtp-mand", "sdes", media__keying="sdes", media__encryption="required")


@check("ice/handshake")
def handshake(context):
    return beside_baresip(context, "dtls", "dtls_srtp", "dtls", media__keying="dtls", media__encryption="required")


@check("ice/lite")
def lite(context):
    """We decide, and nominate; it answers. Bad candidates beside the good one are passed over."""
    bad = [f"a=candidate:{number} 1 UDP 1 10.99.0.{number % 250} 9 typ host" for number in range(200)]
    bad += ["a=candidate:x 1 UDP 1 0b1e.local 9 typ host", f"a=candidate:y 1 UDP 1 {FAR} 0 typ host",
            "a=candidate:z 1 UDP 1 127.0.0.1 9 typ host"]
    seen = []
    with Link(context.folder) as found:
        desk = found.start(ice__use="on")
        for extra in ((), bad[-3:]):
            with Lite(FAR, extra=extra) as far:
                mark = desk.mark()
                desk.must("call")
                desk.wait_event("call", since=mark, state="connected")
                seen.append("/".join(selected(desk, mark)))
                wait_until(lambda: far.heard > 50, 5, "sound at the far end")
                desk.wait_event("first_sound", since=mark)
                hang_up(desk)
                desk.idle()
            if far.bad:
                raise Failed(f"{far.bad} checks", "checks named somebody else")
        # So many that the good one is beyond what is kept: the call has no sound, and nothing else happens.
        with Lite(FAR, extra=bad) as far:
            mark = desk.mark()
            desk.must("call")
            desk.wait_event("call", since=mark, state="connected")
            wait_until(lambda: desk.alive(), 1, "the kiosk")
            hang_up(desk)
            desk.idle()
    return ", ".join(seen)


@check("ice/plain")
def plain(context):
    """We offer ICE and the far end has none: media come to the ports that were offered."""
    with Link(context.folder) as found, Peer(context.folder / "peer", clip(), FAR, codecs=("pcmu",)) as peer:
        desk = found.start(ice__use="on")
        desk.must("call")
        connected(desk, "no")
        plays(desk, peer)
        for word in ("hold", "resume"):
            mark = desk.mark()
            desk.must(word)
            desk.wait_event("change", since=mark, code=200)
        plays(desk, peer)
        hang_up(desk)
    return "sound both ways"


# Streets

RELAY, ONE, TWO = "198.51.100.1", "10.79.0.1", "10.79.0.2"


class Streets:
    """Two kiosks, each behind a router of its own that gives each far end another port and lets nothing in that was not
    asked for; outside, a relay. Signalling has a link of its own, on which nothing else passes."""

    def __init__(self, folder):
        self.folder, self.stack = folder, contextlib.ExitStack()
        camera = f"file:{camera_file()}"
        self.desks = [Desk(folder / "one", camera=camera), Desk(folder / "two", camera=camera, address=TWO)]

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for desk in self.desks:
                stack.enter_context(desk)
            subprocess.run(["sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True)
            self._outside()
            homes = [self._street(stack, number, desk) for number, desk in enumerate(self.desks, 1)]
            link(homes[0], "signalling", ONE, homes[1], "signalling", TWO)
            for home in homes:
                home.filter("signalling")
            self.authority = Authority(self.folder / "certificates")
            certificate = self.authority.issue("relay", f"IP:{RELAY}")
            self.relay = stack.enter_context(Coturn(self.folder / "relay", RELAY, certificate))
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        with self.stack:
            for desk in self.desks:
                desk.stop()

    @staticmethod
    def _outside():
        """What is sent to addresses that mean nothing here is lost, and nobody is told: coturn would give up."""
        for words in ("link add dev lost type veth peer name found", "link set lost arp off up", "link set found up",
                      "route add default dev lost"):
            subprocess.run(["ip", *words.split()], check=True)

    @staticmethod
    def _street(stack, number, desk):
        router, home = stack.enter_context(Network()), stack.enter_context(Network())
        outside = "198.51.100" if number == 1 else "203.0.113"
        link(None, f"street{number}", f"{outside}.1", router, "outside", f"{outside}.2")
        link(router, "inside", f"10.{number}.0.1", home, "near", f"10.{number}.0.2")
        router.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        router.run("ip", "route", "add", "default", "via", f"{outside}.1")
        home.run("ip", "route", "add", "default", "via", f"10.{number}.0.1")
        router.filter("masquerade")
        desk.before = home.enter
        return home

    def start(self, *relays):
        """Each kiosk with its relay as the file writes it."""
        for desk, relay in zip(self.desks, relays):
            desk.start(changes={
                "sip.listen": "any:5060", "call.uri": f"sip:callbox@{TWO}", "sip.accept_from": "anyone",
                "call.incoming": "answer", "call.incoming_from": "anyone", "ice.use": "on", "ice.turn": relay,
                "ice.turn_user": USER, "ice.turn_password": PASSWORD, "tls.ca": str(self.authority.file)})


@check("ice/relay")
def relay(context):
    """Sound and pictures both ways, with the relay spoken to by UDP, TCP and TLS."""
    seen = []
    with Streets(context.folder) as found:
        for relays in ((f"turn:{RELAY}", f"turn:{RELAY}?transport=tcp"), (f"turns:{RELAY}", f"turn:{RELAY}")):
            found.start(*relays)
            one, two = found.desks
            marks = [desk.mark() for desk in found.desks]
            one.must("call")
            for desk, mark in zip(found.desks, marks):
                desk.wait_event("call", since=mark, state="connected", limit_s=8)
                kinds = selected(desk, mark) + selected(desk, mark, "video")
                if "relay" not in kinds[:2] or "relay" not in kinds[2:]:
                    raise Failed("/".join(kinds), "nothing but the relay was to work")
                seen.append("/".join(kinds[:2]))
            for desk, mark in zip(found.desks, marks):
                desk.wait_event("first_sound", since=mark, limit_s=8)
                desk.wait_event("first_frame", since=mark, limit_s=8)
            hang_up(one)
            two.ended("remote-hangup", since=marks[1])
    return ", ".join(seen)
