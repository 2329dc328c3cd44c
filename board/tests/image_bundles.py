# SPDX-License-Identifier: Apache-2.0
"""Updates from a USB stick, and one that starts and is not well."""

import subprocess
import tempfile
from pathlib import Path

from machine import card as cards
from tests.image_update import LIMIT_S, SLOTS, offered, tried
from tests.runner import Failed, check
from tests.trial import START_S, made

# Ready at once, and deaf: the kiosk's own program remains for all else.
DEAF = """#!/bin/sh
[ "$1" = run ] || exec /usr/bin/callbox.whole "$@"
exec systemd-notify --ready --exec \\; sleep infinity
"""
ROOM = 24 << 20


@check("image-more/stick", limit_s=LIMIT_S)
def stick(context):
    """A stick is put in while the board runs; the timer's service finds the bundle on it, and the other slot starts."""
    trial = tried(context)
    machine, path = trial.machine, trial.folder / "stick.img"
    cards.make_stick(path, {"update.raucb": made(context, "raucb").read_bytes()})
    former = machine.shell(f"{SLOTS} get-current; mv /boot/callbox/new.raucb /boot/callbox/new.kept;"
                           " rm -f /data/callbox/update").split("\n")[0]
    other = "A" if former == "B" else "B"
    machine.plug_stick(path)
    machine.shell("until ls /dev/disk/by-id/usb-*-part1; do sleep 1; done", 60)
    machine.installs("systemctl start --no-block callbox-update.service", f"callbox: slot {other}, ", 600)
    machine.wait_good(START_S)
    machine.unplug_stick()
    context.log(machine.shell(f"mv /boot/callbox/new.kept /boot/callbox/new.raucb; {SLOTS} show"))
    return f"slot {other}"


@check("image-more/unhealthy", limit_s=2 * LIMIT_S)
def unhealthy(context):
    """An update whose kiosk says that it is ready and then does nothing: three tries, each given up by the check of its
    health, and the former slot is back."""
    trial = tried(context)
    machine, bad = trial.machine, cards.bundle(made(context, "raucb"), trial.folder, "deaf", deaf_root)
    former = machine.shell(f"{SLOTS} get-current")
    other = "A" if former == "B" else "B"
    with offered(trial.folder) as address:
        machine.installs(f"callbox update {address}/{bad.name} &", f"callbox: slot {other}, ", 600)
    machine.wait_said(rf"callbox: slot {other}, (.|\n)*" * 3 + rf"callbox: slot {former}, ", 4 * START_S, machine.since)
    machine.wait_good(START_S)
    state = machine.shell(f"{SLOTS} show")
    if f"left_{other}=0" not in state:
        raise Failed("not so", f"the deaf slot has a start left: {state}")
    return f"slot {former} again after three tries"


def deaf_root(tree):
    """Another program stands in the kiosk's place."""
    slot = tree / "slot.img"
    with tempfile.TemporaryDirectory(dir=tree.parent) as folder:
        root, packed = Path(folder) / "root", Path(folder) / "root.squashfs"
        quiet("debugfs", "-R", f"dump root.squashfs {packed}", slot)
        quiet("unsquashfs", "-q", "-n", "-d", root, packed)
        kiosk = root / "usr/bin/callbox"
        kiosk.rename(root / "usr/bin/callbox.whole")
        kiosk.write_text(DEAF)
        kiosk.chmod(0o755)
        packed.unlink()
        quiet("mksquashfs", root, packed, "-quiet", "-no-progress", "-comp", "zstd", "-Xcompression-level", "9")
        with open(slot, "rb+") as file:
            file.truncate(slot.stat().st_size + ROOM)
        quiet("resize2fs", "-f", slot)
        for request in ("rm root.squashfs", f"write {packed} root.squashfs"):
            quiet("debugfs", "-w", "-R", request, slot)


def quiet(*words):
    subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
