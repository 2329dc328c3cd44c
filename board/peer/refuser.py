# SPDX-License-Identifier: Apache-2.0
"""A far end by UDP whose user part says how it answers an INVITE."""

import re

from measure.sip import Message
from peer.background import DatagramServer, response

# Nobody has a codec of this name.
SESSION = ("v=0\r\no=- 1 1 IN IP4 {0}\r\ns=-\r\nc=IN IP4 {0}\r\nt=0 0\r\n"
           "m=audio 4000 RTP/AVP 77\r\na=rtpmap:77 nobody/8000\r\n")


class Refuser(DatagramServer):
    """`486@` answers 486; `loop@` sends the call back to itself; `media@` answers with a codec that nobody offered."""

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
        elif user == "media":
            address = self.own.split(":")[0]
            answer = response(message, 200, "refuser", [contact, "Content-Type: application/sdp"],
                              SESSION.format(address))
        else:
            answer = response(message, int(user), "refuser")
        self.socket.sendto(answer, source)
