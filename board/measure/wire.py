#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What passes on the far end's wire: every UDP and TCP packet of one interface, with its time on this machine."""

import socket
import struct
import threading
import time
from typing import NamedTuple

ETHERTYPE_IPV4 = 0x0800
KEPT_BYTES = 4096


class Packet(NamedTuple):
    at_ms: float
    source: str
    source_port: int
    target: str
    target_port: int
    payload: bytes
    length: int
    # Differentiated services (RFC 2474).
    code_point: int = 0

    def is_rtp(self):
        """RTP version 2, and no RTCP packet type (RFC 5761 4)."""
        return self.length >= 12 and self.payload[0] >> 6 == 2 and not 192 <= self.payload[1] <= 223

    def payload_type(self):
        return self.payload[1] & 0x7F

    def first_line(self):
        return self.payload.split(b"\r\n", 1)[0].decode(errors="replace")


def parse(frame, at_ms):
    """A Packet from an Ethernet frame, or None when it is not whole IPv4 UDP or TCP."""
    if len(frame) < 34 or struct.unpack_from("!H", frame, 12)[0] != ETHERTYPE_IPV4:
        return None
    header = (frame[14] & 15) * 4
    protocol = frame[23]
    start = 14 + header
    total = struct.unpack_from("!H", frame, 16)[0]
    if protocol not in (6, 17) or len(frame) < start + 8:
        return None
    source, target = socket.inet_ntoa(frame[26:30]), socket.inet_ntoa(frame[30:34])
    source_port, target_port = struct.unpack_from("!HH", frame, start)
    offset = start + (8 if protocol == 17 else (frame[start + 12] >> 4) * 4 if len(frame) > start + 12 else 20)
    payload = frame[offset : 14 + total]
    return Packet(at_ms, source, source_port, target, target_port, bytes(payload[:KEPT_BYTES]), len(payload),
                  frame[15] >> 2)


class Wire:
    """Listens while used as a context; `packets` grows meanwhile."""

    def __init__(self, interface):
        self.packets, self.running, self.is_loopback = [], True, interface == "lo"
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind((interface, 0))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.settimeout(0.1)
        self.thread = threading.Thread(target=self._listen, daemon=True)

    def _listen(self):
        while self.running:
            try:
                frame, origin = self.socket.recvfrom(65536)
            except TimeoutError:
                continue
            except OSError:
                return
            # On loopback each packet is seen on its way out and again on its way in.
            if self.is_loopback and origin[2] == socket.PACKET_OUTGOING:
                continue
            packet = parse(frame, time.monotonic() * 1000)
            if packet:
                self.packets.append(packet)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join(2)
        self.socket.close()

    def mark(self):
        return len(self.packets)

    def catch_up(self, limit_s=2):
        """Waits until everything that has passed so far is in `packets`: a packet of our own comes after it."""
        mark, until = self.mark(), time.monotonic() + limit_s
        word = b"%d" % time.monotonic_ns()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(word, ("127.0.0.1", 9))
        while not any(packet.payload == word for packet in self.packets[mark:]) and time.monotonic() < until:
            time.sleep(0.001)

    def sip(self, source=None, since=0):
        """SIP messages seen from an address: datagrams, or a TCP segment that begins one."""
        return [packet for packet in self.packets[since:] if (source is None or packet.source == source)
                and (b"SIP/2.0" in packet.payload[:200])]

    def rtp(self, source, ports=None, since=0):
        """RTP packets from an address to any of `ports` (a range or set)."""
        return [packet for packet in self.packets[since:] if packet.source == source and packet.is_rtp()
                and b"SIP/2.0" not in packet.payload[:200] and (ports is None or packet.target_port in ports)]

    def wait_sip(self, start, source, limit_s, since=0):
        """The first SIP message from `source` whose first line begins with `start`, or None after `limit_s`."""
        until = time.monotonic() + limit_s
        while True:
            for packet in self.sip(source, since):
                if packet.first_line().startswith(start):
                    return packet
            if time.monotonic() > until:
                return None
            time.sleep(0.01)


def self_test():
    sender, receiver = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    receiver.bind(("127.0.0.1", 0))
    port = receiver.getsockname()[1]
    with Wire("lo") as wire:
        rtp, rtcp = b"\x80\x60" + bytes(20), b"\x80\xc8" + bytes(20)
        for payload in (b"OPTIONS sip:a SIP/2.0\r\n\r\n", rtp, rtcp, b"x" * 9000):
            sender.sendto(payload, ("127.0.0.1", port))
        found = wire.wait_sip("OPTIONS", "127.0.0.1", 2)
        time.sleep(0.1)
    ours = [(packet.payload[:16], packet.length) for packet in wire.packets if packet.target_port == port]
    assert found and len(ours) == 4, ours
    assert {packet.payload for packet in wire.rtp("127.0.0.1", {port})} == {rtp}
    assert parse(b"short", 0) is None and parse(bytes(60), 0) is None
    sender.close()
    receiver.close()


if __name__ == "__main__":
    self_test()
    print("wire: ok")
