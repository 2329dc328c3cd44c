# SPDX-License-Identifier: Apache-2.0
"""Calls that are handed over: REFER and its NOTIFYs, and Replaces."""

import time

from peer.sipp import ADDRESS, PORT, Scenario, session
from tests.desk import KIOSK
from tests.race import connect, connected, expect, hang_up, race
from tests.race_cancel import no

CALLED = f"{KIOSK}:{PORT}"
TARGET_PORT = 5071
REFER_TO = f"Refer-To: <sip:other@{ADDRESS}:{TARGET_PORT}>"


def progress(desk):
    """The first lines that the kiosk's NOTIFYs told of the new call."""
    return [message.body.strip() for message in desk.sent("NOTIFY")]


def referring(*headers, notifies=2):
    """Answers, refers the kiosk to TARGET_PORT, takes so many NOTIFYs, and is hung up."""
    scenario = Scenario().answers().request("REFER", "i", 11, headers=headers or (REFER_TO,))
    scenario.recv(202)
    for number in range(notifies):
        scenario.recv("NOTIFY", keep=f"n{number}").reply(f"n{number}", 200)
    return scenario


def elsewhere():
    """Whom the kiosk is sent to: answers without ringing, so that there is nothing to tell in between."""
    scenario = Scenario(tag="t").recv("INVITE", keep="i").pause(200)
    return scenario.reply("i", 200, tag="t", body=session(audio=32000), retrans=True).recv("ACK").is_hung_up()


@race("refer")
def refer(desk):
    """Blind transfer: 202, NOTIFY 100, the new call, NOTIFY 200, BYE for the old one (RFC 3515, 5589)."""
    with desk.sipp(referring().is_hung_up()) as old, desk.sipp(elsewhere(), port=TARGET_PORT, name="target") as new:
        connect(desk)
        desk.wait_sent("INVITE", count=2)
        old.done()
        time.sleep(0.3)
        expect("ended", desk.status().get("state") == "connected", "the person is in the new call")
        hang_up(desk)
        new.done()
    told = progress(desk)
    expect(f"{told}", told[0].startswith("SIP/2.0 100") and told[-1].startswith("SIP/2.0 200"), "trying, then done")
    last = desk.sent("NOTIFY")[-1].header("subscription-state")
    expect(last, last.startswith("terminated"), "the last NOTIFY ends the subscription")


@race("refer-and-gone")
def refer_and_gone(desk):
    """The transferor hangs up right after its REFER: the transfer is finished all the same."""
    old = Scenario().answers().request("REFER", "i", 11, headers=(REFER_TO,)).recv(202)
    old.recv("NOTIFY", keep="n").reply("n", 200).request("BYE", "i", 12).recv(200).recv("NOTIFY", keep="m")
    old.reply("m", 200)
    target = Scenario().recv("INVITE", keep="i").pause(500)
    target.reply("i", 200, tag="t", body=session(audio=32000), retrans=True).recv("ACK").is_hung_up()
    with desk.sipp(old), desk.sipp(target, port=TARGET_PORT, name="target") as new:
        connect(desk)
        desk.wait_sent(200, method="BYE")
        mark = desk.mark()
        desk.wait_sent("ACK", count=2)
        time.sleep(0.3)
        expect("ended", desk.status().get("state") == "connected", "the person is in the new call")
        hang_up(desk)
        new.done()
        expect("ended", not desk.find("call", mark, state="ended", reason="remote-hangup"), "nobody was put off")


@race("refer-unsubscribed")
def refer_unsubscribed(desk):
    """Refer-Sub: false (RFC 4488): said back, and no NOTIFY."""
    old = referring(REFER_TO, "Refer-Sub: false", "Supported: norefersub", notifies=0).is_hung_up()
    with desk.sipp(old) as peer, desk.sipp(elsewhere(), port=TARGET_PORT, name="target") as new:
        connect(desk)
        peer.done()
        hang_up(desk)
        new.done()
    no(desk, "NOTIFY", "no subscription was wanted")
    accepted = [message for message in desk.sent() if message.status and message.method == "REFER"][0]
    expect(accepted.header("refer-sub"), accepted.header("refer-sub") == "false", "the answer says so")


