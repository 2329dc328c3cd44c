# SPDX-License-Identifier: Apache-2.0
"""What the loudspeaker plays comes back by the microphone: none of it may reach the far end."""

import subprocess
import time

import numpy

from measure import tone
from tests.bench import bench
from tests.runner import BOARD, Failed, check

RATE = 48000
ROOM = BOARD / "virtual" / "room.c"
SAYS = "Hello, this is the control room. I can hear you. Please stay where you are, help is on its way. " \
       "Can you tell me what has happened? Please speak slowly, and tell me where you are."
# The canceller is given so long to know the room; then this much is judged.
LEARN_S, JUDGE_S, PROMPT_S = 2.0, 5.0, 1.6


def speech(folder):
    """(a file with what the far end says, and silence after it; how long it speaks)."""
    spoken, path = folder / "spoken.wav", folder / "says.wav"
    subprocess.run(["espeak-ng", "-v", "en", "-w", spoken, SAYS], check=True)
    subprocess.run(["sox", spoken, "-r", str(RATE), "-b", "16", path, "gain", "-n", "-6", "pad", "0", "8"], check=True)
    return path, len(tone.load(path)[1]) / RATE - 8


class InARoom:
    """The bench's board with its loudspeaker before its microphone."""

    def __init__(self, b):
        self.b, self.kept = b, b.board.share / "room.raw"

    def __enter__(self):
        board = self.b.board
        subprocess.run(["cc", "-O2", "-o", board.share / "room", ROOM, "-lasound", "-lm"], check=True)
        self.b.no_microphone()
        self.process = board.spawn(f"exec /share/room {board.speaker_tap} {board.microphone_feed} /share/room.raw",
                                   log="room.log")
        until = time.monotonic() + 10
        while not self.kept.exists() or not self.kept.stat().st_size:
            if time.monotonic() > until:
                raise Failed("no room", (board.share / "room.log").read_text()[-160:])
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.b.board.terminate(self.process, 2)
        self.b.microphone()

    def heard_samples(self):
        return self.kept.stat().st_size // 2


def in_a_room(context):
    return context.once("a call in a room", lambda: _in_a_room(context))


def _in_a_room(context):
    """{"voice", "prompt"}: (level at the microphone, level at the far end), in dBFS."""
    b = bench(context)
    path, seconds = speech(context.folder)
    peer, kiosk, marks = b.peer(says=path), b.ready({"button.call.start": "audio"}), {}
    with InARoom(b) as room:
        mark, _ = kiosk.call()
        kiosk.wait_event("first_sound", since=mark)
        begin = time.monotonic()
        time.sleep(LEARN_S)
        for name, lasts in (("voice", JUDGE_S), ("prompt", PROMPT_S)):
            if name == "prompt":
                time.sleep(max(0, begin + seconds + 1 - time.monotonic()))
                kiosk.tell("language", "de")
            marks[name] = [(room.heard_samples(), peer.heard_samples())]
            time.sleep(lasts)
            marks[name].append((room.heard_samples(), peer.heard_samples()))
        kiosk.hang_up()
        kiosk.tell("language", "en")
        time.sleep(0.3)
        near = numpy.frombuffer(room.kept.read_bytes(), dtype="<i2") / 32768
    _, far = tone.load(peer.heard)
    levels = {name: tuple(tone.level_dbfs(samples[begin[side] : end[side]]) for side, samples in enumerate((near, far)))
              for name, (begin, end) in marks.items()}
    context.log("dBFS at the microphone and at the far end:", levels)
    for name, (at_microphone, _) in levels.items():
        if at_microphone < -55:
            raise Failed(f"{at_microphone:.0f} dBFS", f"the {name} did not come back to the microphone")
    return levels


@check("board/echo")
def echo(context):
    """The far end's voice in what it hears itself, below what the microphone hears of it."""
    at_microphone, at_far_end = in_a_room(context)["voice"]
    return at_microphone - at_far_end


@check("board/echo-prompt")
def echo_prompt(context):
    """A prompt that is spoken in the call, the microphone open."""
    at_microphone, at_far_end = in_a_room(context)["prompt"]
    return at_microphone - at_far_end
