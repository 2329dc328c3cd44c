#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""baresip 1.1.0 as the far end: started without a screen, steered over its control socket, its events waited for."""

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from peer import crash

HERE = Path(__file__).resolve().parent
# One channel is encoded; what is offered and answered is opus/48000/2 all the same (RFC 7587).
AUDIO_CODECS = {"opus": "opus/48000/1", "pcmu": "PCMU/8000/1", "pcma": "PCMA/8000/1"}
AUDIO_MODULES = {"opus": "opus.so", "pcmu": "g711.so", "pcma": "g711.so"}


class PeerFault(Exception):
    """The far end did not do what a check needs; the text names its log."""


class Peer:
    """One baresip. `codecs` are offered and answered in this order.

    `answer`: "auto" (after `answer_after_ms`), or "manual": it rings until `accept`, `hang_up` (then 486) or
    `ring_seconds` are over. `folder` gets its configuration, `peer.log`, `peer-heard.wav` and the snapshots; it must be
    shorter than 80 characters, for that is all a snapshot's path may be. `encryption` is one of baresip's: "srtp",
    "srtp-mand", "srtp-mandf", "dtls_srtp". With `ice` it finds its ways by ICE. It plays a tone,
    or once the file `says` (WAV, 48 kHz, 16 bits, one channel).
    """

    def __init__(self, folder, clip, address="10.77.0.1", port=5060, codecs=("opus", "pcmu", "pcma"), answer="auto",
                 answer_after_ms=0, transport="udp", tone_hz=1000, control_port=4444, rtp_ports="20000-20999",
                 video_bitrate=4_000_000, ring_seconds=120, encryption=None,
                 ice=False, says=None):
        self.folder, self.address, self.port = Path(folder), address, port
        self.control_port, self.codecs, self.encryption, self.ice = control_port, codecs, encryption, ice
        self.heard = self.folder / "peer-heard.wav"
        self.log = self.folder / "peer.log"
        self.process, self.control, self.pending, self.events = None, None, b"", []
        self.folder.mkdir(parents=True, exist_ok=True)
        source = f"aufile,{says}" if says else f"ausine,{tone_hz}"
        self._write_config(clip, source, rtp_ports, video_bitrate, ring_seconds)
        rules = f"regint=0;answermode={answer};video_codecs=h264;answerdelay={answer_after_ms}"
        rules += f";audio_codecs={','.join(AUDIO_CODECS[codec] for codec in codecs)}"
        if encryption:
            rules += f";mediaenc={encryption}"
        if ice:
            rules += ";medianat=ice"
        # An account answers to its own transport only. The first one dials.
        transports = sorted(("udp", "tcp"), key=lambda name: name != transport)
        accounts = [f"<sip:peer@{address}:{port};transport={name}>;{rules}\n" for name in transports]
        (self.folder / "accounts").write_text("".join(accounts))

    def _write_config(self, clip, source, rtp_ports, video_bitrate, ring_seconds):
        modules = dict.fromkeys(AUDIO_MODULES[codec] for codec in self.codecs)
        if self.encryption:
            modules["dtls_srtp.so" if self.encryption == "dtls_srtp" else "srtp.so"] = None
        if self.ice:
            modules["ice.so"] = None
        values = {
            "ADDRESS": self.address, "PORT": self.port, "RING_SECONDS": ring_seconds, "SOURCE": source,
            "HEARD": self.heard, "CLIP": clip, "VIDEO_BITRATE": video_bitrate, "RTP_PORTS": rtp_ports,
            "CONTROL_PORT": self.control_port,
            "MODULES": "\n".join(f"module                  {name}" for name in modules),
        }
        text = (HERE / "baresip.conf").read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", str(value))
        (self.folder / "config").write_text(text)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self, limit_s=10):
        """Ready when its control socket answers."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(["baresip", "-s", "-f", str(self.folder)], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, cwd=self.folder)
        crash.watch("baresip", self.process)
        until = time.monotonic() + limit_s
        while self.control is None:
            if self.process.poll() is not None or time.monotonic() > until:
                self.stop()
                raise PeerFault(f"baresip did not start; see {self.log}")
            try:
                self.control = socket.create_connection(("127.0.0.1", self.control_port), timeout=1)
            except OSError:
                time.sleep(0.05)
        return self

    def stop(self, limit_s=3):
        """Ends it, and only it; frozen or not. Its sound file is closed properly when it can be."""
        if self.control:
            self.control.close()
            self.control = None
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(limit_s)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def vanish(self):
        """Frozen: nothing is sent, read or answered any more, and no port is closed."""
        self.process.send_signal(signal.SIGSTOP)

    def come_back(self):
        self.process.send_signal(signal.SIGCONT)

    def command(self, name, parameters=None, limit_s=3):
        """Runs one of baresip's long commands; its printed answer."""
        token = f"{time.monotonic_ns()}"
        message = {"command": name, "token": token}
        if parameters is not None:
            message["params"] = str(parameters)
        body = json.dumps(message).encode()
        try:
            self.control.sendall(b"%d:%s," % (len(body), body))
        except OSError as error:
            raise PeerFault(f"baresip is gone ({error}); see {self.log}") from error
        answer = self._wait(lambda: self._answer(token), limit_s, f"an answer to {name}")
        if not answer.get("ok"):
            raise PeerFault(f"baresip refused {name}: {answer.get('data')}; see {self.log}")
        return answer.get("data", "")

    def _answer(self, token):
        return next((event for event in self.events if event.get("token") == token), None)

    def wait_event(self, kind, limit_s=5, since=0):
        """The first event of that type (CALL_INCOMING, CALL_ESTABLISHED, CALL_CLOSED …) at or after index `since`."""
        return self._wait(lambda: next((event for event in self.events[since:] if event.get("type") == kind), None),
                          limit_s, f"the event {kind}")

    def mark(self):
        """The index of the next event: pass it as `since`."""
        self._read(0)
        return len(self.events)

    def _wait(self, find, limit_s, what):
        until = time.monotonic() + limit_s
        while True:
            found = find()
            if found is not None:
                return found
            left = until - time.monotonic()
            if left <= 0:
                raise PeerFault(f"waited {limit_s} s for {what} from baresip; see {self.log}")
            self._read(left)

    def _read(self, limit_s):
        """Takes in what has come: netstrings of JSON objects."""
        self.control.settimeout(max(0.001, limit_s))
        try:
            data = self.control.recv(65536)
        except (TimeoutError, BlockingIOError):
            return
        except OSError as error:
            raise PeerFault(f"baresip's control socket failed ({error}); see {self.log}") from error
        if not data:
            raise PeerFault(f"baresip ended; see {self.log}")
        self.pending += data
        while b":" in self.pending:
            length, rest = self.pending.split(b":", 1)
            if len(rest) <= int(length):
                return
            self.events.append(json.loads(rest[: int(length)]))
            self.pending = rest[int(length) + 1 :]

    def dial(self, uri):
        self.command("dial", uri)

    def accept(self):
        self.command("accept")

    def hang_up(self):
        """Ends a call; one that still rings is refused with 486."""
        self.command("hangup")

    def snapshot(self, name="peer.png", limit_s=3):
        """A PNG of the next frame it decodes; its path. Its colours want `image.expand_range`."""
        path = self.folder / name
        path.unlink(missing_ok=True)
        self.command("snapshot_recv", path)
        until = time.monotonic() + limit_s
        while time.monotonic() < until:
            if path.exists() and path.read_bytes()[-8:-4] == b"IEND":
                return path
            time.sleep(0.02)
        raise PeerFault(f"baresip decoded no frame in {limit_s} s; see {self.log}")

    def heard_samples(self):
        """How much sound the far end has written so far, in samples (48 kHz, one channel)."""
        try:
            return max(0, os.stat(self.heard).st_size - 44) // 2
        except FileNotFoundError:
            return 0
