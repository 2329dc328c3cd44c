# SPDX-License-Identifier: Apache-2.0
"""Which server a press goes to: left where it is of no use, remembered, and come back to."""

import contextlib
import socket
import threading
import time

from peer.authority import Authority
from peer.background import DatagramServer
from peer.kamailio import ADDRESS as PROXY
from peer.kamailio import Kamailio
from peer.names import ADDRESS, SERVER, Names
from peer.odd import Silent
from peer.sipp import Scenario
from tests.desk import Desk
from tests.runner import Failed, check

# The first two are of no use, the third rings.
FIRST, SECOND, GOOD = 5062, 5064, 5070


class Mute:
    """A TCP port that takes every connection and answers nothing."""

    def __init__(self, port):
        self.listener = socket.create_server((ADDRESS, port))
        self.listener.settimeout(0.1)
        self.taken, self.running = [], True
        self.thread = threading.Thread(target=self._take, daemon=True)

    def _take(self):
        while self.running:
            with contextlib.suppress(TimeoutError):
                self.taken.append(self.listener.accept()[0])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join(2)
        for connection in (*self.taken, self.listener):
            connection.close()


def rings(proxied=False):
    """Rings until it is cancelled."""
    scenario = Scenario(proxied=proxied).recv("INVITE", keep="i").reply("i", 180, tag="good").recv("CANCEL", keep="c")
    return scenario.reply("c", 200).reply("i", 487, tag="good", retrans=True).recv("ACK")


def refuses(code):
    return Scenario().recv("INVITE", keep="i").reply("i", code, tag="bad", retrans=True).recv("ACK")


def services(*ports, transport="udp", domain="example.test"):
    """SRV records by which these ports are tried in this order."""
    return [(f"_sip._{transport}.{domain}", "sip.example.test", port, number, 0) for number, port in enumerate(ports)]


class Scene:
    """A kiosk that asks the name server here, and one server that rings `calls` times."""

    def __init__(self, context, records, calls=1, transport="udp", names=True, changes=None, proxied=False):
        self.stack, self.desk = contextlib.ExitStack(), Desk(context.folder / "kiosk")
        self.hosts = [("sip.example.test", ADDRESS)]
        self.records, self.calls, self.transport, self.names = records, calls, transport, names
        self.proxied = proxied
        uri = f"sip:help@example.test{';transport=tcp' if transport == 'tcp' else ''}"
        self.changes = {"call.uri": uri, "network.dns": SERVER, **(changes or {})}

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.desk)
            if self.names:
                stack.enter_context(Names(self.desk.folder, self.hosts, self.records.get("services", ()),
                                          self.records.get("pointers", ())))
            self.good = stack.enter_context(self.desk.sipp(
                rings(self.proxied), port=GOOD, transport=self.transport, name="good", calls_max=self.calls))
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        with self.stack:
            self.desk.stop()

    def start(self):
        self.desk.start(changes=self.changes)
        return self

    def press(self, limit_s=8):
        """Seconds from the press until it rings; it is hung up then."""
        desk, mark, begin = self.desk, self.desk.mark(), time.monotonic()
        desk.must("call")
        desk.wait_event("call", since=mark, state="ringing", limit_s=limit_s)
        seconds = time.monotonic() - begin
        desk.press("hook")
        desk.ended("cancelled", since=mark)
        return seconds

    def done(self, seconds):
        self.good.done()
        return seconds


@check("servers/silent")
def silent(context):
    """Seconds from the press to the ringing of the second server."""
    with Scene(context, {"services": services(FIRST, GOOD)}) as scene, Silent(port=FIRST):
        return scene.done(scene.start().press())


@check("servers/two-silent")
def two_silent(context):
    with (Scene(context, {"services": services(FIRST, SECOND, GOOD)}) as scene, Silent(port=FIRST),
          Silent(port=SECOND)):
        return scene.done(scene.start().press())


@check("servers/refusing")
def refusing(context):
    with Scene(context, {"services": services(FIRST, GOOD)}) as scene:
        return scene.done(scene.start().press())


@check("servers/unavailable")
def unavailable(context):
    with (Scene(context, {"services": services(FIRST, GOOD)}) as scene,
          scene.desk.sipp(refuses(503), port=FIRST, name="bad") as bad):
        seconds = scene.start().press()
        bad.done()
        return scene.done(seconds)


