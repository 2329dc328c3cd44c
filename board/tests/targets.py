# SPDX-License-Identifier: Apache-2.0
"""Whom a press calls, one after the other and at the same time; who may call; and calls that nobody here placed."""

import contextlib
import socket
import struct
import time

import numpy

from measure import tone
from peer.odd import Silent
from peer.sipp import AUDIO_PORT, Scenario, session
from tests.desk import KIOSK, PEER, Desk
from tests.digits import decoded
from tests.race import told
from tests.runner import Failed, check

A, B, C, SILENT = 5062, 5064, 5066, 5068
# Of the owner's own prompt; no sound of ours has it.
PROMPT_HZ = 700


def busy(code=486):
    return Scenario(tag="busy").recv("INVITE", keep="i").reply("i", code, tag="busy", retrans=True).recv("ACK")


def rings(tag, last=487):
    """Rings until it is cancelled; `last` is what it then says."""
    scenario = Scenario(tag=tag).recv("INVITE", keep="i").reply("i", 180, tag=tag).recv("CANCEL", keep="c")
    return scenario.reply("c", 200).reply("i", last, tag=tag, retrans=True, body=session() if last == 200 else None)


def answers(tag, ring_ms=300):
    """Rings, answers, and is hung up."""
    scenario = Scenario(tag=tag).recv("INVITE", keep="i").reply("i", 180, tag=tag).pause(ring_ms)
    return scenario.reply("i", 200, tag=tag, body=session(video=None), retrans=True).recv("ACK").is_hung_up()


def target(name, port):
    return f"sip:{name}@{PEER}:{port}"


def expect(figure, holds, why):
    if not holds:
        raise Failed(figure, why)


@contextlib.contextmanager
def desk(context, uri, **changes):
    """A kiosk that calls `uri`; what passed is kept."""
    with Desk(context.folder) as found:
        try:
            changes = {key.replace("__", "."): value for key, value in changes.items()}
            found.start(changes={"call.uri": uri, **changes})
            yield found
        finally:
            (context.folder / "wire.txt").write_text(told(found))


def whom(message):
    """The user in a request's first line."""
    return message.data.split(b" ")[1].decode().split(":")[1].split("@")[0]


@check("targets/one-after-the-other")
def one_after_the_other(context):
    """The first is busy, the second gives no sign of life: the third rings within 5 s. Figure: seconds."""
    uri = f"{target('a', A)}, {target('b', SILENT)}, {target('c', C)}"
    with desk(context, uri) as kiosk, kiosk.sipp(busy(), port=A, name="a") as first, Silent(port=SILENT), \
            kiosk.sipp(answers("c"), port=C, name="c") as last:
        mark, begin = kiosk.mark(), time.monotonic()
        kiosk.press("call")
        kiosk.wait_event("call", since=mark, state="ringing", limit_s=8)
        seconds = time.monotonic() - begin
        kiosk.wait_event("call", since=mark, state="connected", uri=target("c", C))
        kiosk.must("hangup")
        first.done()
        last.done()
        failed = [(event["uri"], event["reason"], event["next"]) for event in kiosk.find("failed", mark)]
    wanted = [(target("a", A), "refused", target("b", SILENT)), (target("b", SILENT), "no-response", target("c", C))]
    expect(f"{failed}", failed == wanted, "each failure and who is next")
    return seconds


@check("targets/at-the-same-time")
def at_the_same_time(context):
    """Three ring; one answers, and of the others one rings no more and one answers too late: thanked, and ended."""
    uri = f"{target('a', A)} + {target('b', B)} + {target('c', C)}"
    late = rings("c", last=200).recv("ACK").is_hung_up()
    with desk(context, uri) as kiosk, kiosk.sipp(rings("a").recv("ACK"), port=A, name="a") as first, \
            kiosk.sipp(answers("b", ring_ms=600), port=B, name="b") as winner, \
            kiosk.sipp(late, port=C, name="c") as slow:
        mark = kiosk.mark()
        kiosk.press("call")
        kiosk.wait_event("call", since=mark, state="connected", uri=target("b", B))
        first.done()
        slow.done()
        state = kiosk.status()["state"]
        kiosk.must("hangup")
        winner.done()
        kiosk.idle()
    expect(state, state == "connected", "the call goes on")
    return "one call, one CANCEL, one ACK and BYE"


