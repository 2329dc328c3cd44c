# SPDX-License-Identifier: Apache-2.0
"""A far end with ICE lite (RFC 8445 section 2.5), as gateways have it: it answers the call and every check, and sends
sound to where the nominated check came from."""

import hashlib
import hmac
import re
import socket
import struct
import threading
import time
import zlib

from peer.background import DatagramServer
from peer.stream import answer

COOKIE, FRAGMENT, PASSWORD = 0x2112A442, "lite", "0123456789abcdefghijkl"
# STUN attributes (RFC 8489 section 14, RFC 8445 section 16.1).
USERNAME, INTEGRITY, XOR_ADDRESS, USE_CANDIDATE, FINGERPRINT = 0x0006, 0x0008, 0x0020, 0x0025, 0x8028


def attributes(message):
    found, position = {}, 20
    while position + 4 <= len(message):
        kind, length = struct.unpack_from("!HH", message, position)
        found[kind] = message[position + 4 : position + 4 + length]
        position += 4 + (length + 3) // 4 * 4
    return found


def success(request, source):
    """The response to a check, signed."""
    address = struct.unpack("!I", socket.inet_aton(source[0]))[0] ^ COOKIE
    body = struct.pack("!HHBBHI", XOR_ADDRESS, 8, 0, 1, source[1] ^ COOKIE >> 16, address)

    def head(length):
        return struct.pack("!HH", 0x0101, length) + request[4:20]

    key = hmac.new(PASSWORD.encode(), head(len(body) + 24) + body, hashlib.sha1).digest()
    body += struct.pack("!HH", INTEGRITY, 20) + key
    crc = zlib.crc32(head(len(body) + 8) + body) ^ 0x5354554E
    body += struct.pack("!HHI", FINGERPRINT, 4, crc)
    return head(len(body)) + body


class Lite(DatagramServer):
    """Answers each INVITE by UDP at `address`; media at `port`. `extra` are lines of its description."""

    def __init__(self, address, port=30000, extra=()):
        super().__init__(address, 5060)
        self.address, self.port, self.extra = address, port, extra
        self.checks, self.bad, self.target, self.heard = 0, 0, None, 0
        self.media = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.media.bind((address, port))
        self.media.settimeout(0.02)
        self.media_thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.media_thread.start()
        return super().__enter__()

    def __exit__(self, *words):
        super().__exit__(*words)
        self.media_thread.join(2)
        self.media.close()

    # Signalling

    def received(self, data, source):
        method = data.split(b" ", 1)[0].decode(errors="replace")
        if method == "INVITE":
            self.offer = data.decode(errors="replace")
            self.socket.sendto(answer(data, 200, tag="lite", body=self._description()), source)
        elif method in ("BYE", "CANCEL", "UPDATE", "INFO"):
            self.socket.sendto(answer(data, 200, tag="lite"), source)

    def _description(self):
        lines = ["v=0", f"o=- 1 1 IN IP4 {self.address}", "s=-", f"c=IN IP4 {self.address}", "t=0 0", "a=ice-lite",
                 f"m=audio {self.port} RTP/AVP 0", "a=rtcp-mux", f"a=ice-ufrag:{FRAGMENT}", f"a=ice-pwd:{PASSWORD}",
                 *self.extra, f"a=candidate:1 1 UDP 2130706431 {self.address} {self.port} typ host"]
        if re.search(r"^m=video", self.offer, re.M):
            lines.append("m=video 0 RTP/AVP 102")
        return "\n".join(lines) + "\n"

    # Media

    def _run(self):
        sequence, due = 0, time.monotonic()
        while self.running:
            try:
                data, source = self.media.recvfrom(2048)
                self._take(data, source)
            except OSError:
                pass
            while self.target and time.monotonic() >= due:
                packet = struct.pack("!BBHII", 0x80, 0, sequence & 0xFFFF, sequence * 160 & 0xFFFFFFFF, 7)
                self.media.sendto(packet + bytes([0xFF, 0x20] * 80), self.target)
                sequence, due = sequence + 1, max(due + 0.02, time.monotonic() - 0.2)

    def _take(self, data, source):
        if len(data) >= 20 and data[0] < 4:
            found = attributes(data)
            if struct.unpack_from("!H", data)[0] != 1:
                return
            if not found.get(USERNAME, b"").startswith(FRAGMENT.encode() + b":"):
                self.bad += 1
                return
            self.checks += 1
            self.media.sendto(success(data, source), source)
            if USE_CANDIDATE in found:
                self.target = source
        elif len(data) > 12 and data[0] >> 6 == 2 and not 192 <= data[1] <= 223:
            self.heard += 1
