# SPDX-License-Identifier: Apache-2.0
"""Devices that go away and come back, between calls and in one: what the person at the panel is told, and what goes on.

One kiosk, started without its display, goes through all of it; each check tells of a part.
"""

import contextlib
import signal
import time

from tests import faults, faults_table
from tests.bench import bench, wait_until
from tests.devices import (BACK_S, CAMERA_DB_MIN, CARD, CARD_DB_MAX, CONNECTED, DISCONNECTED, DISPLAY, MOVING, TOLD_S,
                           Away)
from tests.kiosk import GUEST
from tests.runner import Failed, check
from virtual.channel import BoardError

# Whoever opens a card first is its master.
HOLDER = "import os, time; os.open('/dev/dri/card1', os.O_RDWR); print('has it', flush=True); time.sleep(60)"
TOGGLES, ROUNDS, TOGGLE_S, GROWTH_KB_MAX = 50, 3, 0.015, 512
FORCED, OWN_SIZE = (1280, 720), (1024, 768)
# A fake of what the kernel tells of a camera on USB: this one is on none.
FAKE_USB, CLASS = "/tmp/usb", "/sys/class/video4linux"
MAKE_USB = f"""
node=$(basename "$(readlink -f "$CAMERA")") && mkdir -p {FAKE_USB}/1-1/1-1:1.0 {FAKE_USB}/class/$node &&
echo 1 > {FAKE_USB}/1-1/busnum &&
mkfifo {FAKE_USB}/1-1/authorized && ln -s {FAKE_USB}/1-1/1-1:1.0 {FAKE_USB}/class/$node/device &&
mount --bind {FAKE_USB}/class {CLASS}
"""
# A fake of the kernel's light behind a screen, which no board of QEMU has.
FAKE_CLASS, LIGHT = "/tmp/class", "/sys/class/backlight/panel"
MAKE_LIGHT = f"""
rm -rf {FAKE_CLASS}; cp -a /sys/class {FAKE_CLASS} && mkdir -p {FAKE_CLASS}/backlight/panel &&
mount --bind {FAKE_CLASS} /sys/class && echo 255 > {LIGHT}/max_brightness && echo 200 > {LIGHT}/brightness
"""
# Every try to have pictures fails until the port is reset; what is written to do so goes to the share.
STUCK = f"""
cat <> {FAKE_USB}/1-1/authorized >> /share/authorized &
until grep -q 1 /share/authorized; do
    v4l2-ctl -d "$CAMERA" -c "$FAULT"=1; FAULT=inject_vidioc_streamon_error; sleep 0.2
done
kill $!
"""


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


def camera_stuck(away):
    """A camera that fails whenever it is opened, in a call: its USB port is reset, and the picture is back."""
    board = away.bench.board
    away.in_call()
    away.bench.must(f"CAMERA={board.camera}; echo > /share/authorized; {MAKE_USB}")
    begin = f"CAMERA={board.camera} FAULT=inject_fatal_streaming_error; {STUCK}"
    try:
        result = away.fault("camera stuck on USB", "call", ["camera"], lambda: board.spawn(begin, log="stuck.log"),
                            during=lambda: away.goes_on(CARD))
    finally:
        board.sh(f"umount {CLASS}; rm -r {FAKE_USB}")
    written = (board.share / "authorized").read_text().split()
    if "".join(written) != "01":
        raise Failed(f"{written}", "the device was to be taken away once, and given back")
    if "its USB port 1-1 is reset" not in away.kiosk.log_path.read_text():
        raise Failed("not told", "the log does not tell of the reset")
    away.goes_on(MOVING)
    away.kiosk.hang_up()
    away.kiosk.idle()
    return f"{result}; the port was reset once"


