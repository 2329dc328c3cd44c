# SPDX-License-Identifier: Apache-2.0
"""Files that editors and bad cards make, what the kiosk writes down of itself, and what it says is wrong."""

import json
import re
import socket
import subprocess
import time

from peer import odd
from tests.desk import BINARY, PEER, Desk
from tests.runner import Failed, check

GOOD = f"[call]\nuri = sip:good@{PEER}\n[sip]\nlisten = 10.77.0.2:5060\n"
NEW = GOOD.replace("good@", "new@")
SECRET = "open-sesame-4711"
SILENT = 5082


class Owner(Desk):
    """A kiosk whose owner writes whole files, of any bytes and under any name. The far end is silent."""

    def __enter__(self):
        super().__enter__()
        silent = self.stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        silent.bind((PEER, 5060))
        return self

    def begin(self, files, arguments=()):
        """Starts with {name: bytes} beside what the data folder already has. Returns milliseconds to `ready`."""
        self.stop()
        boot = self.folder / "boot"
        boot.mkdir(exist_ok=True)
        for old in boot.iterdir():
            old.unlink()
        for name, data in files.items():
            (boot / name).write_bytes(data)
        self.events, self._position, self._partial = [], 0, b""
        begin = time.monotonic()
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [*self.before, BINARY, "run", "--config", str(boot / "callbox.conf"), "--control", self.control,
                 "--data", str(self.folder / "data"),
                 *(arguments or ("--display", "null", "--camera", "none", "--audio", "null"))],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait_event("ready")
        return (time.monotonic() - begin) * 1000

    def called(self):
        """The user part of whom a press calls."""
        mark = self.mark()
        self.press("call")
        uri = self.wait_event("call", since=mark, state="dialling", limit_s=2)["uri"]
        self.must("hangup")
        self.ended("cancelled", since=mark)
        return uri.removeprefix("sip:").split("@")[0]

    def problems(self):
        return [event["fault_code"] for event in self.find("problem")]

    def report(self, limit_s=4):
        path, until = self.folder / "boot" / "callbox-report.txt", time.monotonic() + limit_s
        while not path.exists():
            if time.monotonic() > until:
                raise Failed("no report", f"nothing at {path} after {limit_s} s")
            time.sleep(0.05)
        return path.read_bytes().decode()

    def run(self, *words):
        """(exit status, lines) of `callbox WORDS`."""
        done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=20, check=False)
        return done.returncode, done.stdout.splitlines()


def text(data, end="\n", encoding="utf-8", mark=b""):
    return mark + data.replace("\n", end).encode(encoding)


SMART = NEW.replace("sip:new", "\u201csip:new").replace(f"@{PEER}", f"@{PEER}\u201d").replace(" = ", "\u00a0=\u00a0")
# What editors and systems make of a good file: no problem, and the new address is called.
FROM_EDITORS = {
    "crlf": {"callbox.conf": text(NEW, "\r\n")},
    "cr": {"callbox.conf": text(NEW, "\r")},
    "bom": {"callbox.conf": text(NEW, "\r\n", mark=b"\xef\xbb\xbf")},
    "utf-16le": {"callbox.conf": text(NEW, "\r\n", "utf-16-le", b"\xff\xfe")},
    "utf-16be": {"callbox.conf": text(NEW, "\r\n", "utf-16-be", b"\xfe\xff")},
    "quotes": {"callbox.conf": text(SMART)},
    "txt": {"callbox.conf.txt": text(NEW, "\r\n")},
    "capitals": {"CALLBOX.CONF": text(NEW)},
    "txt-beside-the-sample": {"callbox.conf": b"# nothing yet\n[call]\n#uri = sip:x\n", "callbox.conf.txt": text(NEW)},
    "no-end": {"callbox.conf": text(NEW.rstrip("\n"))},
}
# What is wrong: whom a press calls, and a code that is told.
BROKEN = {
    "missing": ({}, "good", "CB-CFG-FILE"),
    "empty": ({"callbox.conf": b""}, "good", "CB-CFG-URI"),
    "binary": ({"callbox.conf": bytes(range(256)) * 40}, "good", "CB-CFG-URI"),
    "zeros": ({"callbox.conf": bytes(4096)}, "good", "CB-CFG-LINE"),
    "10-mb": ({"callbox.conf": b"A" * 10_000_000}, "good", "CB-CFG-FILE"),
    "half": ({"callbox.conf": b"[call]\nuri"}, "good", "CB-CFG-LINE"),
    "twice": ({"callbox.conf": text(NEW + "[call]\nuri = sip:late@x\n")}, "new", "CB-CFG-TWICE"),
    "out-of-range": ({"callbox.conf": text(NEW + "[camera]\nfps = 9000\n")}, "new", "CB-CFG-VALUE"),
    "bad-address": ({"callbox.conf": b"[call]\nuri = help\n"}, "good", "CB-CFG-VALUE"),
    "two-files": ({"callbox.conf": text(NEW), "callbox.conf.txt": text(GOOD)}, "new", "CB-CFG-OPEN"),
}


