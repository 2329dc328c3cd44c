# SPDX-License-Identifier: Apache-2.0
"""Changes of a session that is up: re-INVITE and UPDATE from either side, both at once, every dialect of hold."""

import re
import time

from peer.sipp import PORT, Scenario, session
from tests.desk import KIOSK
from tests.race import connect, connected, expect, hang_up, race
from tests.race_cancel import one
from tests.race_fork import plays_to

CALLED = f"{KIOSK}:{PORT}"
HOLDS = (("sendonly", {}), ("inactive", {}), ("sendrecv", {"address": "0.0.0.0"}), ("sendonly", {"address": "0.0.0.0"}))


def reoffer(scenario, cseq, body, kept="i", role="called"):
    """A re-INVITE of ours that is taken, its ACK included."""
    scenario.request("INVITE", kept, cseq, role=role, body=body).recv(100, optional=True).recv(200)
    return scenario.request("ACK", kept, cseq, role=role)


def answers_to(desk, method="INVITE"):
    """The session descriptions with which the kiosk answered, in order, retransmissions aside."""
    found = {(message.cseq, message.body): message for message in desk.sent(200) if message.method == method}
    return [message for message in found.values() if message.body]


def version(message):
    return int(re.search(r"^o=\S+ \d+ (\d+) ", message.body, re.M).group(1))


def direction(message):
    """Of its sound."""
    part = message.body.split("m=video")[0]
    return (re.findall(r"^a=(sendrecv|sendonly|recvonly|inactive)", part, re.M) or ["sendrecv"])[-1]


@race("hold-dialects")
def hold_dialects(desk):
    """Held in each dialect, twice in a row, and resumed: told once each, sound stops and comes back."""
    scenario, cseq = Scenario().answers(), 10
    for way, where in HOLDS:
        for _ in range(2):
            cseq += 1
            reoffer(scenario, cseq, session(way, version=cseq, **where)).pause(100)
        cseq += 1
        reoffer(scenario, cseq, session(version=cseq)).pause(100)
    scenario.is_hung_up()
    with connected(desk, scenario) as peer:
        desk.wait_sent(200, count=3 * len(HOLDS), method="INVITE", limit_s=8)
        plays_to(desk, 30000)
        hang_up(desk)
        peer.done()
    told = [event["on"] for event in desk.find("hold")]
    expect(f"{told}", told == [True, False] * len(HOLDS), "each hold and resume is told once")
    ways = [direction(message) for message in answers_to(desk)]
    expect(f"{ways}", ways[2::3] == ["sendrecv"] * len(HOLDS), "resumed both ways")
    expect(f"{ways}", ways[0] == "recvonly" and ways[3] == "inactive", "the answers to sendonly and inactive")


@race("hold-ours")
def hold_ours(desk):
    """We hold, hold once more, and resume: sendonly, nothing new, sendrecv (case 104)."""
    scenario = Scenario().answers()
    for number, way in enumerate(("recvonly", "sendrecv")):
        scenario.recv("INVITE", keep=f"h{number}").reply(f"h{number}", 200, body=session(way, version=2 + number),
                                                         retrans=True).recv("ACK")
    scenario.is_hung_up()
    with connected(desk, scenario) as peer:
        for word in ("hold", "hold", "resume"):
            desk.tell(word)
            time.sleep(0.3)
        plays_to(desk, 30000)
        hang_up(desk)
        peer.done()
    offers = desk.sent("INVITE")
    ways = [direction(message) for message in offers]
    expect(f"{ways}", ways == ["sendrecv", "sendonly", "sendrecv"], "a second press on hold changes nothing")
    expect("versions", len({version(message) for message in offers}) == 3, "each is another description")


@race("hold-often")
def hold_often(desk):
    """Twenty-five holds and resumes in a row: sound at the end, versions that grow by one with each change."""
    scenario = Scenario().answers()
    for number in range(25):
        reoffer(scenario, 10 + 2 * number, session("sendonly", version=2 + 2 * number))
        reoffer(scenario, 11 + 2 * number, session(version=3 + 2 * number))
    scenario.is_hung_up()
    with connected(desk, scenario) as peer:
        desk.wait_sent(200, count=50, method="INVITE", limit_s=20)
        plays_to(desk, 30000)
        hang_up(desk)
        peer.done()
    versions = [version(message) for message in [desk.sent("INVITE")[0], *answers_to(desk)]]
    steps = {after - before for before, after in zip(versions, versions[1:])}
    expect(f"steps {steps}", steps == {1}, "the version grows by one with each change (RFC 3264 8)")


