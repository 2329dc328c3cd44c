#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A registrar by UDP that answers each REGISTER as a check wants it."""

from measure.sip import Message
from peer.background import DatagramServer, response

ADDRESS, PORT = "10.77.0.1", 5060


def granted(register, seconds, contacts=(), headers=()):
    """A 200 that lists what was registered, with `contacts` before it."""
    own = register.header("contact").split(";expires=")[0]
    lines = [f"Contact: {contact}" for contact in (*contacts, f"{own};expires={seconds}")]
    return 200, [*lines, *headers]


class Registrar(DatagramServer):
    """`script` gets the number of a REGISTER, from 1, and its Message; it gives (code, header lines), or None."""

    def __init__(self, script, address=ADDRESS, port=PORT):
        super().__init__(address, port)
        self.script, self.registers = script, []

    def received(self, data, source):
        message = Message(data)
        if message.method != "REGISTER" or message.status:
            return
        if not any(message.data == known.data for known in self.registers):
            self.registers.append(message)
        # A removal is always granted.
        number = len(self.registers)
        reply = (200, []) if message.header("expires") == "0" else self.script(number, message)
        if reply:
            self.socket.sendto(response(message, reply[0], "registrar", reply[1]), source)
