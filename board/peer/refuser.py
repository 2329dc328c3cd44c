# SPDX-License-Identifier: Apache-2.0
"""A far end by UDP whose user part says how it answers an INVITE."""

import re

from measure.sip import Message
from peer.background import DatagramServer, response

# Where media are expected that never come.
MEDIA_PORT = 4000
# By user: the sound of the answer. Nobody has a codec of that name, or a certificate with that fingerprint.
PRINT = ":".join(["AB"] * 32)
SOUND = {
    "media": ["RTP/AVP 77", "a=rtpmap:77 nobody/8000"],
    "plain": ["RTP/AVP 0"],
    "handshake": ["UDP/TLS/RTP/SAVPF 0", "a=setup:passive", "a=rtcp-mux", f"a=fingerprint:sha-256 {PRINT}"],
}


def session(address, offer, sound):
    """An answer with that sound, and nothing else of what was offered."""
    lines = ["v=0", f"o=- 1 1 IN IP4 {address}", "s=-", f"c=IN IP4 {address}", "t=0 0"]
    for kind, rest in re.findall(r"(?m)^m=(\S+) \d+ ([^\r\n]*)", offer):
        lines += [f"m=audio {MEDIA_PORT} {sound[0]}", *sound[1:]] if kind == "audio" else [f"m={kind} 0 {rest}"]
    return "".join(f"{line}\r\n" for line in lines)


class Refuser(DatagramServer):
    """`486@` answers 486; `loop@` sends the call back to itself; those of SOUND answer so; `empty@` with nothing."""

    def __init__(self, address, port):
        super().__init__(address, port)
        self.own = f"{address}:{port}"

    def received(self, data, source):
        message = Message(data)
        if message.status or message.method == "ACK":
            return
        user = re.sub(r"^sips?:|@.*", "", message.uri)
        contact = f"Contact: <sip:{user}@{self.own}>"
        if message.method != "INVITE":
            answer = response(message, 200, "refuser")
        elif user == "loop":
            answer = response(message, 302, "refuser", [contact])
        elif user in SOUND:
            answer = response(message, 200, "refuser", [contact, "Content-Type: application/sdp"],
                              session(self.own.split(":")[0], message.body, SOUND[user]))
        elif user == "empty":
            answer = response(message, 200, "refuser", [contact])
        else:
            answer = response(message, int(user), "refuser")
        self.socket.sendto(answer, source)
