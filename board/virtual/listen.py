#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what the loudspeaker plays, and when: listen.py SECONDS NAME, on the virtual board.

Writes /share/NAME.raw (48 kHz, one channel, 16 bits) and /share/NAME.json, whose "ns" is the board's monotonic clock
when the first frame left the card. The card's position is read with the clock after every few frames; its steps only
delay it, so that the earliest reading is the right one.
"""

import ctypes
import json
import sys
import time

RATE, FRAMES = 48000, 96
DEVICE = b"plughw:Loopback,1,0"
CAPTURE, NONBLOCK, S16_LE, INTERLEAVED = 1, 1, 2, 3
ALSA = ctypes.CDLL("libasound.so.2")
ALSA.snd_pcm_avail.restype = ALSA.snd_pcm_readi.restype = ctypes.c_long
LATENCY_US = 1_000_000


def opened():
    handle = ctypes.c_void_p()
    must(ALSA.snd_pcm_open(ctypes.byref(handle), DEVICE, CAPTURE, NONBLOCK))
    must(ALSA.snd_pcm_set_params(handle, S16_LE, INTERLEAVED, 1, RATE, 1, LATENCY_US))
    must(ALSA.snd_pcm_start(handle))
    return handle


def must(result):
    if result < 0:
        raise OSError(-result, "ALSA says no")
    return result


def main(seconds, name):
    handle, buffer, total, begin = opened(), ctypes.create_string_buffer(2 * 4800), 0, None
    until = time.monotonic() + seconds
    with open(f"/share/{name}.raw", "wb") as file:
        while time.monotonic() < until:
            waiting = must(ALSA.snd_pcm_avail(handle))
            at_ns = time.monotonic_ns() - (total + waiting) * 1_000_000_000 // RATE
            begin = at_ns if begin is None else min(begin, at_ns)
            if waiting < FRAMES:
                time.sleep(0.001)
                continue
            got = must(ALSA.snd_pcm_readi(handle, buffer, min(waiting, 4800)))
            file.write(buffer.raw[: 2 * got])
            total += got
    with open(f"/share/{name}.json", "w") as file:
        json.dump({"ns": begin, "frames": total}, file)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
