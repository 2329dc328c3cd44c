# SPDX-License-Identifier: Apache-2.0
"""The image of the virtual board: made by board/image, started by its boot loader in QEMU, called, updated, cut from
power. One start answers many questions: the checks build on one another, in the table's order."""

import json
import os
import random
import re
import socket
import time
from pathlib import Path

import numpy

from machine import card as cards
from machine.card import Card
from machine.qemu import Machine
from machine.wire import BOARD as KIOSK
from machine.wire import HERE, cable
from peer.baresip import Peer
from tests.runner import Failed, check
from tests.world import clip

BOARD_NAME = os.environ.get("CALLBOX_BOARD", "qemu-arm64")
TARGET = BOARD_NAME.split("-")[1]
CONFIGURATION = f"[call]\nuri = sip:peer@{HERE}\n[video]\nh264_licence = accepted\n"
# What is written while the power goes: calls, data, and a file of the boot partition.
WRITES = ("while :; do callbox call sip:nobody@10.77.0.9; dd if=/dev/urandom of=/data/cut bs=64k count=9;"
          " cp /boot/callbox/callbox.conf /boot/callbox/cut.tmp; mv /boot/callbox/cut.tmp /boot/callbox/cut; done")
# Software emulation on a busy machine is some thirty times slower than a board.
START_S = 400


class Trial:
    """The card, the machine that has it, and the far end."""

    def __init__(self, context):
        # Sockets have short names only.
        self.folder = Path(f"/tmp/callbox-image-{os.getpid()}")
        self.folder.mkdir(exist_ok=True)
        self.machine, self.starts = None, 0
        context.keep(cable(self.folder))
        self.loader = made(context, "u-boot.bin")
        self.card = Card(self.folder / "card.img", made(context, "img.xz"), 1024)
        self.card.write("callbox.conf", CONFIGURATION.encode())
        context.closing.callback(self.end)

    def power_on(self, **options):
        """The board starts; what is known once its shell answers."""
        self.power_off()
        self.starts += 1
        self.machine = Machine(self.folder / f"start{self.starts}", self.card.path, self.loader, TARGET, **options)
        self.machine.start()
        return self.machine

    def power_off(self):
        if self.machine:
            self.machine.cut()
        self.machine = None

    def end(self):
        self.power_off()
        self.card.path.unlink(missing_ok=True)


def made(context, ending):
    """What board/image made."""
    found = sorted((context.project / "build" / "images").glob(f"callbox-{BOARD_NAME}-*.{ending}"))
    if not found:
        raise Failed("not built", f"there is no build/images/callbox-{BOARD_NAME}-*.{ending}")
    return found[-1]


def running(context):
    """The trial with a board that is ready."""

    def make():
        trial = Trial(context)
        trial.power_on().wait_ready(START_S)
        return trial

    return context.once("board", make)


@check("image/size")
def size(context):
    return made(context, "img.xz").stat().st_size / 1e6


@check("image/root")
def root(context):
    """The file system that a slot gets, and the update carries."""
    listing = context.run("unsquashfs", "-lls", made(context, "raucb"))
    return int(re.search(r" (\d+) \S+ \S+ squashfs-root/slot.img", listing)[1]) / 1e6


@check("image/parts")
def parts(context):
    """Each package of the root is named with its version and where it comes from, and the image's sum is right."""
    document = json.loads(made(context, "spdx.json").read_text())
    packages = [one for one in document["packages"] if one["SPDXID"] != "SPDXRef-callbox"]
    lacking = [one["name"] for one in packages if not one["versionInfo"] or not one["externalRefs"]]
    names = {one["name"] for one in packages}
    if lacking or not {"systemd", "rauc", "libavcodec61", "busybox-static"} <= names:
        raise Failed(f"{len(packages)} packages", f"without version or purl: {lacking[:3]}, or some are missing")
    folder = context.project / "build" / "images"
    context.run("sha256sum", "--check", made(context, "img.xz.sha256").name, cwd=folder)
    return f"{len(packages)} packages"


@check("image/start", limit_s=1500)
def start(context):
    """How long the kiosk takes from its start by systemd until it is ready, and the kernel until then."""
    machine = running(context).machine
    shown = dict(line.split("=", 1) for line in machine.shell(
        "systemctl show callbox -p ExecMainStartTimestampMonotonic -p ActiveEnterTimestampMonotonic").split("\n")
        if "=" in line)
    begun, ready = (int(shown[f"{name}TimestampMonotonic"]) / 1e6 for name in ("ExecMainStart", "ActiveEnter"))
    context.log(machine.shell("systemd-analyze critical-chain callbox.service; systemd-analyze blame", 120, True))
    return f"kernel to ready {ready:.1f} s, of which the kiosk {ready - begun:.1f} s"


