# SPDX-License-Identifier: Apache-2.0
"""The screen beside calls: it rests, goes dark and is lit, hangs on its side, and shows the owner's picture."""

import time

import numpy

from measure import barcode, image
from peer import clip as clips
from tests.bench import bench
from tests.picture import expected
from tests.runner import Failed, check

RED, BLUE = (200, 30, 30), (30, 30, 200)
OWN = "/share/own.png"
WAIT_S = 5


def own_picture(b):
    """As the owner's file: red on the left, blue on the right."""
    picture = numpy.zeros((120, 200, 3), dtype=numpy.uint8)
    picture[:, :100], picture[:, 100:] = RED, BLUE
    image.save(picture, b.board.share / "own.png")


def upside_down(context):
    """The kiosk on a screen that hangs upside down, with the owner's picture, and a short time until it is dark."""
    def start():
        b = bench(context)
        own_picture(b)
        b.peer()
        return b.ready({"display.rotate": "180", "screen.idle": "image", "screen.image": OWN,
                        "screen.blank_after": str(WAIT_S)})
    return context.once("a screen upside down", start)


def near(pixel, colour):
    return max(abs(int(one) - other) for one, other in zip(pixel, colour)) <= 4


@check("screens/turned")
def turned(context):
    """The owner's picture upside down: what is left in the file is right on the glass."""
    kiosk = upside_down(context)
    screen = kiosk.screenshot(context.folder / "idle.png")
    height, width = screen.shape[:2]
    left, right = screen[height // 2, width // 4], screen[height // 2, width * 3 // 4]
    if not near(left, BLUE) or not near(right, RED):
        raise Failed(f"{left} {right}", "the owner's picture is not where it should be")
    return "the owner's picture, upside down"


@check("screens/turned-call")
def turned_call(context):
    """The far end's picture upside down on its plane, against the frame that was drawn."""
    kiosk = upside_down(context)
    mark, _ = kiosk.call()
    kiosk.wait_event("first_frame", since=mark)
    time.sleep(1)
    screen = kiosk.screenshot(context.folder / "call.png")[::-1, ::-1]
    image.save(screen, context.folder / "upright.png")
    kiosk.hang_up()
    kiosk.idle(12)
    rectangle = expected(screen)
    number = barcode.read(image.crop(screen, rectangle))
    if number is None:
        raise Failed("no number", "the frame's barcode cannot be read from the screen turned back")
    height, width = screen.shape[:2]
    # The own picture is in a corner of it.
    covered = (width * 3 // 4 - 40, height // 2, width // 4 + 40, height // 2)
    return image.psnr_in(screen, rectangle, clips.frame(number), [covered])


@check("screens/dark")
def dark(context):
    """Dark when nobody was there for a while; the press that lights the screen is a press like any other."""
    kiosk = upside_down(context)
    kiosk.push("mute")
    time.sleep(WAIT_S + 1.5)
    code, _ = kiosk.tell("screenshot", "/share/dark.png")
    if code == 0:
        raise Failed("lit", "the display is still on")
    mark = kiosk.mark()
    kiosk.push("call")
    kiosk.wait_event("call", since=mark, state="dialling")
    time.sleep(1)
    screen = kiosk.screenshot(context.folder / "lit.png")
    kiosk.hang_up()
    kiosk.idle(12)
    if screen.max() < 200:
        raise Failed("dark", "the display was not lit by the press")
    return "off, and on with the press"


REST_S = 10


def resting(context):
    """(drawings of words, percent of a core) of ten seconds in which nothing changes, before the screen."""
    def measured():
        kiosk = bench(context).ready()
        before, spent = kiosk.status()["drawings"], processor_s(kiosk)
        time.sleep(REST_S)
        spent = processor_s(kiosk) - spent
        return kiosk.status()["drawings"] - before, 100 * spent / REST_S
    return context.once("ten seconds of rest", measured)


def processor_s(kiosk):
    """Seconds that the program's threads have run, in user mode and in the kernel (proc(5), stat)."""
    code, text = kiosk.board.sh(f"cat /proc/{kiosk.process}/stat; getconf CLK_TCK")
    stat, ticks = text.strip().splitlines()
    if code or "(callbox)" not in stat:
        raise Failed("not measured", f"exit {code}: {text[:100]}")
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / int(ticks)


@check("screens/idle-cpu", again=("ten seconds of rest",))
def idle_cpu(context):
    _, percent = resting(context)
    return percent


@check("screens/rests")
def rests(context):
    """Drawings of words while nothing changes; then those of five seconds of a call, whose timer counts."""
    b = bench(context)
    b.peer()
    kiosk = b.ready()
    time.sleep(1)
    idle, _ = resting(context)
    mark, _ = kiosk.call()
    kiosk.wait_event("first_frame", since=mark)
    time.sleep(1)
    before = kiosk.status()["drawings"]
    time.sleep(5)
    counted = kiosk.status()["drawings"] - before
    kiosk.hang_up()
    if not 4 <= counted <= 6:
        raise Failed(f"{counted} in a call", "the timer should be drawn once a second")
    return idle


@check("screens/languages")
def languages(context):
    """Each language changes the screen at once, and the first one brings back what was there."""
    b = bench(context)
    kiosk = b.ready()
    first = kiosk.screenshot(context.folder / "en.png")
    seen = [first]
    for code in ("de", "fr", "es", "ar", "zh"):
        kiosk.tell("language", code)
        time.sleep(0.3)
        screen = kiosk.screenshot(context.folder / f"{code}.png")
        if any((screen == other).all() for other in seen):
            raise Failed(code, "the screen looks as in another language")
        seen.append(screen)
    kiosk.tell("language", "en")
    time.sleep(0.3)
    if not (kiosk.screenshot(context.folder / "en-again.png") == first).all():
        raise Failed("en", "the first language looks otherwise than before")
    return f"{len(seen)} languages"
