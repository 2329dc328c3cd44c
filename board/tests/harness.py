# SPDX-License-Identifier: Apache-2.0
"""The measures and the far end, tested without the product: baresip calls baresip on loopback."""

import signal
import time

from measure import image, tone
from peer import clip as clips
from peer import crash, odd, relay
from peer.baresip import Peer
from tests.runner import Failed, check
from tests.world import ADDRESSES, clip, loopback_world

CALLED, CALLER = ADDRESSES


@check("harness/measure")
def measure(context):
    """Every measure's own test, which fails when the measure lies."""
    files = ["measure/image", "measure/barcode", "measure/tone", "measure/figures", "measure/wire", "measure/sip",
             "peer/relay", "peer/clip"]
    with loopback_world():
        for file in files:
            context.run("python3", context.project / "board" / f"{file}.py")
    return f"{len(files)} self-tests"


@check("harness/table")
def names(_):
    from tests import plan, runner

    rows, missing = runner.table(), []
    for group, files in plan.FILES.items():
        for file in files:
            __import__(f"tests.{file}")
        missing += [row.name for row in rows if row.group == group and row.name not in runner.FUNCTIONS]
    missing += sorted(set(runner.FUNCTIONS) - {row.name for row in rows})
    missing += [row.name for row in rows if row.group not in plan.FILES]
    if missing:
        raise Failed(f"{len(missing)} wrong", f"in the table or in the files only: {', '.join(missing)}")
    return f"{len(rows)} checks"


def call(context):
    """One call between two baresips, measured like a call of the kiosk."""
    with loopback_world():
        return _call(context)


def _call(context):
    called, caller = called_peer(context), calling_peer(context)
    with called, caller:
        mark = called.mark()
        caller.dial(f"sip:peer@{CALLED}")
        caller.wait_event("CALL_ESTABLISHED")
        time.sleep(2)
        picture = image.expand_range(image.load(called.snapshot()))
        time.sleep(5)
        caller.hang_up()
        called.wait_event("CALL_CLOSED", since=mark)
    rate, samples = tone.load(called.heard)
    return picture, tone.analyse(samples[rate:], rate)


@check("harness/far-end-picture")
def picture(context):
    seen, _ = context.once("call between two baresips", lambda: call(context))
    image.save(seen, context.folder / "seen.png")
    from measure import barcode

    number = barcode.read(seen)
    if number is None:
        raise Failed("no number", "the frame's barcode cannot be read")
    return image.psnr(seen, clips.frame(number))


@check("harness/far-end-tone")
def sound(context):
    _, heard = context.once("call between two baresips", lambda: call(context))
    if abs(heard.frequency_hz - 440) > 1 or heard.gap_ms > 20:
        raise Failed(f"{heard.frequency_hz:.2f} Hz", f"not an even 440 Hz tone: {heard}")
    return heard.snr_db


@check("harness/far-end-modes")
def modes(context):
    """Refusals, endless ringing, silence, and a relay that leaves one packetization mode."""
    with loopback_world():
        for code, phrase in ((486, "Busy Here"), (603, "Decline")):
            _refused(context, code, phrase)
        _cancelled(context)
        _silent(context)
        for mode in (0, 1):
            _one_mode(context, mode)
    return "6 modes"


@check("harness/far-end-crashes")
def crashes(context):
    """Once for each crash; an end that was asked for is none."""
    with loopback_world():
        with called_peer(context):
            pass
        ended = crash.seen()
        with called_peer(context) as peer:
            alive = crash.seen()
            peer.process.send_signal(signal.SIGSEGV)
            peer.process.wait(5)
    told = [ended, alive, crash.seen(), crash.seen()]
    if told != [[], [], ["baresip"], []]:
        raise Failed(f"{told}", "one crash was to be told, once")
    return "told once"


def called_peer(context):
    return Peer(context.out / "harness" / "called", clip(), CALLED, tone_hz=1000)


def calling_peer(context):
    return Peer(context.out / "harness" / "caller", clip(), CALLER, tone_hz=440, control_port=4445,
                rtp_ports="30000-30999")


def _refused(context, code, phrase):
    with odd.refuses(context.folder, code, phrase, address=CALLED), calling_peer(context) as caller:
        caller.dial(f"sip:peer@{CALLED}")
        closed = caller.wait_event("CALL_CLOSED")
        if str(code) not in closed.get("param", ""):
            raise Failed(f"{closed.get('param')}", f"a refusal with {code} was expected")


def _cancelled(context):
    with odd.rings(context.folder, address=CALLED) as ringing, calling_peer(context) as caller:
        caller.dial(f"sip:peer@{CALLED}")
        caller.wait_event("CALL_RINGING")
        caller.hang_up()
        time.sleep(0.3)
        messages = (ringing.folder / "sipp-messages.log").read_text()
        if "SIP/2.0 487" not in messages or "ACK sip:" not in messages.split("SIP/2.0 487")[-1]:
            raise Failed("no 487", f"CANCEL was not carried through; see {ringing.folder}")


def _silent(context):
    with odd.Silent(CALLED) as silent, calling_peer(context) as caller:
        caller.dial(f"sip:peer@{CALLED}")
        time.sleep(1.2)
        if len(silent.swallowed) < 2 or not silent.swallowed[0].startswith(b"INVITE"):
            raise Failed(f"{len(silent.swallowed)} datagrams", "INVITE and its retransmission were expected")


def _one_mode(context, mode):
    called = called_peer(context)
    with relay.Relay(relay.only_packetization_mode(mode), CALLED) as between, called, calling_peer(context) as caller:
        caller.dial(f"sip:peer@{CALLED}:5070")
        caller.wait_event("CALL_ESTABLISHED")
        called.snapshot()
        if b"packetization-mode=%d" % (1 - mode) in between.offers[0]:
            raise Failed(f"mode {mode}", "the relay left the other mode in the offer")

