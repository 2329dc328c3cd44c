# SPDX-License-Identifier: Apache-2.0
"""The image of the virtual board: made by board/image, started once by its boot loader in QEMU, seen and called."""

import itertools
import json
import re
import selectors
import socket
import time

import numpy

from machine.wire import BOARD as KIOSK
from tests.runner import Failed, check
from tests.trial import Trial, call_peer, calling, made, running


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
    """The kernel until the kiosk is ready, beside the same kernel and root with nothing to start; the kiosk's share."""
    with Trial(context) as trial:
        machine = trial.power_on(loader=None, init="/bin/true")
        bare = float(machine.wait_said(r"\[ *([\d.]+)\] Kernel panic - not syncing: Attempted to kill init", 300)[1])
    machine = running(context).machine
    names = [f"{name}TimestampMonotonic" for name in ("ExecMainStart", "ActiveEnter")]
    shown = machine.shell(f"systemctl show callbox -p {','.join(names)}")
    begun, ready = (int(re.search(rf"{name}=(\d+)", shown)[1]) / 1e6 for name in names)
    return f"ready after {ready:.1f} s, init=/bin/true after {bare:.1f} s; the kiosk's own {ready - begun:.1f} s"


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
    return f"{call_peer(context, running(context)):.1f} s of sound in 6 s"


@check("image/memory")
def memory(context):
    """Of the whole system, while idle, after a call."""
    # What the call took is given back after two seconds.
    time.sleep(5)
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
    open_tcp = open_ports(KIOSK)
    listing = machine.shell("ss -H -l -n -u -t")
    context.log(listing)
    reached = set()
    for line in listing.split("\n"):
        words = line.split()
        if len(words) >= 5 and not words[4].startswith(("127.", "[::1]")):
            reached.add(f"{words[0]}/{words[4].rsplit(':', 1)[1]}")
    # The kiosk's own, those of sound and picture too, and the answers of the server that gives addresses.
    rtp = {f"udp/{port}" for port in range(40000, 40100)}
    strange = sorted(reached - rtp - {"udp/5060", "tcp/5060", "udp/68", "udp/546"})
    if strange or set(open_tcp) - {5060}:
        raise Failed(f"{open_tcp} {sorted(reached)}", "something else listens")
    return " ".join(sorted(reached))


def open_ports(address, at_once=400, limit_s=3):
    """Every TCP port of an address that takes a connection, many tried side by side."""
    found, ports, waiting = [], iter(range(1, 65536)), {}
    with selectors.DefaultSelector() as selector:
        while True:
            for port in itertools.islice(ports, at_once - len(waiting)):
                probe = socket.socket()
                probe.setblocking(False)
                probe.connect_ex((address, port))
                selector.register(probe, selectors.EVENT_WRITE)
                waiting[probe] = (port, time.monotonic() + limit_s)
            if not waiting:
                return found
            ready = {key.fileobj for key, _ in selector.select(0.5)}
            for probe, (port, until) in list(waiting.items()):
                if probe in ready or time.monotonic() > until:
                    if probe in ready and probe.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                        found.append(port)
                    selector.unregister(probe)
                    probe.close()
                    del waiting[probe]


@check("image/goodbye")
def goodbye(context):
    """Switched off in a call, it says so to the far end, though the network's service ends at the same time."""
    trial = running(context)
    with calling(context, trial) as peer:
        trial.machine.shell("systemctl poweroff --no-block")
        peer.wait_event("CALL_CLOSED", 60)
    return "told"
