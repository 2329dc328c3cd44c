#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kamailio 6 as a proxy: one that forks to two far ends, or one that asks for a password."""

import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ADDRESS = "10.77.0.3"
FIRST, SECOND = "10.77.0.1:5060", "10.77.0.1:5072"


class KamailioFault(Exception):
    """Kamailio did not start; the text names its log."""


class Kamailio:
    def __init__(self, folder, configuration="kamailio.cfg", **values):
        """`values` are filled in beside the addresses, @NAME@ in the file."""
        self.folder, self.process, self.configuration = Path(folder), None, configuration
        self.values = {"ADDRESS": ADDRESS, "FIRST": FIRST, "SECOND": SECOND, **values}

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        text = (HERE / self.configuration).read_text()
        for name, value in self.values.items():
            text = text.replace(f"@{name}@", value)
        (self.folder / "kamailio.cfg").write_text(text)
        with open(self.folder / "kamailio.log", "wb") as log:
            self.process = subprocess.Popen(
                ["kamailio", "-DD", "-E", "-m", "32", "-M", "4", "-f", str(self.folder / "kamailio.cfg"), "-Y", "/run",
                 "-w", "/tmp"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + 10
        while b"10.77.0.3" not in self._listeners():
            if self.process.poll() is not None or time.monotonic() > until:
                self.__exit__()
                raise KamailioFault(f"Kamailio did not start; see {self.folder}/kamailio.log")
            time.sleep(0.05)
        return self

    @staticmethod
    def _listeners():
        return subprocess.run(["ss", "-Huln", "sport", "=", ":5060"], capture_output=True).stdout

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
