# SPDX-License-Identifier: Apache-2.0
"""callbox on the virtual board: started with a configuration, watched by its log, pressed, asked, stopped."""

import contextlib
import json
import re
import shlex
import time

from measure import image
from tests.runner import Failed

# In the guest.
BINARY, CONTROL = "/callbox/build/x86_64/callbox", "/run/callbox/control"
# Empty at each start: nothing of the kiosk before is remembered.
DATA = "/run/data"
GUEST, PEER = "10.77.0.2", "10.77.0.1"
# A finger that let go of a button is away from it for so long: a release takes the kiosk 60 ms.
AWAY_S = 0.15


def sentence_of(ended):
    """The words of an `ended` event: a sentence for people, not a code."""
    text = ended.get("text", "")
    if len(text.split()) < 2 or any(character.isdigit() for character in text):
        raise Failed(repr(text), "a plain sentence was expected")
    return text


class Configuration:
    """The text of a callbox.conf with some values changed."""

    def __init__(self, text):
        self.text = text

    def changed(self, changes):
        """`changes` is {"section.key": value}; a value of None takes the key out. Sections may hold dots."""
        lines = self.text.splitlines()
        for path, value in changes.items():
            section, key = path.rsplit(".", 1)
            lines = self._change(lines, section, key, value)
        return "\n".join(lines) + "\n"

    @staticmethod
    def _change(lines, section, key, value):
        out, inside, done = [], False, value is None
        for line in lines:
            heading = re.match(r"\s*\[([^\]]+)\]", line)
            if heading:
                if inside and not done:
                    out.append(f"{key} = {value}")
                    done = True
                inside = heading.group(1).strip() == section
            elif inside and re.match(rf"\s*{re.escape(key)}\s*=", line):
                if not done:
                    out.append(f"{key} = {value}")
                    done = True
                continue
            out.append(line)
        if not done:
            out += [] if inside else ["", f"[{section}]"]
            out.append(f"{key} = {value}")
        return out


