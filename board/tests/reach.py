# SPDX-License-Identifier: Apache-2.0
"""Reached and private beside real servers: Asterisk 22 by TLS, and two nodes of Kamailio 6."""

import contextlib
import subprocess
import time

from measure.sip import messages
from peer.asterisk import HERE, Asterisk
from peer.authority import Authority
from peer.baresip import Peer
from peer.kamailio import Kamailio
from peer.names import SERVER as NAME_SERVER
from peer.names import Names
from tests.bench import wait_until
from tests.desk import KIOSK, PEER, Beside, Desk
from tests.office import counted, flows, flows_still
from tests.race import connect, hang_up
from tests.register import registration, text_through
from tests.runner import Failed, check
from tests.secure import plays
from tests.world import THIRD, clip

# Asterisk


class Gate(Beside):
    """A kiosk and an Asterisk at which it is registered by TLS with a password; media are encrypted this way."""

    def __init__(self, folder, way):
        self.way, self.desk = way, Desk(folder / "kiosk")
        self.authority = Authority(folder / "certificates")
        certificate, key = self.authority.issue("server", f"IP:{THIRD}")
        files = {"server.pem": certificate.read_text(), "server.key": key.read_text()}
        for path in (*(HERE / "etc-asterisk").iterdir(), *(HERE / "etc-asterisk-tls").iterdir()):
            text = path.read_text()
            for name, value in {"@SERVER@": THIRD, "@KIOSK@": KIOSK, "@PEER@": PEER}.items():
                text = text.replace(name, value)
            files[path.name] = files.get(path.name, "") + text
        self.server = Asterisk(folder / "asterisk", files)

    def start(self):
        name = f"gate-{self.way}"
        self.desk.start(changes={
            "call.uri": f"sip:echo@{THIRD};transport=tls", "call.incoming": "answer",
            "call.incoming_from": "anyone", "sip.user": name, "sip.password": "secret",
            "account.uri": f"sip:{name}@{THIRD};transport=tls", "account.outbound": "no",
            "tls.ca": str(self.authority.file), "media.encryption": "required", "media.keying": self.way})
        registration(self.desk)
        # The wire cannot be read: what passed is in Asterisk's log.
        self.server.command("pjsip set logger on")

    def private(self, mark):
        """Connected with keys agreed this way, and sound comes and goes."""
        event = self.desk.wait_event("call", since=mark, state="connected", limit_s=8)
        if event.get("secure") != self.way:
            raise Failed(f"secure: {event.get('secure')}", f"the call was to be {self.way}")
        self.desk.wait_event("first_sound", since=mark)
        flows(self.desk, "audio")
        flows_still(self.desk)
        dropped = {key: counted(self.desk, "audio", key) for key in ("forged", "replayed")}
        if any(dropped.values()):
            raise Failed(f"{dropped}", "packets of Asterisk were dropped")


def gate(context, way):
    with Gate(context.folder, way) as found:
        desk, server = found.desk, found.server
        found.start()
        for extension in ("echo", "tone"):
            mark = desk.mark()
            desk.must("call", f"sip:{extension}@{THIRD};transport=tls")
            found.private(mark)
            hang_up(desk)
            server.idle()
        mark = desk.mark()
        server.action("Originate", Channel=f"PJSIP/gate-{way}", Context="calls", Exten="echo", Priority="1",
                      Async="true", Codecs="ulaw")
        found.private(mark)
        server.action("Hangup", Channel=server.channels()[0])
        desk.ended("remote-hangup", since=mark)
        server.idle()
        if desk.sent() or desk.got():
            raise Failed("in the clear", f"SIP was seen on the wire: {desk.ladder()}")
    return "both ways"


check("reach/asterisk-sdes")(lambda context: gate(context, "sdes"))
check("reach/asterisk-dtls")(lambda context: gate(context, "dtls"))

# Kamailio

DOMAIN, ONE, TWO, HOME = "example.test", THIRD, "10.77.0.4", "10.77.0.5"