def toggled(away):
    """A plug that comes and goes 150 times in a call and then without one: always back, nothing grows."""
    kiosk, results = away.kiosk, []
    for is_in_call in (True, False):
        if is_in_call:
            call, _ = kiosk.call()
            kiosk.wait_event("first_frame", since=call, limit_s=8)
        mark, counts = kiosk.mark(), [counted(away)]
        for _ in range(ROUNDS):
            toggle(away, TOGGLES)
            counts.append(counted(away))
        # What a plug leaves behind grows with each; what is made once does not.
        grown = [min(late - early for early, late in zip(row, row[1:])) for row in zip(*counts)]
        away_count = len(kiosk.find("restored", mark, device="display"))
        results.append(f"{away_count} times away, {counts[-1][2] - counts[0][2]} KiB more")
        if grown[0] > 0 or grown[1] > 0 or grown[2] > GROWTH_KB_MAX:
            raise Failed(f"{counts}", "descriptors, framebuffers or KiB are left behind by plugs")
        if is_in_call:
            away.goes_on(MOVING)
            kiosk.hang_up()
            kiosk.idle()
    away.calls()
    return "; ".join(results)


def counted(away):
    """(descriptors, framebuffers, KiB): the fewest in a second, for a picture that is drawn has one more."""
    samples = []
    for _ in range(5):
        status = away.kiosk.status()
        samples.append([status[key] for key in ("fds", "framebuffers", "rss_kb")])
        time.sleep(0.2)
    return [min(row) for row in zip(*samples)]


def toggle(away, count):
    """The plug goes and comes so often; the picture is back then."""
    # A pipe that never has anything: to start `sleep` would take a busy board much longer than the sleep itself.
    away.bench.must(f"exec 3<> <(:); for i in $(seq {count}); do for status in {DISCONNECTED} {CONNECTED}; do "
                    f"echo $status > {DISPLAY}/connectors/plug/status; read -rt {TOGGLE_S} -u 3; done; done; true", 60)
    until = time.monotonic() + BACK_S
    while away.kiosk.status().get("faults"):
        if time.monotonic() > until:
            raise Failed(f"{away.kiosk.status()['faults']}", "the display did not come back")
        time.sleep(0.2)
    away.kiosk.screenshot(away.context.folder / "toggled.png")


def forced(away):
    """A display that is not noticed is driven in the mode of the file; one that is noticed later, in its own."""
    away.plug(DISCONNECTED)
    mode = "x".join(str(pixels) for pixels in FORCED)
    kiosk = away.bench.ready({"display.connector": "Virtual-2", "display.force": f"{mode}@60"})
    screen_is(away, FORCED, 1)
    if kiosk.find("fault", device="display"):
        raise Failed("fault", "a display that is driven in any case is no fault")
    if f"no display is noticed at Virtual-2; it is driven all the same, with {mode}" not in kiosk.log_path.read_text():
        raise Failed("not told", "the log does not tell that nobody may see it")
    away.calls()
    away.plug(CONNECTED)
    screen_is(away, OWN_SIZE, TOLD_S)
    away.plug(DISCONNECTED)
    screen_is(away, FORCED, TOLD_S)
    away.plug(CONNECTED)
    return f"{mode}, then its own mode, then {mode}"


def screen_is(away, size, limit_s):
    until = time.monotonic() + limit_s
    while True:
        height, width = away.kiosk.screenshot(away.context.folder / "forced.png").shape[:2]
        if (width, height) == size:
            return
        if time.monotonic() > until:
            raise Failed(f"{width}x{height}", f"the screen was to be {size[0]}x{size[1]}")
        time.sleep(0.3)