@check("errors/editors")
def editors(context):
    with Owner(context.folder / "kiosk") as kiosk:
        for name, files in FROM_EDITORS.items():
            kiosk.begin({"callbox.conf": text(GOOD)} if name == "crlf" else files)
            kiosk.begin(files)
            called = kiosk.called()
            context.log(f"{name}: calls {called}, problems {kiosk.problems()}")
            if called != "new" or kiosk.problems():
                raise Failed(name, f"calls {called}, problems {kiosk.problems()}")
    return len(FROM_EDITORS)


@check("errors/broken-files")
def broken(context):
    """Each after a good file: the last good address is called, and what is wrong is told, also beside the file."""
    with Owner(context.folder / "kiosk") as kiosk:
        for name, (files, expected, code) in BROKEN.items():
            kiosk.begin({"callbox.conf": text(GOOD)})
            kiosk.begin(files)
            called, problems, report = kiosk.called(), kiosk.problems(), kiosk.report()
            context.log(f"{name}: calls {called}, {len(problems)} problems: {sorted(set(problems))}")
            if called != expected or code not in problems or code not in report:
                raise Failed(name, f"calls {called}, problems {problems[-4:]}, report {report[-200:]!r}")
    return len(BROKEN)


@check("errors/report")
def report(context):
    """Names what is wrong with line and value, and has no secret; is written anew only when it changes."""
    with Owner(context.folder / "kiosk") as kiosk:
        kiosk.begin({"callbox.conf": text(NEW + f"password = {SECRET}\n[call]\nring_timeout = soon\n")})
        said = kiosk.report()
        for part in ("line 7", "ring_timeout", "60 is used", "sip:new@", "10.77.0.2", "\r\n", "callbox "):
            if part not in said:
                raise Failed(f"no {part}", said[:300])
        path = kiosk.folder / "boot" / "callbox-report.txt"
        before = path.stat().st_mtime_ns
        kiosk.press("mute")
        time.sleep(1.5)
        if path.stat().st_mtime_ns != before:
            raise Failed("written again", "nothing has changed")
        left = [name.name for name in path.parent.iterdir()]
        if SECRET in said or sorted(left) != ["callbox-report.txt", "callbox.conf"]:
            raise Failed("a secret, or a file left behind", f"{left}: {said[:200]}")
    return "names line and value"


@check("errors/calls")
def calls(context):
    """1000 calls before, two more, a kiosk that is killed: nothing is lost, and the files are capped."""
    with Owner(context.folder / "kiosk") as kiosk:
        data = kiosk.folder / "data"
        data.mkdir(parents=True, exist_ok=True)
        (data / "calls.jsonl").write_text('{"uri":"old"}\n' * 999 + '{"uri":"to')
        kiosk.begin({"callbox.conf": text(NEW)})
        kiosk.called()
        kiosk.called()
        kiosk.process.kill()
        kiosk.process.wait()
        code, lines = kiosk.run("calls", "-n", "2", "--data", str(data))
        new = [json.loads(line) for line in lines]
        context.log(*lines)
        for record in new:
            if record.get("reason") != "cancelled" or record.get("button") != "call" or record.get("by") != "here":
                raise Failed("a record", str(record))
        older = (data / "calls.jsonl.1").read_text().splitlines()
        if code or len(new) != 2 or len(older) != 1000 or len((data / "calls.jsonl").read_text().splitlines()) != 2:
            raise Failed(f"{len(older)} older", f"exit {code}, {lines}")
    return "1002 calls"


