# SPDX-License-Identifier: Apache-2.0
"""Forks, early media, reliable provisional responses, and answers without an offer."""

import time

from peer.sipp import PORT, Scenario, session
from tests.bench import wait_until
from tests.desk import KIOSK
from tests.race import connected, expect, hang_up, race
from tests.race_cancel import one

# Where each branch of a fork has its sound.
FIRST, SECOND = 31000, 32000
RELIABLE = ("Require: 100rel",)


def plays_to(desk, port, seconds=0.3):
    """The kiosk sends sound to that port, and to no other, from now on: five packets later on a busy machine."""
    time.sleep(0.1)
    desk.wire.catch_up()
    mark = desk.wire.mark()
    time.sleep(seconds)
    # On loopback the kernel gives media the target's own address as source: only ports tell the two apart.
    ports = {packet.target_port for packet in desk.wire.packets[mark:]
             if packet.is_rtp() and packet.target_port < 40000}
    expect(f"{ports or 'nothing'}", ports == {port}, f"sound was to go to port {port}")


@race("two-answers")
def two_answers(desk):
    """Two branches answer 20 ms apart, the second again 500 ms later: ACK for each 200, BYE once for the loser."""
    scenario = Scenario(tag="a").recv("INVITE", keep="i").reply("i", 180, tag="a").reply("i", 180, tag="b")
    scenario.reply("i", 200, tag="a", body=session(audio=FIRST)).recv("ACK").pause(20)
    scenario.reply("i", 200, tag="b", body=session(audio=SECOND)).recv("ACK").recv("BYE", keep="lost")
    scenario.reply("lost", 200).pause(500).reply("i", 200, tag="b", body=session(audio=SECOND))
    scenario.recv("ACK", optional=True).is_hung_up()
    with connected(desk, scenario) as peer:
        time.sleep(0.9)
        plays_to(desk, FIRST)
        hang_up(desk)
        peer.done()
    expect("BYE", one(desk, "BYE", "b") and one(desk, "BYE", "a"), "one for each dialog")
    acks = [message.tag("To") for message in desk.sent("ACK")]
    expect(f"ACKs {acks}", acks.count("a") == 1 and acks.count("b") == 2, "every 200 wants its ACK (RFC 3261 13.2.2.4)")


@race("answer-of-another-tag")
def answer_of_another_tag(desk):
    """180 of one tag, 200 of another: ACK, BYE and sound follow the 200 (case 17)."""
    scenario = Scenario(tag="b").recv("INVITE", keep="i").reply("i", 183, tag="a", body=session(audio=FIRST)).pause(100)
    scenario.reply("i", 200, tag="b", body=session(audio=SECOND), retrans=True).recv("ACK").is_hung_up()
    with connected(desk, scenario) as peer:
        plays_to(desk, SECOND)
        hang_up(desk)
        peer.done()
    expect("tag", one(desk, "ACK").tag("To") == one(desk, "BYE").tag("To") == "b", "the dialog is the 200's")


@race("many-early-dialogs")
def many_early_dialogs(desk):
    """Forty branches ring, one answers: bounded, and the right one is taken."""
    scenario = Scenario(tag="t39").recv("INVITE", keep="i")
    for number in range(40):
        scenario.reply("i", 183 if number % 2 else 180, tag=f"t{number}", body=session() if number % 2 else None)
    scenario.reply("i", 200, tag="t39", body=session(audio=SECOND), retrans=True).recv("ACK").is_hung_up()
    with connected(desk, scenario) as peer:
        plays_to(desk, SECOND)
        hang_up(desk)
        peer.done()


@race("early-media")
def early_media(desk):
    """183 with a description, then 180, then an answer without one: the 183's stands (RFC 3261 13.2.1 allows none)."""
    scenario = Scenario().recv("INVITE", keep="i").reply("i", 183, tag="a", body=session(audio=FIRST)).pause(300)
    scenario.reply("i", 180, tag="a").pause(200).reply("i", 200, tag="a", body=session(audio=FIRST), retrans=True)
    scenario.recv("ACK").is_hung_up()
    with desk.sipp(scenario) as peer:
        mark = desk.mark()
        desk.must("call")
        desk.wait_event("call", since=mark, state="early", limit_s=3)
        desk.wait_event("call", since=mark, state="connected", limit_s=3)
        plays_to(desk, FIRST)
        hang_up(desk)
        peer.done()