@check("targets/again")
def again(context):
    """Nobody can, twice: all are called again after the pause; the outcome that says most; the hook ends it."""
    uri = f"{target('a', A)}, {target('b', B)}"
    with desk(context, uri, call__cycles="2", call__pause="1") as kiosk, \
            kiosk.sipp(busy(486), port=A, name="a", calls_max=3) as _, \
            kiosk.sipp(busy(404), port=B, name="b", calls_max=3) as _:
        mark = kiosk.mark()
        kiosk.press("call")
        ended = kiosk.wait_event("call", since=mark, state="ended", limit_s=8)
        tried = [whom(message) for message in kiosk.sent("INVITE")]
        again_mark = kiosk.mark()
        kiosk.press("call")
        kiosk.wait_event("call", since=again_mark, state="pausing")
        kiosk.must("hangup")
        kiosk.ended("cancelled", since=again_mark)
        time.sleep(1.3)
        after = len([message for message in kiosk.sent("INVITE") if whom(message) == "a"])
    expect(f"{tried}", tried == ["a", "b", "a", "b"], "two cycles")
    expect(f"{ended}", ended["code"] == 486 and len(ended["tried"]) == 4, "busy says more than not found")
    expect(f"{after}", after == 3, "nobody is called after the hook")
    return "two cycles"


def talk(port, seconds):
    """The far end says something loud, in PCMU, from where its description has its sound."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth:
        mouth.bind((PEER, AUDIO_PORT))
        for number in range(round(seconds * 50)):
            mouth.sendto(struct.pack("!BBHII", 0x80, 0, number, number * 160, 7) + bytes([0x20, 0xA0] * 80),
                         (KIOSK, port))
            time.sleep(0.02)


def prompted(packets):
    """Seconds of the owner's prompt in what the kiosk sent, and tenths of a second of anything else in it."""
    samples, heard = decoded(packets), []
    for begin in range(0, len(samples) - 800, 800):
        part = samples[begin : begin + 800]
        # What has only its very beginning or end in a tenth of a second has no frequency to speak of.
        if tone.level_dbfs(part) > -30:
            heard.append(10 * int(numpy.argmax(numpy.abs(numpy.fft.rfft(part)))))
    ours = sum(abs(hertz - PROMPT_HZ) < 100 for hertz in heard)
    return ours / 10, len(heard) - ours


@check("targets/is-it-a-human")
def is_it_a_human(context):
    """An answering machine presses no key: the next is called. Somebody who does has the call. Both hear that a key is
    to be pressed, in the owner's own words and nothing else; what they say is not heard before."""
    machine = Scenario(tag="m").recv("INVITE", keep="i").reply("i", 200, tag="m", body=session(), retrans=True)
    machine.recv("ACK").is_hung_up()
    human = Scenario(tag="h").recv("INVITE", keep="i").reply("i", 200, tag="h", body=session(), retrans=True)
    human.recv("ACK").pause(2500)
    human.request("INFO", "i", 900, tag="h", headers=["Content-Type: application/dtmf-relay"],
                  body="Signal=1\nDuration=160\n").recv(200).is_hung_up()
    own = context.folder / "prompts" / "en"
    own.mkdir(parents=True, exist_ok=True)
    tone.save(own / "press-a-key.wav", 48000, tone.sine(48000, 1.0, PROMPT_HZ))
    with desk(context, f"{target('a', A)}, {target('b', B)}", call__confirm="dtmf", call__confirm_timeout="5") \
            as kiosk, kiosk.sipp(machine, port=A, name="a") as first, kiosk.sipp(human, port=B, name="b") as second:
        mark = kiosk.mark()
        kiosk.press("call")
        kiosk.wait_event("call", since=mark, state="confirming")
        kiosk.wait_event("call", since=mark, state="confirming", uri=target("b", B), limit_s=10)
        begin = kiosk.wire.mark()
        port = int(kiosk.sent("INVITE")[-1].data.split(b"m=audio ")[1].split(b" ")[0])
        talk(port, 1.5)
        early = kiosk.find("first_sound", mark)
        kiosk.wait_event("call", since=mark, state="connected", uri=target("b", B))
        kiosk.wire.catch_up()
        seconds, others = prompted([packet for packet in kiosk.wire.rtp(KIOSK, since=begin)
                                    if packet.payload_type() == 0])
        talk(port, 0.6)
        kiosk.wait_event("first_sound", since=mark)
        kiosk.must("hangup")
        first.done()
        second.done()
        states = [event["state"] for event in kiosk.find("confirm", mark)]
    expect(f"{states}", states == ["waiting", "waiting", "done"], "what was asked of whoever answered")
    expect(f"{early}", not early, "nothing of the far end's is heard before the key")
    expect(f"{seconds:.1f} s, {others} others", 0.7 <= seconds <= 1.5 and not others, "a prompt of 1 s, and silence")
    return f"the machine was passed over, {seconds:.1f} s of prompt"


