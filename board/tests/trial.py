# SPDX-License-Identifier: Apache-2.0
"""What the checks of images share: the card that board/image made, the machine that starts from it, and its cable."""

import contextlib
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

from machine.card import Card
from machine.qemu import Machine
from machine.wire import BOARD as KIOSK
from machine.wire import HERE, cable
from peer.baresip import Peer
from tests.runner import Failed
from tests.world import clip

BOARD_NAME = os.environ.get("CALLBOX_BOARD", "qemu-arm64")
TARGET = BOARD_NAME.split("-")[1]
CONFIGURATION = f"[call]\nuri = sip:peer@{HERE}\n[video]\nh264_licence = accepted\n"
# Software emulation on a busy machine is some thirty times slower than a board.
START_S = 400


class Trial:
    """A card of `size_mib` that was just written, with `files` on its boot partition, and the machine that has it.

    Used as a context manager; at the end both are gone. The cable is one: who is powered on takes it.
    """

    powered = None

    def __init__(self, context, size_mib=1024, files=None):
        # Sockets have short names only.
        self.folder = Path(tempfile.mkdtemp(prefix="callbox-image-", dir="/tmp"))
        self.machine, self.starts = None, 0
        self.kept = context.out / context.name.split("/")[0]
        self.kept.mkdir(parents=True, exist_ok=True)
        context.once("cable", lambda: context.keep(cable(self.folder)))
        self.loader = made(context, "u-boot.bin")
        self.card = Card(self.folder / "card.img", made(context, "img.xz"), size_mib)
        for name, data in {"callbox.conf": CONFIGURATION.encode(), **(files or {})}.items():
            self.card.write(name, data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.power_off()
        shutil.rmtree(self.folder)

    def power_on(self, **options):
        """The board starts; `options` are those of Machine."""
        if Trial.powered:
            Trial.powered.power_off()
        Trial.powered = self
        self.starts += 1
        options = {"loader": self.loader, "target": TARGET, **options}
        self.machine = Machine(self.folder / f"start{self.starts}", self.card, **options)
        return self.machine.start()

    def power_off(self):
        """Its console is kept in build/test, in the group's folder."""
        if self.machine:
            self.machine.cut()
            shutil.copy(self.machine.serial, self.kept / f"{self.folder.name[-8:]}-start{self.starts}.txt")
        self.machine = None

    def status(self):
        """What the kiosk says of itself."""
        return json.loads(self.machine.shell("callbox status", 60))


def made(context, ending):
    """What board/image made."""
    found = sorted((context.project / "build" / "images").glob(f"callbox-{BOARD_NAME}-*.{ending}"))
    if not found:
        raise Failed("not built", f"there is no build/images/callbox-{BOARD_NAME}-*.{ending}")
    return found[-1]


def running(context):
    """The trial with a board that is ready; the same for all checks of a group."""

    def make():
        trial = context.keep(Trial(context))
        trial.power_on().wait_ready(START_S)
        return trial

    return context.once("board", make)


@contextlib.contextmanager
def calling(context, trial, word="press call"):
    """A call to a far end on the cable, begun by a word of the kiosk's; the far end, once they talk."""
    machine = trial.machine
    machine.shell(f"until ip -4 -o address | grep -q {KIOSK}/; do sleep 1; done", 120)
    with Peer(trial.folder / "peer", clip(), HERE, 5060) as peer:
        try:
            machine.shell(f"callbox {word}", 60)
            peer.wait_event("CALL_ESTABLISHED", 60)
            yield peer
        except Exception:
            context.log(machine.shell("callbox status; journalctl -b --no-pager -n 60 -u callbox", 120, may_fail=True))
            raise


def call_peer(context, trial, word="press call"):
    """Such a call; seconds of sound that the far end hears in 6."""
    with calling(context, trial, word) as peer:
        begin = peer.heard_samples()
        time.sleep(6)
        heard = (peer.heard_samples() - begin) / 48000
        context.log(trial.machine.shell("callbox status", 60))
        trial.machine.screen("call.png").save(context.folder / "call.png")
        peer.hang_up()
        peer.wait_event("CALL_CLOSED", 30)
    if heard < 2:
        raise Failed(f"{heard:.1f} s of sound", "the far end heard hardly anything in 6 s")
    return heard
