#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A relay before the far end that loses some of the kiosk's sound on the way, the same packets each time.

SIP goes through as it is but for the port of the sound, which becomes the relay's own in offer and answer.
"""

import random
import re
import select
import socket
import threading

from peer.relay import changed

SEED = 4733


def sound_port(text):
    return int(re.search(r"^m=audio (\d+) ", text, re.M)[1])


def with_sound_port(port):
    """A filter that names another port for the sound."""
    return lambda text: re.sub(r"^m=audio \d+ ", f"m=audio {port} ", text, count=1, flags=re.M)


class LossyRelay:
    """The kiosk calls `outside:port`; the far end at `target` sees it come from `inside`, the kiosk's own address."""

    def __init__(self, target, outside, inside, loss, port=5070):
        self.target, self.kiosk, self.loss = target, inside, loss
        self.outer, self.near = self._socket(outside, port), self._socket(outside, 0)
        self.inner, self.far = self._socket(inside, 0), self._socket(inside, 0)
        self.caller, self.kiosk_port, self.target_port = None, None, None
        self.chance, self.sent, self.lost = random.Random(SEED), 0, 0
        self.running, self.thread = True, threading.Thread(target=self._run, daemon=True)

    @staticmethod
    def _socket(address, port):
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((address, port))
        return made

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join(2)
        for made in (self.outer, self.inner, self.near, self.far):
            made.close()

    def _run(self):
        handlers = {self.outer: self._request, self.inner: self._answer, self.near: self._to_target,
                    self.far: self._to_kiosk}
        while self.running:
            for ready in select.select(list(handlers), [], [], 0.1)[0]:
                handlers[ready](*ready.recvfrom(65536))

    def _request(self, message, source):
        self.caller = source
        body = message.partition(b"\r\n\r\n")[2].decode(errors="replace")
        if "m=audio" in body:
            self.kiosk_port = sound_port(body)
            message = changed(message, with_sound_port(self.far.getsockname()[1]))
        self.inner.sendto(message, self.target)

    def _answer(self, message, _):
        body = message.partition(b"\r\n\r\n")[2].decode(errors="replace")
        if "m=audio" in body:
            self.target_port = sound_port(body)
            message = changed(message, with_sound_port(self.near.getsockname()[1]))
        if self.caller:
            self.outer.sendto(message, self.caller)

    def _to_target(self, packet, _):
        self.sent += 1
        if self.chance.random() < self.loss:
            self.lost += 1
        elif self.target_port:
            self.far.sendto(packet, (self.target[0], self.target_port))

    def _to_kiosk(self, packet, _):
        if self.kiosk_port:
            self.near.sendto(packet, (self.kiosk, self.kiosk_port))
