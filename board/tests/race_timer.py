# SPDX-License-Identifier: Apache-2.0
"""Session timers (RFC 4028), and answers that say "not so, but so": 422, 420, 421, 3xx."""

from peer.sipp import PORT, Scenario, session
from tests.desk import KIOSK
from tests.race import connect, connected, expect, hang_up, race
from tests.race_cancel import no
from tests.race_fork import plays_to

CALLED = f"{KIOSK}:{PORT}"
SHORTEST_S = 90
ALLOWED = "Allow: INVITE, ACK, CANCEL, BYE, UPDATE"


def timed(refresher, *more):
    return (f"Session-Expires: {SHORTEST_S};refresher={refresher}", *more)


def refresh(desk, limit_s=SHORTEST_S / 2 + 6):
    """The kiosk's own refresh, and how long after the answer it came."""
    begin = desk.wait_sent("ACK").at_ms
    method = "UPDATE" if desk.got(200)[0].lists("Allow", "UPDATE") else "INVITE"
    found = desk.wait_sent(method, count=1 if method == "UPDATE" else 2, limit_s=limit_s)
    return found, (found.at_ms - begin) / 1000


@race("timer-ours", is_slow=True)
def timer_ours(desk):
    """The answer makes us refresh: UPDATE after half the interval, and the call goes on."""
    scenario = Scenario().answers(headers=timed("uac", ALLOWED, "Require: timer"))
    scenario.recv("UPDATE", keep="u").reply("u", 200, headers=timed("uac", "Require: timer")).is_hung_up()
    with desk.sipp(scenario, recv_limit_s=60) as peer:
        connect(desk)
        found, seconds = refresh(desk)
        desk.idle_for(0.3)
        expect("ended", desk.status().get("state") == "connected", "a refreshed call goes on")
        hang_up(desk)
        peer.done()
    expect("a body", not found.body and found.header("session-expires"), "UPDATE without a description refreshes")
    expect(f"{seconds:.1f} s", 40 <= seconds <= 46, "half of 90 s")
    return f"after {seconds:.1f} s"


@race("timer-ours-reinvite", is_slow=True)
def timer_ours_reinvite(desk):
    """The same with a far end without UPDATE: re-INVITE, with the same description as before (RFC 4028 7.4)."""
    scenario = Scenario().answers(headers=timed("uac", "Allow: INVITE, ACK, CANCEL, BYE"))
    scenario.recv("INVITE", keep="u").reply("u", 200, headers=timed("uac"), body=session(), retrans=True).recv("ACK")
    scenario.is_hung_up()
    with desk.sipp(scenario, recv_limit_s=60) as peer:
        connect(desk)
        found, seconds = refresh(desk)
        desk.idle_for(0.3)
        plays_to(desk, 30000)
        hang_up(desk)
        peer.done()
    first = desk.sent("INVITE")[0]
    line = [[text for text in message.body.split("\r\n") if text.startswith("o=")] for message in (first, found)]
    expect(f"{line}", line[0] == line[1], "a refresh changes nothing, so the version stays")
    return f"after {seconds:.1f} s"


@race("timer-theirs-missed", is_slow=True)
def timer_theirs_missed(desk):
    """The far end is to refresh and does not: BYE before the session expires (RFC 4028 10), idle."""
    scenario = Scenario().answers(headers=timed("uas", "Require: timer")).is_hung_up()
    with desk.sipp(scenario, recv_limit_s=90) as peer:
        connect(desk)
        desk.ended(limit_s=SHORTEST_S)
        peer.done()
    seconds = (desk.sent("BYE")[0].at_ms - desk.sent("ACK")[0].at_ms) / 1000
    expect(f"{seconds:.1f} s", 58 <= seconds <= 63, "a third of 90 s before its end")
    return f"BYE after {seconds:.1f} s"


