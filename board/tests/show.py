#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""board/run: one call shown step by step, or a kiosk to play with."""

import json
import select
import signal
import sys
import termios
import time
import tty
from pathlib import Path

BOARD = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BOARD))

from measure import barcode, image, tone  # noqa: E402
from peer import clip as clips  # noqa: E402
from tests.bench import MICROPHONE_HZ, TONE_HZ, Bench  # noqa: E402
from tests.picture import expected, locate  # noqa: E402
from tests.runner import Failed  # noqa: E402

OUT = BOARD.parent / "build" / "run"
HOLD_S = 10.0
FIRSTS = {"first_frame": "its first picture was on the screen", "first_sound": "its first sound was heard"}
KEYS = {"c": "call", "h": "hook", "m": "mute", "v": "video"}


class Story:
    """Prints steps with the time since the start and keeps the figures."""

    def __init__(self):
        self.begin, self.figures = time.monotonic(), {}

    def tell(self, text):
        print(f"[{time.monotonic() - self.begin:6.2f} s] {text}", flush=True)

    def keep(self, name, value, text):
        self.figures[name] = value
        self.tell(text)


def shown_call(bench, story):
    peer, kiosk = bench.peer(), bench.ready()
    story.tell("callbox is ready")
    kiosk.screenshot(OUT / "idle.png")
    story.tell("idle screen saved")
    with bench.board.capture([5060]) as captured:
        mark = kiosk.mark()
        pressed_ns = kiosk.press("call")
        story.tell("call button pressed")
        kiosk.wait_event("call", since=mark, state="dialling")
        connected, held = kiosk.wait_event("call", since=mark, state="connected", limit_s=10), time.monotonic()
        story.keep("connected", connected, "the far end answered")
        for name, words in FIRSTS.items():
            entry = kiosk.wait_event(name, since=mark)
            story.keep(f"answer_to_{name}_ms", entry["ms_since_answer"],
                       f"{words} {entry['ms_since_answer']} ms after the answer")
    told_from_wire(story, captured, "INVITE", pressed_ns, "press_to_invite_ms")
    recorder = bench.record("heard.wav")
    begin = peer.heard_samples()
    time.sleep(max(0.0, HOLD_S - 1.5 - (time.monotonic() - held)))
    bench.board.terminate(recorder, 2)
    part = (begin, peer.heard_samples())
    pictures(bench, story, peer, kiosk)
    time.sleep(max(0.0, HOLD_S - (time.monotonic() - held)))
    story.figures["status"] = kiosk.status()
    story.figures["stats"] = (kiosk.find("stats", mark) or [None])[-1]
    ended = hang_up(bench, story, kiosk)
    story.keep("ended", ended, f"the call ended: {ended.get('text') or ended.get('reason')}")
    sounds(bench, story, peer, part)


def hang_up(bench, story, kiosk):
    with bench.board.capture([5060]) as captured:
        mark = kiosk.mark()
        pressed_ns = kiosk.press("hook")
        story.tell("hook pressed")
        ended = kiosk.wait_event("call", since=mark, state="ended")
    told_from_wire(story, captured, "BYE", pressed_ns, "hook_to_bye_ms")
    return ended


def told_from_wire(story, captured, method, pressed_ns, name):
    sent = [at for at, direction, line in captured.packets if direction == "out" and line.startswith(method)]
    if sent:
        delay = (sent[0] - pressed_ns) / 1e6
        story.keep(name, delay, f"{method} had been on the wire {delay:.1f} ms after the press")


def pictures(bench, story, peer, kiosk):
    screen = kiosk.screenshot(OUT / "screen.png")
    rectangle = expected(screen)
    number = barcode.read(image.crop(screen, rectangle))
    if number is not None:
        _, covered, _ = locate(screen, bench.camera_picture)
        level = float(image.psnr_in(screen, rectangle, clips.frame(number), [covered]))
        story.keep("remote_psnr_db", level, f"screen saved: frame {number} of the far end, {level:.1f} dB")
    seen = image.expand_range(image.load(peer.snapshot()))
    image.save(seen, OUT / "peer.png")
    level = float(bench.camera_psnr(seen))
    story.keep("peer_psnr_db", level, f"what the far end saw is saved: {level:.1f} dB")


def sounds(bench, story, peer, part):
    time.sleep(0.3)
    (OUT / "heard.wav").write_bytes((bench.board.share / "heard.wav").read_bytes())
    (OUT / "peer-heard.wav").write_bytes(peer.heard.read_bytes())
    rate, heard = tone.load(OUT / "heard.wav")
    report(story, "heard", tone.analyse(heard[rate // 2 :], rate, near_hz=TONE_HZ), "the loudspeaker played")
    rate, heard = tone.load(OUT / "peer-heard.wav")
    report(story, "peer_heard", tone.analyse(heard[slice(*part)], rate, near_hz=MICROPHONE_HZ), "the far end heard")


def report(story, name, found, words):
    story.keep(name, {key: float(value) for key, value in found._asdict().items()},
               f"{words} {found.frequency_hz:.1f} Hz, {found.snr_db:.0f} dB over the noise, "
               f"longest hole {found.gap_ms:.0f} ms")


def play(bench, story):
    """Keys for the buttons until q, end of input or Ctrl-C."""
    bench.peer()
    kiosk = bench.ready()
    kiosk.screenshot(OUT / "screen.png")
    terminal = sys.stdin.fileno() if sys.stdin.isatty() else None
    before = termios.tcgetattr(terminal) if terminal is not None else None
    try:
        if terminal is not None:
            tty.setcbreak(terminal, termios.TCSANOW)
        story.tell("c call, h hook, m mute, v video, s screen, q quit; the screen is in build/run/screen.png")
        told = kiosk.mark()
        while True:
            ready, _, _ = select.select([sys.stdin], [], [], 0.2)
            told = tell_events(kiosk, story, told)
            if not ready:
                continue
            key = sys.stdin.read(1)
            if key in ("q", ""):
                return
            if key in KEYS:
                kiosk.press(KEYS[key])
                time.sleep(0.7)
                told = tell_events(kiosk, story, told)
            if key in KEYS or key == "s":
                kiosk.screenshot(OUT / "screen.png")
                story.tell("screen saved")
    finally:
        if before is not None:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def tell_events(kiosk, story, since):
    end = kiosk.mark()
    for entry in kiosk.events[since:end]:
        if entry.get("event") != "stats":
            story.tell(" ".join(f"{key}={value}" if key != "event" else str(value) for key, value in entry.items()
                                if key != "t"))
    return end


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    story = Story()
    story.tell("booting the virtual board")
    try:
        with Bench(OUT) as bench:
            story.keep("boot_s", bench.board.boot_seconds, f"it booted in {bench.board.boot_seconds:.1f} s")
            (play if "--interactive" in sys.argv else shown_call)(bench, story)
            bench.kiosk.stop()
            story.tell("callbox stopped")
    except KeyboardInterrupt:
        story.tell("interrupted")
        return 130
    except Failed as failure:
        story.tell(f"failed: {failure}; logs are in build/run")
        return 1
    if "--interactive" not in sys.argv:
        (OUT / "call.json").write_text(json.dumps(story.figures, indent=2) + "\n")
        story.tell("figures are in build/run/call.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
