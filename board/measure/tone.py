#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a recording of one tone says: its frequency, how clean it is, and for how long it was away."""

import os
import struct
import tempfile
from typing import NamedTuple

import numpy

# The tone itself is a few bins wide (window, and the drift between two sound clocks): counted as tone.
TONE_HALF_WIDTH_HZ = 8.0
ENVELOPE_MS = 5.0


class Tone(NamedTuple):
    frequency_hz: float
    snr_db: float
    gap_ms: float
    level_dbfs: float


def load(path):
    """(rate, samples) of a 16-bit WAV file: first channel, -1…1.

    A recorder that was stopped hard leaves lengths of 0 in the header: then the data runs to the end of the file.
    """
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ValueError(f"{path} is no WAV file")
    position, channels, rate = 12, 1, 48000
    while position + 8 <= len(data):
        name, size = data[position : position + 4], struct.unpack_from("<I", data, position + 4)[0]
        position += 8
        if name == b"fmt ":
            kind, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", data, position)
            if kind not in (1, 0xFFFE) or bits != 16:
                raise ValueError(f"{path}: format {kind} of {bits} bits is not read here")
        if name == b"data":
            end = len(data) if size == 0 or position + size > len(data) else position + size
            end -= (end - position) % (2 * channels)
            samples = numpy.frombuffer(data[position:end], dtype="<i2").reshape(-1, channels)[:, 0]
            return rate, samples.astype(numpy.float64) / 32768
        position += size + (size & 1)
    raise ValueError(f"{path} has no sound in it")


def save(path, rate, samples):
    values = numpy.clip(numpy.rint(numpy.asarray(samples) * 32767), -32768, 32767).astype("<i2").tobytes()
    header = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(values), b"WAVE", b"fmt ", 16, 1, 1, rate, rate * 2,
                         2, 16, b"data", len(values))
    with open(path, "wb") as file:
        file.write(header + values)


def sine(rate, seconds, frequency_hz, level=0.5):
    return level * numpy.sin(2 * numpy.pi * frequency_hz * numpy.arange(int(rate * seconds)) / rate)


def level_dbfs(samples):
    """Root mean square against a full-scale square; -120 for silence."""
    power = float(numpy.mean(numpy.square(samples))) if len(samples) else 0.0
    return max(-120.0, 10 * numpy.log10(power + 1e-12))


def analyse(samples, rate, band_hz=(100.0, 3400.0), near_hz=None):
    """`band_hz`: where noise counts and where the tone is looked for. `near_hz`: the tone expected, for the gap."""
    if len(samples) < rate // 2:
        raise ValueError(f"{len(samples) / rate:.2f} s of sound is too short to judge")
    # A constant (a capture's DC offset) is no noise.
    samples = samples - numpy.mean(samples)
    spectrum = numpy.abs(numpy.fft.rfft(samples * numpy.blackman(len(samples)))) ** 2
    hertz_per_bin = rate / len(samples)
    low, high = int(band_hz[0] / hertz_per_bin), min(len(spectrum) - 2, int(band_hz[1] / hertz_per_bin))
    peak = low + int(numpy.argmax(spectrum[low:high]))
    frequency_hz = (peak + _peak_offset(spectrum, peak)) * hertz_per_bin
    half = max(4, int(TONE_HALF_WIDTH_HZ / hertz_per_bin))
    tone_power = float(spectrum[max(low, peak - half) : peak + half + 1].sum())
    rest_power = float(spectrum[low:high].sum()) - tone_power
    snr_db = min(120.0, 10 * numpy.log10((tone_power + 1e-20) / max(rest_power, tone_power * 1e-12, 1e-20)))
    gap_ms = longest_gap_ms(samples, rate, near_hz or frequency_hz)
    return Tone(frequency_hz, snr_db, gap_ms, level_dbfs(samples))


def _peak_offset(spectrum, peak):
    """A parabola through three log magnitudes: where between the bins the top is."""
    before, at, after = (float(numpy.log(spectrum[index] + 1e-30)) for index in (peak - 1, peak, peak + 1))
    bend = before - 2 * at + after
    return 0.0 if bend == 0 else 0.5 * (before - after) / bend


def longest_gap_ms(samples, rate, frequency_hz):
    """The longest time the tone was below half of its usual strength, of what lies between its first and last sound.

    With the threshold at half and an average over a window, a real gap longer than the window keeps its length.
    """
    window = max(int(rate * ENVELOPE_MS / 1000), int(2 * rate / frequency_hz))
    turn = numpy.exp(-2j * numpy.pi * frequency_hz * numpy.arange(len(samples)) / rate)
    running = numpy.cumsum(numpy.concatenate(([0], samples * turn)))
    envelope = numpy.abs(running[window:] - running[:-window]) / window
    usual = float(numpy.percentile(envelope, 75))
    if usual < 1e-4:
        return 1000 * len(samples) / rate
    away = numpy.concatenate(([0], (envelope < usual / 2).astype(numpy.int8), [0]))
    edges = numpy.diff(away)
    starts, ends = numpy.flatnonzero(edges == 1), numpy.flatnonzero(edges == -1)
    return 0.0 if len(starts) == 0 else float((ends - starts).max()) * 1000 / rate


def self_test():
    rate = 48000
    for hertz in (440.0, 1000.0, 997.3):
        tone = analyse(sine(rate, 10, hertz), rate)
        assert abs(tone.frequency_hz - hertz) < 0.1, tone
        assert tone.snr_db > 60 and tone.gap_ms == 0, tone
    clean = sine(rate, 10, 1000)
    noise = numpy.random.default_rng(1).normal(0, 1, len(clean))
    # White noise of power 0.125/100 inside 100–3400 Hz is 20 dB under a tone of power 0.125.
    level = (0.125 / 100 * 24000 / 3300) ** 0.5
    assert abs(analyse(clean + level * noise, rate).snr_db - 20) < 1
    for gap_ms in (8, 20, 35):
        cut = clean.copy()
        cut[200000 : 200000 + gap_ms * 48] = 0
        found = analyse(cut, rate).gap_ms
        assert abs(found - gap_ms) < 1.5, (gap_ms, found)
    assert analyse(numpy.zeros(rate * 2), rate).gap_ms >= 1900
    jumped = numpy.concatenate((clean[:100024], clean[100048:]))
    assert analyse(jumped, rate).gap_ms <= 20
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.wav")
        save(path, rate, clean)
        assert load(path)[0] == rate and abs(load(path)[1] - clean).max() < 1e-4
        with open(path, "r+b") as file:
            file.seek(40)
            file.write(b"\0\0\0\0")
        assert len(load(path)[1]) == len(clean), "an unfinished header hides nothing"


if __name__ == "__main__":
    self_test()
    print("tone: ok")
