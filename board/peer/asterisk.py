#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asterisk 22 as the server beside a kiosk: started in its own root, steered over its manager interface (AMI)."""

import os
import re
import socket
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ADDRESS, MANAGER_PORT = "10.77.0.1", 5038
# Folders of a check in the place of Asterisk's own.
PLACES = {"etc": "etc/asterisk", "run": "run/asterisk", "log": "var/log/asterisk", "spool": "var/spool/asterisk",
          "lib": "var/lib/asterisk"}
# In a mount namespace of its own, which ends with the process. $1 is the root, $2 the folder, $3… the command.
ENTER = """
set -e
root=$1 folder=$2
shift 2
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir "$root/run/asterisk"
while read -r name place; do
    mount --bind "$folder/$name" "$root/$place"
done <<<"$PLACES"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for node in null zero random urandom; do
    : >"$root/dev/$node"
    mount --bind "/dev/$node" "$root/dev/$node"
done
exec chroot --userspec=asterisk:asterisk "$root" "$@"
"""


class AsteriskFault(Exception):
    """Asterisk did not do what a check needs; the text names its log."""


class Asterisk:
    """`files` are names and texts of its configuration, with which it starts alone: what is not there has defaults."""

    def __init__(self, folder, files):
        self.root, self.folder = Path(os.environ["CALLBOX_ASTERISK"]), Path(folder)
        self.files, self.process, self.manager, self.pending, self.number = files, None, None, b"", 0
        self.events = []

    def __enter__(self):
        owner = re.search(r"^asterisk:[^:]*:(\d+):(\d+):", (self.root / "etc/passwd").read_text(), re.M)
        for name in PLACES:
            place = self.folder / name
            subprocess.run(["rm", "-rf", "--one-file-system", place], check=True)
            place.mkdir(parents=True)
            os.chown(place, int(owner[1]), int(owner[2]))
        for name, text in self.files.items():
            (self.folder / "etc" / name).write_text(text)
        places = "\n".join(f"{name} {place}" for name, place in PLACES.items())
        with open(self.folder / "asterisk.log", "wb") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "bash", "-c", ENTER, "enter", self.root, self.folder, "/usr/sbin/asterisk",
                 "-f", "-n", "-vvv", "-C", "/etc/asterisk/asterisk.conf"], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", "PLACES": places,
                                 "LANG": "C.UTF-8"})
        try:
            self._connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.manager:
            self.manager.close()
            self.manager = None
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def _connect(self, limit_s=20):
        """Logs in, and waits until it is fully booted."""
        until = time.monotonic() + limit_s
        while self.manager is None:
            if self.process.poll() is not None or time.monotonic() > until:
                raise AsteriskFault(f"Asterisk did not start; see {self.folder}/asterisk.log")
            try:
                self.manager = socket.create_connection(("127.0.0.1", MANAGER_PORT), timeout=1)
            except OSError:
                time.sleep(0.05)
        self.action("Login", Username="harness", Secret="harness")
        self.wait_event("FullyBooted", limit_s=max(1, until - time.monotonic()))

    def action(self, name, limit_s=5, **fields):
        """Carries out an action; its answer as a dictionary. AsteriskFault where it is an error."""
        self.number += 1
        identifier = f"{self.number}"
        lines = [f"Action: {name}", f"ActionID: {identifier}", *(f"{key}: {value}" for key, value in fields.items())]
        self.manager.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = self._wait(lambda: next((event for event in self.events if event.get("ActionID") == identifier
                                          and "Response" in event), None), limit_s, f"an answer to {name}")
        if answer["Response"] == "Error":
            raise AsteriskFault(f"{name} {fields}: {answer.get('Message')}")
        return answer

    def command(self, text, limit_s=5):
        """What a command of the command line prints."""
        return self.action("Command", limit_s, Command=text).get("Output", "")

    def mark(self):
        self._read(0)
        return len(self.events)

    def wait_event(self, name, since=0, limit_s=5, **fields):
        """The first event of that name whose fields have these values."""
        return self._wait(lambda: next((event for event in self.events[since:] if event.get("Event") == name and all(
            event.get(key) == value for key, value in fields.items())), None), limit_s, f"the event {name} {fields}")

    def channels(self, technology="PJSIP"):
        """The names of its channels."""
        lines = self.command("core show channels concise").splitlines()
        return [line.split("!")[0] for line in lines if line.startswith(f"{technology}/")]

    def idle(self, limit_s=5):
        """Waits until it has no channel any more."""
        until = time.monotonic() + limit_s
        while self.channels():
            if time.monotonic() > until:
                raise AsteriskFault(f"after {limit_s} s Asterisk still has {self.channels()}")
            time.sleep(0.05)

    def _wait(self, find, limit_s, what):
        until = time.monotonic() + limit_s
        while (found := find()) is None:
            left = until - time.monotonic()
            if left <= 0:
                raise AsteriskFault(f"waited {limit_s:.0f} s for {what}; see {self.folder}/asterisk.log")
            self._read(left)
        return found

    def _read(self, limit_s):
        """Takes in what has come: blocks of `Name: value` lines, an empty line after each."""
        self.manager.settimeout(max(0.001, limit_s))
        try:
            data = self.manager.recv(65536)
        except (TimeoutError, BlockingIOError):
            return
        if not data:
            raise AsteriskFault(f"Asterisk ended; see {self.folder}/asterisk.log")
        *blocks, self.pending = (self.pending + data).split(b"\r\n\r\n")
        for block in blocks:
            event = {}
            for line in block.decode(errors="replace").split("\r\n"):
                name, separator, value = line.partition(": ")
                if separator:
                    event[name] = f"{event[name]}\n{value}" if name == "Output" and name in event else value
            self.events.append(event)