@race("timer-theirs", is_slow=True)
def timer_theirs(desk):
    """The far end refreshes by UPDATE, and once by re-INVITE: the call outlives its first interval."""
    scenario = Scenario().answers(headers=timed("uas")).pause(30000)
    scenario.request("UPDATE", "i", 11, headers=timed("uac", "Supported: timer")).recv(200, keep="s").pause(30000)
    scenario.request("INVITE", "i", 12, headers=timed("uac", "Supported: timer"), body=session())
    scenario.recv(100, optional=True).recv(200).request("ACK", "i", 12).is_hung_up()
    with desk.sipp(scenario) as peer:
        connect(desk)
        desk.wait_sent(200, method="INVITE", limit_s=63)
        desk.idle_for(5)
        expect("ended", desk.status().get("state") == "connected", "the first interval would have ended by now")
        hang_up(desk)
        peer.done()
    for message in desk.sent(200):
        expect("no interval", message.method == "BYE" or message.header("session-expires"), "each is agreed anew")


@race("timer-refresh-unanswered", is_slow=True)
def timer_unanswered(desk):
    """Our refresh gets no answer: BYE, ended (case 23)."""
    scenario = Scenario().answers(headers=timed("uac", ALLOWED)).recv("UPDATE").is_hung_up()
    with desk.sipp(scenario, recv_limit_s=60) as peer:
        connect(desk)
        refresh(desk)
        desk.ended(limit_s=40)
        peer.done()


@race("timer-flips", call__incoming="answer", call__incoming_from="anyone")
def timer_flips(desk):
    """Who refreshes is asked anew with each request (case 22): the answers follow."""
    scenario = Scenario().calls(headers=timed("uac", "Supported: timer"))
    for number, refresher in enumerate(("uas", "uac", "uas"), start=2):
        scenario.request("UPDATE", "r", number, role="calling", headers=timed(refresher, "Supported: timer")).recv(200)
    scenario.hangs_up("r", 9, role="calling")
    with desk.sipp(scenario, calls=CALLED) as peer:
        peer.done()
    found = [message.header("session-expires").split("refresher=")[-1] for message in desk.sent(200)
             if message.method != "BYE"]
    expect(f"{found}", found == ["uac", "uas", "uac", "uas"], "the refresher asked for")


@race("timer-too-short", call__incoming="answer", call__incoming_from="anyone")
def timer_too_short(desk):
    """A caller asks for an interval of 30 s: 422 with Min-SE, and the next try is taken."""
    scenario = Scenario().invite(headers=("Session-Expires: 30", "Supported: timer"), body=session(),
                                 branch="z9hG4bKone")
    scenario.answered("e", code=422).request("ACK", "e", 1, role="calling", branch="z9hG4bKone", uri=f"sip:{CALLED}")
    scenario.invite(cseq=2, headers=(f"Session-Expires: {SHORTEST_S}", "Supported: timer", "Min-SE: 90"),
                    body=session()).answered("r").request("ACK", "r", 2, role="calling")
    scenario.hangs_up("r", 3, role="calling")
    with desk.sipp(scenario, calls=CALLED) as peer:
        peer.done()
    expect("no Min-SE", desk.sent(422)[0].header("min-se") == "90", "422 says what would do")


def tries_again(desk, scenario, count=2):
    """A call that is connected after so many INVITEs, all of one Call-ID and From tag, CSeq rising."""
    with connected(desk, scenario) as peer:
        hang_up(desk)
        peer.done()
    tries = list({message.cseq: message for message in desk.sent("INVITE")}.values())[:count]
    expect(f"{len(tries)} tries", len(tries) == count, f"{count} INVITEs were expected: {desk.ladder()}")
    same = {(message.header("call-id"), message.tag("From")) for message in tries}
    expect("another call", len(same) == 1, "Call-ID and From tag stay (RFC 3261 8.1.3.5)")
    return tries