@race("reliable-183")
def reliable_183(desk):
    """A reliable 183 with the answer in it, a reliable 180, a 200 without a description (RFC 3262)."""
    scenario = Scenario().recv("INVITE", keep="i")
    scenario.reply("i", 183, tag="a", headers=(*RELIABLE, "RSeq: 7"), body=session(audio=FIRST), retrans=True)
    scenario.recv("PRACK", keep="p").reply("p", 200)
    scenario.reply("i", 180, tag="a", headers=(*RELIABLE, "RSeq: 8"), retrans=True).recv("PRACK", keep="q")
    scenario.reply("q", 200).pause(100).reply("i", 200, tag="a", retrans=True).recv("ACK").is_hung_up()
    with connected(desk, scenario) as peer:
        plays_to(desk, FIRST)
        hang_up(desk)
        peer.done()
    found = [message.header("rack") for message in desk.sent("PRACK")]
    expect(f"RAck {found}", found == ["7 1 INVITE", "8 1 INVITE"], "one PRACK for each, in order")


@race("reliable-gap")
def reliable_gap(desk):
    """A reliable 18x again and again and one out of order: one PRACK each for those in order, none for the gap."""
    scenario = Scenario().recv("INVITE", keep="i").reply("i", 180, tag="a", headers=(*RELIABLE, "RSeq: 1"))
    scenario.recv("PRACK", keep="p")
    for sequence in (1, 1, 3):
        scenario.reply("i", 180, tag="a", headers=(*RELIABLE, f"RSeq: {sequence}"))
    scenario.reply("p", 200).pause(200).reply("i", 180, tag="a", headers=(*RELIABLE, "RSeq: 2"))
    scenario.recv("PRACK", keep="q").reply("q", 200)
    scenario.reply("i", 200, tag="a", body=session(), retrans=True).recv("ACK").is_hung_up()
    with connected(desk, scenario) as peer:
        hang_up(desk)
        peer.done()
    found = [message.header("rack") for message in desk.sent("PRACK")]
    expect(f"RAck {found}", found == ["1 1 INVITE", "2 1 INVITE"], "3 came before 2 (RFC 3262 4)")


@race("prack-unanswered-then-200")
def prack_unanswered(desk):
    """The PRACK is never answered and the call is: it goes on all the same."""
    scenario = Scenario().recv("INVITE", keep="i")
    scenario.reply("i", 183, tag="a", headers=(*RELIABLE, "RSeq: 1"), body=session(audio=FIRST)).recv("PRACK")
    scenario.pause(200).reply("i", 200, tag="a", body=session(audio=FIRST)).recv("PRACK", optional=True).recv("ACK")
    scenario.recv("PRACK", optional=True).is_hung_up()
    with connected(desk, scenario) as peer:
        plays_to(desk, FIRST)
        hang_up(desk)
        peer.done()


@race("reliable-wanted-of-us", call__incoming="ring")
def reliable_wanted(desk):
    """A caller that requires 100rel (case 19): our 180 is reliable, its PRACK answered, a wrong one refused."""
    scenario = Scenario().invite(headers=RELIABLE, body=session()).recv(100, optional=True)
    scenario.recv(180, keep="r", also=("RSeq",))
    scenario.request("PRACK", "r", 2, role="calling", headers=("RAck: 99999 1 INVITE",)).recv(481)
    scenario.pause(300)
    scenario.request("PRACK", "r", 3, role="calling", headers=("RAck:[$r_rseq] 1 INVITE",)).recv(200)
    scenario.recv(200, keep="s")
    scenario.request("ACK", "s", 1, role="calling").hangs_up("s", 4, role="calling")
    with desk.sipp(scenario, calls=f"{KIOSK}:{PORT}") as peer:
        ringing = desk.wait_sent(180)
        expect("unreliable", ringing.lists("Require", "100rel") and ringing.header("rseq"), "100rel was required")
        desk.wait_sent(200, method="PRACK")
        time.sleep(0.1)
        desk.must("answer")
        peer.done()
    desk.ended("remote-hangup")


@race("requires-unknown", call__incoming="answer", call__incoming_from="anyone")
def requires_unknown(desk):
    """An INVITE that requires what nobody knows: 420 that names it (RFC 3261 8.2.2.3)."""
    scenario = Scenario().invite(headers=("Require: 100rel, teleport",), body=session(), branch="z9hG4bKone")
    scenario.answered("r", code=420)
    scenario.request("ACK", "r", 1, role="calling", branch="z9hG4bKone", uri=f"sip:callbox@{KIOSK}:{PORT}")
    with desk.sipp(scenario, calls=f"{KIOSK}:{PORT}"):
        refusal = desk.wait_sent(420)
    expect(refusal.header("unsupported"), refusal.header("unsupported") == "teleport", "Unsupported names it alone")