@check("errors/log")
def log(context):
    """Four files of a megabyte at most, dated, without secrets; levels change while it runs."""
    with Owner(context.folder / "kiosk") as kiosk:
        data = kiosk.folder / "data"
        data.mkdir(parents=True, exist_ok=True)
        for name in ("callbox.log", "callbox.log.1", "callbox.log.2", "callbox.log.3"):
            (data / name).write_bytes(b"+1ms old\n" * (1024 * 1024 // 9))
        kiosk.begin({"callbox.conf": text(NEW + f"auth_user = gate\npassword = {SECRET}\n")})
        for _ in range(30):
            kiosk.press("mute")
        kiosk.must("log error panel")
        before = (data / "callbox.log").read_text().count('"button"')
        kiosk.press("mute")
        kiosk.must("log info")
        size = sum(path.stat().st_size for path in data.glob("callbox.log*"))
        newest = (data / "callbox.log").read_text()
        if len(list(data.glob("callbox.log*"))) != 4 or newest.count('"button"') != before or before < 30:
            raise Failed("lines", f"{before} before, {newest.count(chr(34) + 'button' + chr(34))} after")
        for line in newest.splitlines():
            if not re.match(r"(\+\d+ms|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|old) ", line) and line != "+1ms old":
                raise Failed("not dated", line[:100])
        kept = newest + kiosk.log_path.read_text() + kiosk.report() + "".join(kiosk.run("logs", "--data", str(data))[1])
        if SECRET in kept:
            raise Failed("a secret", "the password is in a log or in the report")
    return size / (1024 * 1024)


@check("errors/doctor")
def doctor(context):
    """Of a kiosk that lacks nothing, of one that lacks something, and where none runs."""
    with Owner(context.folder / "kiosk") as kiosk:
        kiosk.begin({"callbox.conf": text(NEW)})
        well = kiosk.run("doctor", "--control", kiosk.control)
        kiosk.begin({"callbox.conf": text(NEW + "[call]\nurl = x\n")},
                    ("--display", "HDMI-A-9", "--camera", "platform-nowhere", "--audio", "plughw:Nowhere"))
        kiosk.wait_event("fault", device="capture")
        ill = kiosk.run("doctor", "--control", kiosk.control)
        kiosk.stop()
        gone = kiosk.run("doctor", "--control", kiosk.control, "--config", str(kiosk.folder / "boot/callbox.conf"),
                         "--data", str(kiosk.folder / "data"), "--camera", "platform-nowhere")
        context.log(*well[1], *ill[1], *gone[1])
        if well != (0, ["Nothing is wrong."]):
            raise Failed("well", str(well))
        for code in ("CB-CFG-KEY", "CB-DSP-GONE", "CB-CAM-GONE", "CB-SPK-GONE", "CB-MIC-GONE"):
            if ill[0] != 1 or not any(line.startswith(code + ": ") for line in ill[1]):
                raise Failed(code, str(ill))
        for code in ("CB-CFG-KEY", "CB-CAM-GONE"):
            if gone[0] != 1 or not any(line.startswith(code + ": ") for line in gone[1]):
                raise Failed(code, str(gone))
    return "in sentences"


@check("errors/silence")
def silence(context):
    """Nobody is there, not even an ICMP error (RFC 3261, timers B and F). Figure: seconds until the call is over."""
    with Desk(context.folder / "kiosk") as kiosk, odd.Silent(port=SILENT) as silent:
        silent_one = f"sip:gate@{PEER}:{SILENT}"
        kiosk.start({"call.uri": silent_one, "account.uri": silent_one, "account.registrar": f"sip:{PEER}:{SILENT}"})
        begin = time.monotonic()
        kiosk.press("call")
        ended = kiosk.ended(limit_s=40)
        took, screen = time.monotonic() - begin, kiosk.status()["screen"]
        kiosk.wait_event("lamp", since=kiosk.events.index(ended), limit_s=1, name="call", pattern="fast")
        late = kiosk.wait_event("registration", fault_code="CB-REG-SILENT", limit_s=3)
        context.log(ended, screen, late)
        invites = sum(data.startswith(b"INVITE") for data in silent.swallowed)
        if invites != 7 or took < 31:
            raise Failed(f"{invites} INVITEs in {took:.1f} s", "due at 0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5 s, then over")
        if ended.get("fault_code") != "CB-NET-SILENT" or screen.get("detail") != ended["text"]:
            raise Failed(ended.get("fault_code"), f"CB-NET-SILENT {ended['text']!r} is not on the screen: {screen}")
        mark = kiosk.mark()
        kiosk.press("call")
        kiosk.wait_event("call", since=mark, state="dialling", limit_s=2)
    return took


@check("errors/start", again=())
def start(context):
    """No network, camera, display or sound card: the milliseconds to ready; each is named, and a press is answered."""
    with Owner(context.folder / "kiosk") as kiosk:
        kiosk.before = ["unshare", "--net"]
        took = kiosk.begin({"callbox.conf": text(NEW)}, ("--display", "HDMI-A-9", "--camera", "platform-nowhere",
                                                         "--audio", "plughw:Nowhere"))
        for device in ("display", "camera", "playback", "capture", "network"):
            fault = kiosk.wait_event("fault", device=device, limit_s=2)
            context.log(f"{device}: {fault['fault_code']} {fault['text']}")
        mark = kiosk.mark()
        kiosk.press("call")
        ended = kiosk.wait_event("call", since=mark, state="ended", limit_s=12)
        context.log(f"a press: {ended['fault_code']} {ended['text']}")
    return took
