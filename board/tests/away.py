# SPDX-License-Identifier: Apache-2.0
"""Devices that go away and come back, between calls and in one: what the person at the panel is told, and what goes on.

One kiosk, started without its display, goes through all of it; each check tells of a part.
"""

import time

from measure import image
from tests.bench import VIVID_PATTERN, bench
from tests.kiosk import GUEST
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
        self.context, self.bench, self.rows = context, bench(context), []
        self.bench.must(MAKE_DISPLAY)
        self.kiosk = self.bench.ready({"display.connector": "Virtual-2", "input.power.line": "spare-1"})

    def plug(self, status):
        self.bench.must(f"echo {status} > {DISPLAY}/connectors/plug/status")

    def driver(self, driver, device, verb):
        # Unbinding a sound card ends when all who have it open have let go of it.
        self.bench.board.sh(f"echo {device} > /sys/bus/platform/drivers/{driver}/{verb}", timeout=8)

    # What is seen and heard

    def told(self, families, mark, since):
        """Each of the families was told of in time: sentence in the log and on the screen's data, lamp, tone."""
        events = [self.kiosk.wait_event("fault", since=mark, limit_s=TOLD_S, device=family) for family in families]
        took = time.monotonic() - since
        self.kiosk.wait_event("lamp", since=mark, limit_s=1, pattern="fast")
        banner = " ".join(self.kiosk.status().get("faults", {}).values())
        for event in events:
            if event["text"] not in banner:
                raise Failed("not shown", f"{event['text']!r} is not among the faults that stand: {banner!r}")
        return took, "; ".join(event["text"] for event in events)

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
        self.bench.board.release("spare-1")
        self.mend_camera()
        self.driver("snd_aloop", "snd_aloop.0", "bind")
        self.kiosk.tell("resume")
        self.kiosk.tell("hangup")
        self.kiosk.idle(12)

    def row(self, fault, when, told, back, result):
        took, sentence = told
        self.rows.append((fault, when, f"{took:.1f} s", f"{back:.1f} s", result, sentence))
        return f"told in {took:.1f} s, back in {back:.1f} s"

    def fault(self, name, when, families, break_it, mend, during=lambda: "the next press works"):
        mark, since = self.kiosk.mark(), time.monotonic()
        break_it()
        told = self.told(families, mark, since)
        result = during()
        mark = self.kiosk.mark()
        mend()
        return self.row(name, when, told, self.back(families, mark), result)


# The story


def told_at_start(away):
    """No display at boot: the kiosk says so and calls; the display comes in the call, with its picture."""
    kiosk = away.kiosk
    event = kiosk.wait_event("fault", device="display")
    call, _ = kiosk.call()
    kiosk.wait_event("first_sound", since=call, limit_s=5)
    away.goes_on(MOVING)
    mark, since = kiosk.mark(), time.monotonic()
    away.plug(CONNECTED)
    back = away.back(["display"], mark)
    kiosk.wait_event("first_frame", since=call, limit_s=8)
    picture = time.monotonic() - since
    away.rows.append(("display absent at boot", "start, call", "at start", f"{back:.1f} s",
                      f"the far end's picture {picture:.1f} s after the plug", event["text"]))
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
    result = away.fault("sound card pulled", "call", ["playback", "capture"], away.break_sound, away.mend_sound, during)
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
        away.fault("sound card pulled", "idle", ["playback", "capture"], away.break_sound, away.mend_sound),
        # Last: a device alarms every ten seconds at most, and this one has done so in the call before.
        away.fault("display unplugged", "idle", ["display"], lambda: away.plug(DISCONNECTED),
                   lambda: away.plug(CONNECTED))]
    away.calls()
    return "; ".join(results)


def held(away):
    """Another program takes the display while it is unplugged: it is named."""
    board, kiosk = away.bench.board, away.kiosk
    mark = kiosk.mark()
    away.plug(DISCONNECTED)
    kiosk.wait_event("fault", since=mark, limit_s=TOLD_S, device="display")
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
    return away.row("display held by a program", "idle, call", (took, event["text"]), away.back(["display"], mark),
                    "the next press works")


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
    mark, since = kiosk.mark(), time.monotonic()
    board.press("spare-1", None)
    kiosk.wait_event("power", since=mark, limit_s=TOLD_S, failing=True)
    took = time.monotonic() - since
    kiosk.wait_event("lamp", since=mark, limit_s=1, pattern="fast")
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
    return away.row("the supply fails", "call", (took, "a card on the screen"), back, result)


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
         "away/clock": clock, "away/held": held}


def play(context):
    """All of it, once: {name: its figure, or what went wrong}."""
    bench(context).peer()
    away, results = Away(context), {}
    for name, part in STORY.items():
        try:
            results[name] = part(away)
        except Failed as fault:
            results[name] = fault
            try:
                away.recover()
            except Failed as other:
                context.log("not mended", other)
    widths = [max(len(row[column]) for row in away.rows) for column in range(5)] if away.rows else []
    for row in away.rows:
        context.log("  ".join(text.ljust(width) for text, width in zip(row, [*widths, 0])))
    return results


for _name in STORY:
    @check(_name)
    def part(context, name=_name):
        result = context.once("devices away", lambda: play(context)).get(name)
        if isinstance(result, Failed):
            raise result
        return result
