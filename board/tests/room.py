# SPDX-License-Identifier: Apache-2.0
"""What the loudspeaker plays comes back by the microphone: none of it may reach the far end."""

import signal
import subprocess
import time
from typing import NamedTuple

import numpy

from measure import tone
from tests.bench import bench
from tests.runner import BOARD, Failed, check

RATE = 48000
ROOM = BOARD / "virtual" / "room.c"
SAYS = "Hello, this is the control room. I can hear you. Please stay where you are, help is on its way. " \
       "Can you tell me what has happened? Please speak slowly, and tell me where you are."
# A part lasts from one of the kiosk's `stats` to another, a second. The canceller has so many to know the room; so many
# a prompt takes.
LEARN_PARTS, PROMPT_PARTS = 2, 2
# The kiosk is stopped for so long at the begin of a part: its loudspeaker goes without sound, its microphone does not.
GAP_PARTS, GAP_S = 3, 0.09
# The far end hangs up when its file is over: a busy machine takes long for the prompts.
AFTER_S = 15
# Of those, so many at least have to be undisturbed.
LEAST_PARTS = {"voice": 3, "gap": 1, "prompt": 1}
# Until they are, at most.
CALLS = 3


def speech(folder):
    """(a file with what the far end says, and silence after it; how long it speaks)."""
    spoken, path = folder / "spoken.wav", folder / "says.wav"
    subprocess.run(["espeak-ng", "-D", "-v", "en", "-w", spoken, SAYS], check=True)
    subprocess.run(["sox", spoken, "-r", str(RATE), "-b", "16", path, "gain", "-n", "-6", "pad", "0", f"{AFTER_S}"],
                   check=True)
    return path, len(tone.load(path)[1]) / RATE - AFTER_S


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

    def breaks(self):
        return (self.b.board.share / "room.log").read_text().count("\n")


class Part(NamedTuple):
    name: str
    near: slice
    far: slice
    # Of the kiosk's cards and the room's: sound that came too late to be played, or was not fetched in time.
    breaks: int


class Listener:
    """Cuts a call into parts."""

    def __init__(self, room, kiosk, peer):
        self.room, self.kiosk, self.peer, self.parts = room, kiosk, peer, []
        self.place = self._place()

    def _place(self):
        entry = self.kiosk.wait_event("stats", since=self.kiosk.mark())
        return self.room.heard_samples(), self.peer.heard_samples(), entry["audio"]["xruns"] + self.room.breaks()

    def listen(self, name, seconds):
        begin = self.place
        if name == "gap":
            self.kiosk.board.signal(self.kiosk.process, signal.SIGSTOP)
            time.sleep(GAP_S)
            self.kiosk.board.signal(self.kiosk.process, signal.SIGCONT)
        for _ in range(seconds):
            self.place = self._place()
        near, far = (slice(*ends) for ends in zip(begin[:2], self.place[:2]))
        self.parts.append(Part(name, near, far, self.place[2] - begin[2]))

    def undisturbed(self, name):
        """What a card lost makes the way of the sound another one, which has to be learned: that needs sound.

        But for the one gap that was made: the kiosk is to know how long it was.
        """
        found, is_known = [], False
        for part in self.parts:
            is_whole = part.breaks == (part.name == "gap")
            if is_known and is_whole and part.name == name:
                found.append(part)
            is_known = is_whole and (is_known or part.name != "pause")
        return found


def in_a_room(context):
    return context.once("a call in a room", lambda: _in_a_room(context))


def _in_a_room(context):
    """{"voice", "gap", "prompt"}: (level at the microphone, level at the far end), in dBFS."""
    b = bench(context)
    path, seconds = speech(context.folder)
    found = {name: [] for name in LEAST_PARTS}
    for _ in range(CALLS):
        listener, near, far = a_call(b, path, seconds)
        context.log("breaks:", [(part.name, part.breaks) for part in listener.parts])
        for name, pieces in found.items():
            everything = [(near[part.near], far[part.far]) for part in listener.parts if part.name == name]
            context.log(f"{name}, with all breaks, dBFS at the microphone and at the far end:", levels(everything))
            pieces += [(near[part.near], far[part.far]) for part in listener.undisturbed(name)]
        if all(len(found[name]) >= least for name, least in LEAST_PARTS.items()):
            break
    return {name: judged(context, name, pieces) for name, pieces in found.items()}


def a_call(b, path, seconds):
    """(its listener, all that the microphone heard, all that the far end heard)."""
    # Pictures would only take time from the cards, which here have no hardware.
    peer, kiosk = b.peer(says=path), b.ready({"button.call.start": "audio"})
    with InARoom(b) as room:
        mark, _ = kiosk.call()
        kiosk.wait_event("first_sound", since=mark)
        silent_at = time.monotonic() + seconds
        listener = Listener(room, kiosk, peer)
        listener.listen("learn", LEARN_PARTS)
        while time.monotonic() < silent_at - 1.2 - GAP_PARTS:
            listener.listen("voice", 1)
        while time.monotonic() < silent_at - 1.2:
            listener.listen("gap", 1)
        while time.monotonic() < silent_at + 0.3:
            listener.listen("pause", 1)
        for language in ("de", "fr", "en"):
            kiosk.tell("language", language)
            listener.listen("prompt", PROMPT_PARTS)
        kiosk.hang_up()
        time.sleep(0.3)
        near = numpy.frombuffer(room.kept.read_bytes(), dtype="<i2") / 32768
    b.drop_peer()
    return listener, near, tone.load(peer.heard)[1]


def levels(pieces):
    return tuple(float(tone.level_dbfs(numpy.concatenate(side))) for side in zip(*pieces))


def judged(context, name, pieces):
    if len(pieces) < LEAST_PARTS[name]:
        raise Failed(f"{len(pieces)} parts", f"the sound cards were disturbed too often to judge the {name}")
    at_microphone, at_far_end = levels(pieces)
    context.log(f"{name}, {len(pieces)} undisturbed parts:", at_microphone, at_far_end)
    if at_microphone < -55:
        raise Failed(f"{at_microphone:.0f} dBFS", f"the {name} did not come back to the microphone")
    return at_microphone, at_far_end


@check("board/echo")
def echo(context):
    """The far end's voice in what it hears itself, below what the microphone hears of it."""
    at_microphone, at_far_end = in_a_room(context)["voice"]
    return at_microphone - at_far_end


@check("board/echo-gap")
def echo_gap(context):
    """The same in the second in which the loudspeaker goes without sound for a moment."""
    at_microphone, at_far_end = in_a_room(context)["gap"]
    return at_microphone - at_far_end


@check("board/echo-prompt")
def echo_prompt(context):
    """A prompt that is spoken in the call, the microphone open."""
    at_microphone, at_far_end = in_a_room(context)["prompt"]
    return at_microphone - at_far_end
