# SPDX-License-Identifier: Apache-2.0
"""The cable of a virtual board: this process in a network of its own, in which the board's cable ends beside a server
that gives it an address."""

import contextlib
import ctypes
import os
import subprocess
import time

HERE, BOARD = "10.77.0.1", "10.77.0.2"
CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def cable(folder, tap="tap0"):
    """A network namespace with `tap`, where HERE is this machine and BOARD what asks by DHCP."""
    before = os.open("/proc/self/ns/net", os.O_RDONLY)
    _must(_LIBC.unshare(CLONE_NEWNET), "unshare")
    server = None
    try:
        if not os.path.exists("/dev/net/tun"):
            os.makedirs("/dev/net", exist_ok=True)
            os.mknod("/dev/net/tun", 0o20600, os.makedev(10, 200))
        for words in ("link set lo up", f"tuntap add {tap} mode tap", f"address add {HERE}/24 dev {tap}",
                      f"link set {tap} up"):
            subprocess.run(["ip", *words.split()], check=True)
        with open(folder / "dhcp.log", "wb") as log:
            server = subprocess.Popen(
                ["dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--port=0", "--user=root", "--log-dhcp",
                 f"--interface={tap}", "--bind-dynamic", f"--dhcp-range={BOARD},{BOARD},1h",
                 "--dhcp-leasefile=/dev/null",
                 f"--dhcp-option=option:router,{HERE}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        time.sleep(0.3)
        yield
    finally:
        if server:
            server.terminate()
            server.wait()
        _must(_LIBC.setns(before, CLONE_NEWNET), "setns")
        os.close(before)


def _must(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
