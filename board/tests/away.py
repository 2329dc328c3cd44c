# SPDX-License-Identifier: Apache-2.0
"""Devices that go away and come back, between calls and in one: what the person at the panel is told, and what goes on.

One kiosk, started without its display, goes through all of it; each check tells of a part.
"""

import time

from measure import image
from tests import faults, faults_table
from tests.bench import VIVID_PATTERN, bench
from tests.kiosk import GUEST
from tests.told import Witness
from tests.runner import Failed, check

# A display of its own, for the one that the kernel makes by itself cannot be unplugged.
DISPLAY, CONNECTED, DISCONNECTED = "/sys/kernel/config/vkms/away", 1, 2
MAKE_DISPLAY = f"""
mkdir {DISPLAY} && cd {DISPLAY} && mkdir planes/a planes/b planes/c crtcs/crtc encoders/encoder connectors/plug &&
echo 1 > planes/a/type && for plane in a b c; do ln -s crtcs/crtc planes/$plane/possible_crtcs/ || exit 1; done &&
ln -s crtcs/crtc encoders/encoder/possible_crtcs/ && ln -s encoders/encoder connectors/plug/possible_encoders/ &&
echo 1 > crtcs/crtc/writeback && echo {DISCONNECTED} > connectors/plug/status && echo 1 > enabled
"""
# Whoever opens a card first is its master.
HOLDER = "import os, time; os.open('/dev/dri/card1', os.O_RDWR); time.sleep(60)"
TOLD_S, BACK_S = 5, 6
CARD_DB_MAX, CAMERA_DB_MIN = 15, 26
VIDEO = (102, 103)
# Packets in 1.5 s, of 75 of sound; the camera's picture stands still. On a busy machine some are late.
SOUND = 45
CARD, MOVING = (1, 8), (3, 600)


class Away:
    """The kiosk, and a table of faults and what came of them."""

    def __init__(self, context):
        self.context, self.bench = context, bench(context)
        self.bench.must(MAKE_DISPLAY)
        self.authorities = faults.prepare(self.bench)
        self.witness = Witness(self.bench, self.bench.kiosk, faults.FAULT_LAMP)
        self.started = 0, self.witness.ear.mark(), time.monotonic()
        self.kiosk = self.bench.ready({"display.connector": "Virtual-2", **faults.SETTINGS}, faults.ARGUMENTS)

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
        """The call stands, sound goes out, and about so many packets of pictures a second (a range)."""
        if self.kiosk.status().get("state") != "connected":
            raise Failed(self.kiosk.status().get("state"), "the call did not go on")
        mark = self.bench.wire.mark()
        time.sleep(1.5)
        types = [packet.payload[1] & 0x7F for packet in self.bench.wire.rtp(GUEST, None, mark)]
        sound, seen = sum(type not in VIDEO for type in types), sum(type in VIDEO for type in types)
        if sound < SOUND or not pictures[0] <= seen <= pictures[1]:
            raise Failed(f"{sound} of sound, {seen} of pictures", f"packets in 1.5 s; pictures should be {pictures}")
        return f"the call goes on: {sound} packets of sound, {seen} of pictures in 1.5 s"

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

    def fault(self, name, when, families, break_it, mend, during=None, sound=True):
        """`during` says what goes on without it; idle, that is the next press."""
        moment = self.witness.moment()
        break_it()
        told = self.witness.stands(moment, families, sound)
        result = (during or self.witness.press_calls)()
        mark = self.kiosk.mark()
        mend()
        return self.row(name, when, told, result, self.back(families, mark))


# The story


def told_at_start(away):
    """No display at boot: the kiosk says so and calls; the display comes in the call, with its picture."""
    kiosk = away.kiosk
    told = away.witness.stands(away.started, ["display"])
    call, _ = kiosk.call()
    kiosk.wait_event("first_sound", since=call, limit_s=5)
    away.goes_on(MOVING)
    mark, since = kiosk.mark(), time.monotonic()
    away.plug(CONNECTED)
    back = away.back(["display"], mark)
    kiosk.wait_event("first_frame", since=call, limit_s=8)
    picture = time.monotonic() - since
    away.row("display absent", "start, call", told, f"the far end's picture {picture:.1f} s after the plug", back)
    return f"told at start; plugged in in a call: picture after {picture:.1f} s"


def display_in_a_call(away):
    away.in_call()

    def during():
        return away.goes_on(MOVING)

    return away.fault("display unplugged", "call", ["display"], lambda: away.plug(DISCONNECTED),
                      lambda: away.plug(CONNECTED), during)


def camera_in_a_call(away):
    away.in_call()

    def during():
        done = away.goes_on(CARD)
        away.sees("card", 0, CARD_DB_MAX)
        return f"{done}; the far end sees the card"

    result = away.fault("camera pulled", "call", ["camera"], lambda: away.driver("vivid", "vivid.0", "unbind"),
                        away.mend_camera, during)
    time.sleep(1)
    away.sees("camera", CAMERA_DB_MIN, 99)
    return result


def sound_in_a_call(away):
    away.in_call()

    def during():
        return away.goes_on(MOVING)

    mark = away.kiosk.mark()
    result = away.fault("sound card pulled", "call", ["playback", "capture"], away.break_sound, away.mend_sound, during,
                        sound=False)
    away.kiosk.hang_up()
    away.kiosk.idle()
    if away.kiosk.find("call", mark, state="ended")[0].get("reason") != "hangup":
        raise Failed("ended", "the call was not ended by hook")
    return result


