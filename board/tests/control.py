# SPDX-License-Identifier: Apache-2.0
"""The control socket and the command line: what an installer and another program use."""

import json
import time

from tests.bench import bench, wait_until
from tests.kiosk import BINARY, CONTROL, PEER
from tests.runner import Failed, check

GOOD_KEYS = ("state", "counters", "fds", "threads", "rss_kb", "framebuffers")
BAD_CONFIG = "\r\n".join([
    "# a file with seven mistakes", "[call]", "uri = peer at somewhere", "incomming = answer", "[colour]", "red = 1",
    "[button.call]", "line = 17", "[camera]", "size = huge", "device = 0", "[sip]", "transport = pigeon", ""])
# Line numbers of its mistakes, from 1.
BAD_LINES = {3, 4, 5, 8, 10, 11, 13}


@check("board/control-call")
def control_call(context):
    b = bench(context)
    b.peer()
    kiosk = b.ready()
    mark = kiosk.mark()
    for words in (("call",), ("call", f"sip:peer@{PEER}")):
        code, answer = kiosk.command(*words)
        if code != 0:
            raise Failed(f"exit {code}", f"callbox {' '.join(words)}: {answer}")
        kiosk.wait_event("call", since=mark, state="connected")
        state = kiosk.status().get("state")
        if state != "connected":
            raise Failed(f"{state}", "status does not say connected in a call")
        kiosk.command("hangup")
        kiosk.wait_event("call", since=mark, state="ended")
        mark = kiosk.mark()
    return "call, call URI, hangup, status"


@check("board/control-press")
def control_press(context):
    b = bench(context)
    b.peer()
    kiosk = b.ready()
    mark = kiosk.mark()
    for word, event, fields in (("call", "call", {"state": "connected"}), ("mute", "mute", {"on": True}),
                                ("mute", "mute", {"on": False}), ("video", "video", {"on": False}),
                                ("video", "video", {"on": True}), ("hook", "call", {"state": "ended"})):
        code, answer = kiosk.command("press", word)
        if code != 0:
            raise Failed(f"exit {code}", f"callbox press {word}: {answer}")
        kiosk.wait_event(event, since=mark, **fields)
        mark = kiosk.mark()
        kiosk.command("release", word)
    return "call, mute, video, hook"


@check("board/control-status")
def status(context):
    answer = bench(context).ready().status()
    missing = [key for key in GOOD_KEYS if key not in answer]
    if missing:
        raise Failed(f"{len(missing)} missing", ", ".join(missing))
    return f"{answer['state']}, {answer['fds']} descriptors, {answer['threads']} threads, {answer['rss_kb']} KiB"


@check("board/control-events")
def events(context):
    """`callbox events` prints each event as one JSON object a line, with its name and its time."""
    b = bench(context)
    b.peer()
    kiosk = b.ready()
    log = b.board.share / "events.log"
    log.unlink(missing_ok=True)
    listener = b.board.spawn(f"exec {BINARY} events", log="events.log")
    time.sleep(0.4)
    kiosk.call()
    kiosk.hang_up()
    wait_until(lambda: b'"ended"' in log.read_bytes(), 3, "the event of the call's end")
    b.board.terminate(listener, 2)
    entries = [json.loads(line) for line in log.read_text().splitlines() if line.strip()]
    states = [entry.get("state") for entry in entries if entry.get("event") == "call"]
    if any("event" not in entry or not isinstance(entry.get("t"), (int, float)) for entry in entries):
        raise Failed(f"{len(entries)} events", "one has no name or no time")
    if states[0] != "dialling" or "connected" not in states or states[-1] != "ended":
        raise Failed(f"{states}", "the call's states are not all there")
    times = [entry["t"] for entry in entries]
    if times != sorted(times):
        raise Failed("out of order", "times go back")
    return f"{len(entries)} events"


