# SPDX-License-Identifier: Apache-2.0
"""Packets of some ports on one interface of the virtual board, with the kernel's own time of each."""

import socket
import struct
import threading
import time

SO_TIMESTAMPNS = 35
PACKET_OUTGOING = 4
ETHERTYPES = {0x0800: 4, 0x86DD: 6}


def transport(frame):
    """(source port, target port, payload) of a UDP or TCP packet over IPv4 or IPv6 without options; else None."""
    version = ETHERTYPES.get(struct.unpack_from("!H", frame, 12)[0])
    if version == 4:
        protocol, start = frame[23], 14 + (frame[14] & 15) * 4
    elif version == 6:
        protocol, start = frame[20], 54
    else:
        return None
    if protocol not in (6, 17) or len(frame) < start + 20:
        return None
    header = 8 if protocol == 17 else (frame[start + 12] >> 4) * 4
    return (*struct.unpack_from("!HH", frame, start), frame[start + header :])


def summary(payload):
    """The first line of a text, else the number of bytes."""
    line = payload.split(b"\r\n", 1)[0]
    if 8 <= len(line) <= 400 and line.isascii() and line.decode().isprintable():
        return line.decode()
    return f"{len(payload)} bytes"


class Capture:
    def __init__(self, interface, ports):
        self.ports, self.packets, self.until = ports, [], None
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.socket.settimeout(0.05)
        self.socket.bind((interface, 0))
        # The kernel stamps with the wall clock, which nothing on this board ever sets.
        self.offset_ns = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def stop(self):
        """[monotonic ns, "in" or "out", summary] of every packet, oldest first."""
        self.until = time.monotonic() + 0.1  # what is on its way still counts
        self.thread.join(2)
        self.socket.close()
        return self.packets

    def _listen(self):
        while self.until is None or time.monotonic() < self.until:
            try:
                frame, control, _, address = self.socket.recvmsg(65536, 64)
            except TimeoutError:
                continue
            found = transport(frame) if len(frame) >= 34 else None
            if found and self.ports & set(found[:2]) and control:
                seconds, nanoseconds = struct.unpack("qq", control[0][2])
                direction = "out" if address[2] == PACKET_OUTGOING else "in"
                at_ns = seconds * 10**9 + nanoseconds - self.offset_ns
                self.packets.append([at_ns, direction, summary(found[2])])
