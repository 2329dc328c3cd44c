# SPDX-License-Identifier: Apache-2.0
"""A kiosk whose devices go away and come back, and what is to be seen and heard of that."""

import time

from measure import image
from tests import faults
from tests.bench import VIVID_PATTERN, bench
from tests.kiosk import GUEST
from tests.runner import Failed
from tests.told import Witness

# A display of its own, for the one that the kernel makes by itself cannot be unplugged.
DISPLAY, CONNECTED, DISCONNECTED = "/sys/kernel/config/vkms/away", 1, 2
MAKE_DISPLAY = f"""
mkdir {DISPLAY} && cd {DISPLAY} && mkdir planes/a planes/b planes/c crtcs/crtc encoders/encoder connectors/plug &&
echo 1 > planes/a/type && for plane in a b c; do ln -s crtcs/crtc planes/$plane/possible_crtcs/ || exit 1; done &&
ln -s crtcs/crtc encoders/encoder/possible_crtcs/ && ln -s encoders/encoder connectors/plug/possible_encoders/ &&
echo 1 > crtcs/crtc/writeback && echo {DISCONNECTED} > connectors/plug/status && echo 1 > enabled
"""
TOLD_S, BACK_S = 5, 6
CARD_DB_MAX, CAMERA_DB_MIN = 15, 26
VIDEO = (102, 103)
# In 1.5 s: packets of 75 of sound, and pictures, three of a card. On a busy machine some are late.
SOUND = 45
CARD, MOVING = (1, 5), (6, 60)
LAST_OF_A_PICTURE = 0x80


class Away:
    """The kiosk, and a table of faults and what came of them."""

    def __init__(self, context):
        self.context, self.bench, self.played = context, bench(context), set()
        self.bench.must(MAKE_DISPLAY)
        self.authorities = faults.prepare(self.bench)
        self.witness = Witness(self.bench, self.bench.kiosk, faults.FAULT_LAMP)
        self.started = 0, self.witness.ear.mark(), time.monotonic()
        self.options = {"display.connector": "Virtual-2", **faults.SETTINGS}, faults.ARGUMENTS
        self.kiosk = self.bench.ready(*self.options)

    def ready(self):
        """The kiosk runs, with its own settings; a call that stands goes on."""
        if not self.kiosk.alive() or self.bench.kiosk_options != self.options:
            self.plug(CONNECTED)
            self.bench.ready(*self.options)

    def plug(self, status):
        self.bench.must(f"echo {status} > {DISPLAY}/connectors/plug/status")

    def driver(self, driver, device, verb):
        # Unbinding a sound card ends when all who have it open have let go of it.
        self.bench.board.sh(f"echo {device} > /sys/bus/platform/drivers/{driver}/{verb}", timeout=8)

    # What is seen and heard

    def back(self, families, mark):
        since = time.monotonic()
        for family in families:
            self.kiosk.wait_event("restored", since=mark, limit_s=BACK_S, device=family)
        return time.monotonic() - since

    def goes_on(self, pictures):
        """The call stands, sound goes out, and so many pictures in 1.5 s (a range)."""
        if self.kiosk.status().get("state") != "connected":
            raise Failed(self.kiosk.status().get("state"), "the call did not go on")
        mark = self.bench.wire.mark()
        time.sleep(1.5)
        types = [packet.payload[1] for packet in self.bench.wire.rtp(GUEST, None, mark)]
        sound = sum(type & 0x7F not in VIDEO for type in types)
        seen = sum(type & 0x7F in VIDEO and type & LAST_OF_A_PICTURE != 0 for type in types)
        if sound < SOUND or not pictures[0] <= seen <= pictures[1]:
            raise Failed(f"{sound} packets, {seen} pictures", f"in 1.5 s; pictures should be {pictures}")
        return f"the call goes on: {sound} packets of sound, {seen} pictures in 1.5 s"

    def sees(self, name, low, high):
        """How like the camera's picture the far end's is, in dB, judged; kept under that name."""
        seen = image.expand_range(image.load(self.bench.current_peer.snapshot(f"{name}.png")))
        image.save(seen, self.context.folder / f"{name}.png")
        level = self.bench.camera_psnr(seen)
        if not low <= level <= high:
            raise Failed(f"{level:.1f} dB", f"the far end's picture against the camera's should be {low} to {high} dB")

    def in_call(self):
        if self.kiosk.status().get("state") != "connected":
            self.kiosk.call()
            time.sleep(1)

    def calls(self):
        """The next press works."""
        self.kiosk.call()
        self.kiosk.hang_up()
        self.kiosk.idle()

    def mend_camera(self):
        self.driver("vivid", "vivid.0", "bind")
        self.bench.pattern(VIVID_PATTERN)

    def break_sound(self):
        self.bench.board.spawn("echo snd_aloop.0 > /sys/bus/platform/drivers/snd_aloop/unbind", log="unbind.log")

    def mend_sound(self):
        self.driver("snd_aloop", "snd_aloop.0", "bind")
        self.bench.microphone()

    def recover(self):
        """Everything is there again, and no call, whatever the last part left behind."""
        self.ready()
        self.plug(CONNECTED)
        faults.mend(self)
        self.mend_camera()
        self.driver("snd_aloop", "snd_aloop.0", "bind")
        self.kiosk.tell("resume")
        self.kiosk.tell("hangup")
        self.kiosk.idle(12)

    def row(self, name, when, told, result, back=None):
        """A row of the table: what `Witness.stands` gave, and what came after it."""
        took, code, lamp, sound, sentence = told
        after = result if back is None else f"{result}; back in {back:.1f} s"
        self.witness.row(code, name, when, took, lamp, sound, after, sentence)
        return f"told in {took:.1f} s" if back is None else f"told in {took:.1f} s, back in {back:.1f} s"

    def told(self, families, break_it, mend=None, sound=True):
        """(the moment, what `Witness.stands` gave) of a fault that is made.

        A chime that another program of this machine tore is listened for once more, with the fault made anew.
        """
        moment = self.witness.moment(families if sound else ())
        break_it()
        try:
            return moment, self.witness.stands(moment, families, sound)
        except Failed as fault:
            if fault.figure != "not heard" or not mend:
                raise
            self.context.log(f"made anew, for {fault}")
        mark = self.kiosk.mark()
        mend()
        self.back(families, mark)
        moment = self.witness.moment(families)
        break_it()
        return moment, self.witness.stands(moment, families, sound)

    def fault(self, name, when, families, break_it, mend=None, during=None, sound=True):
        """`during` says what goes on without it; idle, that is the next press. Without `mend` it mends itself."""
        moment, told = self.told(families, break_it, mend, sound)
        result = (during or self.witness.press_calls)()
        mark = self.kiosk.mark() if mend else moment[0]
        if mend:
            mend()
        return self.row(name, when, told, result, self.back(families, mark))