@check("targets/names")
def names(context):
    """Names and numbers alone, tel: and links are called in the domain that is theirs."""
    words = [("help", "help"), ("100", "100"), ("tel:+49-30-123", "+4930123"),
             (f"callbox://{PEER}:{A}?uri=desk", "desk"), (f"front@{PEER}:{A}", "front")]
    with desk(context, target("a", A), account__uri=f"sip:door@{PEER}:{A}", account__register="no") as kiosk, \
            kiosk.sipp(busy(404), port=A, name="a", calls_max=len(words)):
        for word, _ in words:
            mark = kiosk.mark()
            kiosk.must("call", word)
            kiosk.wait_event("call", since=mark, state="ended")
        called = [whom(message) for message in kiosk.sent("INVITE")]
    expect(f"{called}", called == [user for _, user in words], "who is called")
    return f"{len(words)} forms"


@check("targets/who-may-call")
def who_may_call(context):
    """One on the list is answered after a bell of a second, another one refused."""
    listed = Scenario().calls().is_hung_up()
    other = Scenario().invite(body=session(), retrans=False).answered("r", 480)
    with desk(context, target("a", A), call__incoming="answer", call__incoming_from="sipp") as kiosk:
        with kiosk.sipp(listed, calls=f"{KIOSK}:5060") as caller:
            mark = kiosk.mark()
            kiosk.wait_event("call", since=mark, state="alerting")
            kiosk.wait_event("call", since=mark, state="connected")
            invite, ok = kiosk.got("INVITE")[0], kiosk.wait_sent(200)
            kiosk.must("hangup")
            caller.done()
        kiosk.start(changes={"call.uri": target("a", A), "call.incoming": "answer", "call.incoming_from": "desk"})
        with kiosk.sipp(other, calls=f"{KIOSK}:5060", name="other"):
            kiosk.wait_sent(480)
    seconds = (ok.at_ms - invite.at_ms) / 1000
    expect(f"{seconds:.2f} s", 0.9 < seconds < 1.5, "nobody is heard or seen unawares")
    return f"{seconds:.2f} s"


@check("targets/call-back")
def call_back(context):
    """Whoever was called may call back, and it rings; nobody else may."""
    back = Scenario().invite(body=session(), retrans=False).recv(100, optional=True).recv(180)
    before = Scenario().invite(body=session(), retrans=False).answered("r", 480)
    with desk(context, f"sip:sipp@{PEER}:{A}", call__call_back="1") as kiosk:
        with kiosk.sipp(before, calls=f"{KIOSK}:5060", name="before"):
            kiosk.wait_sent(480)
        with kiosk.sipp(answers("a"), port=A, name="a") as called:
            mark = kiosk.mark()
            kiosk.press("call")
            kiosk.wait_event("call", since=mark, state="connected")
            kiosk.must("hangup")
            called.done()
        with kiosk.sipp(back, calls=f"{KIOSK}:5060", name="back"):
            kiosk.wait_event("call", since=mark, state="alerting")
            kiosk.must("hangup")
    return "480 before the call, 180 after it"


@check("targets/call-back-over")
def call_back_over(context):
    """The time in which whoever was called may call back is over: refused, as anybody is."""
    late = Scenario().invite(body=session(), retrans=False).answered("r", 480)
    with desk(context, f"sip:sipp@{PEER}:{A}", call__call_back="2s") as kiosk:
        with kiosk.sipp(answers("a"), port=A, name="a") as called:
            mark = kiosk.mark()
            kiosk.press("call")
            kiosk.wait_event("call", since=mark, state="connected")
            kiosk.must("hangup")
            called.done()
            kiosk.ended(since=mark)
        # Still shown, and over the two seconds.
        kiosk.idle_for(2.3)
        with kiosk.sipp(late, calls=f"{KIOSK}:5060", name="late") as caller:
            kiosk.wait_sent(480)
            caller.done()
        rang = kiosk.find("call", mark, state="alerting")
    expect(f"{rang}", not rang, "nobody rings here after it")
    return "480 after 2.3 s"


@check("targets/by-itself")
def by_itself(context):
    """A call that nobody placed: a countdown, the call, a warning, and its end after 20 s."""
    with desk(context, target("a", A), auto_call__allow="yes", auto_call__after="10", auto_call__countdown="3",
              call__max_duration="20") as kiosk, kiosk.sipp(answers("a"), port=A, name="a", recv_limit_s=60) as peer:
        scheduled = kiosk.wait_event("auto_call", limit_s=10, state="scheduled")
        kiosk.wait_event("auto_call", state="executed")
        kiosk.wait_event("call", state="connected")
        kiosk.wait_event("time_limit", limit_s=12)
        ended = kiosk.ended("time-limit", limit_s=12)
        peer.done()
    expect(f"{scheduled}", 2900 < scheduled["ms"] < 3100, "three seconds are counted")
    seconds = ended["duration_ms"] / 1000
    expect(f"{seconds:.1f} s", 19.8 < seconds < 20.5, "20 s were set")
    return f"{seconds:.1f} s"
