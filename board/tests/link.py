# SPDX-License-Identifier: Apache-2.0
"""A link that is down for a while, in a call and without one; and a kiosk that is idle."""

import contextlib
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure.sip import messages
from measure.wire import Wire
from peer.authority import Authority
from peer.baresip import Peer
from peer.kamailio import Kamailio
from tests.bench import wait_until
from tests.desk import PEER, Desk
from tests.office import counted
from tests.race import connect, hang_up
from tests.reach import HOME, Exchange
from tests.register import registration
from tests.runner import Failed, check
from tests.secure import plays
from tests.world import clip

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
