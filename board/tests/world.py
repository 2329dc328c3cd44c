# SPDX-License-Identifier: Apache-2.0
"""The network the checks live in, and what they keep between runs."""

import contextlib
import ctypes
import os
import subprocess
from pathlib import Path

from peer import clip as clips

# The far end's and the caller's, as on the virtual board's network; and that of somebody else.
ADDRESSES, THIRD = ("10.77.0.1", "10.77.0.2"), "10.77.0.3"
CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)


def clip():
    """The far end's clip, drawn once."""
    return clips.make(Path("/cache/clips"))


@contextlib.contextmanager
def loopback_world():
    """This process (and what it starts) in a network of its own with only loopback; the former one afterwards."""
    before = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        _check(_LIBC.unshare(CLONE_NEWNET), "unshare")
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # baresip does not speak from 127/8.
        for address in (*ADDRESSES, THIRD):
            subprocess.run(["ip", "address", "add", f"{address}/24", "dev", "lo"], check=True)
        # A socket without an address of its own would send from the very address that it sends to.
        for target, source in (ADDRESSES, ADDRESSES[::-1], (THIRD, ADDRESSES[1])):
            subprocess.run(["ip", "route", "replace", "local", target, "dev", "lo", "table", "local", "src", source],
                           check=True)
        yield
    finally:
        _check(_LIBC.setns(before, CLONE_NEWNET), "setns")
        os.close(before)


def _check(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
