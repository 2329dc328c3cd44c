# SPDX-License-Identifier: Apache-2.0
"""What the person at the panel hears beside the far end: keys, ring-back, prompts; and that nobody else hears it."""

import json
import time
from pathlib import Path

import numpy

from measure import tone
from measure.figures import median
from tests.bench import TONE_HZ, bench
from tests.runner import Failed, check

RATE = 48000
PROMPTS = Path(__file__).resolve().parents[2] / "build" / "share" / "callbox" / "prompts"
PRESSES = 20
# Nothing but keys and the ring-back; that of the United States pauses for 4 s of 6.
KEYS_ONLY = {"sound.prompts": "no", "sound.chimes": "no", "sound.tones": "us"}


class Heard:
    """What the loudspeaker played between two moments, on the board's clock."""

    def __init__(self, board, name, seconds):
        self.board, self.name = board, name
        self.process = board.spawn(f"exec python3 -I /callbox/board/virtual/listen.py {seconds} {name}",
                                   log=f"{name}.log")
        time.sleep(0.5)

    def take(self, limit_s):
        until = time.monotonic() + limit_s
        while self.board.running(self.process):
            if time.monotonic() > until:
                raise Failed("no end", "the recorder on the board does not end")
            time.sleep(0.05)
        path = self.board.share / f"{self.name}.json"
        if not path.exists():
            raise Failed("no recording", (self.board.share / f"{self.name}.log").read_text()[-160:])
        self.begin_ns = json.loads(path.read_text())["ns"]
        raw = numpy.frombuffer((self.board.share / f"{self.name}.raw").read_bytes(), dtype="<i2")
        self.samples = raw.astype(numpy.float64) / 32768
        tone.save(self.board.share / f"{self.name}.wav", RATE, self.samples)
        return self

    def at(self, ns):
        return int((ns - self.begin_ns) * RATE // 1_000_000_000)

    def onset_ms(self, ns, level=0.004):
        """From a moment to the first sound after it."""
        begin = self.at(ns)
        found = numpy.flatnonzero(numpy.abs(self.samples[begin : begin + RATE // 5]) > level)
        if len(found) == 0:
            raise Failed("silence", "a press made no sound within 200 ms")
        return float(found[0]) * 1000 / RATE


def likeness(samples, rate, path):
    """(0 to 1, where): how much of the prompt is in a recording, by correlation with its own energy there."""
    prompt_rate, prompt = load(path)
    alike, place = _correlated(resampled(samples, rate, prompt_rate), prompt)
    return alike, place / prompt_rate


def spoken(samples, rate, path):
    """The same for each 0.3 s of it, the one in the middle: a hiccup of the machine does not count."""
    prompt_rate, prompt = load(path)
    samples = resampled(samples, rate, prompt_rate)
    _, begin = _correlated(samples, prompt)
    piece, room, found = prompt_rate * 3 // 10, prompt_rate // 10, []
    for place in range(0, len(prompt) - piece, piece):
        around = samples[max(0, begin + place - room) : begin + place + piece + room]
        found.append(_correlated(around, prompt[place : place + piece])[0])
    return median(found), begin / prompt_rate


def _correlated(samples, prompt):
    """(likeness, index) where they are most alike."""
    if len(samples) < len(prompt):
        return 0.0, 0
    size = 1 << (len(samples) + len(prompt)).bit_length()
    product = numpy.fft.irfft(numpy.fft.rfft(samples, size) * numpy.conj(numpy.fft.rfft(prompt, size)), size)
    product = numpy.abs(product[: len(samples) - len(prompt) + 1])
    energy = numpy.cumsum(numpy.concatenate(([0.0], samples**2)))
    energy = energy[len(prompt) :] - energy[: -len(prompt)]
    alike = product / numpy.sqrt((energy + 1e-4) * (float(numpy.sum(prompt**2)) + 1e-4))
    place = int(numpy.argmax(alike))
    return float(alike[place]), place


def load(path):
    """(rate, samples) of a mu-law WAV file of one channel, as board/prompts makes them."""
    data = path.read_bytes()
    rate = int.from_bytes(data[24:28], "little")
    begin = data.index(b"data") + 8
    code = ~numpy.frombuffer(data[begin:], dtype=numpy.uint8)
    size = (((code & 15).astype(numpy.int32) << 3) + 132 << ((code >> 4) & 7)) - 132
    return rate, numpy.where(code & 128, -size, size) / 32768


def resampled(samples, rate, wanted):
    """To a lower rate, all above its half cut off, and the far end's tone."""
    count = len(samples) * wanted // rate
    spectrum = numpy.fft.rfft(samples)[: count // 2 + 1]
    place, width = TONE_HZ * len(samples) // rate, 20 * len(samples) // rate
    spectrum[place - width : place + width] = 0
    return numpy.fft.irfft(spectrum, count) * count / len(samples)


# Keys

def key_latency(context, name, line, press):
    """Milliseconds from twenty presses to their sound; the debounce is not the sound's."""
    b = bench(context)
    heard, presses = Heard(b.board, name, PRESSES * 0.4 + 1), []
    for number in range(PRESSES):
        presses.append(press(line))
        # Not always at the same place in a period.
        time.sleep(0.27 + 0.003 * number)
    heard.take(15)
    times = [heard.onset_ms(ns) - b.board.debounce_ms for ns in presses]
    context.log(f"{name}, ms: {[round(ms, 1) for ms in times]}")
    return median(times)


@check("board/key-tone-idle", again=())
def key_tone_idle(context):
    """The output is primed: a press out of silence."""
    b = bench(context)
    b.ready(changes=KEYS_ONLY).idle(12)
    return key_latency(context, "keys-idle", "mute", lambda line: b.board.press(line, 60))


@check("board/key-tone-busy", again=())
def key_tone_busy(context):
    """The output runs and has sound in hand: presses in the pauses of the ring-back."""
    b = bench(context)
    b.peer(answer="manual")
    kiosk = b.ready(changes=KEYS_ONLY)
    mark = kiosk.mark()
    kiosk.press("call")
    kiosk.wait_event("call", since=mark, state="ringing")
    return pauses(context, b, kiosk)


def pauses(context, b, kiosk):
    heard, presses = Heard(b.board, "keys-ringing", 11.5), []
    begin = time.monotonic()
    while time.monotonic() < begin + 10:
        presses.append(b.board.press("mute", 60))
        time.sleep(0.25)
    heard.take(10)
    kiosk.hang_up()
    times = []
    for ns in presses:
        place = heard.at(ns)
        quiet = heard.samples[place - RATE // 20 : place + RATE // 50]
        if len(quiet) and numpy.abs(quiet).max() < 0.002:
            times.append(heard.onset_ms(ns) - b.board.debounce_ms)
    context.log(f"while it rings, ms: {[round(ms, 1) for ms in times]}")
    if len(times) < 10:
        raise Failed(f"{len(times)} presses", "fell into a pause of the ring-back")
    return median(times)


# A call by ear

def call_by_ear(context):
    return context.once("a call by ear", lambda: _call_by_ear(context))


def _call_by_ear(context):
    """Press, ring, answer, mute, hook: (what was heard, marks on the board's clock, what the far end heard)."""
    b = bench(context)
    peer, kiosk = b.peer(answer="manual"), b.ready()
    kiosk.idle(12)
    heard, marks = Heard(b.board, "by-ear", 20), {}
    mark = kiosk.mark()
    marks["pressed"] = b.board.press("call", 80)
    kiosk.wait_event("call", since=mark, state="ringing")
    time.sleep(6.5)
    marks["accepted"] = b.board.press("spare-1", 10)
    peer.accept()
    kiosk.wait_event("first_sound", since=mark)
    begin = peer.heard_samples()
    marks["sound"] = b.board.press("spare-1", 10)
    time.sleep(2)
    marks["muted"] = b.board.press("mute", 80)
    time.sleep(2.8)
    end = peer.heard_samples()
    marks["hung up"] = b.board.press("hook", 80)
    heard.take(25)
    _, far = tone.load(peer.heard)
    return heard, marks, far[begin:end]


def strength(samples, hertz):
    """The amplitude of a tone, others 100 Hz away left out of 20 ms."""
    samples = 2 * samples * numpy.hanning(len(samples))
    turn = numpy.exp(-2j * numpy.pi * hertz * numpy.arange(len(samples)) / RATE)
    return 2 * abs(numpy.mean(samples * turn)) if len(samples) else 0.0


@check("board/ring-back")
def ring_back(context):
    """425 Hz while it rings, and none of it beside the far end's voice. Figure: milliseconds of both at once."""
    heard, marks, _ = call_by_ear(context)
    step = RATE // 50
    begin, end = heard.at(marks["pressed"]), heard.at(marks["hung up"])
    rings, voice = [], []
    for place in range(begin, end - step, step):
        part = heard.samples[place : place + step]
        rings.append(strength(part, 425) > 0.02 and strength(part, 1000) < 0.02)
        voice.append(strength(part, 1000) > 0.05)
    on = sum(rings) / 50
    context.log(f"the ring-back was heard for {on:.2f} s of 6.5 s")
    if not 1.2 <= on <= 3.2:
        raise Failed(f"{on:.2f} s", "of ring-back in 6.5 s of ringing: twice 1 s were expected")
    first = heard.at(marks["sound"])
    after = heard.samples[first + RATE // 5 : first + 2 * RATE]
    both = [strength(after[place : place + step], 425) > 0.02 for place in range(0, len(after) - step, step)]
    if not any(voice):
        raise Failed("no voice", "the far end was not heard")
    return sum(both) * 20.0


@check("board/prompts")
def prompts(context):
    """Each step is spoken, in its order. Figure: the least likeness."""
    heard, marks, _ = call_by_ear(context)
    found = []
    for name, since, until in (("ringing", "pressed", "accepted"), ("muted", "muted", "hung up"),
                               ("ended", "hung up", None)):
        begin = heard.at(marks[since])
        part = heard.samples[begin : heard.at(marks[until]) if until else None]
        alike, place = spoken(part, RATE, PROMPTS / "en" / f"{name}.wav")
        other, _ = spoken(part, RATE, PROMPTS / "de" / f"{name}.wav")
        context.log(f"{name}: likeness {alike:.2f} at {place:.2f} s after it was {since}; the German one {other:.2f}")
        found.append(alike)
    return min(found)


@check("board/prompts-stay-here")
def stay_here(context):
    """What the far end heard has nothing of the prompts. Figure: the greatest likeness."""
    _, _, far = call_by_ear(context)
    found = {name: likeness(far, RATE, PROMPTS / "en" / f"{name}.wav")[0] for name in ("ringing", "muted")}
    context.log(f"at the far end: {found}, {len(far) / RATE:.1f} s")
    return max(found.values())


@check("board/loudspeaker-peak")
def peak(context):
    """Nothing is cut: the loudest sample of a call with its tones, chimes and prompts, of full scale."""
    heard, _, _ = call_by_ear(context)
    return float(numpy.abs(heard.samples).max())


# Whose prompts

@check("board/own-prompt")
def own_prompt(context):
    """The owner's file in place of ours, and a broken one refused with a sentence."""
    b = bench(context)
    folder = b.board.share / "prompts" / "de"
    folder.mkdir(parents=True, exist_ok=True)
    rate, seconds = 44100, 1.2
    tone.save(folder / "language.wav", rate, tone.sine(rate, seconds, 640, 0.8))
    (folder / "busy.wav").write_bytes(b"RIFF\x24\0\0\0WAVEfmt \xff\xff\xff\xff broken")
    kiosk = b.ready(arguments="--camera none")
    problem = kiosk.wait_event("problem", limit_s=3, section="sound")
    context.log(f"said: {problem}")
    heard = Heard(b.board, "own", 4)
    kiosk.tell("language", "de")
    heard.take(8)
    for path in folder.iterdir():
        path.unlink()
    if "busy.wav" not in json.dumps(problem):
        raise Failed("other problem", f"{problem}")
    step = RATE // 50
    own = [strength(heard.samples[place : place + step], 640) > 0.2
           for place in range(0, len(heard.samples) - step, step)]
    return sum(own) / 50
