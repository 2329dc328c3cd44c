# SPDX-License-Identifier: Apache-2.0
"""A virtual ARM board that starts from a card's image, by its boot loader: started, seen, spoken to, cut from power.

The image is the one that ships. To look inside, the machine hands systemd two units over by its firmware interface
(system credentials, systemd.system-credentials(7)): a root shell on the serial port, and what starts it."""

import json
import re
import socket
import subprocess
import threading
import time
from pathlib import Path

from PIL import Image

PROBE = """[Unit]
DefaultDependencies=no
StartLimitIntervalSec=0
[Service]
ExecStart=/bin/sh -c 'echo the shell is here; exec /bin/sh'
StandardInput=tty-force
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyAMA0
Environment=SYSTEMD_COLORS=0 SYSTEMD_URLIFY=0 SYSTEMD_PAGER=cat TERM=dumb NO_COLOR=1
Restart=always
RestartSec=1
"""
# A name is at most 55 bytes long in that interface, so a unit that every start has, of a short name, brings it.
CARRIER = """[Unit]
DefaultDependencies=no
Conflicts=umount.target
Before=local-fs.target umount.target
Wants=p.service
[Mount]
What=tmpfs
Where=/tmp
Type=tmpfs
Options=mode=1777,nosuid,nodev
"""
CREDENTIALS = "opt/io.systemd.credentials/systemd.extra-unit."
EMULATORS = {"arm64": ("qemu-system-aarch64", "cortex-a53"), "armv7": ("qemu-system-arm", "cortex-a15")}


class MachineFault(Exception):
    """The board did not do what was asked; the text says what, and where its console is."""


