# SPDX-License-Identifier: Apache-2.0
"""What is on the screen in a call and what the far end sees, against what was sent."""

import time

import numpy

from measure import barcode, image
from peer import clip as clips
from tests.bench import OTHER_PATTERN, VIVID_PATTERN, bench
from tests.runner import Failed, check

SETTLE_S, SOUND_S = 2.0, 11.0
# White of the clip's own edge on the screen, after two conversions and a scaling.
EDGE_LEVEL, EDGE_PART = 150, 0.5


class Observed:
    """One call, looked at and listened to."""

    screens, snapshot, self_view, idle, remote = (), None, None, None, None


def observe(context):
    """Calls, takes two screens and the far end's picture, then leaves the call alone for its sound."""
    b, seen = bench(context), Observed()
    peer, kiosk = b.peer(codecs=("opus",)), b.ready()
    folder = context.out / "board" / "observed"
    folder.mkdir(parents=True, exist_ok=True)
    seen.folder, seen.idle = folder, kiosk.screenshot(folder / "idle.png")
    mark, connected = kiosk.call()
    kiosk.wait_event("first_frame", since=mark)
    time.sleep(SETTLE_S)
    seen.screens = []
    for index in range(2):
        seen.screens.append((time.monotonic(), kiosk.screenshot(folder / f"screen-{index}.png")))
        time.sleep(0.5)
    seen.snapshot = image.expand_range(image.load(peer.snapshot()))
    image.save(seen.snapshot, folder / "peer.png")
    seen.status = kiosk.status()
    heard = b.board.share / "heard.wav"
    recorder = b.record("heard.wav")
    begin = peer.heard_samples()
    time.sleep(SOUND_S)
    seen.peer_part = (begin, peer.heard_samples())
    b.board.terminate(recorder, 2)
    seen.stats = kiosk.find("stats", since=mark)
    kiosk.hang_up()
    seen.heard, seen.peer_heard = folder / "heard.wav", folder / "peer-heard.wav"
    seen.heard.write_bytes(heard.read_bytes())
    time.sleep(0.3)
    seen.peer_heard.write_bytes(peer.heard.read_bytes())
    return seen


def observed(context):
    return context.once("the observed call", lambda: observe(context))


def outline(screen):
    """(x, y, width, height) of the far end's picture: the clip has a white edge, and all round it is black."""
    white = screen.min(axis=2) > EDGE_LEVEL
    height, width = white.shape

    def ends(lines, length):
        lit = numpy.flatnonzero(lines >= EDGE_PART * length)
        return (int(lit[0]), int(lit[-1])) if lit.size else (0, -1)

    top, bottom = ends(white.sum(axis=1), width)
    left, right = ends(white[max(0, top) : bottom + 1].sum(axis=0), max(1, bottom + 1 - top))
    if right - left < 16 or bottom - top < 9:
        raise Failed("no outline", "the edge of the far end's picture is not on the screen")
    return (left, top, right - left + 1, bottom - top + 1)


def expected(screen):
    return image.fit((clips.WIDTH, clips.HEIGHT), (0, 0, screen.shape[1], screen.shape[0]))


def self_view(context):
    """(rectangle, PSNR, is mirrored) of the camera's picture on the screen: where it lies is told or looked for."""
    return context.once("the self view", lambda: find_self_view(context))


