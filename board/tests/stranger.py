# SPDX-License-Identifier: Apache-2.0
"""What comes from those who may not talk to us: nothing is answered, nothing is disturbed."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time

from peer.baresip import Peer
from peer.flood import listener, count, request
from tests.arm import camera_file
from tests.bench import NICE
from tests.desk import KIOSK, PEER, Desk
from tests.race import connect, hang_up
from tests.runner import Failed, check
from tests.world import THIRD, clip

RATE, SECONDS = 10_000, 30
# What sound and picture of a call come to in this time, and what may be missing of it on a busy machine.
PACKETS, FRAMES, MISSING = 50 * SECONDS, 30 * SECONDS, 0.1


def flood(seconds=SECONDS):
    program = os.path.join(os.path.dirname(__file__), "..", "peer", "flood.py")
    return subprocess.Popen(["nice", "-n", str(-2 * NICE), sys.executable, program, THIRD, KIOSK, str(RATE),
                             str(seconds)], stdout=subprocess.PIPE)


@contextlib.contextmanager
def preferred():
    """What is started here is not to wait for whatever else the machine does."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, NICE)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


def flooded(context):
    """A call with baresip, the flood in it; what was measured."""
    folder, seen = context.out / "stranger" / "flood", {}
    with (preferred(), Desk(folder, camera=f"file:{camera_file()}") as desk,
          Peer(folder / "peer", clip(), PEER) as peer):
        desk.start()
        # A listener that took in every packet would cost more than the kiosk.
        desk.wire.__exit__()
        mark = connect(desk)
        desk.wait_event("first_frame", since=mark)
        desk.wait_event("first_sound", since=mark)
        time.sleep(2)
        before, heard, replies = desk.status(), peer.heard_samples(), []
        with flood() as stranger:
            while stranger.poll() is None:
                begin = time.monotonic()
                desk.status()
                replies.append(1000 * (time.monotonic() - begin))
                time.sleep(0.25)
            seen.update(json.loads(stranger.stdout.read()))
        after = desk.status()
        seen.update(before=before, after=after, heard=peer.heard_samples() - heard, reply_ms=max(replies))
        peer.snapshot("flood.png")
        with flood(3) as stranger:
            time.sleep(1)
            begin = time.monotonic()
            hang_up(desk)
            seen["hang_up_ms"] = 1000 * (time.monotonic() - begin)
            time.sleep(0.2)
            connect(desk)
            hang_up(desk)
            stranger.wait()
        code, _ = desk.stop()
    context.log(json.dumps(seen))
    if code != 0:
        raise Failed(f"exit {code}", "after the flood")
    if seen["sent"] < 0.98 * RATE * SECONDS:
        raise Failed(f"{seen['sent'] / seen['seconds']:.0f}/s", "the machine was too busy to send the flood")
    return seen


def measured(context):
    return context.once("the flood", lambda: flooded(context))


def gained(seen, kind, key):
    return seen["after"]["counters"][kind][key] - seen["before"]["counters"][kind][key]


@check("stranger/flood-silence")
def silence(context):
    """Figure: bytes that came back for 300,000 requests."""
    return measured(context)["bytes"]


@check("stranger/flood-sound", again=("the flood",))
def sound(context):
    """The call's sound in both directions, without holes. Figure: packets concealed."""
    seen = measured(context)
    came, went = gained(seen, "audio", "rtp_in"), gained(seen, "audio", "rtp_out")
    if min(came, went) < PACKETS * (1 - MISSING) or seen["heard"] < 48000 * SECONDS * (1 - MISSING):
        raise Failed(f"{came} in, {went} out, {seen['heard']} samples", f"about {PACKETS} packets were due each way")
    return gained(seen, "audio", "concealed") + gained(seen, "audio", "lost") + gained(seen, "audio", "xruns")


@check("stranger/flood-picture", again=("the flood",))
def picture(context):
    """Figure: the part of the frames that was decoded, in percent."""
    return 100 * gained(measured(context), "video", "decoded") / FRAMES


@check("stranger/flood-memory")
def memory(context):
    """Figure: how much the resident memory grew, KiB."""
    seen = measured(context)
    return seen["after"]["rss_kb"] - seen["before"]["rss_kb"]


