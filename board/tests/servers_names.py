# SPDX-License-Identifier: Apache-2.0
"""What the name service has to say of servers: much, lies, nothing, and what was found once."""

import time

from peer.names import PORT, Liar, Names
from peer.odd import Silent
from tests.runner import Failed, check
from tests.servers import GOOD, Scene, services

RECORDS = 1000


@check("servers/naptr")
def naptr(context):
    """The domain chooses TCP, beside services that are not ours."""
    pointers = ['example.test,10,10,u,E2U+sip,!^.*$!sip:x@example.test!',
                "example.test,20,10,s,SIP+D2S,,_sip._sctp.example.test",
                "example.test,30,10,s,SIP+D2T,,_sip._tcp.example.test"]
    records = {"services": services(GOOD, transport="tcp"), "pointers": pointers}
    with Scene(context, records, transport="tcp", changes={"call.uri": "sip:help@example.test"}) as scene:
        return scene.done(scene.start().press())


@check("servers/thousand-records")
def thousand(context):
    """Every one of the thousand names the server."""
    records = {"services": [("_sip._udp.example.test", "sip.example.test", GOOD, number % 7, number % 11)
                            for number in range(RECORDS)]}
    with Scene(context, records) as scene:
        return scene.done(scene.start().press())


def comes_to_nothing(desk, limit_s):
    """Seconds from a press to its outcome, which is that nobody was found."""
    mark, begin = desk.mark(), time.monotonic()
    desk.must("call")
    ended = desk.ended("unknown-host", since=mark, limit_s=limit_s)
    seconds = time.monotonic() - begin
    if len(ended["text"].split()) < 2:
        raise Failed(repr(ended["text"]), "a plain sentence was expected")
    return seconds


@check("servers/no-records")
def no_records(context):
    with Scene(context, {}) as scene:
        return comes_to_nothing(scene.start().desk, 5)


@check("servers/lies")
def lies(context):
    """Whatever the name server sends, the press comes to its end, and the next one with a good server rings."""
    with Scene(context, {}, names=False) as scene:
        with Liar() as liar:
            scene.start()
            seconds = max(comes_to_nothing(scene.desk, 5) for _ in range(4))
            if not liar.asked:
                raise Failed("not asked", "the liar was to be asked")
        with Names(scene.desk.folder, scene.hosts, services(GOOD)):
            scene.press()
        return scene.done(seconds)


@check("servers/name-server-silent")
def silent_names(context):
    """Seconds to the ringing where the name server was there once and is silent now."""
    with Scene(context, {}, names=False, calls=2) as scene:
        with Names(scene.desk.folder, scene.hosts, services(GOOD)):
            scene.start()
            scene.press()
        time.sleep(6)
        with Silent(port=PORT):
            return scene.done(scene.press())


@check("servers/name-server-dead")
def dead(context):
    """Once found, the server is called though no name server answers any more, though all its records have expired."""
    with Scene(context, {}, names=False, calls=2) as scene:
        with Names(scene.desk.folder, scene.hosts, services(GOOD)):
            scene.start()
            scene.press()
        # dnsmasq's own records hold for no time at all, and we keep those for five seconds.
        time.sleep(6)
        return scene.done(scene.press())
