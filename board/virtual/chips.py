# SPDX-License-Identifier: Apache-2.0
"""Simulated GPIO chips beside the panel's, which can be pulled and plugged."""

from pathlib import Path

ROOT, DEVICES = Path("/sys/kernel/config/gpio-sim"), Path("/sys/devices/platform")


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
