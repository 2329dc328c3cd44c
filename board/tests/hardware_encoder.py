# SPDX-License-Identifier: Apache-2.0
"""Calls on a board with an encoder of H.264, which is a fake (board/virtual/codec): who encodes, and what becomes of
the far end's picture when that fails."""

import time

from measure import image
from peer import bounds
from tests.bench import OTHER_PATTERN, VIVID_PATTERN, Failed
from tests.hardware import ENCODER, hardware, ready
from tests.kiosk import DATA, GUEST, PEER
from tests.rates import OFF, seen, source_of
from tests.runner import check

# In the call, and at its beginning.
FAULTS = ("hang", "damage", "refuse", "stamps", "short", "vanish")
FAULTS_AT_START = ("no-buffers",)
# What a person takes for no interruption, and the way to the far end and into its file.
BACK_S, SEEN_S = 1.0, 0.5
# Above, the far end sees the camera's picture; below, another one.
LIKE_DB, UNLIKE_DB = 28, 20
# A camera's picture that takes as many bits as there are, what the far end lets in of it, in kbit/s, and key frames of
# a call in which that is no new stream: two at its beginning.
NOISE, LET_IN, KEYS_MAX = 21, (800, 400, 1200), 2


def called(h, kiosk):
    """A call of which the far end has seen something."""
    peer = h.bench.peer()
    mark = kiosk.mark()
    kiosk.tell("call")
    kiosk.wait_event("first_frame", since=mark, limit_s=10)
    time.sleep(1.0)
    return peer, mark


def likeness(h, peer, name):
    return h.bench.camera_psnr(image.expand_range(image.load(peer.snapshot(name))))


@check("codec/encoder-chosen")
def chosen(context):
    h = hardware(context, ENCODER)
    _, text = h.tried()
    if not text.startswith("callbox-fake-enc, the board's own"):
        raise Failed("not chosen", text)
    kept = h.bench.must(f"cat {DATA}/encoder").splitlines()
    if kept[2:3] != ["callbox-fake-enc"]:
        raise Failed("not kept", f"{kept}")
    return "the board's own"


@check("codec/encoder-call")
def call(context):
    """What the far end sees of pictures that are read in the camera's memory, and of such as have to be copied."""
    levels = []
    ways = {"none": "; 0 copies: it reads the camera's memory", "sixteens": "; 1 copy, for the encoder"}
    for word, copies in ways.items():
        h, kiosk = ready(context, ENCODER)
        h.fault(word)
        peer, mark = called(h, kiosk)
        way = h.way("encoder")
        levels.append(likeness(h, peer, f"encoder-{word}.png"))
        context.log(f"encoder: {way}; {levels[-1]:.1f} dB")
        kiosk.tell("hangup")
        kiosk.idle()
        if kiosk.find("encoder", since=mark):
            raise Failed("software", f"the encoder was given up: {kiosk.find('encoder', since=mark)[0]}")
        if not way.startswith("callbox-fake-enc, the board's own, from NV12") or copies not in way:
            raise Failed("not so", way)
    return min(levels)


@check("codec/encoder-rate")
def encoder_rate(context):
    """The far end lets in less, and more again: the same stream goes on at that rate."""
    h, kiosk = ready(context, ENCODER)
    h.bench.pattern(NOISE)
    try:
        called(h, kiosk)
        wire, figures = h.bench.wire, []
        ssrc, reports = source_of(wire, GUEST)
        for kbps in LET_IN:
            bounds.say(bounds.temporary_maximum(ssrc, kbps), PEER, reports)
            figures.append(seen(wire, GUEST))
            if f"{kbps} kbit/s" not in h.way("encoder") or "board's own" not in h.way("encoder"):
                raise Failed("not so", h.way("encoder"))
        keys = kiosk.status()["counters"]["video"]["key_frames_out"]
        kiosk.tell("hangup")
        kiosk.idle()
    finally:
        h.bench.pattern(VIVID_PATTERN)
    text = ", ".join(f"{figure:.0f}" for figure in figures)
    context.log(f"{text} kbit/s for {LET_IN}; {keys} key frames")
    if any(not kbps / 3 < figure < kbps * OFF for kbps, figure in zip(LET_IN, figures)):
        raise Failed(f"{text} kbit/s", f"the far end let in {LET_IN}")
    if keys > KEYS_MAX:
        raise Failed(f"{keys} key frames", "each rate was another stream")
    return f"{text} kbit/s"


@check("codec/encoder-fallback", limit_s=300)
def fallback(context):
    """In each call the far end sees what is before the camera by software within a second, and the call goes on."""
    h, kiosk = ready(context, ENCODER)
    for fault in (*FAULTS, *FAULTS_AT_START):
        h.fault("none" if fault in FAULTS else fault)
        peer, mark = called(h, kiosk)
        failed_at = h.fault(fault)
        h.bench.pattern(OTHER_PATTERN)
        try:
            event = kiosk.wait_event("encoder", since=mark, limit_s=2)
            time.sleep(max(0.0, failed_at + BACK_S + SEEN_S - time.monotonic()))
            level = likeness(h, peer, f"encoder-{fault}.png")
        finally:
            h.bench.pattern(VIVID_PATTERN)
        context.log(f"{fault}: {event.get('why')}; {level:.1f} dB like the former picture")
        if level > UNLIKE_DB:
            raise Failed(fault, f"the far end still sees the former picture: {level:.1f} dB, {event}")
        time.sleep(BACK_S)
        level = likeness(h, peer, f"encoder-{fault}-after.png")
        if level < LIKE_DB:
            raise Failed(fault, f"the far end does not see the camera's picture: {level:.1f} dB")
        if kiosk.status().get("state") != "connected":
            raise Failed(fault, f"the call is {kiosk.status().get('state')}")
        if event.get("now") != "software" or len(event.get("why", "").split()) < 3:
            raise Failed(fault, f"{event}")
        h.fault("none")
        kiosk.tell("hangup")
        kiosk.idle()
    return "each within 1 s"


@check("codec/encoder-distrusted")
def distrusted(context):
    h = hardware(context, ENCODER)
    for fault in ("damage", "hang", "short", "stamps"):
        _, text = h.tried(fault)
        if not text.startswith("software (libx264)") or "The video codec" not in text:
            raise Failed(fault, text)
    return "software"
