# SPDX-License-Identifier: Apache-2.0
"""Far ends that crash: Debian's baresip 1.1.0 does so once in some hundred calls, in threads of its own."""

import signal

CRASHES = {-number for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)}
_WATCHED = []


def watch(name, process):
    """From now on `seen` tells of this one."""
    _WATCHED.append((name, process))


def seen():
    """The names of those that have crashed since the last time this was asked."""
    crashed = [name for name, process in _WATCHED if process.poll() in CRASHES]
    _WATCHED[:] = [one for one in _WATCHED if one[1].returncode is None]
    return crashed
