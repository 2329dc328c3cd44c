# SPDX-License-Identifier: Apache-2.0
"""The network between the virtual board and its far end: a namespace of this thread's own with one cable in it.

um0 is the board's end (10.77.0.2, fd00:77::2 inside the board), peer0 the far end's (10.77.0.1, fd00:77::1).
"""

import ctypes
import os
import subprocess

PEER_ADDRESS, BOARD_ADDRESS = "10.77.0.1", "10.77.0.2"
CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)

# Whole packets with their checksums: the board's end is read as raw frames.
_SETUP = """
ip link set lo up
ip link add um0 type veth peer name peer0
ethtool -K um0 tso off gso off gro off tx off rx off
ethtool -K peer0 tso off gso off gro off tx off rx off
sysctl -qw net.ipv6.conf.um0.disable_ipv6=1
ip address add 10.77.0.1/24 dev peer0
ip -6 address add fd00:77::1/64 dev peer0 nodad
ip link set um0 up
ip link set peer0 up
"""


def _check(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


class Network:
    """While entered, this thread and what it starts are in the namespace; the former one is restored afterwards."""

    def __enter__(self):
        self.before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        _check(_LIBC.unshare(CLONE_NEWNET), "unshare")
        try:
            subprocess.run(["bash", "-ec", _SETUP], check=True, stdout=subprocess.DEVNULL)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        _check(_LIBC.setns(self.before, CLONE_NEWNET), "setns")
        os.close(self.before)
