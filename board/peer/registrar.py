#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A registrar by UDP that answers each REGISTER as a check wants it."""

import socket
import threading

from measure.sip import Message

ADDRESS, PORT = "10.77.0.1", 5060


def granted(register, seconds, contacts=(), headers=()):
    """A 200 that lists what was registered, with `contacts` before it."""
    own = register.header("contact").split(";expires=")[0]
    lines = [f"Contact: {contact}" for contact in (*contacts, f"{own};expires={seconds}")]
    return 200, [*lines, *headers]


class Registrar:
    """`script` gets the number of a REGISTER, from 1, and its Message; it gives (code, header lines), or None."""

    def __init__(self, script, address=ADDRESS, port=PORT):
        self.script, self.registers, self.running = script, [], True
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, port))
        self.socket.settimeout(0.1)
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join(3)
        self.socket.close()

    def _serve(self):
        while self.running:
            try:
                data, source = self.socket.recvfrom(65536)
            except TimeoutError:
                continue
            message = Message(data)
            if message.method != "REGISTER" or message.status:
                continue
            if not any(message.data == known.data for known in self.registers):
                self.registers.append(message)
            # A removal is always granted.
            number = len(self.registers)
            reply = (200, []) if message.header("expires") == "0" else self.script(number, message)
            if reply:
                self.socket.sendto(self._response(message, *reply), source)

    @staticmethod
    def _response(register, code, headers):
        kept = [f"{name}: {register.header(name)}" for name in ("Via", "From", "Call-ID", "CSeq")]
        lines = [f"SIP/2.0 {code} Reply", *kept, f"To: {register.header('to')};tag=registrar", *headers]
        return "\r\n".join([*lines, "Content-Length: 0", "", ""]).encode()