class Exchange:
    """A kiosk, a name server, two nodes that the domain's SRV records name in turn, and a registrar behind them."""

    def __init__(self, folder):
        self.folder, self.desk, self.stack = folder, Desk(folder / "kiosk"), contextlib.ExitStack()
        self.authority = Authority(folder / "certificates")

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.desk)
            for address in (TWO, HOME):
                subprocess.run(["ip", "address", "add", f"{address}/24", "dev", "lo"], check=True)
                subprocess.run(["ip", "route", "replace", "local", address, "dev", "lo", "table", "local", "src",
                                KIOSK], check=True)
            nodes = (("one", ONE), ("two", TWO))
            stack.enter_context(Names(
                self.desk.folder, [(f"{name}.{DOMAIN}", address) for name, address in nodes],
                [(f"_sips._tcp.{DOMAIN}", f"{name}.{DOMAIN}", 5061, number, 0)
                 for number, (name, _) in enumerate(nodes)]))
            stack.enter_context(
                Kamailio(self.folder / "home", "kamailio-home.cfg", address=HOME, DOMAIN=DOMAIN))
            self.one, _ = [stack.enter_context(self.node(name, address)) for name, address in nodes]
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        with self.stack:
            self.desk.stop()

    def node(self, name, address):
        # RFC 5922: what was found by SRV shows the domain's certificate.
        certificate = self.authority.issue(name, f"DNS:{DOMAIN},IP:{address}")
        return Kamailio(self.folder / name, "kamailio-edge.cfg", tls=(*certificate, "TLSv1.3"), address=address,
                        DOMAIN=DOMAIN, HOME=HOME, OTHER=TWO if address == ONE else ONE)

    def start(self, **changes):
        self.desk.start(changes={
            "call.uri": f"sip:one@{DOMAIN};transport=tls", "account.uri": f"sip:gate@{DOMAIN};transport=tls",
            "network.dns": NAME_SERVER, "tls.ca": str(self.authority.file), "audio.codecs": "pcmu",
            **{key.replace("__", "."): value for key, value in changes.items()}})
        registration(self.desk)
        return self.desk

    def passed(self, name, source, target, since=0):
        """What one of the servers sent to another, in the clear."""
        self.desk.wire.catch_up()
        return [message for message in messages(self.desk.wire, since) if message.name == name
                and (message.source, message.target) == (source, target)]

    def by_flow(self, node, since=0):
        """The binding that the registrar has is a flow of this node's (RFC 5626)."""
        register = self.passed("REGISTER", node, HOME, since)[-1]
        answer = self.passed("200", HOME, node, since)[-1]
        for figure, holds in ((register.header("path"), ";ob" in register.header("path")),
                              (register.header("contact"), "reg-id=1" in register.header("contact")),
                              (answer.header("require"), answer.lists("require", "outbound"))):
            if not holds:
                raise Failed(figure, "outbound was to be used")

    def reached(self, text):
        """Who asks the registrar reaches the kiosk."""
        mark = self.desk.mark()
        status = text_through(HOME, "gate", text)
        if status != 200:
            raise Failed(status, "a text through the registrar was to be taken")
        self.desk.wait_event("message", since=mark, text=text)


@check("reach/two-nodes")
def two_nodes(context):
    """The longest of: registered by the second node after the first one stopped in a call, from the hook until the far
    end of that call is told, and from the next press to the answer."""
    with Exchange(context.folder) as found, Peer(found.folder / "peer", clip(), PEER, codecs=("pcmu",)) as peer:
        desk = found.start()
        found.by_flow(ONE)
        found.reached("by one")
        connect(desk)
        plays(desk, peer)
        wire, begin = desk.wire.mark(), time.monotonic()
        found.one.__exit__()
        wait_until(lambda: found.passed("200", HOME, TWO, wire), 8, "a registration by the second node")
        registered = time.monotonic() - begin
        found.by_flow(TWO, wire)
        plays(desk, peer)
        found.reached("by two")
        closed, begin = peer.mark(), time.monotonic()
        hang_up(desk)
        peer.wait_event("CALL_CLOSED", since=closed)
        told = time.monotonic() - begin
        desk.idle()
        wire, begin = desk.wire.mark(), time.monotonic()
        mark = connect(desk)
        called = time.monotonic() - begin
        if not found.passed("INVITE", TWO, PEER, wire):
            raise Failed(desk.ladder(wire), "the call was to come by the second node")
        plays(desk, peer)
        peer.hang_up()
        desk.ended("remote-hangup", since=mark)
        context.log(f"registered after {registered:.2f} s, told after {told:.2f} s, called in {called:.2f} s")
        return max(registered, told, called)


@check("reach/node-freezes")
def node_freezes(context):
    """Seconds from the press to the ringing where the node of our flow is silent, and nothing says so."""
    with Exchange(context.folder) as found, Peer(found.folder / "peer", clip(), PEER, codecs=("pcmu",)):
        desk = found.start()
        found.by_flow(ONE)
        found.one.freeze()
        mark, begin = desk.mark(), time.monotonic()
        desk.must("call")
        desk.wait_event("call", since=mark, state="ringing", limit_s=8)
        seconds = time.monotonic() - begin
        desk.wait_event("call", since=mark, state="connected")
        hang_up(desk)
        return seconds