@check("board/control-nonsense")
def nonsense(context):
    """Words nobody knows, bytes that are no words, a line without end: refused, and the kiosk lives."""
    b = bench(context)
    kiosk = b.ready()
    code, answer = kiosk.command("press", "doorbell")
    if code == 0:
        raise Failed("exit 0", f"callbox press doorbell: {answer}")
    for stuff in (r"\377\376\000\001\n", "fly me\\n", "call " + "x" * 3000 + "\\n", "status", "press \\n"):
        b.board.sh(f"printf '{stuff}' | timeout 2 socat -t1 - UNIX-CONNECT:{CONTROL}", timeout=6)
    b.board.sh(f"head -c 3000000 /dev/zero | timeout 3 socat -t1 -u - UNIX-CONNECT:{CONTROL}", timeout=8)
    if not kiosk.alive():
        raise Failed("ended", f"callbox is gone: {kiosk.tail()}")
    return kiosk.status()["state"]


@check("board/check-bad-file")
def check_bad(context):
    """`callbox check` names the line of every mistake, and the key that was meant."""
    b = bench(context)
    (b.board.share / "bad.conf").write_bytes(BAD_CONFIG.encode())
    code, text = b.board.sh(f"{BINARY} check /share/bad.conf")
    context.log(text)
    if code != 1:
        raise Failed(f"exit {code}", "1 was expected")
    lines = [line for line in text.splitlines() if line.strip()]
    unnamed = [number for number in BAD_LINES if not any(f"{number}" in line.split(" ")[0] or f"line {number}" in line
                                                         or f":{number}:" in line for line in lines)]
    if unnamed:
        raise Failed(f"{len(unnamed)} unnamed", f"the mistakes in lines {sorted(unnamed)} are not told")
    if not any("incoming" in line for line in lines if "incomming" in line):
        raise Failed("no hint", "the nearest known key is not named for `incomming`")
    return f"{len(lines)} lines"


@check("board/check-good-file")
def check_good(context):
    b = bench(context)
    code, text = b.board.sh(f"{BINARY} check /boot/callbox/callbox.conf")
    if code != 0:
        raise Failed(f"exit {code}", text.strip()[:160])
    return "exit 0"


@check("board/run-with-bad-file")
def run_bad(context):
    """A file full of mistakes: the kiosk starts, tells each, shows the first, and calls what it is told to."""
    b = bench(context)
    b.peer()
    good = b.ready().screenshot(context.folder / "good.png")
    b.kiosk_options = None
    b.kiosk.start(text=BAD_CONFIG, wait=None)
    b.kiosk.wait_event("ready", limit_s=8)
    problems = {entry.get("line") for entry in b.kiosk.find("problem")}
    if not BAD_LINES <= problems:
        raise Failed(f"{sorted(problems)}", f"problems in lines {sorted(BAD_LINES)} were expected")
    time.sleep(0.5)
    bad = b.kiosk.screenshot(context.folder / "bad.png")
    if bad.shape == good.shape and not (bad != good).any():
        raise Failed("not shown", "the screen looks as with a good file")
    mark = b.kiosk.mark()
    b.kiosk.command("call", f"sip:peer@{PEER}")
    b.kiosk.wait_event("call", since=mark, state="connected")
    b.kiosk.command("hangup")
    b.kiosk.wait_event("call", since=mark, state="ended")
    return f"{len(problems)} problems told"


@check("board/reload-restart")
def reload_restart(context):
    """Devices are closed and opened anew: none is lost, nothing stays open, and the next press works."""
    b = bench(context)
    b.peer()
    b.kiosk_options = None
    b.kiosk.start()
    kiosk, before = b.kiosk, b.kiosk.status()
    changes = {"display.remote": "fill", "camera.fps": "15", "button.call.debounce": "30"}
    (b.board.share / f"callbox-{kiosk.starts}.conf").write_text(kiosk.base.changed(changes))
    mark = kiosk.mark()
    code, answer = kiosk.command("reload")
    if code != 0:
        raise Failed(f"exit {code}", f"callbox reload: {answer}")
    if not kiosk.wait_event("reload", since=mark)["restart"]:
        raise Failed("in place", "the program was to begin anew")
    kiosk.wait_event("ready", since=mark)
    called, _ = kiosk.call()
    kiosk.wait_event("first_frame", since=called)
    kiosk.wait_event("first_sound", since=called)
    kiosk.hang_up()
    kiosk.idle()
    if faults := kiosk.find("fault", since=mark):
        raise Failed("fault", f"a device was lost: {faults[0]}")
    wait_until(lambda: kiosk.status()["fds"] <= before["fds"] + 1, 5, f"no more than {before['fds']} descriptors")
    return "a call with pictures"
