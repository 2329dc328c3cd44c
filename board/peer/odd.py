#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Far ends that do what baresip will not: any refusal, endless ringing (SIPp), a number nobody is behind (a socket)."""

import subprocess
from pathlib import Path

from peer.background import DatagramServer

HERE = Path(__file__).resolve().parent


class Odd:
    """SIPp with a scenario of ./sipp, in which @NAME@ is filled from `values`."""

    def __init__(self, folder, scenario, address="10.77.0.1", port=5060, transport="udp", **values):
        self.folder, self.process = Path(folder), None
        self.folder.mkdir(parents=True, exist_ok=True)
        text = (HERE / "sipp" / f"{scenario}.xml").read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", str(value))
        self.scenario = self.folder / f"{scenario}.xml"
        self.scenario.write_text(text)
        self.log = self.folder / "sipp.log"
        self.command = ["sipp", "-sf", str(self.scenario), "-i", address, "-p", str(port), "-nostdin",
                        "-t", "t1" if transport == "tcp" else "u1", "-trace_msg", "-message_file",
                        str(self.folder / "sipp-messages.log"), "-message_overwrite", "true"]

    def __enter__(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=self.folder, env={"TERM": "dumb", "PATH": "/usr/bin:/bin"})
        # SIPp says nothing when it listens; INVITE retransmission after 500 ms would hide a late start.
        try:
            self.process.wait(0.3)
        except subprocess.TimeoutExpired:
            return self
        raise RuntimeError(f"SIPp did not start; see {self.log}")

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def refuses(folder, code, phrase, **where):
    return Odd(folder, "refuse", CODE=code, PHRASE=phrase, **where)


def rings(folder, **where):
    return Odd(folder, "ring", **where)


class Silent(DatagramServer):
    """A port that takes everything and answers nothing, so that not even an ICMP error comes back."""

    def __init__(self, address="10.77.0.1", port=5060):
        super().__init__(address, port)
        self.swallowed = []

    def received(self, data, source):
        self.swallowed.append(data)