@check("image/page")
def page(context):
    """The idle page is on the screen: much of one dark colour, some writing, not the console."""
    machine = running(context).machine
    until = time.monotonic() + 60
    while True:
        picture = machine.screen()
        pixels = numpy.asarray(picture).reshape(-1, 3)
        colours, counts = numpy.unique(pixels, axis=0, return_counts=True)
        ground, share = colours[counts.argmax()], counts.max() / len(pixels)
        bright = (pixels.astype(int).sum(axis=1) > 500).mean()
        if 0.3 < share < 0.99 and len(colours) > 16 and bright > 0.005 and ground.any():
            break
        if time.monotonic() > until:
            raise Failed(f"{len(colours)} colours", f"no page: {share:.2f} of {ground}, bright {bright:.4f}")
        time.sleep(2)
    picture.save(context.folder / "page.png")
    return f"{picture.width}x{picture.height}, {len(colours)} colours"


@check("image/call")
def call(context):
    """A press, a call to a far end on the cable, sound from it and to it, the end."""
    trial = running(context)
    with Peer(Path(trial.folder) / "peer", clip(), HERE, 5060) as peer:
        trial.machine.shell(f"until ip -4 -o address | grep -q {KIOSK}/; do sleep 1; done", 120)
        trial.machine.shell("callbox press call", 60)
        peer.wait_event("CALL_ESTABLISHED", 60)
        begin = peer.heard_samples()
        time.sleep(6)
        heard = (peer.heard_samples() - begin) / 48000
        status = trial.machine.shell("callbox status", 60)
        trial.machine.screen("call.png").save(context.folder / "call.png")
        peer.hang_up()
        peer.wait_event("CALL_CLOSED", 30)
    context.log(status)
    if heard < 2:
        raise Failed(f"{heard:.1f} s of sound", "the far end heard hardly anything in 6 s")
    return f"{heard:.1f} s of sound in 6 s"


@check("image/memory")
def memory(context):
    """Of the whole system, while idle."""
    text = running(context).machine.shell("cat /proc/meminfo; ps -eo rss,comm --sort=-rss | head -12 || :")
    context.log(text)
    kib = {name: int(value) for name, value in re.findall(r"(\w+): +(\d+) kB", text)}
    return (kib["MemTotal"] - kib["MemAvailable"]) / 1000


@check("image/shut")
def shut(context):
    """systemd's own judgement of the kiosk's unit."""
    text = running(context).machine.shell("systemd-analyze security callbox", 120)
    context.log(text)
    return float(re.search(r"exposure level for callbox.service: ([\d.]+)", text)[1])


@check("image/ports")
def ports(context):
    """Every TCP port tried from outside; those of UDP as the board itself lists them."""
    machine = running(context).machine
    open_tcp = [port for port in range(1, 65536) if answers(port)]
    listing = machine.shell("ss -H -l -n -u -t")
    context.log(listing)
    reached = set()
    for line in listing.split("\n"):
        words = line.split()
        if len(words) >= 5 and not words[4].startswith(("127.", "[::1]")):
            reached.add(f"{words[0]}/{words[4].rsplit(':', 1)[1]}")
    # The kiosk's own, and the answers of the server that gives addresses.
    strange = sorted(reached - {"udp/5060", "tcp/5060", "udp/68", "udp/546"})
    if strange or set(open_tcp) - {5060}:
        raise Failed(f"{open_tcp} {sorted(reached)}", "something else listens")
    return f"tcp {open_tcp}, {' '.join(sorted(reached))}"


def answers(port):
    with socket.socket() as probe:
        probe.settimeout(2)
        try:
            probe.connect((KIOSK, port))
        except ConnectionRefusedError:
            return False
        except OSError:
            return False
        return True


def carry(trial, path):
    """A file onto the board's boot partition: the power is cut, the card is written, and the board starts again."""
    trial.power_off()
    trial.card.write("new.raucb", Path(path).read_bytes())
    trial.power_on().wait_ready(START_S)
    return "/boot/callbox/new.raucb"


