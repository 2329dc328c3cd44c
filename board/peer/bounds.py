# SPDX-License-Identifier: Apache-2.0
"""What a far end lets the kiosk send (RFC 5104 4.2.1, draft-alvestrand-rmcat-remb-03), for far ends that never ask."""

import contextlib
import itertools
import socket
import struct
import threading
import time

OWN_SSRC = 0x0BADCAFE


def temporary_maximum(ssrc, kbps, overhead=0):
    """A TMMBR alone (RFC 5506), for the source `ssrc`."""
    exponent = max(0, (kbps * 1000).bit_length() - 17)
    word = exponent << 26 | (kbps * 1000 >> exponent) << 9 | overhead
    return struct.pack("!BBHIIII", 0x83, 205, 4, OWN_SSRC, 0, ssrc, word)


def receivable(ssrc, kbps):
    """A REMB alone."""
    exponent = max(0, (kbps * 1000).bit_length() - 18)
    word = 1 << 24 | exponent << 18 | kbps * 1000 >> exponent
    return struct.pack("!BBHII4sII", 0x8F, 206, 5, OWN_SSRC, 0, b"REMB", word, ssrc)


def noticed(packet):
    """The bound of a TMMBN within a compound, in bits a second, or None."""
    while len(packet) >= 4:
        kind, form, words = packet[1], packet[0] & 31, struct.unpack_from("!H", packet, 2)[0]
        if (kind, form) == (205, 4) and len(packet) >= 20:
            owner, word = struct.unpack_from("!II", packet, 12)
            return (word >> 9 & 0x1FFFF) << (word >> 26) if owner == OWN_SSRC else None
        packet = packet[4 + 4 * words :]
    return None


def say(message, source, target):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.bind((source, 0))
        sender.sendto(message, target)


class Repeated:
    """How often something was said."""

    count, runs = 0, True

    def go(self, messages, source, target):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.bind((source, 0))
            for message in itertools.cycle(messages):
                if not self.runs:
                    return
                sender.sendto(message, target)
                self.count += 1
                if self.count % 50 == 0:
                    time.sleep(0.005)


@contextlib.contextmanager
def repeated(messages, source, target):
    """Says them in turn, some ten thousand a second, as long as the body runs."""
    sent = Repeated()
    thread = threading.Thread(target=sent.go, args=(messages, source, target))
    thread.start()
    try:
        yield sent
    finally:
        sent.runs = False
        thread.join()
