# SPDX-License-Identifier: Apache-2.0
"""The virtual board, started and talked to from Python: a User-Mode Linux process with an agent in it."""

import base64
import contextlib
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from virtual.channel import BoardError, Channel
from virtual.network import Network

HERE = Path(__file__).resolve().parent
MEMORY = "1024M"
BOOT_LIMIT_S, OFF_LIMIT_S = 20, 8
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


class Board:
    """One booted board. Use as a context; entering also puts this thread into the board's network.

    `folder` receives console.log and, in share/, what the board sees as /share.
    """

    # Names inside the board.
    camera = "/dev/v4l/by-path/platform-vivid.0-video-index0"
    speaker_tap = "plughw:Loopback,1,0"
    microphone_feed = "plughw:Loopback,1,1"

    def __init__(self, folder, configuration=HERE / "callbox.conf"):
        self.folder, self.configuration = Path(folder).resolve(), Path(configuration)
        self.share, self.console = self.folder / "share", self.folder / "console.log"
        self.stack, self.process, self.boot_seconds = contextlib.ExitStack(), None, None
        found = re.search(r"^\s*debounce\s*=\s*(\d+)", self.configuration.read_text(), re.M)
        self.debounce_ms = int(found[1]) if found else 20

    # Life

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            self.stack.close()

    def start(self):
        kernel = os.environ.get("CALLBOX_KERNEL", "")
        if not os.access(kernel, os.X_OK):
            raise BoardError("there is no kernel yet: run board/virtual/start once, which builds it")
        shutil.rmtree(self.share, ignore_errors=True)
        self.share.mkdir(parents=True)
        self.stack.enter_context(Network())
        state = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="board-", dir="/run")))
        begin = time.monotonic()
        self._launch(kernel, state, self._boot_partition(state))
        self.channel.wait(0, BOOT_LIMIT_S, "its start")
        self.boot_seconds = time.monotonic() - begin

    def _boot_partition(self, state):
        """A FAT image as the SD card of a board has it, with the configuration on it."""
        image = state / "boot.img"
        subprocess.run(["mkfs.vfat", "-n", "CALLBOX", "-C", image, "8192"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["mcopy", "-i", image, self.configuration, "::callbox.conf"], check=True)
        return image

    def _launch(self, kernel, state, image):
        ours, theirs = socket.socketpair()
        self.stack.callback(ours.close)
        command = [
            kernel, "seccomp=auto", f"mem={MEMORY}", f"umid={os.getpid()}-{id(self)}", f"uml_dir={state}/",
            "root=/dev/root", "rootfstype=hostfs", "rootflags=/", f"init={HERE}/init", "panic=-1",
            f"ubd0={image}", "con=null", "con0=null,fd:1", "ssl=null", f"ssl0=fd:{theirs.fileno()}",
            "vec0:transport=raw,ifname=um0,depth=64,gro=0",
            "vkms.enable_overlay=1", "vkms.enable_writeback=1", "vivid.n_devs=1", "vivid.num_inputs=1",
            "vivid.input_types=0", "vivid.node_types=1", "snd-aloop.index=0", "snd-aloop.id=Loopback",
            "snd-dummy.index=1", f"callbox.share={self.share}",
        ]
        with theirs, open(self.console, "wb") as console:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT, cwd="/",
                pass_fds=[theirs.fileno()], start_new_session=True,
                preexec_fn=lambda: _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        self.stack.callback(self._kill)
        self.channel = Channel(ours, self.process, self.share, self.console)

    def _kill(self):
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(5)

    def stop(self):
        """Switches the board off and makes sure that nothing of it is left; says how it went."""
        if self.process.poll() is not None:
            return "was off already"
        with contextlib.suppress(BoardError):
            self.request("poweroff")
        try:
            self.process.wait(OFF_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._kill()
            raise BoardError(f"the board had to be killed: it was not off after {OFF_LIMIT_S} s; see {self.console}")
        left = _alive_in_session(self.process.pid)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if left:
            raise BoardError(f"{len(left)} processes of the board outlived it")
        return "switched off"

    # Requests

    def request(self, op, limit_s=0, /, **arguments):
        return self.channel.request(op, limit_s, arguments)

    def answers(self):
        """Whether the agent is there."""
        try:
            self.request("level", line="call")
        except BoardError:
            return False
        return True

    # Processes on the board

    def sh(self, command, timeout=10):
        """(exit status, output) of a shell command; killed after `timeout` seconds, its status then negative."""
        answer = self.request("sh", timeout, command=command, timeout=timeout)
        return answer["code"], base64.b64decode(answer["output"]).decode(errors="replace")

    def ask(self, path, line, timeout):
        """(0, or 1 when refused, or 2 without an answer; the line that a control socket answers)."""
        answer = self.request("ask", timeout, path=path, line=line, timeout=timeout)
        return answer["code"], answer["line"]

    def spawn(self, command, log):
        """Starts a shell command that goes on; its output goes to share/`log`. Returns what names it."""
        return self.request("spawn", command=command, log=f"/share/{log}")["pid"]

    def running(self, process):
        return self.exit_status(process) is None

    def exit_status(self, process):
        """None while it runs; negative when a signal ended it."""
        return self.request("poll", pid=process)["code"]

    def signal(self, process, number):
        self.request("signal", pid=process, number=int(number))

    def terminate(self, process, limit_s=3):
        """SIGTERM, and SIGKILL after `limit_s`: (exit status, milliseconds it took)."""
        answer = self.request("terminate", limit_s + 5, pid=process, limit_s=limit_s)
        return answer["code"], answer["ms"]

    # Buttons and lamps

    def press(self, line, hold_ms=80):
        """Presses for `hold_ms`, or until `release` when that is None; the board's clock (ns) at the press."""
        return self.request("press", (hold_ms or 0) / 1000, line=line, hold_ms=hold_ms)["ns"]

    def release(self, line):
        return self.request("release", line=line)["ns"]

    def chatter(self, line, spacing_ms, count):
        """A press whose contact bounces `count` times; it stays pressed."""
        return self.request("chatter", line=line, spacing_ms=spacing_ms, count=count)["ns"]

    def wave(self, line, steps, short_us=10_000):
        """Moves a line as `steps` say, [(microseconds, pressed)]; by how many ms a short one came out too long."""
        limit_s = sum(step[0] for step in steps) / 1e6 + 5
        return self.request("wave", limit_s, line=line, steps=steps, short_us=short_us)["late_ms"]

    def reaction(self, line, lamp, dismiss, count):
        """Milliseconds from each of `count` presses to the lamp, and how many did not count; `dismiss` puts it out."""
        answer = self.request("reaction", count, line=line, lamp=lamp, dismiss=dismiss, count=count)
        return answer["ms"], answer["held_up"]

    def plug_keypad(self, name):
        self.request("plug_keypad", name=name)

    def type_keypad(self, keys, hold_ms=40):
        self.request("type_keypad", len(keys) * hold_ms / 500, keys=keys, hold_ms=hold_ms)

    def unplug_keypad(self):
        self.request("unplug_keypad")

    def plug_chip(self, label, lines):
        """A GPIO chip beside the panel's with these lines, [(name, pull)]; the same one again after `unplug_chip`."""
        self.request("plug_chip", label=label, lines=lines)

    def unplug_chip(self, label):
        self.request("unplug_chip", label=label)

    def pull(self, line, pull):
        """What a line does where nobody drives it: `pull-up` or `pull-down`."""
        self.request("pull", line=line, pull=pull)

    def connect(self, row, column, seconds):
        """A key that connects two lines for so long, by a fake of the wire."""
        self.request("connect", seconds, row=row, column=column, seconds=seconds)

    def lamp(self, line):
        return self.request("level", line=line)["level"]

    def watch_lamp(self, line, seconds):
        """(level at the start, [(milliseconds, new level)]), sampled every 5 ms."""
        answer = self.request("watch", seconds, line=line, seconds=seconds)
        return answer["level"], [tuple(edge) for edge in answer["edges"]]

    # What the board sends, and what its kernel says

    @contextlib.contextmanager
    def capture(self, ports):
        """Within it, packets of these ports are noted; afterwards `packets` holds [(ns, "in"/"out", first line)]."""
        captured = type("Captured", (), {"packets": []})()
        number = self.request("capture_start", ports=list(ports))["capture"]
        try:
            yield captured
        finally:
            captured.packets = [tuple(packet) for packet in self.request("capture_stop", capture=number)["packets"]]

    def kernel_complaints(self):
        """Lines of the kernel's console that tell of a fault and are not in console-allowed.txt."""
        patterns = [line.strip() for line in (HERE / "console-allowed.txt").read_text().splitlines()]
        allowed = [re.compile(pattern) for pattern in patterns if pattern and not pattern.startswith("#")]
        fault = re.compile(r"WARNING|BUG|Oops|Call Trace|Kernel panic|segfault|hung task|leak")
        return [line for line in self.console.read_text(errors="replace").splitlines()
                if fault.search(line) and not any(pattern.search(line) for pattern in allowed)]


def _alive_in_session(session):
    """The processes of a session that are more than zombies."""
    alive = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, its_session = stat.read_text().rpartition(")")[2].split()[:4]
            if int(its_session) == session and state not in "ZX":
                alive.append(int(stat.parent.name))
    return alive