def refused_first(code, *headers):
    scenario = Scenario().recv("INVITE", keep="e").reply("e", code, tag="a", headers=headers, retrans=True)
    return scenario.recv("ACK").answers(tag="b")


@race("interval-422")
def interval_422(desk):
    """422 with Min-SE: tried again with an interval that long."""
    tries = tries_again(desk, refused_first(422, "Min-SE: 3600").is_hung_up())
    expect(tries[1].header("session-expires"), tries[1].header("session-expires").startswith("3600")
           and tries[1].header("min-se") == "3600", "3600 was asked for (RFC 4028 7.3)")


@race("unsupported-420")
def unsupported_420(desk):
    """420 that names an extension: tried again without it."""
    tries = tries_again(desk, refused_first(420, "Unsupported: timer").is_hung_up())
    expect(tries[1].header("supported"), not tries[1].lists("Supported", "timer")
           and not tries[1].header("session-expires"), "the second INVITE leaves it out")


@race("required-421")
def required_421(desk):
    """421 that requires an extension we have: tried again with Require."""
    tries = tries_again(desk, refused_first(421, "Require: 100rel").is_hung_up())
    expect(tries[1].header("require"), tries[1].lists("Require", "100rel"), "the second INVITE requires it")


@race("refused-for-ever")
def refused_for_ever(desk):
    """422 that asks for more each time: bounded, then a plain sentence."""
    scenario = Scenario()
    for number in range(1, 4):
        scenario.recv("INVITE", keep=f"e{number}").reply(f"e{number}", 422, tag="a", retrans=True,
                                                         headers=(f"Min-SE: {3600 * number}",)).recv("ACK")
    with desk.sipp(scenario):
        mark = desk.mark()
        desk.must("call")
        ended = desk.ended("refused", since=mark)
    count = len({message.cseq for message in desk.sent("INVITE")})
    expect(f"{count} INVITEs", count <= 3, "two retries are enough")
    return f"{count} INVITEs, “{ended['text']}”"


def redirects(desk, port, *targets, name="first"):
    """SIPp that refers callers to other ports of its address."""
    contact = ", ".join(f"<sip:other@10.77.0.1:{target}>;q={1 - index / 10:.1f}"
                        for index, target in enumerate(targets))
    scenario = Scenario().recv("INVITE", keep="i")
    scenario.reply("i", 302, tag="a", headers=(f"Contact: {contact}",), contact=False, retrans=True).recv("ACK")
    return desk.sipp(scenario, port=port, name=name)


@race("redirect-chain")
def redirect_chain(desk):
    """302 to one who says 302 to one who answers: one press, one call."""
    with (redirects(desk, PORT, 5071), redirects(desk, 5071, 5072, name="second"),
          desk.sipp(Scenario().answers().is_hung_up(), port=5072, name="third") as peer):
        connect(desk)
        hang_up(desk)
        peer.done()


@race("redirect-best-first")
def redirect_best(desk):
    """302 with two addresses: the better one is tried first, the other when that one is busy."""
    busy = Scenario().recv("INVITE", keep="i").reply("i", 486, tag="a", retrans=True).recv("ACK")
    with (redirects(desk, PORT, 5071, 5072), desk.sipp(busy, port=5071, name="busy") as first,
          desk.sipp(Scenario().answers().is_hung_up(), port=5072, name="free") as second):
        connect(desk)
        first.done()
        hang_up(desk)
        second.done()


@race("redirect-loop")
def redirect_loop(desk):
    """302 to the one who was asked: not asked again; a plain sentence."""
    with redirects(desk, PORT, 5071), redirects(desk, 5071, 5060, name="second"):
        mark = desk.mark()
        desk.must("call")
        ended = desk.ended(since=mark)
    targets = [message.uri for message in desk.sent("INVITE")]
    expect(f"{len(targets)} INVITEs", len(targets) <= 3, f"no address twice: {targets}")
    no(desk, "BYE", "there was no call")
    return f"“{ended['text']}”"
