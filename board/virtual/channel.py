# SPDX-License-Identifier: Apache-2.0
"""Requests to the agent inside the virtual board, over the far end of its serial line."""

import itertools
import json
import threading
import time

ANSWER_SLACK_S = 5
# More in one go than a terminal holds, and the kernel's serial line may never wake up again.
LINE_MAX = 2000


class BoardError(Exception):
    """The board did not start, did not answer, or refused a request; the text is for a person."""


class Channel:
    """`socket` is connected to the serial line; `share` is the folder that the board sees as /share."""

    def __init__(self, socket, process, share, console):
        self.socket, self.process, self.share, self.console = socket, process, share, console
        self.numbers, self.answers = itertools.count(1), {}
        self.arrived, self.sending = threading.Condition(), threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        pending = b""
        while True:
            try:
                data = self.socket.recv(1 << 16)
            except OSError:
                data = b""
            if not data:
                return
            *lines, pending = (pending + data).split(b"\n")
            with self.arrived:
                for line in lines:
                    answer = json.loads(line)
                    self.answers[answer.pop("id")] = answer
                self.arrived.notify_all()

    def wait(self, number, limit_s, what):
        """The answer with that number, once it is there; 0 is the agent's first word."""
        until = time.monotonic() + limit_s
        with self.arrived:
            while number not in self.answers:
                self.arrived.wait(0.1)
                if self.process.poll() is not None:
                    raise BoardError(f"the board went off during {what}; see {self.console}")
                if time.monotonic() > until:
                    raise BoardError(f"the board gave no answer to {what} within {limit_s:.0f} s; see {self.console}")
            return self.answers.pop(number)

    def request(self, op, limit_s, arguments):
        """One request, which may take `limit_s` by itself; its answer as a dictionary."""
        number = next(self.numbers)
        line = json.dumps({"id": number, "op": op, **arguments}).encode()
        if len(line) > LINE_MAX:
            (self.share / f"request-{number}.json").write_bytes(line)
            line = json.dumps({"file": f"/share/request-{number}.json"}).encode()
        with self.sending:
            try:
                self.socket.sendall(line + b"\n")
            except OSError as fault:
                raise BoardError(f"the board cannot be reached: {fault}; see {self.console}") from fault
        answer = self.wait(number, limit_s + ANSWER_SLACK_S, op)
        if not answer.pop("ok"):
            raise BoardError(f"{op}: {answer['error']}")
        return answer
