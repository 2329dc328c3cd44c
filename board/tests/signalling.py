# SPDX-License-Identifier: Apache-2.0
"""How calls end, and how they begin from the other side: each outcome is shown, and the next press works."""

import contextlib
import time

from tests.bench import bench, wait_until
from tests.kiosk import GUEST, PEER
from tests.runner import Failed, check

TERMINATIONS = 6


def next_press_works(b):
    """A call by the button right after: connected, then ended by hook."""
    b.peer()
    b.kiosk.call()
    b.kiosk.hang_up()


@check("board/cancel")
def cancel(context):
    """Pressed away while it rings: CANCEL, 487, ACK (RFC 3261 9), then idle."""
    b = bench(context)
    b.peer(answer="manual")
    kiosk = b.ready()
    mark, wire_mark = kiosk.mark(), b.wire.mark()
    kiosk.press("call")
    kiosk.wait_event("call", since=mark, state="ringing")
    kiosk.hang_up()
    for start, source in (("CANCEL", GUEST), ("SIP/2.0 487", PEER), ("ACK", GUEST)):
        if not b.wire.wait_sip(start, source, 2, wire_mark):
            raise Failed(f"no {start}", "not on the wire within 2 s")
    kiosk.idle()
    next_press_works(b)
    return "CANCEL, 487, ACK"


@check("board/far-end-hangs-up")
def far_end_hangs_up(context):
    b = bench(context)
    peer, kiosk = b.peer(), b.ready()
    mark, _ = kiosk.call()
    time.sleep(1)
    wire_mark = b.wire.mark()
    peer.hang_up()
    ended = kiosk.wait_event("call", since=mark, state="ended", limit_s=3)
    if not b.wire.wait_sip("SIP/2.0 200", GUEST, 2, wire_mark):
        raise Failed("no 200", "BYE was not answered")
    lamp = b.board.lamp("lamp-call")
    next_press_works(b)
    if lamp:
        raise Failed("lamp on", "the lamp was still on after the call")
    return f"“{ended.get('text') or ended.get('reason')}”"


@check("board/tcp")
def tcp(context):
    """A whole call over TCP: pictures, BYE, no SIP datagram."""
    b = bench(context)
    peer, kiosk = b.peer(), b.ready({"sip.transport": "tcp"})
    wire_mark = b.wire.mark()
    mark, _ = kiosk.call()
    kiosk.wait_event("first_frame", since=mark)
    peer.snapshot("tcp.png")
    kiosk.hang_up()
    invites = [packet for packet in b.wire.sip(GUEST, wire_mark) if packet.first_line().startswith("INVITE")]
    if not invites or b"SIP/2.0/TCP" not in invites[0].payload:
        raise Failed("not TCP", "the INVITE did not go over TCP")
    b.peer()
    return f"{len(b.wire.sip(GUEST, wire_mark))} messages"


@check("board/incoming-refused")
def incoming_refused(context):
    b = bench(context)
    peer, kiosk = b.peer(), b.ready()
    mark, wire_mark, kiosk_mark = peer.mark(), b.wire.mark(), kiosk.mark()
    peer.dial(f"sip:callbox@{GUEST}")
    closed = peer.wait_event("CALL_CLOSED", since=mark)
    if not b.wire.wait_sip("SIP/2.0 480", GUEST, 1, wire_mark):
        raise Failed(f"{closed.get('param')}", "480 was expected")
    if kiosk.find("call", kiosk_mark, state="connected"):
        raise Failed("connected", "the kiosk took the call")
    next_press_works(b)
    return "480"


@check("board/incoming-answered")
def incoming_answered(context):
    """With `incoming = answer`: both pictures, both sounds; the far end hangs up."""
    b = bench(context)
    peer, kiosk = b.peer(), b.ready({"call.incoming": "answer", "call.incoming_from": "anyone"})
    mark, kiosk_mark = peer.mark(), kiosk.mark()
    peer.dial(f"sip:callbox@{GUEST}")
    peer.wait_event("CALL_ESTABLISHED", since=mark)
    kiosk.wait_event("call", since=kiosk_mark, state="connected")
    kiosk.wait_event("first_frame", since=kiosk_mark)
    kiosk.wait_event("first_sound", since=kiosk_mark)
    peer.snapshot("incoming.png")
    begin = peer.heard_samples()
    wait_until(lambda: peer.heard_samples() > begin + 24000, 3, "sound at the far end")
    peer.hang_up()
    kiosk.wait_event("call", since=kiosk_mark, state="ended")
    return "pictures and sound both ways"


def terminated(context, frozen=False, answered=True):
    """SIGTERM in a call: (milliseconds to the exit, first line seen)."""
    b = bench(context)
    peer = b.peer(**({} if answered else {"answer": "manual"}))
    kiosk = b.ready()
    mark = kiosk.mark()
    kiosk.press("call")
    kiosk.wait_event("call", since=mark, state="connected" if answered else "ringing")
    time.sleep(0.5)
    wire_mark, method = b.wire.mark(), "BYE" if answered else "CANCEL"
    with contextlib.ExitStack() as stack:
        if frozen:
            peer.vanish()
            stack.callback(b.drop_peer)
        status, milliseconds = kiosk.stop()
        if not b.wire.wait_sip(method, GUEST, 1, wire_mark):
            raise Failed(f"no {method}", "SIGTERM left the far end in the call")
    if status != 0:
        raise Failed(f"exit {status}", "0 was expected")
    return milliseconds


@check("board/sigterm-in-call")
def sigterm_in_call(context):
    """A few times over: threads that end in another order each time. The worst."""
    return max(terminated(context) for _ in range(TERMINATIONS))


@check("board/sigterm-unanswered")
def sigterm_unanswered(context):
    return terminated(context, frozen=True)


@check("board/sigterm-ringing")
def sigterm_ringing(context):
    return terminated(context, answered=False)


@check("board/sigterm-idle")
def sigterm_idle(context):
    kiosk = bench(context).ready()
    status, milliseconds = kiosk.stop()
    if status != 0:
        raise Failed(f"exit {status}", "0 was expected")
    return milliseconds


