# SPDX-License-Identifier: Apache-2.0
"""Calls beside Asterisk 22 that are changed: put on hold, transferred, with other media, and with media past it."""

import time

from peer.sipp import VIDEO_PORT, Scenario, session
from tests.bench import wait_until
from tests.desk import PEER
from tests.office import beside, flows, flows_still
from tests.race_change import reoffer
from tests.runner import Failed

HOLDS = 50
# As rtp.conf and peer/sipp.py have them.
THROUGH_ASTERISK = set(range(21000, 21200))


@beside("hold-fifty")
def hold_fifty(o):
    """The other telephone holds and resumes fifty times; sound and picture are there afterwards, nothing has grown."""
    desk = o.ready()
    with o.other_kiosk() as other:
        mark, before = o.dial("peer"), None
        desk.wait_event("first_sound", since=mark)
        desk.wait_event("first_frame", since=mark)
        for number in range(HOLDS):
            for word, on in (("hold", True), ("resume", False)):
                step = desk.mark()
                other.must(word)
                desk.wait_event("hold", since=step, on=on, limit_s=3)
            if number == 9:
                before = desk.status()
        flows(desk, "audio")
        flows(desk, "video")
        after = desk.status()
        o.hang_up()
    grown = {key: after[key] - before[key] for key in ("fds", "threads", "framebuffers")}
    if any(grown.values()):
        raise Failed(f"{grown}", "grew over forty holds")
    return HOLDS


@beside("transfer-blind")
def transfer_blind(o):
    """Asterisk sends us elsewhere by REFER: the new call is up with sound and picture, the old one gone."""
    desk = o.ready()
    mark = o.dial("blind")
    wait_until(lambda: len(desk.sent("ACK")) and any("sip:echo@" in sent.uri for sent in desk.sent("INVITE")), 5,
               "the new call")
    time.sleep(0.5)
    if desk.status()["state"] != "connected":
        raise Failed(desk.status()["state"], "the person was to be in the new call")
    flows(desk, "audio")
    flows(desk, "video")
    o.hang_up()
    told = [message.body.strip() for message in desk.sent("NOTIFY")]
    if not told or not told[-1].startswith("SIP/2.0 200"):
        raise Failed(f"{told}", "NOTIFY was to tell of the answer")
    return "followed"


@beside("transfer-attended")
def transfer_attended(o):
    """The other party asks a third, then leaves us with them: sound goes on, and the new name is told."""
    desk = o.ready()
    with o.telephone() as peer:
        mark = o.dial("peer")
        desk.wait_event("first_sound", since=mark)
        channel = next(name for name in o.server.channels() if name.startswith("PJSIP/peer-"))
        o.server.action("Atxfer", Channel=channel, Context="calls", Exten="77")
        o.server.wait_event("Newexten", Application="Milliwatt", limit_s=8)
        time.sleep(0.5)
        peer.hang_up()
        o.server.wait_event("AttendedTransfer", limit_s=5)
        time.sleep(0.5)
        if desk.status()["state"] != "connected":
            raise Failed(desk.status()["state"], "the person was to hear the third party")
        flows(desk, "audio")
        o.hang_up()
    names = [event.get("name") for event in desk.find("identity", mark)]
    if "Help desk" not in names:
        raise Failed(f"{names}", "the third party's name was to be told")
    return "handed over"


def called_for_sound(o, extension):
    """Asterisk calls the kiosk for sound only and joins it to an extension; the index of the first event."""
    mark = o.desk.mark()
    o.server.action("Originate", Channel="PJSIP/kiosk-sound", Context="calls", Exten=extension, Priority="1",
                    Async="true", Codecs="ulaw")
    o.desk.wait_event("call", since=mark, state="connected")
    return mark


@beside("video-by-change")
def video_by_change(o):
    """The other telephone adds video and takes it away; Asterisk does so towards us by re-INVITE."""
    desk = o.ready(call__incoming="answer", call__incoming_from="anyone")
    scenario = Scenario().answers(body=session(video=None))
    reoffer(scenario, 11, session(version=2, video=VIDEO_PORT)).pause(1500)
    reoffer(scenario, 12, session(version=3, video=0)).recv("BYE", keep="bye").reply("bye", 200)
    with desk.sipp(scenario) as peer:
        wire, mark = desk.wire.mark(), called_for_sound(o, "peer")
        wait_until(lambda: any(packet.is_rtp() and packet.target_port == VIDEO_PORT
                               for packet in desk.wire.packets[wire:]), 4, "our picture at the other telephone")
        wait_until(lambda: offers(desk, wire)[-1:] == [False], 4, "video to be taken away")
        time.sleep(0.3)
        flows_still(desk)
        o.hang_up()
        peer.done()
    found = offers(desk, wire)
    if desk.find("call", mark, state="ended", reason="protocol-fault") or found != [False, True, False]:
        raise Failed(f"{found}", "video was to be off, on, off in our answers")
    return "added and removed"


def offers(desk, since):
    """Whether each of the kiosk's answers has video, repetitions left out."""
    found = []
    for message in desk.sent(200, since):
        shown = bool(message.ports().get("video"))
        if message.method == "INVITE" and message.body and found[-1:] != [shown]:
            found.append(shown)
    return found


@beside("offerless-change")
def offerless_change(o):
    """The other telephone sends a re-INVITE without an offer: whatever Asterisk makes of it, the call goes on."""
    desk = o.ready()
    scenario = Scenario().answers().request("INVITE", "i", 11).recv(100, optional=True).recv(200)
    scenario.request("ACK", "i", 11, body=session(version=2)).is_hung_up()
    with desk.sipp(scenario) as peer:
        o.dial("peer")
        time.sleep(0.5)
        flows_still(desk)
        o.hang_up()
        peer.done()
    return "the call goes on"


@beside("direct-media")
def direct(o):
    """After the answer Asterisk sends the sound straight to the telephone by re-INVITE: none passes it any more."""
    desk = o.ready(call__incoming="answer", call__incoming_from="anyone")
    with o.telephone(codecs=("pcmu",)):
        called_for_sound(o, "peer-direct")
        wait_until(lambda: any(f"c=IN IP4 {PEER}" in message.body for message in desk.got("INVITE")), 5,
                   "a re-INVITE with the telephone's address")
        time.sleep(0.3)
        wire = desk.wire.mark()
        flows(desk, "audio")
        flows_still(desk)
        through = [packet for packet in desk.wire.packets[wire:] if packet.is_rtp() and THROUGH_ASTERISK & {
            packet.source_port, packet.target_port}]
        o.hang_up()
    if through:
        raise Failed(f"{len(through)} packets", "sound still went through Asterisk")
    return "past the server"
