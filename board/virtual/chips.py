# SPDX-License-Identifier: Apache-2.0
"""Simulated GPIO chips beside the panel's, which can be pulled and plugged, and a fake of the wires between lines."""

import os
import threading
import time
from pathlib import Path

ROOT, DEVICES = Path("/sys/kernel/config/gpio-sim"), Path("/sys/devices/platform")
# Between two looks at a row, whose columns the kiosk reads two milliseconds after it has driven it.
WIRE_NICE, LOOKS_S = -10, 0.0003


class Chip:
    """A chip of the kernel's gpio-sim; `lines` are [[name, pull]]."""

    def __init__(self, label, lines):
        self.folder, self.lines = ROOT / label, lines
        bank = self.folder / "bank"
        bank.mkdir(parents=True)
        (bank / "num_lines").write_text(str(len(lines)))
        (bank / "label").write_text(label)
        for index, (name, _) in enumerate(lines):
            (bank / f"line{index}").mkdir()
            (bank / f"line{index}" / "name").write_text(name)

    def plug(self):
        """The folders of its lines in sysfs, by name."""
        (self.folder / "live").write_text("1")
        device = (self.folder / "dev_name").read_text().strip()
        folder = DEVICES / device / (self.folder / "bank" / "chip_name").read_text().strip()
        folders = {name: folder / f"sim_gpio{index}" for index, (name, _) in enumerate(self.lines)}
        for name, pull in self.lines:
            (folders[name] / "pull").write_text(pull)
        return {name: str(path) for name, path in folders.items()}

    def unplug(self):
        (self.folder / "live").write_text("0")


def play_wire(row, column, seconds):
    """A fake of a key that connects two simulated lines, which the kernel knows no wire between, for so long.

    A row that is driven low pulls the column down. Whether it is driven shows when it is pulled up: one that is not
    follows the pull. Lines are their folders in sysfs. A wire is quicker than any program, so this thread has more of
    the processor than others.
    """
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), WIRE_NICE)
    row_pull, column_pull = (os.open(f"{line}/pull", os.O_WRONLY) for line in (row, column))
    row_value = os.open(f"{row}/value", os.O_RDONLY)
    until, was_driven = time.monotonic() + seconds, False
    try:
        while time.monotonic() < until:
            os.pwrite(row_pull, b"pull-up", 0)
            is_driven = os.pread(row_value, 2, 0)[:1] == b"0"
            if is_driven != was_driven:
                os.pwrite(column_pull, b"pull-down" if is_driven else b"pull-up", 0)
                was_driven = is_driven
            time.sleep(LOOKS_S)
        os.pwrite(column_pull, b"pull-up", 0)
    finally:
        for handle in (row_pull, column_pull, row_value):
            os.close(handle)