@race("refer-to-busy")
def refer_to_busy(desk):
    """The one we are sent to is busy: NOTIFY says so, the old call goes on."""
    busy = Scenario().recv("INVITE", keep="i").reply("i", 486, tag="t", retrans=True).recv("ACK")
    with desk.sipp(referring().is_hung_up()) as old, desk.sipp(busy, port=TARGET_PORT, name="target") as new:
        connect(desk)
        new.done()
        desk.wait_sent("NOTIFY", count=2)
        time.sleep(0.3)
        expect("ended", desk.status().get("state") == "connected", "the old call was to go on")
        hang_up(desk)
        old.done()
    expect(progress(desk)[-1], progress(desk)[-1].startswith("SIP/2.0 486"), "the outcome is told")


@race("refer-attended")
def refer_attended(desk):
    """Refer-To with Replaces: it becomes headers of the new INVITE, unescaped (RFC 3891, 5589)."""
    where = f"Refer-To: <sip:other@{ADDRESS}:{TARGET_PORT}?Replaces=abc%40host%3Bto-tag%3Dx1%3Bfrom-tag%3Dy2>"
    old = referring(where, "Referred-By: <sip:sipp@10.77.0.1>").is_hung_up()
    with desk.sipp(old) as peer, desk.sipp(elsewhere(), port=TARGET_PORT, name="target") as new:
        connect(desk)
        peer.done()
        hang_up(desk)
        new.done()
    invite = desk.sent("INVITE")[1]
    found = invite.header("replaces").replace(" ", "")
    expect(found, found == "abc@host;to-tag=x1;from-tag=y2" and invite.lists("Require", "replaces"), "as the URI says")
    expect("Referred-By", "sip:sipp@10.77.0.1" in invite.header("referred-by"), "it is passed on (RFC 3892)")


@race("refer-twice")
def refer_refused(desk):
    """Two Refer-To, and none: 400, and the call goes on."""
    scenario = Scenario().answers().request("REFER", "i", 11, headers=(REFER_TO, REFER_TO)).recv(400)
    scenario.request("REFER", "i", 12).recv(400).is_hung_up()
    with connected(desk, scenario) as peer:
        desk.wait_sent(400, count=2)
        hang_up(desk)
        peer.done()
    expect("a call", len(desk.sent("INVITE")) == 1, "nobody was to be called")


@race("replaced", call__incoming="refuse")
def replaced(desk):
    """An INVITE with Replaces takes the place of the call: answered at once, the old one gets BYE (RFC 3891)."""
    with desk.sipp(Scenario().answers().is_hung_up()) as old:
        connect(desk)
        ack = desk.sent("ACK")[0]
        value = f"{ack.header('call-id')};to-tag={ack.tag('From')};from-tag={ack.tag('To')}"
        scenario = Scenario(tag="new").calls(headers=(f"Replaces: {value}", "Require: replaces"),
                                             body=session(audio=32000)).is_hung_up()
        mark = desk.mark()
        with desk.sipp(scenario, calls=CALLED, port=TARGET_PORT, name="new") as new:
            old.done()
            time.sleep(0.3)
            expect("ended", desk.status().get("state") == "connected", "the person is in the new call")
            expect("ended", not desk.find("call", mark, state="ended"), "nothing has ended for the person")
            hang_up(desk)
            new.done()


@race("replaces-nothing", call__incoming="answer", call__incoming_from="anyone")
def replaces_nothing(desk):
    """Replaces for a call that is not there: 481 (RFC 3891 3)."""
    scenario = Scenario().invite(headers=("Replaces: nobody;to-tag=a;from-tag=b", "Require: replaces"), body=session(),
                                 branch="z9hG4bKone").answered("r", code=481)
    scenario.request("ACK", "r", 1, role="calling", branch="z9hG4bKone", uri=f"sip:{CALLED}")
    with desk.sipp(scenario, calls=CALLED) as peer:
        peer.done()
