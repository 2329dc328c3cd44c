# SPDX-License-Identifier: Apache-2.0
"""A call's times: from the finger to the wire, from the answer to the first picture and sound."""

import time

from measure.figures import median, percentile
from tests.bench import bench
from tests.kiosk import GUEST
from tests.runner import Failed, check

PRESSES, CALLS = 20, 6


@check("board/boot")
def boot(context):
    return bench(context).board.boot_seconds


@check("board/ready", again=())
def ready(context):
    b = bench(context)
    begin = time.monotonic()
    b.kiosk_options = None
    b.ready()
    return (time.monotonic() - begin) * 1000


def pressed_to_sent(b, button, method, before):
    """Milliseconds, on the guest's own clock, from the edge on the line to the first `method` on its wire."""
    with b.board.capture([5060]) as captured:
        pressed_ns = b.kiosk.press(button)
        before()
    sent = [at_ns for at_ns, direction, line in captured.packets
            if direction == "out" and line.startswith(method) and at_ns >= pressed_ns]
    if not sent:
        raise Failed(f"no {method}", f"a press on {button} put no {method} on the wire within 2 s")
    return (sent[0] - pressed_ns) / 1e6


def ringing_calls(context):
    """Twenty presses while the far end only rings; each is given up with hook. (to INVITE, to CANCEL) in ms."""
    b = bench(context)
    b.peer(answer="manual")
    kiosk, invites, cancels = b.ready(), [], []
    for _ in range(PRESSES):
        mark = kiosk.mark()
        invites.append(pressed_to_sent(b, "call", "INVITE",
                                       lambda mark=mark: kiosk.wait_event("call", since=mark, state="ringing")))
        mark = kiosk.mark()
        cancels.append(pressed_to_sent(b, "hook", "CANCEL",
                                       lambda mark=mark: kiosk.wait_event("call", since=mark, state="ended")))
        kiosk.idle()
    context.log("press to INVITE, ms:", invites)
    context.log("hook to CANCEL, ms:", cancels)
    return invites, cancels


@check("board/press-to-invite", again=("ringing calls",))
def press_to_invite(context):
    invites, _ = context.once("ringing calls", lambda: ringing_calls(context))
    debounce_ms = bench(context).board.debounce_ms
    figure = median(invites) - debounce_ms
    context.log(f"median {median(invites):.2f} worst {max(invites):.2f} of which debounce {debounce_ms}")
    return figure


@check("board/hook-to-cancel", again=("ringing calls",))
def hook_to_cancel(context):
    _, cancels = context.once("ringing calls", lambda: ringing_calls(context))
    return median(cancels) - bench(context).board.debounce_ms


def short_calls(context):
    """A few answered calls: [(hook to BYE, answer to first frame, answer to first sound)], milliseconds."""
    b = bench(context)
    b.peer()
    kiosk, times = b.ready(), []
    for _ in range(CALLS):
        mark, _ = kiosk.call()
        frame = kiosk.wait_event("first_frame", since=mark, limit_s=5)["ms_since_answer"]
        sound = kiosk.wait_event("first_sound", since=mark, limit_s=5)["ms_since_answer"]
        mark = kiosk.mark()
        bye = pressed_to_sent(b, "hook", "BYE", lambda mark=mark: kiosk.wait_event("call", since=mark, state="ended"))
        times.append((bye, frame, sound))
        kiosk.idle()
    context.log("hook to BYE, answer to frame, answer to sound, ms:", times)
    return times


def short(context):
    return context.once("short calls", lambda: short_calls(context))


@check("board/hook-to-bye", again=("short calls",))
def hook_to_bye(context):
    return median([bye for bye, _, _ in short(context)]) - bench(context).board.debounce_ms


@check("board/answer-to-picture", again=("short calls",))
def answer_to_picture(context):
    return percentile([float(frame) for _, frame, _ in short(context)], 1.0)


@check("board/answer-to-sound", again=("short calls",))
def answer_to_sound(context):
    return percentile([float(sound) for _, _, sound in short(context)], 1.0)


@check("board/second-press")
def second_press(context):
    """A frightened person presses again and again: one call, and it stays."""
    b = bench(context)
    b.peer(answer_after_ms=600)
    kiosk = b.ready()
    mark, wire_mark = kiosk.mark(), b.wire.mark()
    for _ in range(4):
        kiosk.press("call", 60)
        time.sleep(0.15)
    kiosk.wait_event("call", since=mark, state="connected", limit_s=5)
    kiosk.press("call", 60)
    time.sleep(0.5)
    if kiosk.status().get("state") != "connected":
        raise Failed("no call", "pressing `call` again ended the call")
    branches = {packet.payload.split(b"\r\nCall-ID:")[1].split(b"\r\n")[0] for packet in b.wire.sip(GUEST, wire_mark)
                if packet.first_line().startswith("INVITE")}
    kiosk.hang_up()
    return len(branches)
