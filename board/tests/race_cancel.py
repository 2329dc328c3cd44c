# SPDX-License-Identifier: Apache-2.0
"""CANCEL against everything it can meet (RFC 3261 9 and 15, RFC 6026), and the ends that come too late."""

import time

from peer.sipp import Scenario, session
from tests.race import connect, expect, hang_up, race

# RFC 3261 17.1.1.2: timer B, and as long a CANCEL waits for its INVITE's end.
GIVE_UP_S = 32


def press_away(desk, since_sent="INVITE", state=None):
    """The kiosk calls and is told to stop as soon as its INVITE is out, or as soon as it has that state."""
    mark = desk.mark()
    desk.must("call")
    desk.wait_sent(since_sent)
    if state:
        desk.wait_event("call", since=mark, state=state)
    desk.must("hangup")
    return desk.ended("cancelled", "hangup", since=mark, limit_s=GIVE_UP_S + 6)


def no(desk, name, why):
    expect(f"{len(desk.sent(name))} {name}", not desk.sent(name), why)


def one(desk, name, tag=None):
    """The only message of that name to that tag, retransmissions aside."""
    found = {message.branch: message for message in desk.sent(name) if tag is None or message.tag("To") == tag}
    expect(f"{len(found)} {name}", len(found) == 1, f"one was expected: {desk.ladder()}")
    return next(iter(found.values()))


@race("cancel-held")
def cancel_held(desk):
    """Hook before any sign of the other side: CANCEL goes when the first 1xx has come, not before."""
    scenario = Scenario().recv("INVITE", keep="i").pause(400).reply("i", 180, tag="a").recv("CANCEL", keep="c")
    scenario.reply("c", 200).reply("i", 487, tag="a", retrans=True).recv("ACK")
    with desk.sipp(scenario) as peer:
        press_away(desk)
        peer.done()
    ringing, cancel = desk.got(180)[0], one(desk, "CANCEL")
    expect("too early", cancel.at_ms >= ringing.at_ms, "CANCEL before any 1xx (RFC 3261 9.1)")
    expect(cancel.branch, cancel.branch == desk.sent("INVITE")[0].branch, "CANCEL must have its INVITE's branch")


@race("cancel-held-200")
def cancel_held_200(desk):
    """Hook before any sign, and the first sign is the answer: ACK, BYE, no CANCEL."""
    scenario = Scenario().recv("INVITE", keep="i").pause(300)
    scenario.reply("i", 200, tag="a", body=session(), retrans=True).recv("ACK").is_hung_up()
    with desk.sipp(scenario) as peer:
        press_away(desk)
        peer.done()
    no(desk, "CANCEL", "no 1xx came that would have let it go")


@race("cancel-held-486")
def cancel_held_486(desk):
    """Hook before any sign, and the first sign is a refusal: ACK, nothing else."""
    scenario = Scenario().recv("INVITE", keep="i").pause(300).reply("i", 486, tag="a", retrans=True).recv("ACK")
    with desk.sipp(scenario) as peer:
        press_away(desk)
        peer.done()
    no(desk, "CANCEL", "the call had ended")


@race("cancel-crosses-200")
def cancel_crosses_200(desk):
    """CANCEL and answer meet on the way: 200 for both; ACK, BYE."""
    scenario = Scenario().recv("INVITE", keep="i").reply("i", 180, tag="a").recv("CANCEL", keep="c")
    scenario.reply("i", 200, tag="a", body=session(), retrans=True).recv("ACK").reply("c", 200).is_hung_up()
    with desk.sipp(scenario) as peer:
        press_away(desk, state="ringing")
        peer.done()


@race("cancel-crosses-486")
def cancel_crosses_486(desk):
    """CANCEL and refusal meet: the CANCEL finds nothing (481), the refusal is acknowledged."""
    scenario = Scenario().recv("INVITE", keep="i").reply("i", 180, tag="a").recv("CANCEL", keep="c")
    scenario.reply("i", 486, tag="a", retrans=True).recv("ACK").reply("c", 481)
    with desk.sipp(scenario) as peer:
        press_away(desk, state="ringing")
        peer.done()


@race("cancel-481-then-200")
def cancel_481_then_200(desk):
    """A far end that denies the CANCEL and answers the call: ACK, BYE."""
    scenario = Scenario().recv("INVITE", keep="i").reply("i", 180, tag="a").recv("CANCEL", keep="c").reply("c", 481)
    scenario.pause(200).reply("i", 200, tag="a", body=session(), retrans=True).recv("ACK").is_hung_up()
    with desk.sipp(scenario) as peer:
        press_away(desk, state="ringing")
        peer.done()


@race("cancel-lost")
def cancel_lost(desk):
    """The first CANCELs get lost: they go again until there is an answer."""
    scenario = Scenario().recv("INVITE", keep="i").reply("i", 180, tag="a").recv("CANCEL", keep="c").pause(1800)
    scenario.reply("c", 200).reply("i", 487, tag="a", retrans=True).recv("ACK")
    with desk.sipp(scenario) as peer:
        press_away(desk, state="ringing")
        peer.done()
    expect(f"{len(desk.sent('CANCEL'))} CANCEL", len(desk.sent("CANCEL")) >= 3, "at 0, 0.5 and 1.5 s (RFC 3261 17.1.2)")


