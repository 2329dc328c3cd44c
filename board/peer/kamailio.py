#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kamailio 6 as a forking proxy before two far ends, or as what another configuration makes of it."""

import os
import signal
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ADDRESS = "10.77.0.3"
FIRST, SECOND = "10.77.0.1:5060", "10.77.0.1:5072"


class KamailioFault(Exception):
    """Kamailio did not start; the text names its log."""


class Kamailio:
    def __init__(self, folder, configuration="kamailio.cfg", tls=None, address=ADDRESS, **values):
        """`tls` is (certificate, key, version): files, and TLSv1.2 or TLSv1.3. `values` are filled in beside the
        addresses, @NAME@ in the file."""
        self.folder, self.tls, self.process, self.configuration = Path(folder), tls, None, configuration
        self.address = address
        self.values = {"ADDRESS": address, "FIRST": FIRST, "SECOND": SECOND, "FOLDER": str(folder), **values}

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        text = (HERE / self.configuration).read_text()
        for name, value in self.values.items():
            text = text.replace(f"@{name}@", value)
        (self.folder / "kamailio.cfg").write_text(text)
        if self.tls:
            certificate, key, version = self.tls
            (self.folder / "tls.cfg").write_text(
                f"[server:default]\nmethod = {version}\ncertificate = {certificate}\nprivate_key = {key}\n"
                "verify_certificate = no\n[client:default]\nverify_certificate = no\n")
        with open(self.folder / "kamailio.log", "wb") as log:
            self.process = subprocess.Popen(
                ["kamailio", "-DD", "-E", "-m", "64", "-M", "8", "-f", str(self.folder / "kamailio.cfg"),
                 "-Y", str(self.folder), "-w", str(self.folder), *(("-A", "TLS") if self.tls else ())],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + 10
        while f" {self.address}:5060 ".encode() not in self._listeners():
            if self.process.poll() is not None or time.monotonic() > until:
                self.__exit__()
                raise KamailioFault(f"Kamailio did not start; see {self.folder}/kamailio.log")
            time.sleep(0.05)
        return self

    @staticmethod
    def _listeners():
        return subprocess.run(["ss", "-Huln", "sport", "=", ":5060"], capture_output=True).stdout

    def freeze(self):
        """Nothing is sent, read or answered any more, and no connection is closed."""
        self._signal(signal.SIGSTOP)

    def _signal(self, number):
        """To its first process and those that it started."""
        first = self.process.pid
        for each in (first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())):
            os.kill(each, number)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self._signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