def idle(away):
    """All of them between calls, one after the other, and the next press."""
    results = [
        away.fault("camera pulled", "idle", ["camera"], lambda: away.driver("vivid", "vivid.0", "unbind"),
                   away.mend_camera),
        away.fault("sound card pulled", "idle", ["playback", "capture"], away.break_sound, away.mend_sound,
                   sound=False),
        # Last: a device alarms every ten seconds at most, and this one has done so in the call before.
        away.fault("display unplugged", "idle", ["display"], lambda: away.plug(DISCONNECTED),
                   lambda: away.plug(CONNECTED))]
    away.calls()
    return "; ".join(results)


def held(away):
    """Another program takes the display while it is unplugged: it is named."""
    board, kiosk = away.bench.board, away.kiosk
    moment = away.witness.moment()
    away.plug(DISCONNECTED)
    _, code, lamp, sound, _ = away.witness.stands(moment, ["display"])
    holder = board.spawn(f'exec python3 -c "{HOLDER}"', log="holder.log")
    time.sleep(0.5)
    mark, since = kiosk.mark(), time.monotonic()
    away.plug(CONNECTED)
    event = kiosk.wait_event("fault", since=mark, limit_s=TOLD_S, device="display")
    took = time.monotonic() - since
    if "python3" not in event["text"]:
        raise Failed(event["text"], "the program that has the display is not named")
    away.calls()
    mark = kiosk.mark()
    board.terminate(holder)
    return away.row("display held by a program", "idle", (took, code, lamp, sound, event["text"]),
                    "the next press works", away.back(["display"], mark))


def pause(away):
    """Paused in a call, which goes on; then nobody is called and nobody gets in; then all is as before."""
    kiosk, bench_ = away.kiosk, away.bench
    away.in_call()
    kiosk.tell("pause")
    away.goes_on(MOVING)
    mark = kiosk.mark()
    kiosk.hang_up()
    kiosk.wait_event("lamp", since=mark, limit_s=2, pattern="fast")
    mark = kiosk.mark()
    kiosk.press("call")
    kiosk.wait_event("refused", since=mark, limit_s=2, reason="paused")
    wire = bench_.wire.mark()
    bench_.current_peer.dial(f"sip:callbox@{GUEST}")
    if not bench_.wire.wait_sip("SIP/2.0 480", GUEST, 3, since=wire):
        raise Failed("no 480", "a caller is not told that the kiosk is out of service")
    kiosk.tell("resume")
    away.calls()
    return "480, said, goes on"


def power(away):
    """The supply fails in a call, which goes on with sound; the far end sees the card, and then the camera again."""
    board, kiosk = away.bench.board, away.kiosk
    away.in_call()
    moment = away.witness.moment()
    board.press("spare-1", None)
    kiosk.wait_event("power", since=moment[0], limit_s=TOLD_S, failing=True)
    told = away.witness.stands(moment, ["supply"])
    result = away.goes_on(CARD)
    away.sees("low-power", 0, CARD_DB_MAX)
    lit = (kiosk.screenshot(away.context.folder / "low-power-screen.png") > 40).mean()
    if lit > 0.15:
        raise Failed(f"{lit:.0%} lit", "the screen is to be dark but for a few words")
    mark, since = kiosk.mark(), time.monotonic()
    board.release("spare-1")
    kiosk.wait_event("power", since=mark, limit_s=TOLD_S, failing=False)
    back = time.monotonic() - since
    time.sleep(1)
    away.sees("camera", CAMERA_DB_MIN, 99)
    kiosk.hang_up()
    return away.row("the supply fails", "call", told, result, back)


def clock(away):
    """Timers are the monotonic clock's; only certificates and the log know of days."""
    kiosk = away.kiosk
    away.in_call()
    mark = kiosk.mark()
    for jump in ("+75 years", "-125 years"):
        away.bench.must(f"date -s '{jump}'")
        away.goes_on(MOVING)
    away.bench.must("date -s '+50 years'")
    moved = [event for event in kiosk.events[mark:] if event["event"] not in ("stats",)]
    if moved:
        raise Failed(f"{moved[0]}", "something happened in the kiosk because the clock was set")
    kiosk.hang_up()
    away.calls()
    return "the call goes on, the next one works"


# A device alarms at most every ten seconds: none fails twice in a row.
STORY = {"away/boot": told_at_start, "away/camera": camera_in_a_call, "away/sound": sound_in_a_call,
         "away/display": display_in_a_call, "away/pause": pause, "away/idle": idle, "away/power": power,
         "away/clock": clock, "away/held": held, **faults_table.PARTS}


def play(context):
    """All of it, once: {name: its figure, or what went wrong}."""
    bench(context).peer()
    away, results = Away(context), {}
    context.closing.callback(away.witness.ear.stop)
    for name, part in STORY.items():
        try:
            results[name] = part(away)
        except (Failed, OSError) as fault:
            results[name] = fault if isinstance(fault, Failed) else Failed(type(fault).__name__, str(fault))
            context.log(name, fault)
            try:
                away.recover()
            except Failed as other:
                context.log("not mended", other)
    return results


for _name in STORY:
    @check(_name)
    def part(context, name=_name):
        result = context.once("devices away", lambda: play(context)).get(name)
        if name == faults_table.TABLE:
            context.log("\n" + (context.folder / "faults.txt").read_text())
        if isinstance(result, Failed):
            raise result
        return result
