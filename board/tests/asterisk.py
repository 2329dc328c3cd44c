# SPDX-License-Identifier: Apache-2.0
"""The kiosk beside Asterisk 22: called, calling, put on hold, transferred, and with media past it."""

import contextlib
import time
from pathlib import Path

from peer.asterisk import HERE, Asterisk
from peer.baresip import Peer
from peer.sipp import VIDEO_PORT, Scenario, session
from tests.arm import camera_file
from tests.bench import wait_until
from tests.desk import KIOSK, PEER, Beside, Desk
from tests.race import told
from tests.race_change import reoffer
from tests.runner import Failed, check
from tests.world import THIRD, clip

# baresip takes the first address of the network for its own.
SERVER, HOLDS, KEYS = THIRD, 50, "159#0*"
# As rtp.conf and peer/sipp.py have them.
THROUGH_ASTERISK = set(range(21000, 21200))


class Office(Beside):
    """A server, a kiosk whose calls go to it, and a telephone where one is asked for."""

    def __init__(self, folder):
        self.folder, self.options = Path(folder), None
        self.desk = Desk(self.folder / "kiosk", camera=f"file:{camera_file()}")
        values = {"@SERVER@": SERVER, "@KIOSK@": KIOSK, "@PEER@": PEER}
        files = {}
        for path in (HERE / "etc-asterisk").iterdir():
            text = path.read_text()
            for name, value in values.items():
                text = text.replace(name, value)
            files[path.name] = text
        self.server = Asterisk(self.folder / "asterisk", files)

    def ready(self, **changes):
        """The kiosk with this configuration, idle."""
        options = {"call.uri": f"sip:echo@{SERVER}", "call.media_timeout": "10",
                   **{key.replace("__", "."): value for key, value in changes.items()}}
        if not self.desk.alive() or options != self.options or self.desk.status()["state"] not in ("idle", "ended"):
            self.desk.start(changes=options)
            self.options = options
        return self.desk

    def telephone(self, **options):
        """baresip, for sound: it does not know FIR (RFC 5104), as which Asterisk asks it for key frames."""
        return Peer(self.folder / "peer", clip(), PEER, **options)

    @contextlib.contextmanager
    def other_kiosk(self):
        """A second kiosk at the other telephone's place, which answers. baresip does not live through fifty holds."""
        with Desk(self.folder / "other", camera=f"file:{camera_file()}", address=PEER) as other:
            other.start(changes={"call.uri": f"sip:echo@{SERVER}", "call.incoming": "answer",
                                 "call.incoming_from": "anyone", "rtp.ports": "42000-42099"})
            yield other

    def dial(self, extension, limit_s=5):
        """The kiosk calls an extension and is connected; the index of the first event."""
        mark = self.desk.mark()
        self.desk.must("call", f"sip:{extension}@{SERVER}")
        self.desk.wait_event("call", since=mark, state="connected", limit_s=limit_s)
        return mark

    def hang_up(self):
        """From here, and nothing is left on either side."""
        mark = self.desk.mark()
        self.desk.must("hangup")
        self.desk.ended("hangup", since=mark)
        self.server.idle()


def office(context):
    folder = context.out / "asterisk" / "office"
    found = context.once("Asterisk", lambda: context.keep(Office(folder)))
    if context.failures:
        # What a failed check left behind is not the next one's business.
        found.options = None
        for channel in found.server.channels():
            found.server.action("Hangup", Channel=channel)
    return found


def flows(desk, kind):
    """Frames, or packets of sound, come in from now on."""
    key = {"audio": "rtp_in", "video": "decoded"}[kind]
    before = counted(desk, kind, key)
    wait_until(lambda: counted(desk, kind, key) > before + 5, 4, f"{kind} to come in")


def counted(desk, kind, key):
    """A counter of the call, which are there from its first second on."""
    return desk.status()["counters"].get(kind, {}).get(key, 0)


def beside(name):
    """Declares a function of the Office as the check `asterisk/NAME`; what passed on the wire is kept."""

    def declare(function):
        def run(context):
            found = office(context)
            mark = found.desk.wire.mark()
            try:
                return function(found)
            finally:
                (context.folder / "wire.txt").write_text(told(found.desk, mark))

        check(f"asterisk/{name}")(run)
        return function

    return declare


@beside("echo")
def echo(o):
    """Sound and picture go out and come back."""
    desk = o.ready()
    mark = o.dial("echo")
    desk.wait_event("first_sound", since=mark)
    desk.wait_event("first_frame", since=mark)
    flows(desk, "audio")
    flows(desk, "video")
    o.hang_up()
    return "sound and picture"


@beside("tone")
def tone(o):
    desk = o.ready()
    mark = o.dial("tone")
    sound = desk.wait_event("first_sound", since=mark)
    flows(desk, "audio")
    o.hang_up()
    return f"after {sound['ms_since_answer']} ms"


