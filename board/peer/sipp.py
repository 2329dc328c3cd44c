#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIPp as the other side of a race: a scenario is told step by step here and run by SIPp as XML.

One scenario is one call (one Call-ID), in which several dialogs may be. A message that `recv` keeps under a name lends
its headers to what answers it and to the requests that follow in its dialog.
"""

import socket
import subprocess
import time
from pathlib import Path
from xml.sax.saxutils import quoteattr

HERE = Path(__file__).resolve().parent
ADDRESS, PORT = "10.77.0.1", 5060
KIOSK = "10.77.0.2:5060"
KEPT = ("Via", "From", "To", "Call-ID", "CSeq")
AUDIO_PORT, VIDEO_PORT = 30000, 30002


class SippFault(Exception):
    """SIPp saw another message than its scenario has, or none."""


def session(direction="sendrecv", version=1, audio=AUDIO_PORT, video=0, address=ADDRESS, extra=""):
    """A session description: PCMU, and H.264 where `video` is its port; `video` of None has no such line at all."""
    lines = ["v=0", f"o=sipp 7 {version} IN IP4 {ADDRESS}", "s=-", f"c=IN IP4 {address}", "t=0 0",
             f"m=audio {audio} RTP/AVP 0", f"a={direction}"]
    if video is not None:
        lines += [f"m=video {video} RTP/AVP 102", "a=rtpmap:102 H264/90000",
                  "a=fmtp:102 profile-level-id=42e01f;packetization-mode=1", f"a={direction}"]
    return "\n".join(lines + extra.split()) + "\n"


class Scenario:
    def __init__(self, tag="sipp", proxied=False):
        """`proxied`: what comes has passed one proxy, which wrote a Via and, into an INVITE, a Record-Route."""
        self.tag, self.proxied, self.steps, self.variables = tag, proxied, [], []

    # What comes

    def recv(self, what, keep=None, optional=False, timeout_ms=None, on_timeout=None, also=()):
        """Waits for a request ("INVITE") or a response (200); kept under a name it can be answered and followed.

        Of a kept message every header of KEPT and `also` is in [$NAME_header], its Contact's address in [$NAME_uri].
        """
        kind = "response" if isinstance(what, int) else "request"
        words = f'{kind}="{what}"' + (' optional="true"' if optional else "")
        words += f' timeout="{timeout_ms}" ontimeout="{on_timeout}"' if on_timeout else ""
        if keep is None:
            self.steps.append(f"<recv {words}/>")
            return self
        actions = [self._keep("hdr", f"{name}:", ".*", f"{keep}_{name.lower().replace('-', '')}")
                   for name in (*KEPT, *also)]
        if self.proxied and what != "CANCEL":
            actions.append(self._keep("hdr", "Via:", ".*", f"{keep}_via2", more=' occurrence="2"'))
        if self.proxied and what == "INVITE":
            actions.append(self._keep("hdr", "Record-Route:", ".*", f"{keep}_recordroute"))
        if what != "CANCEL":
            self.variables.append(f"{keep}_contact")
            actions.append(self._keep("hdr", "Contact:", "<([^>]*)>", f"{keep}_contact,{keep}_uri", f"{keep}_uri"))
        self.steps.append(f"<recv {words}><action>{''.join(actions)}</action></recv>")
        return self

    def _keep(self, where, header, pattern, names, variable=None, more=""):
        self.variables.append(variable or names)
        return (f'<ereg regexp={quoteattr(pattern)} search_in="{where}" header="{header}"{more} '
                f'assign_to="{names}"/>')

    def label(self, name):
        self.steps.append(f'<label id="{name}"/>')
        return self

    def pause(self, milliseconds):
        self.steps.append(f'<pause milliseconds="{milliseconds}"/>')
        return self

    # What goes

    def send(self, text, retrans=False):
        """A whole message, as SIPp writes it."""
        words = ' retrans="500"' if retrans else ""
        self.steps.append(f"<send{words}><![CDATA[\n\n{text}\n]]></send>")
        return self

    def reply(self, kept, code, phrase="Reply", tag=None, headers=(), body=None, contact=True, retrans=False):
        """Answers a kept request; `tag` goes into To where the request has none there: inside a dialog give none."""
        way = [f"{name}:[${kept}_{variable}]" for name, variable in (("Via", "via2"), ("Record-Route", "recordroute"))
               if f"{kept}_{variable}" in self.variables]
        lines = [f"SIP/2.0 {code} {phrase}", f"Via:[${kept}_via]", *way, f"From:[${kept}_from]",
                 f"To:[${kept}_to]" + (f";tag={tag}" if tag else ""), f"Call-ID:[${kept}_callid]",
                 f"CSeq:[${kept}_cseq]"]
        lines += [f"Contact: <sip:sipp@{ADDRESS}:[local_port];transport=[transport]>"] if contact else []
        return self.send(self._whole(lines + list(headers), body), retrans)

    def request(self, method, kept, cseq, role="called", tag=None, headers=(), body=None, branch=None, retrans=None,
                uri=None):
        """A request in the dialog of a kept message.

        Where we were called, `kept` is the INVITE and `tag` ours; where we call, `kept` is their answer.
        """
        ours = f"To:[${kept}_to];tag={tag or self.tag}" if role == "called" else f"From:[${kept}_from]"
        theirs = f"From:[${kept}_from]" if role == "called" else f"To:[${kept}_to]"
        lines = [f"{method} {uri or f'[${kept}_uri]'} SIP/2.0",
                 f"Via: SIP/2.0/[transport] {ADDRESS}:[local_port];branch={branch or '[branch]'}",
                 "From:" + ours.split(":", 1)[1], "To:" + theirs.split(":", 1)[1], f"Call-ID:[${kept}_callid]",
                 f"CSeq: {cseq} {method}", f"Contact: <sip:sipp@{ADDRESS}:[local_port];transport=[transport]>",
                 "Max-Forwards: 70"]
        lines += [f"Route:[${kept}_recordroute]"] if f"{kept}_recordroute" in self.variables else []
        resend = method != "ACK" if retrans is None else retrans
        return self.send(self._whole(lines + list(headers), body), resend)

    def invite(self, cseq=1, headers=(), body=None, method="INVITE", tag=None, to_tag="", branch="[branch]",
               retrans=True):
        """The first request of a call that we place; also a request outside of any dialog."""
        lines = [f"{method} sip:callbox@{KIOSK} SIP/2.0",
                 f"Via: SIP/2.0/[transport] {ADDRESS}:[local_port];branch={branch}",
                 f"From: <sip:sipp@{ADDRESS}>;tag={tag or self.tag}", f"To: <sip:callbox@{KIOSK}>{to_tag}",
                 "Call-ID: [call_id]", f"CSeq: {cseq} {method}",
                 f"Contact: <sip:sipp@{ADDRESS}:[local_port];transport=[transport]>", "Max-Forwards: 70"]
        return self.send(self._whole(lines + list(headers), body), retrans)

    @staticmethod
    def _whole(lines, body):
        if body and not any(line.startswith("Content-Type") for line in lines):
            lines = [*lines, "Content-Type: application/sdp"]
        return "\n".join([*lines, "Content-Length: [len]" if body else "Content-Length: 0", "", body or ""])

    # What most scenarios begin and end with

    def answers(self, tag="a", headers=(), body=None, ringing=True):
        """We are called, ring and answer: from then on a dialog of the INVITE kept as `i`, our tag being `tag`."""
        self.tag = tag
        self.recv("INVITE", keep="i")
        if ringing:
            self.reply("i", 180, tag=tag)
        return self.reply("i", 200, tag=tag, headers=headers, body=body or session(), retrans=True).recv("ACK")

    def calls(self, headers=(), body=None, ack=None):
        """We call and are answered: from then on a dialog of the answer kept as `r`, in the role "calling"."""
        self.invite(headers=headers, body=body or session()).answered("r")
        return self.request("ACK", "r", 1, role="calling", body=ack)

    def answered(self, keep, code=200):
        """A final answer, whatever provisional ones come before."""
        for provisional in (100, 180, 183):
            self.recv(provisional, optional=True)
        return self.recv(code, keep=keep)

    def is_hung_up(self):
        return self.recv("BYE", keep="bye").reply("bye", 200)

    def hangs_up(self, kept="i", cseq=900, role="called"):
        return self.request("BYE", kept, cseq, role=role).recv(200)

    def xml(self):
        known = ",".join(dict.fromkeys(self.variables))
        reference = [f'<Reference variables="{known}"/>'] if known else []
        return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', '<scenario name="race">', *self.steps, *reference,
                          "</scenario>", ""])


class Sipp:
    """SIPp with a scenario, for one call or more; `calls` gives it the kiosk's address, else it waits to be called."""

    def __init__(self, folder, scenario, calls=None, port=PORT, transport="udp", name="sipp", recv_limit_s=10,
                 calls_max=1):
        self.folder, self.port, self.process, self.name = Path(folder), port, None, name
        self.waits = calls is None
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{name}.xml").write_text(scenario.xml())
        self.command = ["sipp", *([calls] if calls else []), "-sf", f"{name}.xml", "-i", ADDRESS, "-p", str(port),
                        *(["-m", str(calls_max)] if calls_max else []), "-nostdin", "-t",
                        "t1" if transport == "tcp" else "u1",
                        "-recv_timeout", str(recv_limit_s * 1000), "-timeout", "100", "-trace_err", "-error_file",
                        f"{name}-errors.log", "-error_overwrite", "true"]

    def __enter__(self):
        with open(self.folder / f"{self.name}.log", "wb") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=self.folder, env={"TERM": "dumb", "PATH": "/usr/bin:/bin"})
        until = time.monotonic() + 5
        while not self._listens():
            if self.process.poll() is not None or time.monotonic() > until:
                if self.waits:
                    raise SippFault(f"SIPp did not start; see {self.folder / self.name}-errors.log")
                break
            time.sleep(0.01)
        return self

    def _listens(self):
        """Whether this thread's network has a socket of its address and port, and of no peer's (proc(5))."""
        wanted = f": {socket.inet_aton(ADDRESS)[::-1].hex().upper()}:{self.port:04X} 00000000:0000 "
        return any(wanted in Path(f"/proc/thread-self/net/{kind}").read_text() for kind in ("udp", "tcp"))

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def done(self, limit_s=12):
        """Waits until the scenario is through; SippFault where it went otherwise."""
        try:
            code = self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise SippFault(f"the scenario was not through after {limit_s} s") from None
        if code != 0:
            errors = self.folder / f"{self.name}-errors.log"
            text = errors.read_text(errors="replace") if errors.exists() else ""
            raise SippFault(f"SIPp gave {code}: {' '.join(text.split())[:220]}")
