# SPDX-License-Identifier: Apache-2.0
"""The kiosk as a service of the board: its watchdog, its sandbox, and the small commands beside it."""

import contextlib
import re
import socket
import subprocess
import threading
import time
from pathlib import Path

from measure.stopped import stopped
from tests.bench import wait_until
from tests.desk import BINARY, Desk
from tests.runner import BOARD, Failed, check

OVERLAY = BOARD.parent / "rootfs-overlay"
UNITS = OVERLAY / "etc/systemd/system"
# After so long without a sign the service manager would end the kiosk.
INTERVAL_S = 2
# Each thread, and what the log calls it.
THREADS = {"sound": "the sound", "media": "the media", "decoder": "the decoder", "display": "the display",
           "callbox": "the event loop"}


class Manager:
    """What the kiosk tells its service manager (sd_notify(3)): (when, line)."""

    def __init__(self, path):
        path.unlink(missing_ok=True)
        self.path, self.lines = path, []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.settimeout(0.2)
        self.is_open = True
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while self.is_open:
            with contextlib.suppress(TimeoutError):
                text = self.socket.recv(4096).decode()
                self.lines += [(time.monotonic(), line) for line in text.splitlines()]

    def fed(self, since):
        return [when for when, line in list(self.lines) if line == "WATCHDOG=1" and when > since]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.is_open = False
        self.reader.join()
        self.socket.close()
        self.path.unlink(missing_ok=True)


@contextlib.contextmanager
def watched(context):
    """A kiosk and the service manager that watches it."""
    with Manager(Path(f"/tmp/callbox-notify-{time.monotonic_ns()}")) as manager, Desk(context.folder / "kiosk") as kiosk:
        kiosk.before = ["env", f"NOTIFY_SOCKET={manager.path}", f"WATCHDOG_USEC={INTERVAL_S * 1_000_000}"]
        kiosk.start()
        wait_until(lambda: manager.fed(0), INTERVAL_S, "the first feeding")
        yield kiosk, manager


@check("service/watchdog")
def watchdog(context):
    """It is fed in time while all goes on; a thread that stands still, and only that one, is named, and ends it."""
    with watched(context) as (kiosk, manager):
        begin = time.monotonic()
        time.sleep(2 * INTERVAL_S)
        fed = manager.fed(begin)
        gaps = [later - earlier for earlier, later in zip([begin, *fed], [*fed, time.monotonic()])]
        if max(gaps) > INTERVAL_S / 2:
            raise Failed(f"{max(gaps):.1f} s", "between two feedings, though nothing stands still")
        for thread, name in THREADS.items():
            stands_still(kiosk, manager, thread, name)
    return f"fed every {max(gaps):.1f} s; {len(THREADS)} threads that stood still were named"


def stands_still(kiosk, manager, thread, name):
    size = kiosk.log_path.stat().st_size
    with stopped(kiosk.process.pid, thread):
        # What was on its way; a look may have been made just before.
        time.sleep(INTERVAL_S / 2)
        begin = time.monotonic()
        time.sleep(INTERVAL_S)
        if late := manager.fed(begin):
            raise Failed(f"{len(late)} feedings", f"though the thread {thread} stood still")
        said = re.findall(r"callbox: (.*) did not go on", kiosk.log_path.read_bytes()[size:].decode())
        if not said or name not in said[0] or any(other in said[0] for other in THREADS.values() if other != name):
            raise Failed(repr(said[:1]), f"{name} was to be named before the end")
    begin = time.monotonic()
    wait_until(lambda: manager.fed(begin), INTERVAL_S, f"a feeding after {thread} went on")


@check("service/exposure")
def exposure(_):
    """What `systemd-analyze security` says of the sandbox, from 0 (none) to 10."""
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", str(UNITS / "callbox.service")],
                          capture_output=True, text=True)
    found = re.search(r"Overall exposure level for callbox.service: ([\d.]+)", done.stdout)
    if not found:
        raise Failed("no level", (done.stderr or done.stdout).strip()[-160:])
    return float(found[1])


@check("service/healthy")
def healthy(context):
    """`callbox healthy` waits for a kiosk that begins, and says no, and why, of one that does not go on."""
    with watched(context) as (kiosk, _):
        ask = [BINARY, "healthy", "--wait", "10", "--control", kiosk.control]
        said = subprocess.run(ask, capture_output=True, text=True)
        if said.returncode != 0:
            raise Failed(f"exit {said.returncode}", f"all goes on: {said.stderr.strip()}")
        with stopped(kiosk.process.pid, "sound"):
            time.sleep(INTERVAL_S)
            said = subprocess.run([*ask[:2], "--control", kiosk.control], capture_output=True, text=True)
        if said.returncode != 1 or "the sound did not go on" not in said.stderr:
            raise Failed(f"exit {said.returncode}", f"the sound stands still: {said.stderr.strip()}")
        kiosk.stop()
        begin = time.monotonic()
        said = subprocess.run([*ask[:3], "1", *ask[4:]], capture_output=True, text=True)
        if said.returncode != 1 or not 0.9 <= time.monotonic() - begin <= 3:
            raise Failed(f"exit {said.returncode}", f"no kiosk runs: {said.stderr.strip()}")
    return "yes, no, nobody"
