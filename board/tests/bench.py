# SPDX-License-Identifier: Apache-2.0
"""The test bench: one booted virtual board with callbox on it, the far end beside it, the wire between them watched."""

import contextlib
import os
import re
import time

from measure import image
from measure.wire import Wire
from peer.baresip import Peer
from tests.kiosk import GUEST, PEER, Kiosk
from tests.runner import Failed
from tests.world import clip
from virtual.board import Board

# Squares of colour: a mirrored or upside-down picture is another one.
VIVID_PATTERN, OTHER_PATTERN, CAMERA_SIZE = 4, 0, (640, 360)
MICROPHONE_HZ, TONE_HZ = 440, 1000
NICE = -10


class Bench:
    def __init__(self, folder):
        self.folder, self.stack = folder, contextlib.ExitStack()
        self.peer_options, self.kiosk_options, self.camera_picture = None, None, None
        self.current_peer, self.failures_seen = None, 0

    def __enter__(self):
        # What is timed here is not to wait for whatever else the machine does.
        self.stack.callback(os.setpriority, os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
        try:
            self.board = self.stack.enter_context(Board(self.folder))
            self.wire = self.stack.enter_context(Wire("peer0"))
            self.kiosk = Kiosk(self.board, self.folder)
            (self.folder / "peer" / "peer.log").unlink(missing_ok=True)
            self.stack.callback(self.drop_peer)
            self._camera()
            self.microphone()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def _camera(self):
        """A still picture, and a copy of it taken before callbox has the camera."""
        width, height = CAMERA_SIZE
        device = self.board.camera
        self.pattern(VIVID_PATTERN)
        self.must(f"v4l2-ctl -d {device} --set-fmt-video=width={width},height={height},pixelformat=YUYV "
                  "--stream-mmap=3 --stream-count=2 --stream-to=/share/camera.yuyv", limit_s=15)
        raw = (self.board.share / "camera.yuyv").read_bytes()
        self.camera_picture = image.from_yuyv(raw, width, height)
        image.save(self.camera_picture, self.folder / "camera.png")

    def pattern(self, number):
        """What stands before the camera, without any text in it."""
        self.must(f"v4l2-ctl -d {self.board.camera} -c osd_text_mode=2 -c test_pattern={number}")

    def microphone(self):
        """An endless tone at the far end of the loopback card, where callbox has its microphone."""
        from measure import tone
        import numpy

        samples = tone.sine(48000, 10, MICROPHONE_HZ, level=0.25)
        (self.board.share / "mic.raw").write_bytes(numpy.rint(samples * 32767).astype("<i2").tobytes())
        self.feed = self.board.spawn("while :; do cat /share/mic.raw; done | "
                                     f"aplay -q -t raw -f S16_LE -r 48000 -c 1 -D {self.board.microphone_feed}",
                                     log="mic.log")

    def no_microphone(self):
        """The loopback card's far end is free, until `microphone`."""
        self.board.terminate(self.feed, 2)

    def must(self, command, limit_s=10):
        code, output = self.board.sh(command, timeout=limit_s)
        if code != 0:
            raise Failed(f"exit {code}", f"on the board: {command.split()[0]}: {output.strip()[-160:]}")
        return output

    def peer(self, **options):
        """The far end with these options: the one that runs, when it has them."""
        alive = self.current_peer and self.current_peer.process and self.current_peer.process.poll() is None
        if not alive or options != self.peer_options:
            self.drop_peer()
            self.current_peer, self.peer_options = Peer(self.folder / "peer", clip(), PEER, **options).start(), options
        return self.current_peer

    def drop_peer(self):
        peer, self.current_peer = self.current_peer, None
        if peer:
            peer.stop()

    def ready(self, changes=None, arguments=""):
        """callbox with this configuration, idle: the one that runs, when it has it."""
        options = (changes or {}, arguments)
        if not self.kiosk.alive() or options != self.kiosk_options:
            self.kiosk_options = None
            self.kiosk.start(changes=changes, arguments=arguments)
            self.kiosk_options = options
        elif self.kiosk.status().get("state") != "idle":
            self.kiosk.tell("hangup")
            with contextlib.suppress(Failed):
                self.kiosk.idle()
            if self.kiosk.status().get("state") != "idle":
                self.kiosk.start(changes=changes, arguments=arguments)
        return self.kiosk

    def record(self, name):
        """Records what the loudspeaker plays into the share, until terminated."""
        return self.board.spawn(f"exec arecord -q -D {self.board.speaker_tap} -f S16_LE -r 48000 -c 1 /share/{name}",
                                log="arecord.log")

    def camera_psnr(self, picture, mirrored=False):
        """PSNR of what the far end decoded against what stands before the camera, where 4:2:0 can carry it."""
        if picture.shape != self.camera_picture.shape:
            raise Failed(f"{picture.shape[1]}x{picture.shape[0]}", "the far end got another size than the camera's")
        source = image.mirror(self.camera_picture) if mirrored else self.camera_picture
        return image.psnr(picture, source, image.kept_by_coding(source))

    def media_ports(self, since=0):
        """{"audio": port, "video": port} of the kiosk, from the last session description it sent."""
        bodies = [packet.payload.decode(errors="replace") for packet in self.wire.sip(GUEST, since)
                  if b"m=audio" in packet.payload]
        if not bodies:
            raise Failed("no SDP", "the kiosk sent no session description")
        return {kind: int(port) for kind, port in re.findall(r"^m=(audio|video) (\d+)", bodies[-1], re.M)}


def bench(context):
    """The group's bench, booted once; booted again when the board does not answer any more."""
    made = context.made.get("virtual board")
    if made and made[0] and not made[0].board.answers():
        context.log("the board does not answer; booting another")
        context.close()
    folder = context.out / context.name.split("/")[0] / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    found = context.once("virtual board", lambda: context.keep(Bench(folder)))
    if found.failures_seen != context.failures:
        # What a failed check left behind is not the next one's business.
        found.failures_seen, found.kiosk_options, found.peer_options = context.failures, None, None
    return found


def wait_until(condition, limit_s, what):
    until = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > until:
            raise Failed(f"{limit_s} s", f"waited in vain for {what}")
        time.sleep(0.05)