@beside("tcp")
def tcp(o):
    """The same over TCP, where the server's requests come back on our connection."""
    desk = o.ready(sip__transport="tcp")
    mark = o.dial("echo")
    desk.wait_event("first_frame", since=mark)
    channel = o.server.channels()[0]
    o.server.action("Hangup", Channel=channel)
    desk.ended("remote-hangup", since=mark)
    o.server.idle()
    return "called, and hung up by the server"


@beside("busy")
def busy(o):
    desk = o.ready()
    mark = desk.mark()
    desk.must("call", f"sip:busy@{SERVER}")
    ended = desk.ended("refused", since=mark)
    o.server.idle()
    return f"“{ended['text']}”"


@beside("several-targets")
def several(o):
    """One is busy; of the two after it one plays a tone and the other answers; named by number alone, keys follow."""
    desk = o.ready(account__uri=f"sip:door@{SERVER}", account__register="no")
    mark, since, begin = desk.mark(), desk.wire.mark(), o.server.mark()
    desk.must("call", "busy, early + tel:77;postd=1p2")
    desk.wait_event("call", since=mark, state="connected", uri=f"sip:77@{SERVER};user=phone")
    desk.wait_event("first_sound", since=mark)
    desk.wait_sent("CANCEL", since=since)
    failed = desk.wait_event("failed", since=mark)
    called = len(desk.sent("INVITE", since))
    wait_until(lambda: o.server.mark() and keys(o, begin) == "12", 6, "the keys after the answer")
    o.hang_up()
    if failed["code"] != 486 or called != 3:
        raise Failed(f"{failed['code']}, {called} calls", "486 of the first and then two calls were due")
    return "busy, then the one that answers"


@beside("early-media")
def early(o):
    """A tone before the answer is heard, then the answer comes."""
    desk = o.ready()
    mark = desk.mark()
    desk.must("call", f"sip:early@{SERVER}")
    desk.wait_event("call", since=mark, state="early")
    wait_until(lambda: counted(desk, "audio", "rtp_in") > 20, 2, "sound before the answer")
    if desk.find("call", mark, state="connected"):
        raise Failed("too late", "the sound came after the answer only")
    desk.wait_event("call", since=mark, state="connected")
    desk.wait_event("first_frame", since=mark)
    o.hang_up()
    return "heard before the answer"


@beside("calls-in")
def calls_in(o):
    """Asterisk calls, the kiosk answers by itself: sound and picture, hung up by Asterisk."""
    desk = o.ready(call__incoming="answer", call__incoming_from="anyone")
    mark = desk.mark()
    o.server.action("Originate", Channel="PJSIP/kiosk", Context="calls", Exten="echo", Priority="1", Async="true",
                    Codecs="opus,h264")
    desk.wait_event("call", since=mark, state="connected")
    desk.wait_event("first_sound", since=mark)
    desk.wait_event("first_frame", since=mark)
    o.server.action("Hangup", Channel=o.server.channels()[0])
    desk.ended("remote-hangup", since=mark)
    o.server.idle()
    return "sound and picture"


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


@beside("digits")
def digits(o):
    """Keys pressed at the kiosk arrive, in order and once each (RFC 4733)."""
    desk = o.ready()
    mark = o.dial("tone")
    desk.wait_event("first_sound", since=mark)
    begin = o.server.mark()
    desk.must("digits", KEYS)
    wait_until(lambda: o.server.mark() and len(keys(o, begin)) >= len(KEYS), 6, "all keys")
    time.sleep(0.4)
    found = keys(o, begin)
    o.hang_up()
    if found != KEYS:
        raise Failed(found, f"{KEYS} was pressed")
    return found


def keys(o, since):
    return "".join(event["Digit"] for event in o.server.events[since:] if event.get("Event") == "DTMFEnd"
                   and event.get("Direction") == "Received")


@beside("message")
def message(o):
    """A text from Asterisk, told and answered; it comes outside of any call."""
    desk = o.ready()
    mark = desk.mark()
    o.server.action("MessageSend", Destination="pjsip:kiosk", From=f"<sip:desk@{SERVER}>", Body="Help is on the way")
    desk.wait_event("message", since=mark, text="Help is on the way", in_call=False)
    return "told"


@beside("offerless")
def offerless(o):
    """A call of ours without an offer: Asterisk makes it, our answer comes in the ACK."""
    desk = o.ready(sip__offerless="yes")
    mark = o.dial("echo")
    desk.wait_event("first_sound", since=mark)
    desk.wait_event("first_frame", since=mark)
    invite = next(sent for sent in desk.sent("INVITE")[::-1] if sent.source == KIOSK)
    o.hang_up()
    if invite.body:
        raise Failed("an offer", "the INVITE was to have none")
    return "sound and picture"


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


def flows_still(desk):
    """The call is up and sends sound."""
    before = counted(desk, "audio", "rtp_out")
    wait_until(lambda: counted(desk, "audio", "rtp_out") > before + 5, 3, "sound to go out")


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
