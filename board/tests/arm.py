# SPDX-License-Identifier: Apache-2.0
"""The ARM binaries under qemu-user: no devices, a video file as camera, a real call with baresip on loopback."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import numpy

from peer import clip as clips
from peer.baresip import Peer
from tests.runner import Failed, check
from tests.sizes import binary
from tests.world import ADDRESSES, clip, loopback_world

EMULATORS = {"arm64": "qemu-aarch64", "armv7": "qemu-arm"}
# Where board/enter tells that the target's libraries are.
SYSROOTS = {"arm64": "CALLBOX_SYSROOT_ARM64", "armv7": "CALLBOX_SYSROOT_ARMHF"}
SIZE, FRAMES, RATE = (320, 180), 60, 15
PEER, KIOSK = ADDRESSES
CONFIGURATION = f"""[call]
uri = sip:peer@{PEER}
[sip]
listen = {KIOSK}:5060
[camera]
size = {SIZE[0]}x{SIZE[1]}
fps = {RATE}
[video]
h264_licence = accepted
"""


def camera_file():
    """A small YUV4MPEG2 clip for `--camera file:`: grey and moving, which is all a smoke test needs."""
    path = Path("/cache/clips/camera.y4m")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        width, height = SIZE
        data = [b"YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n" % (width, height, RATE)]
        for number in range(FRAMES):
            luma = numpy.full((height, width), 60, dtype=numpy.uint8)
            luma[60:120, number * 4 : number * 4 + 40] = 200
            data += [b"FRAME\n", luma.tobytes(), bytes([110]) * (width * height // 4),
                     bytes([150]) * (width * height // 4)]
        path.with_suffix(".part").write_bytes(b"".join(data))
        path.with_suffix(".part").rename(path)
    return path


class Emulated:
    """callbox of another architecture as a process of this machine."""

    def __init__(self, context, target):
        self.log, self.control = context.folder / "callbox.log", f"/tmp/callbox-{target}-control"
        self.command = [EMULATORS[target], "-L", os.environ[SYSROOTS[target]], str(binary(context, target))]
        configuration = context.folder / "callbox.conf"
        configuration.write_text(CONFIGURATION)
        self.run = [*self.command, "run", "--config", str(configuration), "--control", self.control, "--display",
                    "null", "--camera", f"file:{camera_file()}", "--audio", "null"]

    def __enter__(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.run, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def events(self, name, **fields):
        found = []
        for line in self.log.read_bytes().split(b"\n")[:-1]:
            begin = line.find(b'{"event"')
            entry = json.loads(line[begin:]) if begin >= 0 else {}
            if entry.get("event") == name and all(entry.get(key) == value for key, value in fields.items()):
                found.append(entry)
        return found

    def wait(self, name, limit_s, **fields):
        until = time.monotonic() + limit_s
        while not (found := self.events(name, **fields)):
            if self.process.poll() is not None:
                raise Failed(f"exit {self.process.returncode}", f"callbox ended; see {self.log}")
            if time.monotonic() > until:
                raise Failed(f"no {name}", f"waited {limit_s} s for {name} {fields or ''}; see {self.log}")
            time.sleep(0.05)
        return found[0]

    def tell(self, *words):
        done = subprocess.run([*self.command, *words, "--control", self.control], capture_output=True, timeout=10)
        if done.returncode != 0:
            raise Failed(f"exit {done.returncode}", f"callbox {' '.join(words)}: {done.stderr.decode().strip()[:120]}")
        return json.loads(done.stdout)


def call(context, target):
    """Placed by the control socket: codecs as the far end answered them, frames and sound both ways."""
    with loopback_world(), Peer(context.folder, clip(), PEER, codecs=("opus", "pcmu")) as peer:
        peer.log.write_bytes(b"")
        with Emulated(context, target) as kiosk:
            kiosk.wait("ready", 15)
            kiosk.tell("call")
            kiosk.wait("call", 15, state="connected")
            kiosk.wait("first_frame", 15)
            seen = peer.snapshot("arm.png", limit_s=15)
            (context.folder / "peer.png").write_bytes(seen.read_bytes())
            heard = peer.heard_samples()
            time.sleep(2)
            status, heard = kiosk.tell("status"), peer.heard_samples() - heard
            kiosk.tell("hangup")
            kiosk.wait("call", 5, state="ended")
            kiosk.process.terminate()
            code = kiosk.process.wait(5)
        context.log(json.dumps(status))
        codecs = answered(peer.log.read_text(errors="replace"))
    if codecs != {"audio": "opus", "video": "H264"}:
        raise Failed(f"{codecs}", "Opus and H.264 were to be negotiated")
    decoded = status.get("counters", {}).get("video", {}).get("decoded", 0)
    if decoded < 5 or heard < 48000:
        raise Failed(f"{decoded} frames, {heard} samples", "too few decoded here or heard there in two seconds")
    if code != 0:
        raise Failed(f"exit {code}", "after SIGTERM")
    return f"{clips.WIDTH}x{clips.HEIGHT} in, {SIZE[0]}x{SIZE[1]} out, {decoded} frames decoded"


def answered(trace):
    """{"audio": codec, "video": codec} of the first format in the far end's last answer, from its SIP trace."""
    answers = [part for part in trace.split("SIP/2.0 200 ")[1:] if "m=audio" in part]
    found = {}
    for kind, payload in re.findall(r"m=(audio|video) \d+ \S+ (\d+)", answers[-1] if answers else ""):
        name = re.search(rf"a=rtpmap:{payload} ([^/\r\n]+)", answers[-1])
        found[kind] = name.group(1) if name else payload
    return found


for _target in EMULATORS:
    check(f"arm/{_target}")(lambda context, target=_target: call(context, target))