class Machine:
    """One start of a board from `card` (a Card), with `loader` as its firmware, or, where that is None, without a boot
    loader: slot A with `init` in systemd's place. `folder` gets its console.

    `tap`: the interface that its cable ends at, which is `plugged` in or not. `clock`: what its clock says at the
    start, as QEMU's `-rtc base`. Used as a context manager; at the end its power is cut.
    """

    def __init__(self, folder, card, loader, target="arm64", tap="tap0", clock="utc", plugged=True, memory_mib=1024,
                 init="/usr/sbin/init"):
        self.folder, self.process, self.console, self.plugged = Path(folder), None, None, plugged
        self.folder.mkdir(parents=True, exist_ok=True)
        self.serial = self.folder / "console.txt"
        program, processor = EMULATORS[target]
        first = ["-bios", str(loader)] if loader else self._without_loader(card, init)
        network = ["-netdev", f"tap,id=net,ifname={tap},script=no,downscript=no",
                   "-device", "virtio-net-pci,id=cable,netdev=net,mac=52:54:00:ca:11:b0,romfile="]
        self.command = [
            program, "-M", "virt", "-cpu", processor, "-smp", "2", "-m", str(memory_mib), "-accel", "tcg,thread=multi",
            "-nodefaults", "-display", "none", "-no-user-config", *first, "-rtc", f"base={clock}",
            "-drive", f"if=none,id=card,file={card.path},format=raw,cache=writethrough",
            "-device", "virtio-blk-pci,drive=card",
            "-device", "virtio-gpu-pci", "-device", "virtio-keyboard-pci", "-device", "virtio-rng-pci",
            "-device", "qemu-xhci",
            "-audiodev", "none,id=sound", "-device", "virtio-sound-pci,audiodev=sound", *network,
            "-chardev", f"socket,id=serial,path={self.folder}/serial,server=on,wait=off,logfile={self.serial}",
            "-serial", "chardev:serial", "-qmp", f"unix:{self.folder}/qmp,server=on,wait=off",
            "-fw_cfg", f"name={CREDENTIALS}p.service,file={self.folder}/probe",
            "-fw_cfg", f"name={CREDENTIALS}tmp.mount,file={self.folder}/carrier",
        ]

    def _without_loader(self, card, init):
        """QEMU's words for the kernel of slot A, with the arguments that the boot loader would give it."""
        for name in ("vmlinuz", "initrd"):
            (self.folder / name).write_bytes(card.read_slot(name))
        arguments = re.search(rb'setenv bootargs "(.*?) rauc.slot', card.read("boot.scr"))[1].decode()
        return ["-kernel", f"{self.folder}/vmlinuz", "-initrd", f"{self.folder}/initrd",
                "-append", f"{arguments} rauc.slot=A init={init}"]

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.cut()

    def start(self):
        (self.folder / "probe").write_text(PROBE)
        (self.folder / "carrier").write_text(CARRIER)
        for name in ("serial", "qmp", "console.txt"):
            (self.folder / name).unlink(missing_ok=True)
        self.began, self.since = time.monotonic(), 0
        with open(self.folder / "qemu.log", "wb") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.console = self._connect("serial")
        # QEMU keeps the console's text; what is not taken from the socket would stop the board.
        threading.Thread(target=drain, args=(self.console,), daemon=True).start()
        self.monitor = self._connect("qmp").makefile("rw")
        self.monitor.readline()
        self.ask("qmp_capabilities")
        if not self.plugged:
            self.plug(False)
        return self

    def _connect(self, name):
        until = time.monotonic() + 20
        while True:
            try:
                link = socket.socket(socket.AF_UNIX)
                link.connect(str(self.folder / name))
                return link
            except OSError as fault:
                link.close()
                if self.process.poll() is not None or time.monotonic() > until:
                    raise MachineFault(f"QEMU did not start: {(self.folder / 'qemu.log').read_text()[:300]}") from fault
                time.sleep(0.1)

    def cut(self):
        """The power goes, now."""
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()
        if self.console:
            self.console.close()
        self.console = None

    def ask(self, command, /, **arguments):
        """A command of QEMU's own monitor; its answer."""
        self.monitor.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.monitor.flush()
        while True:
            answer = json.loads(self.monitor.readline())
            if "error" in answer:
                raise MachineFault(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def plug(self, is_in):
        """The cable is plugged in, or out."""
        self.ask("set_link", name="cable", up=is_in)

    def plug_stick(self, path):
        """A USB stick with the bytes of a file is put in; it can be read only."""
        file = {"driver": "file", "filename": str(path), "read-only": True}
        self.ask("blockdev-add", **{"driver": "raw", "node-name": "stick", "read-only": True, "file": file})
        self.ask("device_add", driver="usb-storage", id="stick", drive="stick")

    def unplug_stick(self):
        self.ask("device_del", id="stick")

    def screen(self, name="screen.png"):
        """What the screen shows, as a picture; kept in the folder."""
        path = self.folder / name
        self.ask("screendump", filename=str(path), format="png")
        with Image.open(path) as picture:
            return picture.convert("RGB")

    def said(self):
        """All that the console has said since the start."""
        return self.serial.read_text(errors="replace") if self.serial.exists() else ""

    def wait_said(self, pattern, limit_s, since=0):
        """The first match of a pattern in what the console says after the first `since` characters."""
        until = time.monotonic() + limit_s
        while True:
            found = re.search(pattern, self.said()[since:])
            if found:
                return found
            if self.process.poll() is not None or time.monotonic() > until:
                raise MachineFault(f"waited {limit_s} s for {pattern!r}; see {self.serial}")
            time.sleep(0.2)

    def shell(self, command, limit_s=60, may_fail=False):
        """What a command prints that root runs on the board."""
        mark = f"{time.monotonic_ns()}"
        begin = len(self.said())
        # The terminal repeats what is typed: the mark is written apart there.
        self.console.sendall(f"\nstty -echo; {{ {command}\n}} 2>&1; echo en''d {mark} $?\n".encode())
        found = self.wait_said(rf"end {mark} (\d+)", limit_s, begin)
        text = self.said()[begin:].split(f"end {mark}")[0].replace("\r", "")
        lines = [line for line in text.split("\n") if "stty -echo" not in line and f"en''d {mark}" not in line]
        output = "\n".join(re.sub(r"^(# |> )+", "", line) for line in lines).strip()
        if found[1] != "0" and not may_fail:
            raise MachineFault(f"on the board, exit {found[1]}: {command}: {output[-300:]}")
        return output

    def restart(self):
        """As the board's own reboot does it: the console says all anew from here."""
        self.since = len(self.said())
        self.shell("systemctl reboot", 30, may_fail=True)

    def installs(self, command, said, limit_s):
        """A command of an update's, and the start that follows it, of which the boot loader says `said`."""
        self.since = len(self.said())
        self.shell(command)
        self.wait_said(said, limit_s, self.since)

    def wait_shell(self, limit_s=240):
        """The root shell answers. Nothing is typed before it is there: the boot loader would stop at a key, and a
        serial port whose queue is full before somebody opens it stays deaf."""
        self.wait_said("Starting kernel(.|\\n)*the shell is here", limit_s, self.since)
        until = time.monotonic() + limit_s
        while True:
            try:
                return self.shell("echo here", 5)
            except MachineFault:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise

    def wait_good(self, limit_s=240):
        """This start was found good, and all its tries are given back."""
        self.wait_ready(limit_s)
        self.shell("until systemctl is-active callbox-healthy; do sleep 1; done", 120)

    def wait_ready(self, limit_s=240):
        """The kiosk has told systemd that it is ready; seconds since the power came, as the wall has it."""
        until = time.monotonic() + limit_s
        self.wait_shell(limit_s)
        while "active" != self.shell("systemctl is-active callbox", may_fail=True).split("\n")[-1]:
            if time.monotonic() > until:
                raise MachineFault(f"the kiosk was not ready in {limit_s} s; see {self.serial}")
            time.sleep(1)
        # It would take what a check has put on the card while that check does something else.
        self.shell("systemctl stop callbox-update.timer callbox-update.service")
        return time.monotonic() - self.began


def drain(link):
    """Reads until the other side, or this one, closes."""
    try:
        while link.recv(65536):
            pass
    except OSError:
        pass
