# SPDX-License-Identifier: Apache-2.0
"""Updates of the virtual board's image, good and bad, and cuts of its power. The checks build on one another, in the
table's order: what was installed by one runs in the next."""

import contextlib
import json
import os
import random
import socket
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from machine import card as cards
from machine.wire import BOARD as KIOSK
from machine.wire import HERE
from tests.runner import Failed, check
from tests.trial import CONFIGURATION, START_S, Trial, made

LIMIT_S = 1500
SLOTS = "/usr/lib/callbox/slots"
# What is written while the power goes: calls, data, and a file of the boot partition.
WRITES = ("while :; do callbox call sip:nobody@10.77.0.9; dd if=/dev/urandom of=/data/cut bs=64k count=9;"
          " cp /boot/callbox/callbox.conf /boot/callbox/cut.tmp; mv /boot/callbox/cut.tmp /boot/callbox/cut; done")
# One cut in so many is made while an update is written.
UPDATE_EACH = 5


def tried(context):
    """A board that is ready, with three bundles on its boot partition: one cut short, a stranger's, and a good one."""

    def make():
        good = made(context, "raucb")
        files = {"new.raucb": good.read_bytes(), "half.raucb": good.read_bytes()[:1 << 20]}
        trial = context.keep(Trial(context, files=files))
        key, certificate = trial.folder / "strange.key", trial.folder / "strange.pem"
        context.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj",
                    "/CN=callbox development", "-keyout", key, "-out", certificate)
        strange = cards.bundle(good, trial.folder, "strange", small_slot, (key, certificate))
        trial.card.write("strange.raucb", strange.read_bytes())
        trial.power_on().wait_good(START_S)
        return trial

    return context.once("board", make)


def small_slot(tree):
    """Who signed it is what counts: a slot of a few bytes is enough, of those that no compression makes less."""
    (tree / "slot.img").write_bytes(os.urandom(65536))


@check("image-more/refused", limit_s=LIMIT_S)
def refused(context):
    """Half a bundle, and one that somebody else signed: neither is installed, and the slots stay as they are."""
    machine = tried(context).machine
    before = machine.shell(f"{SLOTS} show")
    for name in ("half", "strange"):
        context.log(machine.shell(f"! callbox update /boot/callbox/{name}.raucb", 120))
        context.log(machine.shell(f"! rauc install /boot/callbox/{name}.raucb", 120))
    if machine.shell(f"{SLOTS} show") != before:
        raise Failed("changed", "a refused bundle changed the order of the slots")
    machine.shell("rm /boot/callbox/half.raucb /boot/callbox/strange.raucb; sync")
    return "both"


@check("image-more/login")
def login(context):
    """Nobody can log in; with a key in callbox.conf its owner can, and nobody else."""
    machine = tried(context).machine
    machine.shell("! dbclient -y -p 22 root@127.0.0.1 true </dev/null; for k in own other; do"
                  " dropbearkey -t ed25519 -f /run/$k; done; cp /boot/callbox/callbox.conf /run/conf;"
                  " (echo [network]; echo ssh_key = $(dropbearkey -y -f /run/own | grep ^ssh-))"
                  " >>/boot/callbox/callbox.conf; systemctl restart callbox-network; systemctl start callbox-login",
                  120)
    text = machine.shell("dbclient -y -i /run/own root@127.0.0.1 'id -un; pwd' </dev/null;"
                         " ! dbclient -y -i /run/other root@127.0.0.1 id </dev/null", 120)
    context.log(text)
    with socket.create_connection((KIOSK, 22), timeout=30) as outside:
        banner = outside.recv(64).decode(errors="replace").split("\r")[0]
    machine.shell("systemctl stop callbox-login; cp /run/conf /boot/callbox/callbox.conf;"
                  " systemctl restart callbox-network", 60)
    if "root\n" not in text or not banner.startswith("SSH-2.0"):
        raise Failed(banner, f"the key's owner got: {text[-200:]}")
    return banner


