#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A far end that asks for a password in every way there is (RFC 7616, RFC 8760), over UDP, and answers calls.

Its digests are Python's own, so that they check those of callbox.
"""

import hashlib
import re

from peer.background import DatagramServer
from peer.sipp import session

ADDRESS, PORT, REALM = "10.77.0.1", 5060, "guard"
HASHES = {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}


class Request:
    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode(errors="replace").split("\r\n")
        self.method, self.uri, _ = first.split(" ", 2)
        self.headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines if ":" in line]

    def first(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    @property
    def credentials(self):
        """The parameters of Authorization; empty where there is none."""
        return {name: quoted or plain for name, quoted, plain in
                re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,"]+))', self.first("Authorization"))}


class Guard(DatagramServer):
    """`ask(guard, request)` gives the challenges for a request, none for one that is let in. A context manager."""

    def __init__(self, ask, password="secret"):
        super().__init__(ADDRESS, PORT)
        self.ask, self.password, self.number, self.seen = ask, password, 0, []

    # What a server knows

    @property
    def nonce(self):
        return f"nonce{self.number}"

    def renew(self):
        """Another nonce from now on."""
        self.number += 1

    def challenge(self, more=', qop="auth"', algorithm="MD5"):
        return f'Digest realm="{REALM}", nonce="{self.nonce}", opaque="o{self.number}", algorithm={algorithm}{more}'

    def is_right(self, request):
        """Whether the digest is that of the password, whatever the nonce."""
        told = request.credentials
        if not {"username", "realm", "nonce", "uri", "response"} <= told.keys() or told["uri"] != request.uri:
            return False
        name = HASHES.get(told.get("algorithm", "MD5"))

        def digest(text):
            return hashlib.new(name, text if isinstance(text, bytes) else text.encode()).hexdigest()

        covered = f"{request.method}:{request.uri}"
        if told.get("qop") == "auth-int":
            covered += ":" + digest(request.body)
        middle = f'{told["nc"]}:{told["cnonce"]}:{told["qop"]}:' if "qop" in told else ""
        key = digest(f'{told["username"]}:{REALM}:{self.password}')
        return told["response"] == digest(f'{key}:{told["nonce"]}:{middle}{digest(covered)}')

    def is_let_in(self, request):
        """The right digest of the newest nonce, with its opaque."""
        told = request.credentials
        return self.is_right(request) and told["nonce"] == self.nonce and told.get("opaque") == f"o{self.number}"

    # What it says

    def received(self, data, source):
        if len(data) > 4:
            self._take(Request(data), source)

    def _take(self, request, source):
        self.seen.append(request)
        if request.method == "ACK":
            return
        challenges = [] if request.method == "CANCEL" else self.ask(self, request)
        if challenges:
            self._answer(request, source, "401 Unauthorized", [f"WWW-Authenticate: {value}" for value in challenges])
        elif request.method == "INVITE":
            self._answer(request, source, "200 OK", [f"Contact: <sip:guard@{ADDRESS}:{PORT}>",
                                                     "Content-Type: application/sdp"],
                         session().replace("\n", "\r\n"))
        else:
            self._answer(request, source, "200 OK", [])

    def _answer(self, request, source, status, more, body=""):
        to = request.first("To")
        lines = [f"SIP/2.0 {status}", f"Via: {request.first('Via')}", f"From: {request.first('From')}",
                 f"To: {to}" + ("" if ";tag=" in to else ";tag=guard"), f"Call-ID: {request.first('Call-ID')}",
                 f"CSeq: {request.first('CSeq')}", *more, f"Content-Length: {len(body)}", "", body]
        self.socket.sendto("\r\n".join(lines).encode(), source)
