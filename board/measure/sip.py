#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIP messages as they passed on the wire, taken apart as far as checks look at them (RFC 3261 7)."""

import re

SHORT = {"i": "call-id", "m": "contact", "l": "content-length", "c": "content-type", "f": "from", "k": "supported",
         "t": "to", "v": "via", "r": "refer-to", "b": "referred-by", "x": "session-expires"}


class Message:
    """One message; `at_ms`, `source` and `target` tell of its way where it came from a wire."""

    def __init__(self, data, at_ms=0.0, source="", target=""):
        self.data, self.at_ms, self.source, self.target = data, at_ms, source, target
        head, _, body = data.decode(errors="replace").partition("\r\n\r\n")
        self.body = body
        self.line, *lines = re.sub(r"\r\n[ \t]+", " ", head).split("\r\n")
        self.fields = []
        for line in lines:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            self.fields.append((SHORT.get(name, name), value.strip()))

    @property
    def status(self):
        """The code of a response, or None."""
        return int(self.line.split(" ")[1]) if self.line.startswith("SIP/2.0 ") else None

    @property
    def method(self):
        """Of the request, or of the one that a response answers."""
        return self.header("cseq").split(" ")[-1] if self.status else self.line.split(" ")[0]

    @property
    def name(self):
        """INVITE, ACK … or 200, 487 …: what a ladder writes on the arrow."""
        return str(self.status) if self.status else self.method

    @property
    def cseq(self):
        return int(self.header("cseq").split(" ")[0])

    @property
    def uri(self):
        """A request's Request-URI."""
        return self.line.split(" ")[1]

    @property
    def branch(self):
        found = re.search(r";branch=([^;,\s]+)", self.header("via"))
        return found.group(1) if found else ""

    def headers(self, name):
        return [value for known, value in self.fields if known == name.lower()]

    def header(self, name):
        """The first of that name, or an empty text."""
        return (self.headers(name) or [""])[0]

    def tag(self, name):
        found = re.search(r";tag=([^;>\s]+)", self.header(name))
        return found.group(1) if found else ""

    def lists(self, name, token):
        """Whether a header that lists tokens (Supported, Require, Allow) has this one."""
        return token in [part.strip() for value in self.headers(name) for part in value.split(",")]

    def ports(self):
        """{"audio": port, "video": port} of its session description."""
        return {kind: int(port) for kind, port in re.findall(r"^m=(\w+) (\d+)", self.body, re.M)}

    def __repr__(self):
        return f"{self.at_ms:.0f} {self.source} > {self.target} {self.line}"


def messages(wire, since=0):
    """What a Wire saw of SIP by UDP, whole messages in order."""
    return [Message(packet.payload, packet.at_ms, packet.source, packet.target) for packet in wire.sip(None, since)]


def self_test():
    text = (b"INVITE sip:a@192.0.2.1 SIP/2.0\r\nv: SIP/2.0/UDP 192.0.2.2;branch=z9hG4bKx;rport\r\n"
            b"To: <sip:a@192.0.2.1>\r\nFrom: <sip:b@192.0.2.2>;tag=b1\r\nCSeq: 7 INVITE\r\n"
            b"Supported: timer,\r\n 100rel\r\n\r\nm=audio 4000 RTP/AVP 0\r\nm=video 0 RTP/AVP 96\r\n")
    message = Message(text)
    assert message.method == message.name == "INVITE" and message.status is None and message.cseq == 7
    assert message.uri == "sip:a@192.0.2.1" and message.branch == "z9hG4bKx"
    assert message.tag("From") == "b1" and message.tag("To") == ""
    assert message.lists("Supported", "100rel") and not message.lists("Supported", "100")
    assert message.ports() == {"audio": 4000, "video": 0}
    answer = Message(b"SIP/2.0 487 Request Terminated\r\nCSeq: 7 INVITE\r\n\r\n")
    assert answer.status == 487 and answer.name == "487" and answer.method == "INVITE" and answer.header("To") == ""


if __name__ == "__main__":
    self_test()
    print("sip: ok")