@check("image-more/update", limit_s=LIMIT_S)
def update(context):
    """The timer's service finds the bundle beside callbox.conf; the other slot starts, is found good, and has the same
    settings. It does not install that bundle again."""
    trial = tried(context)
    machine = trial.machine
    machine.installs("systemctl start --no-block callbox-update.service", "callbox: slot B, order B A", 600)
    machine.wait_good(START_S)
    state = machine.shell(f"{SLOTS} show; cat /proc/cmdline; grep -c peer@ /boot/callbox/callbox.conf")
    context.log(state)
    context.log(machine.shell("systemctl start callbox-update; journalctl -b --no-pager -u callbox-update", 240))
    again = machine.shell(f"{SLOTS} show")
    if "rauc.slot=B" not in state or "left_B=3" not in state or not state.endswith("\n1") or "order=B A" not in again:
        raise Failed("not so", f"the new slot does not run, is not good, or the settings are gone: {state[-200:]}")
    return "slot B"


class Ranges(SimpleHTTPRequestHandler):
    """Files of a folder, in the pieces that RAUC asks for (RFC 9110, 14.2)."""

    def do_GET(self):
        with open(self.translate_path(self.path), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            words = self.headers.get("Range", "").removeprefix("bytes=").split("-")
            first, last = int(words[0] or 0), int(words[-1] or size - 1)
            self.send_response(206 if "Range" in self.headers else 200)
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            self.send_header("Content-Length", str(last - first + 1))
            self.end_headers()
            file.seek(first)
            self.wfile.write(file.read(last - first + 1))

    def log_message(self, *_):
        """Nobody reads them."""


@contextlib.contextmanager
def offered(folder):
    """The files of a folder on the cable; the URL of the folder."""
    with ThreadingHTTPServer((HERE, 8000), lambda *words: Ranges(*words, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{HERE}:8000"
        server.shutdown()


@check("image-more/rollback", limit_s=LIMIT_S)
def rollback(context):
    """An update from an address in the network that cannot start: after three tries the former slot is back."""
    trial = tried(context)
    machine, bad = trial.machine, cards.bundle(made(context, "raucb"), trial.folder, "bad", spoilt_root)
    former = machine.shell(f"{SLOTS} get-current")
    other = "A" if former == "B" else "B"
    with offered(trial.folder) as address:
        machine.installs(f"callbox update {address}/{bad.name} &", f"callbox: slot {other}, ", 600)
    tries = rf"callbox: slot {other}, (.|\n)*" * 3
    machine.wait_said(rf"{tries}callbox: slot {former}, ", 400, machine.since)
    machine.wait_ready(START_S)
    return f"slot {former} again after three tries"


def spoilt_root(tree):
    """The root's own header is gone."""
    with open(tree / "slot.img", "rb+") as file:
        data = file.read(64 << 20)
        file.seek(data.index(b"hsqs"))
        file.write(bytes(4096))


@check("image-more/cuts", limit_s=12 * 3600)
def cuts(context):
    """The power goes at random moments of a start, of an update, or while files are written: each start is whole."""
    trial = tried(context)
    count = int(os.environ.get("CALLBOX_CUTS", "2"))
    seed = int(os.environ.get("CALLBOX_SEED", str(random.randrange(1 << 32))))
    moments = random.Random(seed)
    context.log(f"seed {seed}")
    for number in range(count):
        machine, is_update = trial.power_on(), number % UPDATE_EACH == UPDATE_EACH - 1
        if is_update or moments.random() < 0.5:
            whole(context, trial, f"before cut {number + 1} of seed {seed}")
            writing = "rauc install /boot/callbox/new.raucb" if is_update else WRITES
            machine.shell(f"({writing}) >/dev/null 2>&1 &")
            time.sleep(moments.uniform(0, 60 if is_update else 15))
        else:
            machine.wait_said("Starting kernel", 240)
            time.sleep(moments.uniform(0, 60))
        trial.power_off()
    trial.power_on()
    whole(context, trial, f"after {count} cuts of seed {seed}")
    return f"{count} cuts, {count // UPDATE_EACH} of them in an update"


def whole(context, trial, when):
    """The board comes up, and its settings and its list of calls are what they were."""
    machine = trial.machine
    machine.wait_ready(START_S)
    text = machine.shell("cat /boot/callbox/callbox.conf; echo --; cat /data/callbox/calls.jsonl || :; echo --;"
                         f" cat /run/callbox-boot; {SLOTS} show; cat /proc/cmdline", may_fail=True)
    context.log(when, text[-400:])
    settings, calls, state = text.split("--\n", 2)
    if settings.strip() != CONFIGURATION.strip() or "lost" in state or "data-none" in state:
        raise Failed(when, f"settings or data are not whole: {settings[:100]} {state[:100]}")
    for line in filter(None, calls.split("\n")):
        json.loads(line)