def locate(screen, camera_picture):
    """(PSNR, rectangle, is mirrored): looked for all over the screen, both ways, at every size a layout may give it."""
    found = []
    for mirrored in (True, False):
        source = image.mirror(camera_picture) if mirrored else camera_picture
        for columns in sorted({screen.shape[1] // divisor // 2 * 2 for divisor in (2, 3, 4, 5, 6, 8)}):
            small = image.scale(source, columns, columns * source.shape[0] // source.shape[1] // 2 * 2)
            rectangle = image.find(screen, small)
            found.append((image.psnr(image.crop(screen, rectangle), small), rectangle, mirrored))
    return max(found)


def find_self_view(context):
    screen, seen = observed(context).screens[-1][1], observed(context)
    level, rectangle, mirrored = locate(screen, bench(context).camera_picture)
    context.log(f"the self view is at {rectangle}, {'mirrored' if mirrored else 'as it is'}: {level:.2f} dB")
    image.save(image.crop(screen, rectangle), seen.folder / "selfview.png")
    return rectangle, level, mirrored


def remote_match(context):
    """(PSNR, frame number) of the far end's picture on the screen, without what lies on top of it."""
    seen = observed(context)
    screen = seen.screens[-1][1]
    rectangle = expected(screen)
    number = barcode.read(image.crop(screen, rectangle))
    if number is None:
        raise Failed("no number", "the frame's barcode cannot be read from the screen; see build/test/board/observed")
    return image.psnr_in(screen, rectangle, clips.frame(number), [self_view(context)[0]]), number


@check("board/remote-picture")
def remote_picture(context):
    level, number = remote_match(context)
    context.log(f"frame {number}: {level:.2f} dB")
    return level


@check("board/remote-aspect")
def remote_aspect(context):
    screen = observed(context).screens[-1][1]
    found, wanted = outline(screen), expected(screen)
    if found != wanted:
        raise Failed(f"{found}", f"the picture should lie at {wanted}")
    return f"{found[2]}x{found[3]} at {found[0]},{found[1]}"


@check("board/black-bars")
def black_bars(context):
    """Every pixel around the picture is black, but for the call's timer in the first corner. Without fitted buttons,
    so that no legend is drawn there."""
    b = bench(context)
    b.peer()
    kiosk = b.ready({f"button.{name}.line": None for name in ("call", "hook", "mute", "video")})
    mark = kiosk.mark()
    kiosk.tell("call")
    kiosk.wait_event("first_frame", since=mark, limit_s=8)
    time.sleep(0.7)
    screen = kiosk.screenshot(context.folder / "screen.png")
    kiosk.tell("hangup")
    x, y, width, height = expected(screen)
    timer = (0, 0, screen.shape[1] // 4, screen.shape[0] // 10)
    lit = (image.without(screen, [(x, y, width, height), timer]) > 0).any(axis=2)
    if lit.any():
        rows, columns = numpy.flatnonzero(lit.any(axis=1)), numpy.flatnonzero(lit.any(axis=0))
        raise Failed(f"{int(lit.sum())} lit", f"outside the picture in rows {rows[0]}–{rows[-1]}, "
                     f"columns {columns[0]}–{columns[-1]}")
    return f"{y} rows above, {screen.shape[0] - y - height} below, {x} columns beside"


@check("board/remote-moves")
def remote_moves(context):
    """Two screens apart in time show frames as far apart."""
    screens = observed(context).screens
    numbers = [barcode.read(image.crop(screen, expected(screen))) for _, screen in screens]
    if None in numbers:
        raise Failed("no number", "the frame's barcode cannot be read from the screen")
    seconds = screens[1][0] - screens[0][0]
    context.log(f"frames {numbers} over {seconds:.2f} s")
    return (numbers[1] - numbers[0]) / seconds


@check("board/self-view")
def own_picture(context):
    _, level, mirrored = self_view(context)
    if not mirrored:
        raise Failed(f"{level:.2f} dB", "the self view is not mirrored")
    return level


@check("board/far-end-picture")
def far_end(context):
    b, seen = bench(context), observed(context)
    straight, mirrored = (b.camera_psnr(seen.snapshot, flipped) for flipped in (False, True))
    if mirrored > straight:
        raise Failed(f"{straight:.2f} dB", "the far end sees the kiosk mirrored")
    return straight


@check("board/camera-live")
def camera_live(context):
    """Another picture before the camera is soon another picture at the far end and in the self view."""
    b = bench(context)
    peer, kiosk = b.peer(), b.ready()
    mark, _ = kiosk.call()
    kiosk.wait_event("first_frame", since=mark)
    b.pattern(OTHER_PATTERN)
    try:
        time.sleep(0.6)
        seen = image.expand_range(image.load(peer.snapshot("live.png")))
    finally:
        b.pattern(VIVID_PATTERN)
    level = b.camera_psnr(seen)
    kiosk.hang_up()
    if level > 20:
        raise Failed(f"{level:.1f} dB", "the far end still sees the old picture after 0.6 s")
    return "another picture within 0.6 s"