@race("update")
def update(desk):
    """UPDATE in the call, with an offer and without (RFC 3311)."""
    scenario = Scenario().answers().request("UPDATE", "i", 11, body=session("sendonly", version=2)).recv(200)
    scenario.pause(100).request("UPDATE", "i", 12).recv(200)
    scenario.request("UPDATE", "i", 13, body=session(version=3)).recv(200).is_hung_up()
    with connected(desk, scenario) as peer:
        desk.wait_sent(200, count=3, method="UPDATE")
        plays_to(desk, 30000)
        hang_up(desk)
        peer.done()
    bodies = [bool(message.body) for message in desk.sent(200) if message.method == "UPDATE"]
    expect(f"{bodies}", bodies == [True, False, True], "an offer has its answer, none has none")


@race("update-early")
def update_early(desk):
    """UPDATE before the answer, after a reliable description: answered, and its place is where the sound goes."""
    scenario = Scenario().recv("INVITE", keep="i")
    scenario.reply("i", 183, tag="a", headers=("Require: 100rel", "RSeq: 1"), body=session(audio=31000), retrans=True)
    scenario.recv("PRACK", keep="p").reply("p", 200)
    scenario.request("UPDATE", "i", 11, tag="a", body=session(audio=32000, version=2)).recv(200).pause(500)
    scenario.reply("i", 200, tag="a", retrans=True).recv("ACK").is_hung_up()
    scenario.tag = "a"
    with connected(desk, scenario) as peer:
        plays_to(desk, 32000)
        hang_up(desk)
        peer.done()


@race("offerless-change")
def offerless_change(desk):
    """A re-INVITE without an offer asks for ours: all that we can do comes in the 200, the answer in the ACK."""
    scenario = Scenario().answers().request("INVITE", "i", 11).answered("o")
    scenario.request("ACK", "i", 11, body=session(audio=31000, version=2)).is_hung_up()
    with connected(desk, scenario) as peer:
        desk.wait_sent(200, method="INVITE")
        plays_to(desk, 31000)
        hang_up(desk)
        peer.done()
    ports = answers_to(desk)[0].ports()
    expect(f"{ports}", ports.get("audio") and ports.get("video"), "the offer has all media again (RFC 3261 14.2)")


@race("change-before-ack", call__incoming="answer", call__incoming_from="anyone")
def change_before_ack(desk):
    """A re-INVITE overtakes the ACK: answered, not left alone (case 10); the call stands."""
    scenario = Scenario().invite(body=session(), retrans=False).answered("r")
    scenario.request("INVITE", "r", 2, role="calling", body=session("sendonly", version=2), retrans=False)
    scenario.recv(100, optional=True).recv(200).request("ACK", "r", 2, role="calling")
    scenario.request("ACK", "r", 1, role="calling").pause(300).hangs_up("r", 4, role="calling")
    with desk.sipp(scenario, calls=CALLED) as peer:
        desk.wait_event("call", state="connected")
        peer.done()


def glare(refusals):
    """We are asked to hold and refuse with 491 so many times, then take it."""
    scenario = Scenario().answers()
    for number in range(refusals):
        scenario.recv("INVITE", keep=f"h{number}").reply(f"h{number}", 491, retrans=True).recv("ACK")
    return scenario


@race("glare-once")
def glare_once(desk):
    """Our hold meets a 491: tried once more after 2.1 to 4 s, for the call is ours (RFC 3261 14.1, case 7)."""
    scenario = glare(1).recv("INVITE", keep="h").reply("h", 200, body=session("recvonly", version=2), retrans=True)
    scenario.recv("ACK").is_hung_up()
    with connected(desk, scenario) as peer:
        desk.must("hold")
        again = desk.wait_sent("INVITE", count=3, limit_s=6)
        time.sleep(0.3)
        hang_up(desk)
        peer.done()
    waited = (again.at_ms - desk.got(491)[0].at_ms) / 1000
    expect(f"{waited:.2f} s", 2.05 <= waited <= 4.1, "the retry comes after 2.1 to 4 s")
    return f"after {waited:.2f} s"


@race("glare-for-ever")
def glare_for_ever(desk):
    """Our hold meets 491 again and again: one retry, then the session stays as it was, and the call up."""
    with connected(desk, glare(2).is_hung_up()) as peer:
        desk.must("hold")
        desk.wait_sent("INVITE", count=3, limit_s=6)
        time.sleep(0.5)
        plays_to(desk, 30000)
        expect("ended", desk.status().get("state") == "connected", "a refused change does not end the call")
        hang_up(desk)
        peer.done()
    expect("tried on", len(desk.sent("INVITE")) == 3, "one retry and no more")