class Kiosk:
    """One callbox process at a time. Events are the JSON objects of its log."""

    def __init__(self, board, folder):
        self.board, self.folder = board, folder
        self.events, self.process, self.starts = [], None, 0
        self.log_path, self._position, self._partial = None, 0, b""
        self.let_go = {}
        # Of the process, in the words of a shell.
        self.environment = ""
        code, text = board.sh("cat /boot/callbox/callbox.conf")
        if code != 0:
            raise Failed("no configuration", f"the board has no /boot/callbox/callbox.conf: {text.strip()[:100]}")
        self.base = Configuration(text)

    def start(self, changes=None, text=None, arguments="", limit_s=8, wait="ready"):
        """Stops what runs and starts anew, with changed values or a whole other text. Returns the `ready` event."""
        self.stop()
        self.starts += 1
        name = f"callbox-{self.starts}"
        configuration = text if text is not None else self.base.changed(changes or {})
        data = configuration if isinstance(configuration, bytes) else configuration.encode()
        (self.board.share / f"{name}.conf").write_bytes(data)
        self.log_path = self.board.share / f"{name}.log"
        self.events, self._position, self._partial = [], 0, b""
        command = f"exec env {self.environment} {BINARY} run --config /share/{name}.conf --data {DATA} {arguments}"
        self.process = self.board.spawn(f"rm -rf {DATA}/*; mkdir -p {DATA}; {command}", log=f"{name}.log")
        return self.wait_event(wait, limit_s=limit_s) if wait else None

    def stop(self, limit_s=3):
        """SIGTERM; (exit status, milliseconds it took), or None when nothing ran. A callbox that stays is killed."""
        if self.process is None:
            return None
        process, self.process = self.process, None
        result = self.board.terminate(process, limit_s)
        self.read()
        return result

    def alive(self):
        return self.process is not None and self.board.running(self.process)

    def read(self):
        """Takes in what the log has gained."""
        if self.log_path is None or not self.log_path.exists():
            return
        with open(self.log_path, "rb") as file:
            file.seek(self._position)
            data = file.read()
        self._position += len(data)
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            begin = line.find(b'{"event"')
            if begin < 0:
                continue
            try:
                self.events.append(json.loads(line[begin:]))
            except ValueError as error:
                raise Failed("bad JSON", f"an event is no JSON object ({error}): {line[begin:][:120]}") from error

    def mark(self):
        self.read()
        return len(self.events)

    def find(self, event, since=0, **fields):
        """The events of that name whose fields have these values."""
        self.read()
        return [entry for entry in self.events[since:] if entry.get("event") == event
                and all(entry.get(key) == value for key, value in fields.items())]

    def wait_event(self, event, since=0, limit_s=5, **fields):
        until = time.monotonic() + limit_s
        while True:
            found = self.find(event, since, **fields)
            if found:
                return found[0]
            if time.monotonic() > until:
                raise Failed(f"no {event}", self._missing(event, fields, limit_s, since))
            if self.process is not None and not self.board.running(self.process):
                self.read()
                if not self.find(event, since, **fields):
                    raise Failed("ended", f"callbox ended while {event} was waited for: {self.tail()}")
            time.sleep(0.02)

    def _missing(self, event, fields, limit_s, since):
        seen = [" ".join(str(entry.get(key)) for key in ("event", "state", "reason", "on") if key in entry)
                for entry in self.events[since:] if entry.get("event") != "stats"]
        wanted = " ".join([event, *(f"{key}={value}" for key, value in fields.items())])
        return f"waited {limit_s} s for {wanted}; seen: {', '.join(seen[-8:]) or 'nothing'}; see {self.log_path.name}"

    def tail(self):
        try:
            return self.log_path.read_text(errors="replace").strip().splitlines()[-1][:160]
        except (OSError, IndexError):
            return "its log is empty"

    def command(self, *words, limit_s=6):
        """(exit status, answer) of `callbox WORDS`; the answer parsed when it is JSON."""
        line = " ".join(shlex.quote(word) for word in (BINARY, *words))
        return self._parsed(self.board.sh(line, timeout=limit_s))

    def tell(self, *words, limit_s=6):
        """As `command`, by the control socket itself: starting a program takes the virtual board a second."""
        return self._parsed(self.board.ask(CONTROL, " ".join(words), limit_s))

    @staticmethod
    def _parsed(result):
        code, text = result
        try:
            return code, json.loads(text)
        except ValueError:
            return code, text

    def status(self):
        code, answer = self.tell("status")
        if code != 0 or not isinstance(answer, dict):
            raise Failed(f"exit {code}", f"callbox status: {str(answer).strip()[:160]}")
        return answer

    def press(self, button, hold_ms=150):
        """A press and a release on the GPIO line; the guest's clock (ns) at the press."""
        with self._finger(button):
            return self.board.press(button, hold_ms)

    def push(self, button, limit_s=3):
        """A finger that stays on the button until the kiosk has noticed: a busy machine loses short presses."""
        mark = self.mark()
        with self._finger(button):
            self.board.press(button, None)
            try:
                self.wait_event("button", since=mark, limit_s=limit_s, name=button, edge="pressed")
            finally:
                self.board.release(button)

    @contextlib.contextmanager
    def _finger(self, button):
        """It was away from the button for a while before."""
        time.sleep(max(0.0, self.let_go.get(button, 0.0) + AWAY_S - time.monotonic()))
        try:
            yield
        finally:
            self.let_go[button] = time.monotonic()

    def screenshot(self, path):
        """The composed screen, saved as `path` on this side and returned."""
        name = f"screen-{time.monotonic_ns()}.png"
        code, answer = self.tell("screenshot", f"/share/{name}")
        if code != 0:
            raise Failed(f"exit {code}", f"callbox screenshot: {str(answer).strip()[:160]}")
        picture = image.load(self.board.share / name)
        image.save(picture, path)
        (self.board.share / name).unlink()
        return picture

    def idle(self, limit_s=5):
        """Waits until no call is left."""
        until = time.monotonic() + limit_s
        while (state := self.status().get("state")) != "idle":
            if time.monotonic() > until:
                raise Failed(f"{state}", f"the kiosk was not idle after {limit_s} s")
            time.sleep(0.1)

    def call(self, limit_s=8):
        """Presses `call` and waits until connected. Returns (index of the first event, the connected event)."""
        mark = self.mark()
        self.push("call")
        self.wait_event("call", since=mark, state="dialling", limit_s=2)
        return mark, self.wait_event("call", since=mark, state="connected", limit_s=limit_s)

    def hang_up(self, limit_s=5):
        """Presses `hook` and waits for the end; the `ended` event."""
        mark = self.mark()
        self.push("hook")
        ended = self.wait_event("call", since=mark, state="ended", limit_s=limit_s)
        return ended
