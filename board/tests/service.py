# SPDX-License-Identifier: Apache-2.0
"""The kiosk as a service of the board: its watchdog, its sandbox, and the small commands beside it."""

import contextlib
import re
import shutil
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
    path = Path(f"/tmp/callbox-notify-{time.monotonic_ns()}")
    with Manager(path) as manager, Desk(context.folder / "kiosk") as kiosk:
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
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(UNITS / "callbox.service")]
    done = subprocess.run(command, capture_output=True, text=True)
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


# What the start of the board left

# The kiosk in a mount namespace of its own, where these words are the start's.
WITH_NOTES = """touch /run/callbox-boot; mount --bind "$0" /run/callbox-boot; exec "$@" """
NOTES = {"safe": "CB-BOOT-SAFE", "boot-lost": "CB-BOOT-LOST", "boot-full": "CB-BOOT-FULL",
         "data-lost": "CB-DAT-LOST", "data-none": "CB-DAT-NONE", "no-clock": "CB-CLK-NONE"}


@check("service/boot-notes")
def boot_notes(context):
    """Each word is a fault: on the screen, in an event, and in the doctor's words; and gone with the next start.

    In safe mode the one whom the last good file called is called.
    """
    notes = context.folder / "notes"
    notes.write_text("\n".join([*NOTES, "unknown", ""]))
    with Desk(context.folder / "kiosk") as kiosk:
        kiosk.start({"call.uri": "sip:first@192.0.2.1"})
        wait_until(lambda: (kiosk.folder / "data/callbox.conf.good").exists(), 3, "the last good file")
        kiosk.before = ["unshare", "--mount", "sh", "-c", WITH_NOTES, str(notes)]
        kiosk.start({"call.uri": "sip:second@192.0.2.2"})
        for code in NOTES.values():
            kiosk.wait_event("fault", fault_code=code)
        said = "\n".join(kiosk.must("doctor")["lines"])
        banner = kiosk.must("status")["screen"]["banner"]
        # Whether somebody vouches for the time is this machine's affair.
        is_known = bool(kiosk.find("restored", device="clock"))
        standing = [code for code in NOTES.values() if code != "CB-CLK-NONE" or not is_known]
        if missing := [code for code in standing if code not in said]:
            raise Failed(f"{missing}", f"the doctor says: {said}")
        if "Safe mode" not in banner:
            raise Failed("no banner", f"the screen says: {banner}")
        mark = kiosk.mark()
        kiosk.press("call")
        called = kiosk.wait_event("call", since=mark)["uri"]
        kiosk.press("hook")
        if "first@" not in called:
            raise Failed(called, "in safe mode the last good file counts")
        kiosk.before = []
        kiosk.start({"call.uri": "sip:second@192.0.2.2"})
        if said := kiosk.must("doctor")["lines"]:
            if any(code in line for line in said for code in NOTES.values()):
                raise Failed("still there", f"after a good start: {said}")
    return f"{len(NOTES)} words"


# Updates

@check("service/update")
def update(context):
    """What `callbox update` refuses, in a sentence: a machine that was not flashed, no bundle, a bad one, a call."""
    folder = context.folder / "board"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    configuration = folder / "callbox.conf"
    configuration.write_text("[call]\nuri = sip:a@192.0.2.99\n[update]\nusb = no\n")

    def run(*words):
        done = subprocess.run(
            [BINARY, "update", *words, "--config", str(configuration), "--data", str(folder), "--control",
             str(folder / "control")], capture_output=True, text=True,
            env={"PATH": f"{folder}/bin:/usr/bin:/bin" if (folder / "bin/rauc").exists() else f"{folder}/bin"})
        return done.returncode, done.stdout + done.stderr

    def expect(code, sentence, *words):
        got, said = run(*words)
        if got != code or sentence not in said:
            raise Failed(f"exit {got}", f"{code} and “{sentence}” were expected: {said.strip()}")

    expect(1, "this is no flashed board")
    fake_rauc(folder)
    expect(0, "there is no bundle in")
    expect(0, "", "--by-itself")
    (folder / "bad.raucb").write_text("not signed")
    expect(1, "is damaged, or is not signed")
    expect(1, "is damaged, or is not signed", str(folder / "missing.raucb"))
    (folder / "bad.raucb").rename(folder / "spoils.raucb")
    (folder / "spoils.raucb").write_text("signed, and its installation fails")
    expect(1, "could not be installed", "--by-itself")
    expect(0, "", "--by-itself")
    if (count := (folder / "installs").read_text().count("\n")) != 1:
        raise Failed(f"{count} times", "what failed by itself was to be tried once")
    expect(1, "could not be installed")
    return "each in a sentence"


def fake_rauc(folder):
    """A fake of the board's installer: it believes files that say so, and installs nothing."""
    script = folder / "bin/rauc"
    script.write_text(f"""#!/bin/sh
[ "$1" = info ] && {{ grep -q '^signed' "$3" && echo "RAUC_MF_HASH='$(sha256sum < "$3")'"; exit; }}
echo "$2" >> {folder}/installs
exit 1
""")
    script.chmod(0o755)