def held(away):
    """Another program takes the display while it is unplugged: it is named."""
    board, kiosk = away.bench.board, away.kiosk
    _, (_, code, lamp, sound, _) = away.told(["display"], lambda: away.plug(DISCONNECTED),
                                             lambda: away.plug(CONNECTED))
    holder = board.spawn(f'exec python3 -c "{HOLDER}"', log="holder.log")
    wait_until(lambda: (board.share / "holder.log").read_text(), 5, "the program that takes the display")
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
    kiosk.push("call")
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
    moment = away.witness.moment(["supply"])
    board.press("spare-1", None)
    kiosk.wait_event("power", since=moment[0], limit_s=TOLD_S, failing=True)
    told = away.witness.stands(moment, ["supply"])
    result = away.goes_on(CARD)
    away.sees("low-power", 0, CARD_DB_MAX)
    screen = kiosk.screenshot(away.context.folder / "low-power-screen.png") > 40
    # Without the rows of the banner, which is as wide as the screen.
    lit = screen[~screen[:, 0].any(axis=-1)].mean()
    if lit > 0.15:
        raise Failed(f"{lit:.0%} lit", "the screen is to be dark but for the banner and a few words")
    mark, since = kiosk.mark(), time.monotonic()
    board.release("spare-1")
    kiosk.wait_event("power", since=mark, limit_s=TOLD_S, failing=False)
    back = time.monotonic() - since
    time.sleep(1)
    away.sees("camera", CAMERA_DB_MIN, 99)
    kiosk.hang_up()
    return away.row("the supply fails", "call", told, result, back)


def light(away):
    """The kiosk is killed while the supply fails: it dims the light behind the screen, and the next start mends it."""
    board, kiosk, must = away.bench.board, away.kiosk, away.bench.must

    def shines(brightness):
        wait_until(lambda: must(f"cat {LIGHT}/brightness").strip() == brightness, 3, f"a brightness of {brightness}")

    must(MAKE_LIGHT)
    try:
        board.press("spare-1", None)
        shines("51")
        board.release("spare-1")
        shines("200")
        board.press("spare-1", None)
        shines("51")
        wait_until(lambda: "200 51 panel" in must(f"cat {faults.SMALL}/brightness; true"), 3, "what it was, in a file")
        board.signal(kiosk.process, signal.SIGKILL)
        wait_until(lambda: not board.running(kiosk.process), 3, "the kiosk's end")
        board.release("spare-1")
        away.ready()
        shines("200")
    finally:
        board.release("spare-1")
        board.sh("umount /sys/class")
    away.calls()
    return "51 of 255, then 200 as before"


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


# Another part may leave a call standing in which the next one goes on; the same device does not fail twice in a row,
# for it alarms at most every ten seconds.
STORY = {"away/boot": told_at_start, "away/camera": camera_in_a_call, "away/sound": sound_in_a_call,
         "away/display": display_in_a_call, "away/pause": pause, "away/idle": idle, "away/power": power,
         "away/clock": clock, "away/stuck": camera_stuck, "away/held": held, **faults_table.PARTS,
         "away/toggled": toggled, "away/light": light, "away/start": faults.start, "away/fonts": faults.fonts,
         "away/forced": forced}
# They start the kiosk with other settings.
OTHERWISE = ("away/start", "away/fonts", "away/forced")


def begin(context):
    bench(context).peer()
    away = Away(context)
    context.closing.callback(away.witness.ear.stop)
    return away


def play(context, name):
    """One part, with the kiosk of the parts before it: its figure."""
    away = context.once("devices away", lambda: begin(context))
    # It may have crashed.
    away.bench.peer()
    away.played.add(name)
    if name not in OTHERWISE:
        away.ready()
    # It is not there at the start, for the first part.
    if name != "away/boot":
        away.plug(CONNECTED)
    try:
        return STORY[name](away)
    except Exception:
        with contextlib.suppress(Failed, BoardError):
            away.recover()
        raise


for _name in STORY:
    check(_name)(lambda context, name=_name: play(context, name))


@check(faults_table.TABLE)
def table(context):
    """Whatever was not played before is played now, but for what tells of no fault."""
    away = context.once("devices away", lambda: begin(context))
    for name in [name for name in STORY if name not in {*away.played, "away/toggled"}]:
        play(context, name)
    figure = faults_table.table(away)
    context.log("\n" + (context.folder / "faults.txt").read_text())
    return figure
