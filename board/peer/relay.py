#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A UDP relay before the far end that changes session descriptions on the way, as a session border controller would.

Answers go back by the Via's rport (RFC 3581); requests inside the dialog go straight between the Contacts.
"""

import re
import select
import socket
import threading


def only_packetization_mode(mode):
    """A filter that leaves of the H.264 formats of an offer only those of one packetization-mode (RFC 6184 8.1)."""

    def change(text):
        modes = {}
        for payload in re.findall(r"^a=rtpmap:(\d+) H264/90000", text, re.M | re.I):
            found = re.search(rf"^a=fmtp:{payload} .*packetization-mode=(\d)", text, re.M)
            modes[payload] = int(found.group(1)) if found else 0
        dropped = [payload for payload, found in modes.items() if found != mode]
        for payload in dropped:
            text = re.sub(rf"^a=(rtpmap|fmtp|rtcp-fb):{payload} .*\r\n", "", text, flags=re.M)
            text = re.sub(rf"^(m=video .*?) {payload}(?= |\r)", r"\1", text, flags=re.M)
        return text

    return change


def only_audio_codec(name):
    """A filter that leaves of the audio formats of an offer only the one of that name (and telephone events)."""
    static = {"PCMU": "0", "PCMA": "8"}

    def change(text):
        line = re.search(r"^m=audio \d+ \S+ (.*)\r$", text, re.M)
        named = dict(re.findall(r"^a=rtpmap:(\d+) ([^/\r]+)/", text, re.M))
        kept = [payload for payload in line.group(1).split()
                if named.get(payload, "").lower() in (name.lower(), "telephone-event") or static.get(name) == payload]
        return text.replace(line.group(1), " ".join(kept), 1) if kept else text

    return change


def changed(message, change):
    """The datagram with its session description changed and its Content-Length right again."""
    head, separator, body = message.partition(b"\r\n\r\n")
    if not separator or b"application/sdp" not in head.lower():
        return message
    new = change(body.decode()).encode()
    head = re.sub(rb"(?im)^(content-length|l)[ \t]*:[ \t]*\d+", b"Content-Length: %d" % len(new), head)
    return head + separator + new


class Relay:
    def __init__(self, change, address="10.77.0.1", port=5070, target_port=5060):
        self.change, self.target, self.caller, self.running = change, (address, target_port), None, True
        self.outer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.outer.bind((address, port))
        self.inner = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.inner.bind((address, 0))
        self.offers = []
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while self.running:
            ready, _, _ = select.select([self.outer, self.inner], [], [], 0.1)
            if self.outer in ready:
                message, self.caller = self.outer.recvfrom(65536)
                message = changed(message, self.change)
                self.offers += [message] if message.startswith(b"INVITE") else []
                self.inner.sendto(message, self.target)
            if self.inner in ready and self.caller:
                self.outer.sendto(self.inner.recvfrom(65536)[0], self.caller)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join(2)
        self.outer.close()
        self.inner.close()


def self_test():
    offer = ("v=0\r\nm=audio 4000 RTP/AVP 111 0 8 101\r\n"
             "a=rtpmap:111 opus/48000/2\r\na=rtpmap:101 telephone-event/8000\r\n"
             "m=video 4002 RTP/AVP 97 98\r\na=rtpmap:97 H264/90000\r\na=fmtp:97 profile-level-id=42e01f;"
             "packetization-mode=1\r\na=rtpmap:98 H264/90000\r\na=fmtp:98 profile-level-id=42e01f\r\n")
    zero, one = only_packetization_mode(0)(offer), only_packetization_mode(1)(offer)
    assert "m=video 4002 RTP/AVP 98\r\n" in zero and "97" not in zero, zero
    assert "m=video 4002 RTP/AVP 97\r\n" in one and ":98" not in one, one
    assert "RTP/AVP 0 101\r\n" in only_audio_codec("PCMU")(offer)
    assert "RTP/AVP 111 101\r\n" in only_audio_codec("opus")(offer)
    message = b"INVITE sip:a SIP/2.0\r\nContent-Type: application/sdp\r\nContent-Length: 999\r\n\r\n" + offer.encode()
    out = changed(message, only_packetization_mode(1))
    assert b"Content-Length: %d\r\n" % len(out.partition(b"\r\n\r\n")[2]) in out
    assert changed(b"ACK sip:a SIP/2.0\r\n\r\n", str.upper) == b"ACK sip:a SIP/2.0\r\n\r\n"


if __name__ == "__main__":
    self_test()
    print("relay: ok")
