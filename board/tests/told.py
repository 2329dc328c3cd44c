# SPDX-License-Identifier: Apache-2.0
"""How a fault is told on the virtual board: words on the screen, lamps, what is heard, lines of the log."""

import time

import numpy

from measure.figures import blink
from tests.heard import strength
from tests.kiosk import GUEST, sentence_of
from tests.runner import Failed

RATE, STEP = 48000, 48000 // 50
TOLD_S, LISTENS_S = 5, 5
# A device alarms no sooner again.
QUIET_S = 10
# A busy board's output has holes of up to so many parts of 20 ms.
HOLE = 4
# Of full scale; tones are played at 0.15.
LEVEL = 0.04
FAST_MS = (80, 450)


class Ear:
    """Records what the loudspeaker plays, for as long as the sound card is there."""

    def __init__(self, board):
        self.board, self.process, self.path, self.count = board, None, None, 0

    def listen(self):
        """Goes on, or begins again where the card was away meanwhile."""
        until = time.monotonic() + LISTENS_S
        while self.process is None or not self.board.running(self.process):
            # A card that has just come back may be about to be set up by its other side.
            self._begin()
            while self.board.running(self.process) and not (self.path.exists() and self.path.stat().st_size):
                if time.monotonic() > until:
                    raise Failed("no recording", (self.board.share / "ear.log").read_text()[-160:])
                time.sleep(0.05)
            if time.monotonic() > until:
                raise Failed("no recording", (self.board.share / "ear.log").read_text()[-160:])

    def _begin(self):
        self.count += 1
        name = f"ear-{self.count}.raw"
        self.path = self.board.share / name
        self.process = self.board.spawn(
            f"exec arecord -q -D {self.board.speaker_tap} -t raw -f S16_LE -r {RATE} -c 1 --period-time=50000 "
            f"--buffer-time=2000000 /share/{name}", log="ear.log")

    def stop(self):
        if self.process is not None:
            self.board.terminate(self.process)
            self.process = None

    def mark(self):
        """Now, as a place in the recording."""
        self.listen()
        return self.path, self.path.stat().st_size // 2

    def wait(self, wanted, mark, limit_s=TOLD_S):
        """Waits until one of the wanted sounds was heard; its name."""
        until, (path, place) = time.monotonic() + limit_s, mark
        while True:
            with open(path, "rb") as file:
                file.seek(2 * place)
                data = file.read()
            sounds = named(numpy.frombuffer(data[: len(data) // 2 * 2], dtype="<i2") / 32768)
            if found := sounds & set(wanted):
                return found.pop()
            if time.monotonic() > until:
                raise Failed("not heard", f"{' or '.join(wanted)} within {limit_s} s; heard: {sorted(sounds)}")
            time.sleep(0.1)


def named(samples):
    """What is in a recording: the chime `lost` (392 Hz, then 262 Hz), the tones `busy` and `error` (425 Hz)."""
    parts = [samples[place : place + STEP] for place in range(0, len(samples) - STEP, STEP)]
    high, low, tone = ([is_pure(part, hertz) for part in parts] for hertz in (392, 262, 425))
    found = set()
    for end, length in runs(high):
        if 5 <= length <= 12 and any(10 <= after <= 18 and -1 <= begin - end <= 3
                                     for begin, after in ((at - size, size) for at, size in runs(low))):
            found.add("lost")
    # The first one may have begun before the recording, and the last one may go on.
    lengths = [length for end, length in runs(tone) if end < len(tone)]
    if sum(8 <= length <= 13 for length in lengths) >= 2:
        found.add("error")
    # Longer than any voice stays there, so that one may be heard beside it.
    there = [strength(part, 425) > LEVEL for part in parts]
    if any(22 <= length <= 29 and sum(tone[end - length : end]) >= length / 2
           for end, length in runs(there) if end < len(there)):
        found.add("busy")
    return found


def is_pure(part, hertz):
    """Whether 20 ms are this tone, and below 800 Hz, where the far end's is not, hardly anything else: no voice."""
    if strength(part, hertz) <= LEVEL:
        return False
    power = numpy.abs(numpy.fft.rfft(part * numpy.hanning(len(part)))) ** 2
    bin_hz = RATE / STEP
    here = round(hertz / bin_hz)
    return power[here - 2 : here + 3].sum() > 0.8 * power[2 : int(800 / bin_hz) + 1].sum()


def runs(values):
    """(index after its end, length) of each row of truths, in which there may be short holes."""
    found = []
    for index, value in enumerate(values):
        if not value:
            continue
        end, length = found[-1] if found else (-HOLE - 1, 0)
        if index - end <= HOLE:
            found[-1] = index + 1, length + index + 1 - end
        else:
            found.append((index + 1, 1))
    return found


class Witness:
    """Looks, listens and reads along while faults are made, and keeps the rows of the table."""

    HEADINGS = ("code", "fault", "when", "told", "lamp", "sound", "afterwards", "sentence")

    def __init__(self, bench, kiosk, fault_lamp):
        """`fault_lamp` is the line of `[lamp.fault]`."""
        self.bench, self.kiosk, self.board, self.fault_lamp = bench, kiosk, bench.board, fault_lamp
        self.ear, self.rows, self.told_at = Ear(bench.board), [], {}

    def moment(self, devices=()):
        """The time just before a fault is made, in which these devices can alarm again."""
        due = max((self.told_at.get(device, -QUIET_S) for device in devices), default=-QUIET_S) + QUIET_S
        time.sleep(max(0.0, due - time.monotonic()))
        return self.kiosk.mark(), self.ear.mark(), time.monotonic()

    def row(self, code, fault, when, took, lamp, sound, afterwards, sentence):
        self.rows.append((code, fault, when, f"{took:.1f} s", lamp, sound, afterwards, sentence))

    # A fault that stands

    def stands(self, moment, devices, sound=True):
        """Each device was told of in time: (seconds, code, lamp, sound, sentence)."""
        mark, heard, since = moment
        events = [self.kiosk.wait_event("fault", since=mark, limit_s=TOLD_S, device=device) for device in devices]
        took = time.monotonic() - since
        self.told_at.update((device, time.monotonic()) for device in devices)
        self.alarms(events[-1])
        lamp = self.lit()
        for event in events:
            self.shown(event["text"])
        heard = self.ear.wait(["lost"], heard) if sound else "not applicable"
        codes = " ".join(event["fault_code"] for event in events)
        return took, codes, lamp, heard, "; ".join(event["text"] for event in events)

    def alarms(self, event):
        """The call lamp is fast from this event on, or was so already of another fault."""
        place = self.kiosk.events.index(event)
        before = [entry["pattern"] for entry in self.kiosk.events[:place]
                  if entry.get("event") == "lamp" and entry.get("name") == "call"]
        if before[-1:] != ["fast"]:
            self.kiosk.wait_event("lamp", since=place, limit_s=1, name="call", pattern="fast")

    def lit(self):
        until = time.monotonic() + 1
        while not self.board.lamp(self.fault_lamp):
            if time.monotonic() > until:
                raise Failed("not lit", f"the lamp at {self.fault_lamp} was to be lit as long as the fault stands")
            time.sleep(0.02)
        return "fault lamp is on"

    def shown(self, text):
        """The words are on the screen now, whatever else is."""
        screen = self.kiosk.status()["screen"]
        words = " ".join(str(screen.get(part)) for part in ("headline", "detail", "banner"))
        if text not in words:
            raise Failed("not shown", f"{text!r} is not on the screen: {words!r}")

    # A call that fails

    def fails(self, moment, limit_s=TOLD_S):
        """The call ended by a fault: (seconds, code, lamp, sound, sentence)."""
        mark, heard, since = moment
        ended = self.kiosk.wait_event("call", since=mark, state="ended", limit_s=limit_s)
        took = time.monotonic() - since
        code, text = ended.get("fault_code"), sentence_of(ended)
        level, edges = self.board.watch_lamp("lamp-call", 0.9)
        seen = blink(edges, level, 0.9)
        if seen.pattern != "blink" or not FAST_MS[0] <= seen.period_ms <= FAST_MS[1]:
            raise Failed(f"{seen.pattern}, {seen.period_ms:.0f} ms", f"the call lamp was to blink fast after {code}")
        screen = self.kiosk.status()["screen"]
        if screen.get("code") != code or screen.get("detail") != text:
            raise Failed("not shown", f"{code} {text!r} is not on the screen: {screen}")
        return took, code, "call lamp blinks fast", self.ear.wait(["error", "busy"], heard), text

    # Afterwards

    def press_calls(self):
        """The next press: an INVITE goes out. Then it is taken back."""
        mark, wire = self.kiosk.mark(), self.bench.wire.mark()
        self.kiosk.push("call")
        self.kiosk.wait_event("call", since=mark, state="dialling", limit_s=2)
        if not self.bench.wire.wait_sip("INVITE", GUEST, 2, wire):
            raise Failed("no INVITE", "the next press sent nothing")
        self.kiosk.tell("hangup")
        self.kiosk.idle()
        return "the next press calls"

    def press_mutes(self):
        """The next press in a call, which goes on."""
        if self.kiosk.status().get("state") != "connected":
            raise Failed(self.kiosk.status().get("state"), "the call did not go on")
        for is_on in (True, False):
            mark = self.kiosk.mark()
            self.kiosk.push("mute")
            self.kiosk.wait_event("mute", since=mark, limit_s=2, on=is_on)
        return "the call goes on, the next press works"

    # The table

    def table(self):
        """Aligned text."""
        rows = [self.HEADINGS, *self.rows]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.HEADINGS) - 1)]
        return ["  ".join(text.ljust(width) for text, width in zip(row, [*widths, 0])).rstrip() for row in rows]
