# SPDX-License-Identifier: Apache-2.0
"""Bad input from the network and from the file: nothing crashes, memory is bounded, the next press works."""

import random
import socket
import time

from tests.bench import bench
from tests.kiosk import GUEST, PEER, sentence_of
from tests.runner import Failed, check
from tests.signalling import next_press_works

SEED, DATAGRAMS = 20240601, 1500
# What a flood may cost: queues are bounded.
GROWTH_KB_MAX = 4096


def rubbish(generator, sample):
    """One datagram: noise, a damaged SIP message, a damaged RTP or RTCP packet, of any size UDP carries."""
    kind = generator.randrange(6)
    if kind == 0:
        return generator.randbytes(generator.choice((0, 1, 3, 7, 12, 100, 1400, 9000, 65507)))
    if kind == 1:
        damaged = bytearray(sample)
        for _ in range(generator.randrange(1, 12)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        return bytes(damaged)
    if kind == 2:
        return sample[: generator.randrange(len(sample))]
    if kind == 3:
        absurd = sample.replace(b"Content-Length:", b"Content-Length: -99999999999999999999\r\nX:")
        return absurd * generator.choice((1, 40))
    head = bytes((0x80 | generator.randrange(64), generator.randrange(256)))
    length = generator.choice((0, 1, 255, 65535)).to_bytes(2, "big")
    return head + (length if kind == 4 else b"\0\1") + generator.randbytes(generator.randrange(0, 1500))


def flood(ports, sample, count=DATAGRAMS, seed=SEED):
    generator = random.Random(seed)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind((PEER, 0))
        for index in range(count):
            data = rubbish(generator, sample)
            try:
                sender.sendto(data, (GUEST, ports[index % len(ports)]))
            except OSError:
                pass
            if index % 20 == 19:
                time.sleep(0.01)


def last_invite(b):
    found = [packet.payload for packet in b.wire.sip(GUEST) if packet.first_line().startswith("INVITE")]
    if not found:
        b.peer()
        b.kiosk.call()
        b.kiosk.hang_up()
        found = [packet.payload for packet in b.wire.sip(GUEST) if packet.first_line().startswith("INVITE")]
    return found[-1]


def settled(kiosk, limit_s=8):
    """The memory of a kiosk that has drawn its first page and looked at its files, KiB."""
    until, before = time.monotonic() + limit_s, 0
    while True:
        now = kiosk.status()["rss_kb"]
        if now - before < 64 or time.monotonic() > until:
            return now
        before = now
        time.sleep(0.7)


def grown(kiosk, before):
    if not kiosk.alive():
        raise Failed("ended", f"callbox is gone: {kiosk.tail()}")
    return kiosk.status()["rss_kb"] - before


@check("board/garbage-idle")
def garbage_idle(context):
    """Figure: how much the memory grew, KiB."""
    b = bench(context)
    kiosk = b.ready()
    sample = last_invite(b)
    before = settled(kiosk)
    flood([5060], sample)
    time.sleep(0.5)
    figure = grown(kiosk, before)
    next_press_works(b)
    return figure


@check("board/garbage-in-call")
def garbage_in_call(context):
    """On the SIP, RTP and RTCP ports of a call: it goes on, its picture moves. Figure: memory growth, KiB."""
    b = bench(context)
    b.peer()
    kiosk = b.ready()
    wire_mark = b.wire.mark()
    mark, _ = kiosk.call()
    kiosk.wait_event("first_frame", since=mark)
    time.sleep(1)
    ports = b.media_ports(wire_mark)
    before = kiosk.status()["rss_kb"]
    flood([5060, ports["audio"], ports["audio"] + 1, ports["video"], ports["video"] + 1], last_invite(b))
    time.sleep(1.5)
    figure = grown(kiosk, before)
    if kiosk.status().get("state") != "connected":
        raise Failed(kiosk.status().get("state"), "the call did not survive")
    shown = [entry for entry in kiosk.find("stats", mark)]
    if len(shown) < 2 or frames_shown(shown[-1]) <= frames_shown(shown[-2]):
        raise Failed("stands still", "no frame was shown in the last second")
    kiosk.hang_up()
    next_press_works(b)
    return figure


def frames_shown(stats):
    """Of a `stats` event, wherever it is nested."""
    for key, value in stats.items():
        if key in ("frames_shown", "shown"):
            return value
        if isinstance(value, dict) and (found := frames_shown(value)) is not None:
            return found
    return None


@check("board/garbage-tcp")
def garbage_tcp(context):
    """Streams that are no SIP, or never end a line: closed, and SIP still works. Figure: memory growth, KiB."""
    b = bench(context)
    kiosk = b.ready({"sip.transport": "tcp"})
    sample, before = last_invite(b), settled(kiosk)
    generator = random.Random(SEED)
    for data in (b"x" * 400_000, generator.randbytes(200_000), sample[:-20] * 200, b"\r\n\r\n" * 5000,
                 b"INVITE sip:a SIP/2.0\r\nContent-Length: 4000000000\r\n\r\n" + bytes(300_000)):
        with socket.socket() as stream:
            stream.settimeout(2)
            try:
                stream.connect((GUEST, 5060))
                stream.sendall(data)
                stream.recv(1000)
            except OSError:
                pass
    hoard = [socket.socket() for _ in range(60)]
    for stream in hoard:
        stream.settimeout(0.5)
        try:
            stream.connect((GUEST, 5060))
        except OSError:
            break
    figure = grown(kiosk, before)
    for stream in hoard:
        stream.close()
    next_press_works(b)
    return figure


@check("board/wrong-uri")
def wrong_uri(context):
    """An address that is none: told at the start, and a press has an outcome too."""
    b = bench(context)
    kiosk = b.ready({"call.uri": "somebody, somewhere"})
    if not kiosk.find("problem", section="call", key="uri"):
        raise Failed("not told", "no problem event names [call] uri")
    mark = kiosk.mark()
    kiosk.press("call")
    ended = kiosk.wait_event("call", since=mark, state="ended", limit_s=3)
    return f"“{sentence_of(ended)}”"


@check("board/unknown-host")
def unknown_host(context):
    b = bench(context)
    kiosk = b.ready()
    mark = kiosk.mark()
    kiosk.tell("call", "sip:peer@no-such-host.invalid")
    ended = kiosk.wait_event("call", since=mark, state="ended", limit_s=20)
    next_press_works(b)
    return f"“{sentence_of(ended)}”"


@check("board/port-closed")
def port_closed(context):
    """A machine that is there but has no SIP: ICMP port unreachable, and no need to wait 32 s. Figure: seconds."""
    b = bench(context)
    kiosk = b.ready()
    mark, begin = kiosk.mark(), time.monotonic()
    kiosk.tell("call", f"sip:peer@{PEER}:5099")
    ended = kiosk.wait_event("call", since=mark, state="ended", limit_s=35)
    sentence_of(ended)
    return time.monotonic() - begin