@race("glare-both")
def glare_both(desk):
    """Two re-INVITEs cross: 491 for each; the far end's next one is taken (case 8), then ours."""
    scenario = Scenario().answers().recv("INVITE", keep="h").request("INVITE", "i", 11, body=session(version=2),
                                                                     branch="z9hG4bKcrossed")
    scenario.recv(100, optional=True).recv(491).request("ACK", "i", 11, branch="z9hG4bKcrossed")
    scenario.reply("h", 491, retrans=True).recv("ACK").pause(300)
    reoffer(scenario, 12, session(version=2), kept="i")
    scenario.recv("INVITE", keep="h2").reply("h2", 200, body=session("recvonly", version=3), retrans=True).recv("ACK")
    scenario.is_hung_up()
    with connected(desk, scenario) as peer:
        desk.must("hold")
        desk.wait_sent("INVITE", count=3, limit_s=8)
        time.sleep(0.3)
        hang_up(desk)
        peer.done()


@race("bye-crosses-change")
def bye_crosses_change(desk):
    """The far end hangs up while our re-INVITE is on its way: 200 for the BYE, the re-INVITE's end is taken."""
    scenario = Scenario().answers().recv("INVITE", keep="h").request("BYE", "i", 11).recv(200)
    scenario.reply("h", 481, retrans=True).recv("ACK")
    with connected(desk, scenario) as peer:
        desk.must("hold")
        desk.ended("remote-hangup")
        peer.done()


@race("hook-in-a-change")
def hook_in_a_change(desk):
    """Hook while our re-INVITE is out: BYE at once; the re-INVITE's 200 is acknowledged all the same."""
    scenario = Scenario().answers().recv("INVITE", keep="h").is_hung_up()
    scenario.reply("h", 200, body=session("recvonly", version=2), retrans=True).recv("ACK")
    with connected(desk, scenario) as peer:
        desk.must("hold")
        desk.wait_sent("INVITE", count=2)
        hang_up(desk)
        peer.done()
    one(desk, "BYE")


@race("change-says-gone")
def change_says_gone(desk):
    """481 for our re-INVITE: the far end has no call any more; BYE, ended (RFC 3261 12.2.1.2)."""
    scenario = Scenario().answers().recv("INVITE", keep="h").reply("h", 481, retrans=True).recv("ACK").is_hung_up()
    with connected(desk, scenario) as peer:
        mark = desk.mark()
        desk.must("hold")
        desk.ended(since=mark)
        peer.done()


@race("change-unanswered", is_slow=True)
def change_unanswered(desk):
    """Our re-INVITE is never answered: after 64*T1 BYE, ended (case 26)."""
    scenario = Scenario().answers().recv("INVITE", keep="h").is_hung_up()
    with desk.sipp(scenario, recv_limit_s=40) as peer:
        connect(desk)
        mark = desk.mark()
        desk.must("hold")
        desk.ended(since=mark, limit_s=36)
        peer.done()


@race("video-by-change", call__incoming="answer", call__incoming_from="anyone")
def video_by_change(desk):
    """Sound only, then video is added, moved, and taken away (cases 1 and 2): answered in place each time."""
    scenario = Scenario().calls(body=session(video=None))
    for number, video in enumerate((30002, 30012, 0), start=2):
        reoffer(scenario, number, session(version=number, video=video), kept="r", role="calling").pause(200)
    scenario.hangs_up("r", 9, role="calling")
    with desk.sipp(scenario, calls=CALLED) as peer:
        peer.done()
    ports = [message.ports() for message in answers_to(desk)]
    shown = [bool(entry.get("video")) for entry in ports]
    expect(f"{ports}", shown == [False, True, True, False] and len(ports[3]) == 2, "the line stays in its place")


@race("cancel-of-a-change")
def cancel_of_a_change(desk):
    """A CANCEL for a re-INVITE that was answered: 200, and the change stands."""
    scenario = Scenario().answers().request("INVITE", "i", 11, body=session("sendonly", version=2),
                                            branch="z9hG4bKchange")
    scenario.answered("o").request("CANCEL", "i", 11, branch="z9hG4bKchange", retrans=False).recv(200)
    scenario.request("ACK", "i", 11).pause(200).is_hung_up()
    with connected(desk, scenario) as peer:
        desk.wait_sent(200, method="CANCEL")
        time.sleep(0.2)
        expect("ended", desk.status()["call"]["held"], "the call was to be up and held")
        hang_up(desk)
        peer.done()
