# SPDX-License-Identifier: Apache-2.0
"""Reached and private beside real servers: Asterisk 22 by TLS, two nodes of Kamailio 6; and a kiosk that is idle."""

import contextlib
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure.sip import messages
from measure.wire import Wire
from peer.asterisk import HERE, Asterisk
from peer.authority import Authority
from peer.baresip import Peer
from peer.kamailio import Kamailio
from peer.names import SERVER as NAME_SERVER
from peer.names import Names
from tests.asterisk import counted, flows, flows_still
from tests.bench import wait_until
from tests.desk import KIOSK, PEER, Beside, Desk
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


# The link

FAR, NODE, REGISTRAR = "10.78.0.1", "10.78.0.4", "10.78.0.5"
BEFORE, AFTER = "10.78.0.2", "10.78.0.22"
DOWN_S = 90


class Link:
    """A kiosk in a network of its own, joined by one link to that of a far end, a registrar, and a node before it."""

    def __init__(self, folder):
        self.folder, self.desk, self.stack = folder, Desk(folder / "kiosk"), contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.desk)
            self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
            stack.callback(self._let_go)
            self.name = f"/proc/{self.holder.pid}/ns/net"
            wait_until(lambda: os.readlink(self.name) != os.readlink("/proc/thread-self/ns/net"), 3, "a second network")
            self._ip("link", "add", "far", "type", "veth", "peer", "name", "near", "netns", str(self.holder.pid))
            # baresip takes the first address for its own. With the first of them the others go.
            self._ip("address", "delete", f"{PEER}/24", "dev", "lo")
            for address in (FAR, NODE, REGISTRAR):
                self._ip("address", "add", f"{address}/24", "dev", "far")
            self._ip("link", "set", "far", "up")
            self.up(BEFORE)
            self.wire = stack.enter_context(Wire("far"))
            self.authority = Authority(self.folder / "certificates")
            certificate = self.authority.issue("node", f"IP:{NODE}")
            stack.enter_context(Kamailio(self.folder / "home", "kamailio-home.cfg", address=REGISTRAR, DOMAIN=NODE))
            stack.enter_context(Kamailio(
                self.folder / "node", "kamailio-edge.cfg", tls=(*certificate, "TLSv1.3"), address=NODE, DOMAIN=NODE,
                OTHER=NODE, HOME=REGISTRAR, FIRST=f"{FAR}:5060"))
            self.desk.before = ["nsenter", f"--net={self.name}"]
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        with self.stack:
            self.desk.stop()

    def _let_go(self):
        self.holder.kill()
        self.holder.wait()

    @staticmethod
    def _ip(*words):
        subprocess.run(["ip", *words], check=True)

    def _ip_there(self, *words):
        subprocess.run(["nsenter", f"--net={self.name}", "ip", *words], check=True)

    def up(self, address):
        self._ip_there("link", "set", "near", "up")
        self._ip_there("address", "add", f"{address}/24", "dev", "near")

    def down(self):
        self._ip_there("address", "flush", "dev", "near")
        self._ip_there("link", "set", "near", "down")

    def start(self, by_tls=False):
        """By UDP straight to the registrar and the far end, or all by TLS through the node."""
        addresses = {"call.uri": f"sip:peer@{FAR}", "account.uri": f"sip:gate@{REGISTRAR}"}
        if by_tls:
            addresses = {"call.uri": f"sip:one@{NODE};transport=tls",
                         "account.uri": f"sip:gate@{NODE};transport=tls", "tls.ca": str(self.authority.file)}
        self.desk.start(changes={"sip.listen": "any:5060", "audio.codecs": "pcmu", **addresses})
        registration(self.desk)
        return self.desk

    def registered(self):
        """The registrar has granted the new address, to the kiosk or to the node on this side."""
        return any(message.name == "200" and message.method == "REGISTER" and AFTER in message.header("contact")
                   for wire in (self.wire, self.desk.wire) for message in messages(wire))


def back(folder):
    """Seconds until the kiosk is registered, without a call."""
    with Link(folder) as link:
        link.start()
        link.down()
        time.sleep(DOWN_S)
        begin = time.monotonic()
        link.up(AFTER)
        wait_until(link.registered, 15, "a registration from the new address")
        return [time.monotonic() - begin]


def back_in_a_call(folder, by_tls):
    """Seconds until sound comes in, until it goes out, and until the kiosk is registered."""
    with Link(folder) as link, Peer(folder / "peer", clip(), FAR, codecs=("pcmu",)) as peer:
        desk, taken = link.start(by_tls), []
        connect(desk)
        plays(desk, peer)
        link.down()
        time.sleep(DOWN_S)
        came, heard, begin = counted(desk, "audio", "rtp_in"), peer.heard_samples(), time.monotonic()
        link.up(AFTER)
        for holds, what in ((lambda: counted(desk, "audio", "rtp_in") > came + 10, "sound to come in again"),
                            (lambda: peer.heard_samples() > heard + 9600, "sound to go out again"),
                            (link.registered, "a registration from the new address")):
            wait_until(holds, 15, what)
            taken.append(time.monotonic() - begin)
        plays(desk, peer)
        closed = peer.mark()
        hang_up(desk)
        peer.wait_event("CALL_CLOSED", since=closed)
        return taken


# They wait for most of their time: at once, each in networks of its own.
LINKS = {"down": back, "down-call": lambda folder: back_in_a_call(folder, False),
         "down-tls": lambda folder: back_in_a_call(folder, True)}


def begun(context):
    """{name: future} of those that were asked for."""
    pool = context.keep(ThreadPoolExecutor(len(LINKS)))
    return {name: pool.submit(LINKS[name], context.out / "link" / name) for name in LINKS
            if any(row.name == f"link/{name}" for row in context.rows)}


def link(name):
    """Declares the check `link/NAME`: the longest of its times."""

    def run(context):
        taken = context.once("links", lambda: begun(context))[name].result()
        context.log(", ".join(f"{seconds:.2f} s" for seconds in taken))
        return max(taken)

    check(f"link/{name}")(run)


for each in LINKS:
    link(each)

# Idle

SECONDS, TICKS = 20, os.sysconf("SC_CLK_TCK")


def spent(process):
    """Seconds of processor time, and how often each thread has waited: {(number, name): times}."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    waits = {}
    for task in Path(f"/proc/{process}/task").iterdir():
        status = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
        waits[task.name, status["Name"].strip()] = int(status["voluntary_ctxt_switches"])
    return (int(fields[11]) + int(fields[12])) / TICKS, waits


def rests(context, desk, name):
    """(per cent of a core, wake-ups a second) while nothing happens."""
    time.sleep(5)
    seconds, waits = spent(desk.process.pid)
    desk.idle_for(SECONDS)
    seconds_after, waits_after = spent(desk.process.pid)
    share = (seconds_after - seconds) / SECONDS * 100
    wakes = {thread: (count - waits.get(thread, 0)) / SECONDS for thread, count in waits_after.items()}
    context.log(f"{name}: {share:.2f} %", *(f"{thread}: {each:.2f}/s" for thread, each in wakes.items() if each))
    return share, sum(wakes.values())


@check("link/idle")
def idle(context):
    told = []
    with Exchange(context.folder) as found:
        for name, changes in (("UDP", {"account__uri": f"sip:gate@{HOME}"}), ("TLS", {})):
            share, wakes = rests(context, found.start(**changes), name)
            told.append(f"{name} {share:.2f} %, {wakes:.2f}/s")
            if share > 0.5 or wakes > 1:
                raise Failed(told[-1], "too busy for nothing; the log has each thread")
    return "; ".join(told)
