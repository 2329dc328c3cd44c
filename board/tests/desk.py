# SPDX-License-Identifier: Apache-2.0
"""callbox as a plain process, without devices, in a network of its own: for what is about signalling only.

Many can run side by side: each thread has its own network, in which the kiosk is 10.77.0.2 and the far end 10.77.0.1.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time

from measure.sip import messages
from measure.wire import Wire
from peer.sipp import Sipp
from tests.kiosk import Configuration, Kiosk
from tests.runner import Failed
from tests.world import ADDRESSES, loopback_world

PEER, KIOSK = ADDRESSES
BINARY = "/callbox/build/x86_64/callbox"
CONFIGURATION = """[call]
uri = sip:peer@{peer}
media_timeout = 600
[sip]
listen = {address}:5060
[video]
h264_licence = accepted
"""


class Here:
    """What a Kiosk asks of the board it runs on, when that is this machine."""

    @staticmethod
    def running(process):
        return process.poll() is None


class Desk(Kiosk):
    """One kiosk and the wire beside it. A context manager; `changes` are those of its configuration."""

    def __init__(self, folder, camera="none", audio="null", address=KIOSK):
        """`address` is another one where a second kiosk is the far end, in the network of the first."""
        self.board, self.folder, self.is_second = Here(), folder, address != KIOSK
        self.base = Configuration(CONFIGURATION.format(peer=PEER, address=address))
        self.events, self.process, self.starts = [], None, 0
        self.log_path, self._position, self._partial = folder / "callbox.log", 0, b""
        self.camera, self.audio, self.stack = camera, audio, contextlib.ExitStack()
        # What stands before the program's name where it is started, for a world of its own.
        self.before = []
        self.control = f"/run/desk-{os.getpid()}-{id(self)}"

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        # Nothing of a run before.
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        (self.folder / "secrets").unlink(missing_ok=True)
        if self.is_second:
            return self
        self.stack.enter_context(loopback_world())
        try:
            self.wire = self.stack.enter_context(Wire("lo"))
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        with self.stack:
            self.stop()

    def start(self, changes=None, text=None, arguments="", limit_s=8, wait="ready"):
        self.stop()
        configuration = self.folder / "callbox.conf"
        configuration.write_text(text if text is not None else self.base.changed(changes or {}))
        self.events, self._position, self._partial = [], 0, b""
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [*self.before, BINARY, "run", "--config", str(configuration), "--control", self.control, "--display",
                 "null", "--camera", self.camera, "--audio", self.audio, "--data", str(self.folder / "data"),
                 "--secrets", str(self.folder / "secrets")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self.wait_event(wait, limit_s=limit_s) if wait else None

    def stop(self, limit_s=3):
        """SIGTERM; (exit status, milliseconds), or None when nothing ran."""
        if self.process is None:
            return None
        process, self.process, begin = self.process, None, time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.read()
        return process.returncode, (time.monotonic() - begin) * 1000

    def tell(self, *words, limit_s=5):
        """(0 or 1, the answer) of one line to the control socket."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(limit_s)
            line.connect(self.control)
            line.sendall(" ".join(words).encode() + b"\n")
            data = b""
            while not data.endswith(b"\n"):
                part = line.recv(65536)
                if not part:
                    raise Failed("no answer", f"the control socket was closed at {' '.join(words)}: {self.tail()}")
                data += part
        answer = json.loads(data)
        return (1 if answer.get("ok") is False else 0), answer

    def must(self, *words):
        """The answer to a word that is not to be refused."""
        code, answer = self.tell(*words)
        if code:
            raise Failed("refused", f"{' '.join(words)}: {answer.get('error')}")
        return answer

    def press(self, button, hold_ms=0):
        return self.must("press", button)

    def push(self, button, limit_s=3):
        return self.press(button)

    def sipp(self, scenario, **options):
        """SIPp with a scenario, to be entered."""
        return Sipp(self.folder, scenario, **options)

    # The wire

    def sent(self, name=None, since=0):
        """What the kiosk sent: all messages, or those of a name (a method, or a status as a number)."""
        self.wire.catch_up()
        return [message for message in messages(self.wire, since) if message.source == KIOSK
                and (name is None or message.name == str(name))]

    def got(self, name=None, since=0):
        """What was sent to the kiosk."""
        self.wire.catch_up()
        return [message for message in messages(self.wire, since) if message.target == KIOSK
                and (name is None or message.name == str(name))]

    def wait_sent(self, name, count=1, limit_s=4, since=0, method=None):
        """The `count`-th message of a name that the kiosk sends; `method` says what a response answers."""
        until = time.monotonic() + limit_s
        while True:
            found = [message for message in self.sent(name, since) if method is None or message.method == method]
            if len(found) >= count:
                return found[count - 1]
            if time.monotonic() > until:
                raise Failed(f"{len(found)} of {count} {name}",
                             f"not sent within {limit_s} s; passed: {self.ladder(since)}")
            time.sleep(0.01)

    def ladder(self, since=0):
        """What passed, in a few words: > from the kiosk, < to it."""
        return " ".join((">" if message.source == KIOSK else "<") + message.name for message in
                        messages(self.wire, since)[-24:])

    def idle(self, limit_s=5):
        """Waits until no call is left; the last one's outcome may still be shown."""
        until = time.monotonic() + limit_s
        while (state := self.status().get("state")) not in ("idle", "ended"):
            if time.monotonic() > until:
                raise Failed(f"{state}", f"the kiosk was not idle after {limit_s} s; passed: {self.ladder()}")
            time.sleep(0.05)

    def idle_for(self, seconds):
        """Lets time pass in which the kiosk must not end."""
        time.sleep(seconds)
        if not self.alive():
            raise Failed("ended", f"callbox is gone: {self.tail()}")

    # A whole call's end

    def ended(self, *reasons, since=0, limit_s=5):
        """The call's `ended` event, with one of these reasons."""
        ended = self.wait_event("call", since=since, state="ended", limit_s=limit_s)
        if reasons and ended.get("reason") not in reasons:
            raise Failed(ended.get("reason"), f"the call was to end by {' or '.join(reasons)}: {ended.get('text')}")
        return ended


class Beside:
    """A kiosk on a desk with a server in the same network; who inherits sets `desk` and `server`."""

    def __enter__(self):
        self.desk.__enter__()
        try:
            self.server.__enter__()
        except BaseException:
            self.desk.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        try:
            self.desk.stop()
            self.server.__exit__()
        finally:
            self.desk.__exit__(None, None, None)
