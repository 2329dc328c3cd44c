# SPDX-License-Identifier: Apache-2.0
"""The kiosk behind Kamailio 6, which forks its calls to two people."""

import time
from pathlib import Path

from peer.baresip import Peer
from peer.kamailio import ADDRESS, Kamailio
from peer.sipp import Scenario, session
from tests.bench import wait_until
from tests.desk import PEER, Beside, Desk
from tests.race import connect, hang_up, told
from tests.race_fork import plays_to
from tests.runner import Failed, check
from tests.world import clip

SECOND_PORT, FIRST_SOUND, SECOND_SOUND = 5072, 31000, 32000


class Branches(Beside):
    """A kiosk whose calls go through the proxy."""

    def __init__(self, folder):
        self.folder, self.begin = Path(folder), 0
        self.desk, self.server = Desk(self.folder / "kiosk"), Kamailio(self.folder / "proxy")

    def ready(self, **changes):
        self.desk.start(changes={"call.uri": f"sip:help@{ADDRESS}", **changes})
        return self.desk


def behind(name):
    """Declares a function of the Branches as the check `kamailio/NAME`; what passed on the wire is kept."""

    def declare(function):
        def run(context):
            found = context.once("Kamailio", lambda: context.keep(Branches(context.out / "kamailio" / "branches")))
            found.begin = found.desk.wire.mark()
            try:
                return function(found)
            finally:
                (context.folder / "wire.txt").write_text(told(found.desk, found.begin))

        check(f"kamailio/{name}")(run)
        return function

    return declare


def person():
    return Scenario(proxied=True)


def gives_way():
    """Rings until it is cancelled."""
    scenario = person().recv("INVITE", keep="i").reply("i", 180, tag="slow").recv("CANCEL", keep="c").reply("c", 200)
    return scenario.reply("i", 487, tag="slow", retrans=True).recv("ACK")


def first(b, scenario):
    return b.desk.sipp(scenario, name="first")


def second(b, scenario):
    return b.desk.sipp(scenario, name="second", port=SECOND_PORT)


@behind("fork")
def fork(b):
    """baresip answers, the other one rings and gets CANCEL; sound both ways, BYE by the route that was recorded."""
    desk = b.ready()
    with second(b, gives_way()) as slow, Peer(b.folder / "peer", clip(), PEER, answer_after_ms=300) as peer:
        mark = connect(desk)
        slow.done()
        desk.wait_event("first_sound", since=mark)
        heard = peer.heard_samples()
        wait_until(lambda: peer.heard_samples() > heard + 24000, 3, "sound at the far end")
        closed = peer.mark()
        hang_up(desk)
        peer.wait_event("CALL_CLOSED", since=closed)
    if ADDRESS not in desk.sent("BYE", b.begin)[0].header("route"):
        raise Failed("no Route", "BYE was to go by the proxy")
    return "one answers, one is cancelled"


@behind("fork-both")
def fork_both(b):
    """Both answer, the second while its CANCEL is on the way: ACK for both, BYE for one, one call with its sound."""
    desk = b.ready()
    fast = person().recv("INVITE", keep="i").pause(100)
    fast.reply("i", 200, tag="one", body=session(audio=FIRST_SOUND), retrans=True).recv("ACK").is_hung_up()
    late = person().recv("INVITE", keep="i").reply("i", 180, tag="two").recv("CANCEL", keep="c").reply("c", 200)
    late.reply("i", 200, tag="two", body=session(audio=SECOND_SOUND), retrans=True).recv("ACK").is_hung_up()
    with first(b, fast) as one, second(b, late) as two:
        connect(desk)
        time.sleep(0.5)
        tags = {message.tag("To") for message in desk.sent("ACK", b.begin)}
        lost = [message.tag("To") for message in desk.sent("BYE", b.begin)]
        if tags == {"one", "two"}:
            plays_to(desk, SECOND_SOUND if lost == ["one"] else FIRST_SOUND)
        hang_up(desk)
        one.done()
        two.done()
    if tags != {"one", "two"} or len(lost) != 1:
        raise Failed(f"ACK {tags}, BYE {lost}", "both were to be acknowledged and one of them ended")
    return f"BYE for {lost[0]}"


@behind("fork-busy")
def fork_busy(b):
    """One is busy, the other answers later: the call is his."""
    desk = b.ready()
    busy = person().recv("INVITE", keep="i").reply("i", 486, tag="busy", retrans=True).recv("ACK")
    late = person().recv("INVITE", keep="i").reply("i", 180, tag="late").pause(500)
    late.reply("i", 200, tag="late", body=session(audio=SECOND_SOUND), retrans=True).recv("ACK").is_hung_up()
    with first(b, busy) as one, second(b, late) as two:
        connect(desk)
        one.done()
        plays_to(desk, SECOND_SOUND)
        hang_up(desk)
        two.done()
    return "the other one"


@behind("fork-nobody")
def fork_nobody(b):
    """Both refuse: the best refusal ends the call with a sentence."""
    desk = b.ready()

    def refuses(code):
        return person().recv("INVITE", keep="i").reply("i", code, tag=f"t{code}", retrans=True).recv("ACK")

    with first(b, refuses(486)) as one, second(b, refuses(480)) as two:
        mark = desk.mark()
        desk.must("call")
        ended = desk.ended("refused", since=mark)
        one.done()
        two.done()
    return f"“{ended['text']}”"


@behind("cancel")
def cancel(b):
    """Hook while both ring: both get CANCEL."""
    desk = b.ready()
    with first(b, gives_way()) as one, second(b, gives_way()) as two:
        mark = desk.mark()
        desk.must("call")
        desk.wait_event("call", since=mark, state="ringing")
        hang_up(desk, "cancelled")
        one.done()
        two.done()
    return "both cancelled"


@behind("route")
def route(b):
    """A change by the far end and the end by us, both along the recorded route; over TCP as well."""
    for transport in ("udp", "tcp"):
        desk = b.ready(**{"sip.transport": transport})
        scenario = person().answers(tag="one")
        scenario.request("INVITE", "i", 11, body=session("sendonly", version=2)).recv(100, optional=True).recv(200)
        scenario.request("ACK", "i", 11).is_hung_up()
        with first(b, scenario) as one, second(b, gives_way()) as two:
            mark = connect(desk)
            two.done()
            desk.wait_event("hold", since=mark, on=True)
            hang_up(desk)
            one.done()
    return "UDP and TCP"


@behind("redirect")
def redirect(b):
    """302 from the proxy to the group: called there."""
    desk = b.ready(**{"call.uri": f"sip:moved@{ADDRESS}"})
    with first(b, person().answers(tag="one").is_hung_up()) as one, second(b, gives_way()) as two:
        connect(desk)
        two.done()
        hang_up(desk)
        one.done()
    return "followed"