@race("offerless-in", call__incoming="answer", call__incoming_from="anyone")
def offerless_in(desk):
    """INVITE without an offer: ours comes in the 200, theirs in the ACK (case 4); hung up here."""
    scenario = Scenario().invite().answered("r").request("ACK", "r", 1, role="calling", body=session(audio=FIRST))
    scenario.is_hung_up()
    with desk.sipp(scenario, calls=f"{KIOSK}:{PORT}") as peer:
        desk.wait_event("call", state="connected")
        plays_to(desk, FIRST)
        hang_up(desk)
        peer.done()
    offer = desk.sent(200)[0].ports()
    expect(f"{offer}", offer.get("audio"), "the 200 carries our offer")


@race("offerless-ack-without", call__incoming="answer", call__incoming_from="anyone")
def offerless_ack_without(desk):
    """The ACK brings no answer: BYE with a Reason."""
    scenario = Scenario().invite().answered("r").request("ACK", "r", 1, role="calling").is_hung_up()
    with desk.sipp(scenario, calls=f"{KIOSK}:{PORT}") as peer:
        peer.done()
    bye = one(desk, "BYE")
    expect("no Reason", bye.header("reason"), "the caller wants to know why")


@race("offerless-hook-before-ack", call__incoming="answer", call__incoming_from="anyone")
def offerless_hook(desk):
    """Hook after our 200 and before its ACK: the BYE waits for the ACK (RFC 3261 15)."""
    scenario = Scenario().invite().answered("r").pause(700)
    scenario.request("ACK", "r", 1, role="calling", body=session()).is_hung_up()
    with desk.sipp(scenario, calls=f"{KIOSK}:{PORT}") as peer:
        desk.wait_sent(200)
        time.sleep(0.1)
        desk.must("hangup")
        peer.done()
    expect("too early", one(desk, "BYE").at_ms >= desk.got("ACK")[0].at_ms, "BYE before the ACK")


@race("ack-lost", is_slow=True, call__incoming="answer", call__incoming_from="anyone")
def ack_lost(desk):
    """Our 200 is never acknowledged, hook is pressed: the 200 goes again, after 64*T1 BYE (case 20)."""
    scenario = Scenario().invite(body=session(), retrans=False).answered("r")
    scenario.recv(200, optional=True).is_hung_up()
    with desk.sipp(scenario, calls=f"{KIOSK}:{PORT}", recv_limit_s=40) as peer:
        desk.wait_sent(200, count=3)
        desk.must("hangup")
        bye = desk.wait_sent("BYE", limit_s=36)
        peer.done()
    first = [message for message in desk.sent(200) if message.method == "INVITE"]
    seconds = (bye.at_ms - first[0].at_ms) / 1000
    expect(f"{seconds:.1f} s", 31 < seconds < 35 and len(first) >= 8, f"{len(first)} answers, BYE after 64*T1")
    return f"{len(first)} answers, BYE after {seconds:.1f} s"


@race("offerless-out", sip__offerless="yes")
def offerless_out(desk):
    """We place a call without an offer: theirs comes in the 200, our answer in the ACK."""
    scenario = Scenario().answers(body=session(audio=FIRST)).is_hung_up()
    with connected(desk, scenario) as peer:
        plays_to(desk, FIRST)
        hang_up(desk)
        peer.done()
    expect("an offer", not desk.sent("INVITE")[0].body, "the INVITE was to have no body")
    expect("no answer", one(desk, "ACK").ports().get("audio"), "the ACK carries our answer")


@race("hung-up-while-it-rings-elsewhere")
def rings_elsewhere(desk):
    """Two branches ring, hook: one CANCEL, one 487; a branch that answers all the same is acknowledged and ended."""
    scenario = Scenario(tag="b").recv("INVITE", keep="i").reply("i", 180, tag="a").reply("i", 180, tag="b")
    scenario.recv("CANCEL", keep="c").reply("c", 200).reply("i", 200, tag="b", body=session(), retrans=True).recv("ACK")
    scenario.is_hung_up()
    with desk.sipp(scenario) as peer:
        mark = desk.mark()
        desk.must("call")
        desk.wait_event("call", since=mark, state="ringing")
        wait_until(lambda: len(desk.got(180)) == 2, 2, "the second branch to ring")
        desk.must("hangup")
        peer.done()
    one(desk, "CANCEL")

