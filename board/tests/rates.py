# SPDX-License-Identifier: Apache-2.0
"""How much of pictures is sent: what the far end lets in, and what the way there carries."""

import contextlib
import time

import numpy

from peer import bounds, packetfilter
from peer.baresip import Peer
from tests.bench import wait_until
from tests.desk import KIOSK, PEER, Desk
from tests.office import counted
from tests.runner import Failed, check
from tests.world import THIRD, clip

AGREED, WIDTH, HEIGHT, FPS = 1500, 320, 240, 15
# baresip reports every five seconds or so.
LOSS_S, HEALED_S = 25, 40
# How long the rate is looked at; the encoder may be so much off in that time, headers counted.
LOOK_S, OFF = 2.0, 1.15
FLOOD_MIN = 2000


def restless(path):
    """Pictures that take as many bits as there are: noise, another one each time."""
    chance = numpy.random.default_rng(5104)
    with open(path, "wb") as out:
        out.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F{FPS}:1 Ip C420jpeg\n".encode())
        for _ in range(2 * FPS):
            light = chance.integers(64, 192, (HEIGHT // 4, WIDTH // 4), dtype=numpy.uint8).repeat(4, 0).repeat(4, 1)
            out.write(b"FRAME\n" + light.tobytes() + bytes([128]) * (WIDTH * HEIGHT // 2))
    return path


@contextlib.contextmanager
def call(context):
    """A kiosk that sends such pictures to baresip."""
    camera = restless(context.folder / "camera.y4m")
    with Desk(context.folder / "kiosk", camera=f"file:{camera}") as desk, \
            Peer(context.folder / "peer", clip(), PEER):
        desk.start()
        mark = desk.mark()
        desk.must("call")
        desk.wait_event("call", since=mark, state="connected")
        wait_until(lambda: rate(desk) == AGREED, 5, f"{AGREED} kbit/s, as agreed")
        # The key frames of the beginning.
        wait_until(lambda: counted(desk, "video", "key_frames_out") > 1, 5, "pictures")
        yield desk
        desk.must("hangup")


def rate(desk):
    return counted(desk, "video", "rate_kbps")


def pictures(wire, source, since=0):
    return [packet for packet in wire.rtp(source, since=since) if packet.length > 300]


def source_of(wire, source):
    """The newest source of pictures, and where it takes reports."""
    stream = pictures(wire, source)[-1]
    return int.from_bytes(stream.payload[8:12], "big"), (source, stream.source_port + 1)


def seen(wire, source):
    """kbit/s of pictures on the wire, from now on."""
    time.sleep(0.5)
    mark = wire.mark()
    time.sleep(LOOK_S)
    return sum(packet.length for packet in pictures(wire, source, mark)) * 8 / 1000 / LOOK_S


@check("rate/follows-loss", limit_s=120)
def follows_loss(context):
    """baresip's own reports slow the pictures down, and let them grow again."""
    with call(context) as desk:
        packetfilter.apply("lossy")
        begin = time.monotonic()
        wait_until(lambda: rate(desk) < AGREED * 4 // 5, LOSS_S, "fewer bits through a way that loses three in ten")
        slow, took_s = rate(desk), time.monotonic() - begin
        packetfilter.apply("lossless")
        begin = time.monotonic()
        wait_until(lambda: rate(desk) == AGREED, HEALED_S, f"{AGREED} kbit/s through the way that carries all again")
        healed_s = time.monotonic() - begin
    return f"{slow} kbit/s after {took_s:.0f} s, {AGREED} again after {healed_s:.0f} s"


@check("rate/follows-requests", limit_s=60)
def follows_requests(context):
    """TMMBR and REMB of a far end are followed without a key frame, the first one noticed; a stranger's are not."""
    figures = []
    with call(context) as desk:
        ssrc, reports = source_of(desk.wire, KIOSK)
        full, keys = seen(desk.wire, KIOSK), counted(desk, "video", "key_frames_out")
        for message, wanted, source in ((bounds.temporary_maximum(ssrc, 300), 300, PEER),
                                        (bounds.temporary_maximum(ssrc, 64), 300, THIRD),
                                        (bounds.receivable(ssrc, 1000), 950, PEER)):
            mark = desk.wire.mark()
            bounds.say(message, source, reports)
            found = seen(desk.wire, KIOSK)
            figures.append(round(found))
            if rate(desk) != wanted or not wanted / 3 < found < wanted * OFF:
                raise Failed(f"{found:.0f} kbit/s", f"{wanted} were asked for, {rate(desk)} told, {full:.0f} before")
            if source == PEER and wanted == 300 and not noticed(desk, mark):
                raise Failed("no notice", "the far end would ask again and again")
        # One may come of itself in this time, five seconds after the last.
        if counted(desk, "video", "key_frames_out") > keys + 2:
            raise Failed("key frames", "another rate was to be no new stream")
    return f"{full:.0f} kbit/s, then {', '.join(map(str, figures))}"


@check("rate/flood")
def flood(context):
    """Bounds by the thousand, each another one: what is pressed meanwhile is done all the same."""
    with call(context) as desk:
        ssrc, reports = source_of(desk.wire, KIOSK)
        messages = [bounds.receivable(ssrc, kbps) for kbps in (200, 1000)]
        with bounds.repeated(messages, PEER, reports) as sent:
            time.sleep(0.5)
            desk.must("press", "video")
            time.sleep(0.5)
        if sent.count < FLOOD_MIN:
            raise Failed(f"{sent.count} messages", "were no flood")
        before = counted(desk, "video", "frames_out")
        time.sleep(1.5)
        more = counted(desk, "video", "frames_out") - before
        if more:
            raise Failed(f"{more} pictures", "were sent of a camera that was switched off")
    return f"{sent.count} in a second"


def noticed(desk, since):
    packets = [packet.payload for packet in desk.wire.packets[since:]
               if packet.source == KIOSK and len(packet.payload) > 1 and 200 <= packet.payload[1] <= 206]
    return any(bounds.noticed(payload) for payload in packets)
