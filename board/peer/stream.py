#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A far end by TCP that answers each request with given texts, cut into segments as a check wants them."""

import re
import socket
import threading
import time

ADDRESS, PORT = "10.77.0.1", 5060


def one_byte(data):
    """Every byte in a segment of its own."""
    return [data[index : index + 1] for index in range(len(data))]


def at_once(data):
    return [data]


def answer(request, code, tag="stream", body="", headers=()):
    """A response to a request, both as bytes."""
    text = request.decode(errors="replace")
    kept = [line for line in text.split("\r\n\r\n")[0].split("\r\n")[1:]
            if line.split(":")[0].lower() in ("via", "from", "to", "call-id", "cseq")]
    kept = [f"{line};tag={tag}" if line.lower().startswith("to:") and ";tag=" not in line else line for line in kept]
    kept += [f"Contact: <sip:stream@{ADDRESS}:{PORT};transport=tcp>", *headers]
    kept += ["Content-Type: application/sdp"] if body else []
    body = body.replace("\n", "\r\n")
    return "\r\n".join([f"SIP/2.0 {code} Reply", *kept, f"Content-Length: {len(body)}", "", body]).encode()


class Stream:
    """`script` gets each request (bytes) and gives the bytes to send back, or none; `cut` makes segments of them."""

    def __init__(self, script, cut=at_once, address=ADDRESS, port=PORT):
        self.script, self.cut, self.requests, self.raw = script, cut, [], b""
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address, port))
        self.listener.listen(4)
        self.listener.settimeout(0.1)
        self.running, self.connection = True, None
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join(3)
        self.listener.close()

    def _serve(self):
        while self.running:
            try:
                self.connection, _ = self.listener.accept()
            except TimeoutError:
                continue
            with self.connection:
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connection.settimeout(0.1)
                self._converse()

    def _converse(self):
        pending = b""
        while self.running:
            try:
                data = self.connection.recv(65536)
            except TimeoutError:
                continue
            except OSError:
                return
            if not data:
                return
            self.raw += data
            pending += data
            while (end := pending.find(b"\r\n\r\n")) >= 0:
                if end == 0 or pending.startswith(b"\r\n"):
                    pending = pending[2:]
                    continue
                length = int((re.search(rb"(?im)^(?:content-length|l)\s*:\s*(\d+)", pending[:end]) or [0, b"0"])[1])
                if len(pending) < end + 4 + length:
                    break
                request, pending = pending[: end + 4 + length], pending[end + 4 + length :]
                self.requests.append(request)
                self.send(self.script(request))

    def send(self, data):
        for part in self.cut(data) if data else ():
            self.connection.sendall(part)
            if len(part) == 1:
                time.sleep(0.0001)