@check("image/refused", limit_s=1500)
def refused(context):
    """Half a bundle, and one that somebody else signed: neither is installed, and the slots stay as they are."""
    trial = running(context)
    key, certificate = trial.folder / "strange.key", trial.folder / "strange.pem"
    context.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj",
                "/CN=callbox development", "-keyout", key, "-out", certificate)
    strange = cards.bundle(made(context, "raucb"), trial.folder, "strange", small_slot, (key, certificate))
    good = made(context, "raucb").read_bytes()
    trial.power_off()
    trial.card.write("half.raucb", good[: len(good) // 2])
    trial.card.write("strange.raucb", strange.read_bytes())
    machine = trial.power_on()
    machine.wait_ready(START_S)
    before = machine.shell("/usr/lib/callbox/slots show")
    for name in ("half", "strange"):
        text = machine.shell(f"! rauc install /boot/callbox/{name}.raucb", 120)
        context.log(text)
    if machine.shell("/usr/lib/callbox/slots show") != before:
        raise Failed("changed", "a refused bundle changed the order of the slots")
    machine.shell("rm /boot/callbox/*.raucb; sync")
    return "both"


def small_slot(tree):
    """Who signed it is what counts: a slot of a few bytes is enough."""
    (tree / "slot.img").write_bytes(bytes(65536))


def install(trial, path, context):
    """Installs an update that lies on the boot partition."""
    where = carry(trial, path)
    context.log(trial.machine.shell(f"rauc install {where} && rm {where} && sync", 400))


@check("image/update", limit_s=1500)
def update(context):
    """A signed bundle on the boot partition: the other slot starts and is found good, the settings are the same."""
    trial = running(context)
    install(trial, made(context, "raucb"), context)
    trial.machine.restart()
    trial.machine.wait_said(r"callbox: slot B, order B A", 120, trial.machine.since)
    trial.machine.wait_ready(START_S)
    settings = trial.machine.shell("grep -c peer@ /boot/callbox/callbox.conf")
    state = trial.machine.shell("/usr/lib/callbox/slots show; cat /proc/cmdline")
    context.log(state)
    if settings != "1" or "rauc.slot=B" not in state:
        raise Failed("slot A", "the new slot does not run, or the settings are gone")
    return "slot B"


@check("image/rollback", limit_s=1500)
def rollback(context):
    """An update that cannot start: after three tries the former slot is back, by itself."""
    trial = running(context)
    bad = cards.bundle(made(context, "raucb"), trial.folder, "bad", spoilt_root)
    running_in = trial.machine.shell("/usr/lib/callbox/slots get-current")
    install(trial, bad, context)
    trial.machine.restart()
    other = "A" if running_in == "B" else "B"
    tries = rf"callbox: slot {other}, (.|\n)*" * 3
    trial.machine.wait_said(rf"{tries}callbox: slot {running_in}, ", 400, trial.machine.since)
    trial.machine.wait_ready(START_S)
    return f"slot {running_in} again after three tries"


def spoilt_root(tree):
    """The root's own header is gone."""
    with open(tree / "slot.img", "rb+") as file:
        data = file.read(64 << 20)
        at = data.index(b"hsqs")
        file.seek(at)
        file.write(bytes(4096))


@check("image/cuts", limit_s=1500)
def cuts(context):
    """The power goes at random moments of a start or after it, while files are written: the next start is whole."""
    trial = running(context)
    count = int(os.environ.get("CALLBOX_CUTS", "2"))
    seed = int(os.environ.get("CALLBOX_SEED", str(random.randrange(1 << 32))))
    moments = random.Random(seed)
    context.log(f"seed {seed}")
    for number in range(count):
        machine = trial.power_on()
        if moments.random() < 0.5:
            machine.wait_said("Starting kernel", 120)
            time.sleep(moments.uniform(0, 60))
        else:
            machine.wait_ready(START_S)
            machine.shell(f"({WRITES}) >/dev/null 2>&1 &")
            time.sleep(moments.uniform(0, 15))
        trial.power_off()
    machine = trial.power_on()
    machine.wait_ready(START_S)
    if CONFIGURATION.split("\n")[1] not in trial.card.read("callbox.conf").decode():
        raise Failed(f"{count} cuts", f"the configuration is not whole; seed {seed}")
    kept = machine.shell("cat /data/callbox/calls.jsonl 2>/dev/null || :")
    for line in filter(None, kept.split("\n")):
        json.loads(line)
    notes = machine.shell("cat /run/callbox-boot 2>/dev/null || :")
    if "lost" in notes:
        raise Failed(f"{count} cuts", f"{notes}; seed {seed}")
    return f"{count} cuts"
