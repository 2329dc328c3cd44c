# SPDX-License-Identifier: Apache-2.0
"""Calls on a board with a decoder of H.264, which is a fake (board/virtual/codec): who decodes, and what becomes of the
call when that fails."""

import time
from typing import NamedTuple

from measure import barcode, image
from peer import clip as clips
from tests.bench import Bench, Failed
from tests.kiosk import DATA
from tests.picture import expected
from tests.runner import Late, check

# In the call, and at its beginning.
FAULTS = ("hang", "damage", "refuse", "stamps", "short", "vanish")
FAULTS_AT_START = ("no-buffers", "no-export", "tiles")
# What a decoder that is told does in ways of its own.
FAULTS_TOLD = ("hang", "damage")
# What a person takes for no interruption.
BACK_S, TRIAL_S = 1.0, 20


class Kind(NamedTuple):
    """Which fake: its library and what that is made of beside COMMON, the variables that name it, the link that it is
    of, and what the kiosk is started with."""

    library: str
    flags: tuple
    sources: tuple
    device: str
    fault: str
    link: str
    arguments: str


COMMON = ("buffers.c", "device.c", "link.c", "preload.c")
# Without a camera nothing lies on the far end's picture.
DECODER = Kind("codec", (), ("decode.c", "software.c"), "CALLBOX_FAKE_CODEC=/dev/video60", "CALLBOX_FAKE_FAULT",
               "decoder", "--camera none")
# In the place of the kernel's own decoder of that kind, which decodes nothing.
TOLD = Kind("told", ("-DFAKE_TOLD",), ("decode_told.c", "requests.c", "sets.c", "software.c"),
            "CALLBOX_FAKE_MEDIA=/dev/media31 CALLBOX_FAKE_CODEC=@visl@", "CALLBOX_FAKE_FAULT", "decoder",
            "--camera none")
ENCODER = Kind("encoder", ("-DFAKE_ENCODER",), ("encode.c",), "CALLBOX_FAKE_ENCODER=/dev/video61",
               "CALLBOX_FAKE_ENCODER_FAULT", "encoder", "")
JPEG = Kind("jpeg", ("-DFAKE_JPEG",), ("decode.c", "software.c"), "CALLBOX_FAKE_CODEC=/dev/video60",
            "CALLBOX_FAKE_FAULT", "camera", "")


def compiled(context, kind, share):
    """The fake's library, made in the share; its name."""
    folder = context.project / "board" / "virtual" / "codec"
    sources = [folder / name for name in (*COMMON, *kind.sources)]
    context.run("cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", *kind.flags,
                "-o", share / f"{kind.library}.so", *sources, "-lavcodec", "-lavutil", "-lpthread", "-ldl")
    return f"{kind.library}.so"


class Hardware:
    """A bench whose kiosk has the fake."""

    def __init__(self, context, folder, kind):
        self.context, self.bench, self.kind = context, Bench(folder), kind

    def __enter__(self):
        self.bench.__enter__()
        self.become(self.kind)
        return self

    def become(self, kind):
        """The board has that fake from the next start on."""
        self.kind = kind
        self.bench.kiosk.stop()
        library = compiled(self.context, self.kind, self.bench.board.share)
        found = self.bench.must("basename $(dirname $(grep -l visl /sys/class/video4linux/*/name))").strip()
        device = self.kind.device.replace("@visl@", f"/dev/{found}")
        self.bench.kiosk.environment = f"LD_PRELOAD=/share/{library} {device} {self.kind.fault}=/share/fault"

    def __exit__(self, *words):
        return self.bench.__exit__(*words)

    def fault(self, word):
        """From now on; the time."""
        (self.bench.board.share / "fault").write_text(word + "\n")
        return time.monotonic()

    def way(self, link):
        """What `callbox doctor video` says of a link."""
        _, answer = self.bench.kiosk.tell("doctor video")
        return next((line.partition(": ")[2] for line in answer["lines"] if line.startswith(f"{link}: ")), "")

    def tried(self, word="none"):
        """The kiosk when it knows who does it, with that fault in the trial."""
        self.fault(word)
        self.bench.kiosk_options = None
        self.bench.peer()
        kiosk = self.bench.ready(arguments=self.kind.arguments)
        until = time.monotonic() + TRIAL_S
        while "nothing is known" in (text := self.way(self.kind.link)):
            if time.monotonic() > until:
                raise Failed("no verdict", f"the {self.kind.link} was not tried within {TRIAL_S} s")
            time.sleep(0.2)
        self.context.log(f"{self.kind.link}: {text}")
        return kiosk, text


def hardware(context, kind=DECODER):
    folder = context.out / "codec" / f"hardware-{kind.link}"
    folder.mkdir(parents=True, exist_ok=True)
    h = context.once(f"a board with a {kind.link}", lambda: context.keep(Hardware(context, folder, kind)))
    if h.kind != kind:
        h.become(kind)
    return h