@check("servers/mute-tcp")
def mute_tcp(context):
    """The first server takes the connection and says nothing."""
    records = {"services": services(FIRST, GOOD, transport="tcp")}
    with Scene(context, records, transport="tcp") as scene, Mute(FIRST) as mute:
        seconds = scene.start().press()
        if not mute.taken:
            raise Failed("no connection", "the first server was to be tried")
        return scene.done(seconds)


@check("servers/refusing-tcp")
def refusing_tcp(context):
    with Scene(context, {"services": services(FIRST, GOOD, transport="tcp")}, transport="tcp") as scene:
        return scene.done(scene.start().press())


@check("servers/tls-never")
def tls_never(context):
    """The first server takes the connection and says nothing; the second is Kamailio before the one that rings."""
    authority = Authority(context.folder / "certificates")
    certificate = authority.issue("proxy", "DNS:example.test")
    records = {"services": [("_sips._tcp.example.test", "sip.example.test", FIRST, 0, 0),
                            ("_sips._tcp.example.test", "proxy.example.test", 5061, 1, 0)]}
    scene = Scene(context, records, proxied=True, changes={
        "call.uri": "sip:one@example.test;transport=tls", "tls.ca": str(authority.file)})
    scene.hosts.append(("proxy.example.test", PROXY))
    with (scene, Mute(FIRST) as mute, Kamailio(context.folder / "proxy", tls=(*certificate, "TLSv1.3"),
                                               FIRST=f"{ADDRESS}:{GOOD}")):
        seconds = scene.start().press()
        if not mute.taken:
            raise Failed("no connection", "the first server was to be tried")
        return scene.done(seconds)


@check("servers/busy")
def busy(context):
    """A server that works says no: nobody else is asked."""
    with (Scene(context, {"services": services(FIRST, GOOD)}) as scene,
          scene.desk.sipp(refuses(486), port=FIRST, name="bad") as bad):
        desk = scene.start().desk
        mark = desk.mark()
        desk.must("call")
        ended = desk.ended("refused", since=mark)
        bad.done()
        if len(desk.sent("INVITE")) != 1:
            raise Failed(f"{len(desk.sent('INVITE'))} INVITEs", "one was to be sent")
        return ended["text"]


@check("servers/remembered")
def remembered(context):
    """Seconds of the second press: the server that was silent at the first one is tried last."""
    with Scene(context, {"services": services(FIRST, GOOD)}, calls=2) as scene, Silent(port=FIRST):
        first = scene.start().press()
        scene.desk.idle()
        second = scene.press()
        context.log(f"first {first:.2f} s, second {second:.3f} s")
        return scene.done(second)


class Present(DatagramServer):
    """A server that answers every OPTIONS with 200 and takes everything else without a word."""

    def __init__(self, port):
        super().__init__(ADDRESS, port)

    def received(self, request, asker):
        lines = request.decode(errors="replace").split("\r\n")
        if lines[0].startswith("OPTIONS "):
            kept = [line for line in lines if line.split(":")[0] in ("Via", "From", "To", "Call-ID", "CSeq")]
            self.socket.sendto("\r\n".join(["SIP/2.0 200 OK", *kept, "Content-Length: 0", "", ""]).encode(), asker)


@check("servers/failback")
def failback(context):
    """Seconds until the first of the listed servers is used again, from when it answers."""
    listed = {"call.uri": "sip:help@anywhere.test",
              "servers.proxies": f"sip:{ADDRESS}:{FIRST}, sip:{ADDRESS}:{GOOD}"}
    with Scene(context, {}, changes=listed) as scene:
        desk = scene.start().desk
        with Silent(port=FIRST):
            context.log(f"first press: {scene.press():.2f} s")
            if desk.status()["server"]["uri"] != f"sip:{ADDRESS}:{GOOD}":
                raise Failed(desk.status()["server"]["uri"], "the second server took the call, and is in use")
        scene.good.done()
        desk.idle()
        mark, begin = desk.mark(), time.monotonic()
        with Present(FIRST):
            desk.wait_event("server", since=mark, uri=f"sip:{ADDRESS}:{FIRST}", in_use=True, limit_s=110)
            seconds = time.monotonic() - begin
        if seconds < 55:
            raise Failed(f"{seconds:.0f} s", "it was to prove itself for a minute")
        return seconds
