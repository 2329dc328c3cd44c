# SPDX-License-Identifier: Apache-2.0
"""The kiosk beside Asterisk 22: called, calling, and with keys and texts in both directions."""

import time

from tests.bench import wait_until
from tests.desk import KIOSK
from tests.office import SERVER, beside, counted, flows, keys
from tests.runner import Failed

KEYS = "159#0*"


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