def ready(context, kind=DECODER):
    """The kiosk with a codec that was found good, between calls."""
    h = hardware(context, kind)
    if not h.bench.kiosk.alive() or "board's own" not in h.way(kind.link):
        h.tried()
    h.fault("none")
    kiosk = h.bench.kiosk
    if kiosk.status().get("state") != "idle":
        kiosk.tell("hangup")
        kiosk.idle()
    return h, kiosk


def called(h, kiosk):
    h.bench.peer()
    mark = kiosk.mark()
    kiosk.tell("call")
    kiosk.wait_event("first_frame", since=mark, limit_s=10)
    return mark


def frame_number(kiosk, path):
    screen = kiosk.screenshot(path)
    return barcode.read(image.crop(screen, expected(screen))), screen


@check("codec/chosen")
def chosen(context):
    h = hardware(context)
    _, text = h.tried()
    if not text.startswith("callbox-fake, the board's own"):
        raise Failed("not chosen", text)
    kept = h.bench.must(f"cat {DATA}/decoder").splitlines()
    if kept[2:3] != ["callbox-fake"]:
        raise Failed("not kept", f"{kept}")
    if "level" not in h.way("offered"):
        raise Failed("no level", h.way("offered"))
    return "the board's own"


@check("codec/call", again=())
def call(context):
    return shown(context, DECODER)


@check("codec/told-call", again=())
def told_call(context):
    """The same by a decoder that is told of each picture, or slice, and reads nothing but what it is told."""
    return min(shown(context, TOLD, word) for word in ("none", "by-slice"))


def shown(context, kind, manner="none"):
    """How much the screen is like what the far end sends."""
    h, kiosk = ready(context, kind)
    h.fault(manner)
    mark = called(h, kiosk)
    time.sleep(1.0)
    number, screen = frame_number(kiosk, context.folder / "screen.png")
    way = h.way("display")
    context.log(f"decoder: {h.way('decoder')}; display: {way}")
    kiosk.tell("hangup")
    for event in kiosk.find("decoder", since=mark):
        # This machine stood still for that long.
        kind_of = Late if "for 300 ms" in event.get("why", "") else Failed
        raise kind_of("software", f"the decoder was given up: {event}")
    if not way.startswith("1 copy by software. ") or "does not scale" not in way:
        raise Failed("no reason", f"the display of this board does not scale, and says: {way}")
    if number is None:
        raise Failed("no number", "the frame's barcode cannot be read from the screen")
    return image.psnr_in(screen, expected(screen), clips.frame(number), [])


@check("codec/fallback", limit_s=300)
def fallback(context):
    return by_software(context, DECODER, (*FAULTS, *FAULTS_AT_START))


@check("codec/told-fallback", limit_s=120)
def told_fallback(context):
    return by_software(context, TOLD, FAULTS_TOLD)


def by_software(context, kind, faults):
    """In each call the picture goes on by software within a second, and the call with it."""
    h, kiosk = ready(context, kind)
    for fault in faults:
        h.fault("none" if fault in FAULTS else fault)
        mark = called(h, kiosk)
        if fault in FAULTS:
            time.sleep(0.7)
            failed_at = h.fault(fault)
            event = kiosk.wait_event("decoder", since=mark, limit_s=2)
        else:
            event = kiosk.wait_event("decoder", since=mark, limit_s=2)
            failed_at = time.monotonic()
        time.sleep(max(0.0, failed_at + BACK_S - time.monotonic()))
        first, _ = frame_number(kiosk, context.folder / f"{fault}-1.png")
        time.sleep(0.3)
        second, _ = frame_number(kiosk, context.folder / f"{fault}-2.png")
        context.log(f"{fault}: {event.get('why')}; frames {first}, {second}")
        if first is None or second is None or first == second:
            raise Failed(fault, f"the picture stands still at {first}, {second}: {event}")
        if kiosk.status().get("state") != "connected":
            raise Failed(fault, f"the call is {kiosk.status().get('state')}")
        if event.get("now") != "software" or len(event.get("why", "").split()) < 3:
            raise Failed(fault, f"{event}")
        h.fault("none")
        kiosk.tell("hangup")
        kiosk.idle()
    return "each within 1 s"


@check("codec/told-each-picture")
def told_each_picture(context):
    """Without the fake there is one more: it takes the clip, and gives other pictures."""
    h = hardware(context)
    environment, h.bench.kiosk.environment = h.bench.kiosk.environment, ""
    try:
        _, text = h.tried()
    finally:
        h.bench.kiosk.environment = environment
    if not text.startswith("software (libavcodec)") or "to other pictures than software does" not in text:
        raise Failed("not so", text)
    return "software"


@check("codec/distrusted")
def distrusted(context):
    h = hardware(context)
    for fault in ("damage", "hang", "short", "no-export"):
        kiosk, text = h.tried(fault)
        if not text.startswith("software (libavcodec)") or "The video codec" not in text:
            raise Failed(fault, text)
    mark = called(h, kiosk)
    kiosk.tell("hangup")
    if kiosk.find("decoder", since=mark):
        raise Failed("tried in the call", "a decoder that failed its trial is not used")
    return "software"
