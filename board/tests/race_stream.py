# SPDX-License-Identifier: Apache-2.0
"""SIP over streams at any segmentation, keep-alives (RFC 5626), and what is too large for a datagram."""

import time

from peer.sipp import Scenario, session
from peer.stream import Stream, answer, at_once, one_byte
from tests.bench import wait_until
from tests.race import connect, expect, hang_up, race

# Longer than fits into one datagram with everything else (RFC 3261 18.1.1).
LONG_USER = "x" * 700


def answers(request, before=b""):
    """A far end that rings and answers; `before` goes before each message."""
    method = request.split(b" ", 1)[0]
    if method == b"INVITE":
        return before + answer(request, 180) + before + answer(request, 200, body=session())
    return before + answer(request, 200) if method == b"BYE" else b""


def whole_call(desk, stream, *words):
    connect(desk, *words)
    hang_up(desk)
    methods = [request.split(b" ", 1)[0] for request in stream.requests]
    expect(f"{methods}", methods == [b"INVITE", b"ACK", b"BYE"], "one of each, over one connection")


@race("stream-one-byte", sip__transport="tcp")
def stream_one_byte(desk):
    """Every byte of every answer in a segment of its own."""
    with Stream(answers, cut=one_byte) as stream:
        whole_call(desk, stream)


@race("stream-all-at-once", sip__transport="tcp")
def stream_at_once(desk):
    """Keep-alive CRLFs before each of two messages that come in one segment (RFC 3261 7.5, case 43)."""
    with Stream(lambda request: answers(request, b"\r\n\r\n\r\n"), cut=at_once) as stream:
        whole_call(desk, stream)


@race("stream-cut-everywhere", sip__transport="tcp")
def stream_cut(desk):
    """Segments of 7 bytes, lone CRLFs in between."""
    def seven(data):
        return [data[index : index + 7] for index in range(0, len(data), 7)]

    with Stream(lambda request: answers(request, b"\r\n"), cut=seven) as stream:
        whole_call(desk, stream)


@race("stream-ping", sip__transport="tcp")
def stream_ping(desk):
    """A double CRLF is answered with a single one (RFC 5626 4.4.1), and nothing else comes of it."""
    with Stream(answers) as stream:
        connect(desk)
        wait_until(lambda: b"\r\n\r\n" in stream.raw.partition(b"ACK sip:")[2], 2, "the ACK")
        before = len(stream.raw)
        stream.send(b"\r\n\r\n")
        wait_until(lambda: stream.raw[before:] == b"\r\n", 2, "the pong")
        hang_up(desk)


@race("too-large-by-tcp")
def too_large_by_tcp(desk):
    """An INVITE that does not fit into a datagram goes by TCP to the same address (RFC 3261 18.1.1)."""
    with Stream(answers) as stream:
        whole_call(desk, stream, f"sip:{LONG_USER}@10.77.0.1")
    expect("by UDP", not [sent for sent in desk.sent("INVITE") if "SIP/2.0/UDP" in sent.header("via")], "TCP was there")


@race("too-large-tcp-refused")
def too_large_refused(desk):
    """The same, and TCP is refused: by UDP after all, as a new transaction of the same call (case 28)."""
    with desk.sipp(Scenario().answers().is_hung_up()) as peer:
        begin = time.monotonic()
        connect(desk, f"sip:{LONG_USER}@10.77.0.1")
        seconds = time.monotonic() - begin
        hang_up(desk)
        peer.done()
    expect(f"{seconds:.1f} s", seconds < 1, "a refusal comes at once")


@race("invite-fits")
def invite_fits(desk):
    """What we send without being asked for anything odd fits into one datagram."""
    with desk.sipp(Scenario().answers().is_hung_up()) as peer:
        connect(desk)
        hang_up(desk)
        peer.done()
    size = len(desk.sent("INVITE")[0].data)
    expect(f"{size} bytes", size <= 1300, "1,300 bytes are safe")
    return f"{size} bytes"
