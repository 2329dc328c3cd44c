#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the named checks, prints a line for each, and counts. Started by board/test inside the Debian 13 root."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests import plan, runner  # noqa: E402

END_S = 20


@contextlib.contextmanager
def kept_awake():
    """Processors that have nothing else to do spin meanwhile (sched(7), SCHED_IDLE): see docs/decisions/0049."""
    loops = [subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "chrt", "--idle", "0", "sh", "-c",
                               "while :; do :; done"], stdin=subprocess.DEVNULL) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Parts:
    """Runs the rows of one group in a process of its own, some of them side by side; keeps what came of them."""

    def __init__(self):
        self.results, self.processes, self.lock = [], set(), threading.Lock()

    def phase(self, lanes):
        """Lanes side by side, until the last of them has ended."""
        with contextlib.ExitStack() as stack:
            # Side by side they keep them awake themselves.
            if len(lanes) == 1:
                stack.enter_context(kept_awake())
            runs = []
            for parts, at_a_time, nice in lanes:
                pool = stack.enter_context(ThreadPoolExecutor(at_a_time))
                runs += [pool.submit(self.run, [row.name for row in rows], nice) for rows in parts]
            # A fault of the runner's own is not to be taken for checks that held.
            for run in runs:
                run.result()

    def run(self, names, nice):
        begin, left, last = time.monotonic(), dict.fromkeys(names), ""
        process = subprocess.Popen(["nice", "-n", str(nice), sys.executable, __file__, "--part", *names], text=True,
                                   errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        self.processes.add(process)
        for line in process.stdout:
            last = line.strip() or last
            kind, name, *rest = [*line.split(), "", ""]
            if kind == "took" and name in left:
                del left[name]
                self.keep(name, rest[0] == "held", float(rest[1]))
            else:
                print(line, end="", flush=True)
        process.wait()
        self.processes.remove(process)
        for name in left:
            print(f"FAIL {name} not run — its group ended early: {last[:160]}", flush=True)
            self.keep(name, False, time.monotonic() - begin)

    def keep(self, *result):
        with self.lock:
            self.results.append(result)

    def end(self):
        """Whatever still runs is told to end, and waited for a while: it has things of its own to end."""
        left = list(self.processes)
        for process in left:
            process.terminate()
        for process in left:
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()


def part(names):
    """A child of `Parts.run`: one group's rows."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    context, rows = runner.Context(), runner.selected(runner.table(), names)
    try:
        runner.run_group(context, rows[0].group, rows)
    finally:
        context.close()
    return 0


def main(patterns):
    rows, parts = runner.selected(runner.table(), patterns), Parts()
    out = runner.Context().out
    out.mkdir(parents=True, exist_ok=True)
    lock = open(out / ".lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("waiting for another board/test of this project", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin, phases = time.monotonic(), []
    try:
        for number, lanes in enumerate(plan.planned(rows, runner.fits), 1):
            phase_begin = time.monotonic()
            parts.phase(lanes)
            phases.append((f"phase {number}", time.monotonic() - phase_begin))
    finally:
        parts.end()
        lines = [f"{seconds:8.1f} s  {'ok  ' if holds else 'FAIL'}  {name}" for name, holds, seconds in parts.results]
        lines += [f"{seconds:8.1f} s  {name}" for name, seconds in [*phases, ("all", time.monotonic() - begin)]]
        (out / "times.txt").write_text("\n".join(lines) + "\n")
    passed = sum(holds for _, holds, _ in parts.results)
    print(f"{passed} passed, {len(parts.results) - passed} failed", flush=True)
    return 0 if parts.results and passed == len(parts.results) else 1


if __name__ == "__main__":
    try:
        words = sys.argv[1:]
        sys.exit(part(words[1:]) if words[:1] == ["--part"] else main(words))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(130)