@race("cancel-487-lost", is_slow=True)
def cancel_487_lost(desk):
    """CANCEL is answered, the INVITE never: given up after 64*T1; a 200 even later is acknowledged and ended."""
    scenario = Scenario().recv("INVITE", keep="i").reply("i", 180, tag="a").recv("CANCEL", keep="c").reply("c", 200)
    scenario.pause((GIVE_UP_S + 4) * 1000).reply("i", 200, tag="a", body=session(), retrans=True)
    scenario.recv("ACK").is_hung_up()
    with desk.sipp(scenario) as peer:
        press_away(desk, state="ringing")
        peer.done(GIVE_UP_S + 15)


@race("silence-then-200", is_slow=True)
def silence_then_200(desk):
    """Hook before any sign, 64*T1 of nothing, then an answer: no CANCEL, no ghost call: ACK, BYE."""
    scenario = Scenario().recv("INVITE", keep="i").pause((GIVE_UP_S + 3) * 1000)
    scenario.reply("i", 200, tag="a", body=session(), retrans=True).recv("ACK").is_hung_up()
    with desk.sipp(scenario) as peer:
        press_away(desk)
        peer.done(GIVE_UP_S + 15)
    no(desk, "CANCEL", "nothing had come that it could cancel")


@race("no-answer-then-200", is_slow=True)
def no_answer_then_200(desk):
    """Nothing comes until timer B: the person is told; the answer that comes then is acknowledged and ended."""
    scenario = Scenario().recv("INVITE", keep="i").pause((GIVE_UP_S + 2) * 1000)
    scenario.reply("i", 200, tag="a", body=session(), retrans=True).recv("ACK").is_hung_up()
    with desk.sipp(scenario) as peer:
        mark, begin = desk.mark(), time.monotonic()
        desk.must("call")
        desk.ended("no-response", since=mark, limit_s=GIVE_UP_S + 4)
        seconds = time.monotonic() - begin
        peer.done(20)
    expect(f"{seconds:.1f} s", 31 < seconds < 34, "timer B is 32 s")
    return f"told after {seconds:.1f} s"


@race("incoming-cancel-ringing", call__incoming="ring")
def incoming_cancel_ringing(desk):
    """A caller who gives up while it rings here: 200 for the CANCEL and 487 for the INVITE (case 14)."""
    scenario = Scenario().invite(body=session(), branch="z9hG4bKone").recv(100, optional=True).recv(180, keep="r")
    scenario.pause(200).invite(method="CANCEL", branch="z9hG4bKone").recv(200).recv(487, keep="e")
    scenario.request("ACK", "e", 1, role="calling", branch="z9hG4bKone", uri="sip:callbox@10.77.0.2:5060")
    mark = desk.mark()
    with desk.sipp(scenario, calls="10.77.0.2:5060") as peer:
        peer.done()
    desk.ended("missed", since=mark)


@race("incoming-cancel-after-200", call__incoming="answer", call__incoming_from="anyone")
def incoming_cancel_after_200(desk):
    """CANCEL after our answer has no effect but its 200; the BYE that follows is honoured (case 13)."""
    scenario = Scenario().invite(body=session(), branch="z9hG4bKone").answered("r")
    scenario.invite(method="CANCEL", branch="z9hG4bKone").recv(200).pause(100).request("ACK", "r", 1, role="calling")
    scenario.pause(200).hangs_up("r", 2, role="calling")
    mark = desk.mark()
    with desk.sipp(scenario, calls="10.77.0.2:5060") as peer:
        peer.done()
    desk.ended("remote-hangup", since=mark)
    no(desk, 487, "the INVITE had been answered")


@race("incoming-cancel-unknown", call__incoming="answer", call__incoming_from="anyone")
def incoming_cancel_unknown(desk):
    """A CANCEL that fits no INVITE: 481 (RFC 3261 9.2); the call that is up stays up."""
    scenario = Scenario().calls().invite(method="CANCEL", branch="z9hG4bKother").recv(481).pause(100)
    scenario.hangs_up("r", 2, role="calling")
    with desk.sipp(scenario, calls="10.77.0.2:5060") as peer:
        peer.done()


@race("hook-crosses-bye")
def hook_crosses_bye(desk):
    """Both hang up at once: each BYE gets a final answer, nothing is left."""
    scenario = Scenario().answers().recv("BYE", keep="bye").request("BYE", "i", 100, retrans=False)
    scenario.recv(200).reply("bye", 481)
    with desk.sipp(scenario) as peer:
        connect(desk)
        hang_up(desk)
        peer.done()
    answers = [message for message in desk.sent() if message.status and message.method == "BYE"]
    expect(f"{len(answers)} answers", len(answers) == 1, "the far end's BYE wants one")
