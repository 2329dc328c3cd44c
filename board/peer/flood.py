#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stranger: sends so many SIP requests a second from its own address and counts every byte that comes back.

Usage: flood.py SOURCE TARGET RATE SECONDS
Prints one JSON object: requests sent, seconds it took, packets and bytes that the target's address sent to the source.
"""

import ctypes
import json
import socket
import struct
import sys
import time

BURST, KINDS = 10, 3000
SO_ATTACH_FILTER = 26
METHODS = ("OPTIONS", "INVITE", "REGISTER")
BODY = "v=0\r\no=- 1 1 IN IP4 {0}\r\ns=-\r\nc=IN IP4 {0}\r\nt=0 0\r\nm=audio 9000 RTP/AVP 0\r\n"


def request(number, source, target):
    """A whole, valid request; no two have the same transaction or Call-ID."""
    method, body = METHODS[number % len(METHODS)], ""
    more = ""
    if method == "INVITE":
        body = BODY.format(source)
        more = "Content-Type: application/sdp\r\nCall-Info: <sip:x>;answer-after=0\r\nAlert-Info: info=auto-answer\r\n"
    if method == "REGISTER":
        more = "Expires: 60\r\n"
    return (f"{method} sip:callbox@{target} SIP/2.0\r\nVia: SIP/2.0/UDP {source}:5060;branch=z9hG4bKf{number};rport\r\n"
            f"Max-Forwards: 70\r\nFrom: <sip:stranger@{source}>;tag=f{number}\r\nTo: <sip:callbox@{target}>\r\n"
            f"Call-ID: flood{number}\r\nCSeq: 1 {method}\r\nContact: <sip:stranger@{source}:5060>\r\n{more}"
            f"Content-Length: {len(body)}\r\n\r\n{body}").encode()


def listener(source, target):
    """A raw socket that sees what goes from the target's address to the source's, whatever the protocol.

    The filter (classic BPF) looks at the Ethernet type and the two IPv4 addresses.
    """
    packed = [struct.unpack("!I", socket.inet_aton(address))[0] for address in (target, source)]
    program = [(0x28, 0, 0, 12), (0x15, 0, 5, 0x0800), (0x20, 0, 0, 26), (0x15, 0, 3, packed[0]), (0x20, 0, 0, 30),
               (0x15, 0, 1, packed[1]), (0x06, 0, 0, 65535), (0x06, 0, 0, 0)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    found.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", len(program), ctypes.addressof(code)))
    found.bind(("lo", 0))
    found.setblocking(False)
    return found


def count(listening):
    """(packets, bytes) that have come, each packet once though loopback shows it twice."""
    packets = total = 0
    while True:
        try:
            frame, origin = listening.recvfrom(65536)
        except BlockingIOError:
            return packets, total
        if origin[2] != socket.PACKET_OUTGOING:
            packets, total = packets + 1, total + len(frame) - 14


def main(source, target, rate, seconds):
    requests = [request(number, source, target) for number in range(KINDS)]
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.bind((source, 5060))
    listening = listener(source, target)
    # What the socket holds from before its filter was there is nobody's answer.
    count(listening)
    begin, sent, packets, back = time.monotonic(), 0, 0, 0
    while (now := time.monotonic() - begin) < seconds:
        due = int(now * rate)
        while sent < due:
            for _ in range(min(BURST, due - sent)):
                sender.sendto(requests[sent % KINDS], (target, 5060))
                sent += 1
        more = count(listening)
        packets, back = packets + more[0], back + more[1]
        time.sleep(0.001)
    time.sleep(1)
    more = count(listening)
    print(json.dumps({"sent": sent, "seconds": now, "packets": packets + more[0], "bytes": back + more[1]}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