@check("stranger/flood-buttons", again=("the flood",))
def buttons(context):
    """Whoever stands before the kiosk notices nothing. Figure: milliseconds of the slowest answer of its control."""
    seen = measured(context)
    if seen["hang_up_ms"] > 1000:
        raise Failed(f"{seen['hang_up_ms']:.0f} ms", "to hang up in the flood")
    return seen["reply_ms"]


def oddities():
    """Everything else that could tempt somebody to answer."""
    options = request(0, THIRD, KIOSK)
    return [options, request(1, THIRD, KIOSK), request(2, THIRD, KIOSK), b"\r\n\r\n", b"\r\n", b"nonsense\r\n\r\n",
            options.replace(b"OPTIONS", b"BYE"), options.replace(b"OPTIONS", b"SUBSCRIBE"),
            options.replace(b"OPTIONS", b"MESSAGE"), options.replace(b"OPTIONS", b"REFER"),
            options.replace(b"Forwards: 70", b"Forwards: 0"), options.replace(b"Max-Forwards", b"Require: x\r\nX"),
            options.replace(b"SIP/2.0\r\n", b"SIP/7.0\r\n", 1), options.replace(b"Length: 0", b"Length: 9"),
            options.replace(b"CSeq: 1", b"CSeq: 99999999999"), b"SIP/2.0 200 OK" + options[options.index(b"\r\n"):]]


@check("stranger/datagrams")
def datagrams(context):
    """Every kind of message, whole and broken, and RTP ports left aside. Figure: bytes that came back."""
    with Desk(context.folder) as desk:
        desk.start(changes={"call.incoming": "answer", "call.incoming_from": "anyone"})
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sender.bind((THIRD, 5060))
        listening = listener(THIRD, KIOSK)
        count(listening)
        for data in oddities():
            sender.sendto(data, (KIOSK, 5060))
            time.sleep(0.02)
        time.sleep(0.7)
        _, back = count(listening)
        sender.close()
        if desk.status()["state"] != "idle":
            raise Failed(desk.status()["state"], "a stranger's INVITE did something")
        # The same question from the one whom we call has its answer.
        known = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        known.bind((PEER, 5060))
        known.settimeout(2)
        known.sendto(request(0, PEER, KIOSK), (KIOSK, 5060))
        if not known.recv(65536).startswith(b"SIP/2.0 200"):
            raise Failed("no 200", "the server's OPTIONS was to be answered")
        known.close()
    return back


@check("stranger/streams")
def streams(context):
    """The same by TCP: closed, without a byte; our own connection goes on. Figure: bytes that came back."""
    back = 0
    with Desk(context.folder) as desk, Peer(context.folder / "peer", clip(), PEER, transport="tcp"):
        desk.start(changes={"sip.transport": "tcp"})
        connect(desk)
        hoard = []
        for data in oddities() * 3:
            stream = socket.socket()
            stream.settimeout(0.3)
            stream.bind((THIRD, 0))
            try:
                stream.connect((KIOSK, 5060))
                stream.sendall(data.replace(b"SIP/2.0/UDP", b"SIP/2.0/TCP"))
                back += len(stream.recv(65536))
            except (TimeoutError, ConnectionError):
                pass
            hoard.append(stream)
        if desk.status()["state"] != "connected":
            raise Failed(desk.status()["state"], "strangers have put an end to the call")
        hang_up(desk)
        for stream in hoard:
            stream.close()
    return back


@check("stranger/automatic-answer")
def automatic(context):
    """A server that asks for an answer at once gets none, unless it is on the list for that (case 131)."""
    found = []
    for listed in ("none", PEER):
        with Desk(context.folder) as desk:
            desk.start(changes={"sip.auto_answer_from": listed})
            caller = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            caller.bind((PEER, 5060))
            caller.settimeout(2)
            caller.sendto(request(1, PEER, KIOSK), (KIOSK, 5060))
            found.append(final(caller))
            caller.close()
    if found != [480, 200]:
        raise Failed(f"{found}", "480 was due to the one, 200 to the other")
    return "480, 200"


def final(caller):
    """The status of the first answer above 199."""
    while True:
        status = int(caller.recv(65536).split(b" ")[1])
        if status >= 200:
            return status
