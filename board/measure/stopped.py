# SPDX-License-Identifier: Apache-2.0
"""One thread of a process that stands still, as one does that waits for a device for ever: stopped by ptrace(2)."""

import contextlib
import ctypes
import os
from pathlib import Path

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long
# waitpid(2): threads too.
WALL = 0x40000000


def thread_of(process, name):
    """The number of the thread of that name; the first of a program has the program's."""
    for task in sorted(Path(f"/proc/{process}/task").iterdir(), key=lambda path: int(path.name)):
        if (task / "comm").read_text().strip() == name:
            return int(task.name)
    raise LookupError(f"process {process} has no thread {name}")


def ptrace(request, thread):
    if LIBC.ptrace(request, thread, None, None) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"ptrace {request:#x} of {thread}: {os.strerror(error)}")


@contextlib.contextmanager
def stopped(process, name):
    """The thread `name` stands still as long as the body runs, and goes on afterwards."""
    thread = thread_of(process, name)
    ptrace(SEIZE, thread)
    try:
        ptrace(INTERRUPT, thread)
        os.waitpid(thread, WALL)
        yield
    finally:
        ptrace(DETACH, thread)
