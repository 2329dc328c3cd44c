#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs named checks, prints a line for each, and counts. Started by board/test inside the Debian 13 root.

A check is a function of a Context. It returns its figure: a number, which the bound in checks.txt judges, or a text,
when the bound there is in words. It raises Failed, or anything else, when it does not hold.
"""

import contextlib
import fcntl
import fnmatch
import importlib
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

BOARD = Path(__file__).resolve().parent.parent
# Which files hold a group's checks.
FILES = {
    "format": ["sources"], "harness": ["harness", "faults_table"], "unit": ["unit"], "fuzz": ["fuzz"],
    "simulate": ["simulate"],
    "bench": ["speed"], "purity": ["purity"], "size": ["sizes"], "arm": ["arm"], "time": ["duration"],
    "asterisk": ["asterisk"], "kamailio": ["kamailio"], "auth": ["auth"], "register": ["register"],
    "servers": ["servers"], "tls": ["tls"], "secure": ["secure"], "reach": ["reach"], "link": ["reach"],
    "ice": ["ice"], "reload": ["reload"], "errors": ["errors"], "stranger": ["stranger"], "panel": ["digits"],
    "targets": ["targets"],
    "race": ["race_cancel", "race_fork", "race_change", "race_timer", "race_request", "race_stream", "race_ghost"],
    "board": ["call", "picture", "sound", "heard", "room", "signalling", "panel", "control", "rotation", "schedule",
              "abuse", "missing", "endurance"],
    "away": ["away", "lines"], "screens": ["screens"], "image": ["image"],
}
# Groups that mostly wait, each in a network of its own: some at a time, each in a process, the longest first.
SIDE_BY_SIDE = ("link", "servers", "register", "secure", "reach", "asterisk", "auth", "tls", "kamailio", "reload",
                "errors", "panel", "targets", "ice")
AT_A_TIME = 3
# They run beside this group, which computes, and steps back for them (fuzzer.py).
BESIDE = "fuzz"
LIMIT_S = 420
FUNCTIONS = {}


class Failed(Exception):
    """Does not hold: the figure, and why in a few words."""

    def __init__(self, figure, why):
        super().__init__(f"{figure}: {why}")
        self.figure, self.why = figure, why


class Row(NamedTuple):
    name: str
    bound: str
    meaning: str

    @property
    def group(self):
        return self.name.split("/")[0]


def check(name):
    """Declares the function below as the check of that name."""

    def declare(function):
        if name in FUNCTIONS:
            raise ValueError(f"two checks are called {name}")
        FUNCTIONS[name] = function
        return function

    return declare


def table():
    rows = []
    for line in (BOARD / "tests" / "checks.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            rows.append(Row(*(part.strip() for part in line.split("|", 2))))
    return rows


def selected(rows, patterns):
    """The rows whose name or group fits any pattern, in the table's order; an unknown pattern is an error."""
    if not patterns:
        return rows
    for pattern in patterns:
        if not any(_fits(row, pattern) for row in rows):
            raise SystemExit(f"board/test: no check is called {pattern}; see board/test --list")
    return [row for row in rows if any(_fits(row, pattern) for pattern in patterns)]


def _fits(row, pattern):
    return row.group == pattern or fnmatch.fnmatchcase(row.name, pattern)


def judge(value, bound):
    """(figure as text, holds) for what a check returned."""
    parts = re.fullmatch(r"(<=|>=|=) (-?[\d.]+)(?: (.*))?", bound)
    if not parts:
        return (str(value), True)
    if isinstance(value, str):
        raise TypeError(f"the bound {bound!r} wants a number, the check gave {value!r}")
    limit, unit = float(parts[2]), parts[3] or ""
    holds = {"<=": value <= limit, ">=": value >= limit, "=": value == limit}[parts[1]]
    figure = f"{value:d}" if isinstance(value, int) else f"{value:.2f}" if abs(value) < 100 else f"{value:.1f}"
    return (f"{figure} {unit.split(' ')[0]}".strip(), holds)


class Context:
    """What checks share: folders, commands with a log, things made once and closed at the end of their group."""

    def __init__(self):
        self.project, self.out = BOARD.parent, BOARD.parent / "build" / "test"
        self.name, self.made, self.closing, self.failures = "", {}, contextlib.ExitStack(), 0
        # The rows of the group that runs: for those who do them all at once.
        self.rows = []

    @property
    def folder(self):
        path = self.out / self.name
        path.mkdir(parents=True, exist_ok=True)
        return path

    @property
    def log_path(self):
        return self.folder / "log"

    def log(self, *words):
        with open(self.log_path, "a") as file:
            print(f"{time.monotonic():10.3f}", *words, file=file)

    def run(self, *command, limit_s=LIMIT_S, cwd=None, env=None, may_fail=False, keep=True):
        """Runs a command; its output, which also goes to the check's log unless told not to. A failure tells why."""
        self.log("$", *command)
        try:
            done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=limit_s, cwd=cwd or self.project, env=env)
        except subprocess.TimeoutExpired as late:
            self.log((late.output or b"").decode(errors="replace"))
            raise Failed(f"{limit_s} s", f"{command[0]} did not end in time") from late
        output = done.stdout.decode(errors="replace")
        if keep or done.returncode != 0:
            self.log(output)
        if done.returncode != 0 and not may_fail:
            raise Failed(f"exit {done.returncode}", f"{Path(command[0]).name}: {telling_line(output)}")
        return output

    def once(self, key, make):
        """What `make` returns, made once per group. A failure is remembered: the other checks fail with it at once."""
        if key not in self.made:
            try:
                self.made[key] = (make(), None)
            except Exception as fault:
                self.made[key] = (None, fault)
                raise
        value, fault = self.made[key]
        if isinstance(fault, Failed) and fault.figure == "not measured":
            raise fault
        if fault is not None:
            raise Failed("not measured", f"{key} failed before: {fault}")
        return value

    def keep(self, thing):
        """Enters a context manager that lives until the group ends."""
        return self.closing.enter_context(thing)

    def close(self):
        self.made.clear()
        try:
            self.closing.close()
        finally:
            self.closing = contextlib.ExitStack()


def telling_line(output):
    """The first error in what a command printed, or its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\b(error|fatal)\b", line, re.I)]
    return (errors or lines[-1:] or ["no output"])[0][:160]


@contextlib.contextmanager
def time_limit(seconds):
    def late(*_):
        raise TimeoutError(f"the check took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_one(context, row):
    """(holds, the line to print)."""
    context.name = row.name
    context.log_path.unlink(missing_ok=True)
    try:
        with time_limit(LIMIT_S):
            figure, holds = judge(FUNCTIONS[row.name](context), row.bound)
        why = "out of bound"
    except Failed as failure:
        figure, holds, why = failure.figure, False, failure.why
        context.log(f"failed: {failure}")
    except Exception as fault:
        context.log(traceback.format_exc())
        figure, holds, why = type(fault).__name__, False, " ".join(str(fault).split())[:240]
    if holds:
        return True, f"ok {row.name} {figure} ({row.bound})"
    return False, f"FAIL {row.name} {figure} ({row.bound}) — {why}; log: build/test/{row.name}/log"


def run_group(context, group, rows, results):
    try:
        for file in FILES[group]:
            importlib.import_module(f"tests.{file}")
    except Exception as fault:
        traceback.print_exc()
        for row in rows:
            print(f"FAIL {row.name} not run ({row.bound}) — its file cannot be loaded: {fault}", flush=True)
            results.append((row.name, False, 0.0))
        return
    context.rows = rows
    for row in rows:
        begin = time.monotonic()
        if row.name in FUNCTIONS:
            holds, line = run_one(context, row)
        else:
            holds, line = False, f"FAIL {row.name} not run ({row.bound}) — no function has this name"
        results.append((row.name, holds, time.monotonic() - begin))
        context.failures += not holds
        print(line, flush=True)


def run_part(names):
    """The rows of one group, in a process of their own."""
    begin = time.monotonic()
    done = subprocess.run([sys.executable, __file__, "--part", *names], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.splitlines()
    held = {line.split()[1]: line.startswith("ok ") for line in lines if line.startswith(("ok ", "FAIL "))}
    missing = [f"FAIL {name} not run — its group ended early: {telling_line(done.stdout)}"
               for name in names if name not in held]
    times = dict(line.split()[1:] for line in lines if line.startswith("took "))
    print("\n".join([line for line in lines if not line.startswith("took ")] + missing), flush=True)
    return [(name, held.get(name, False), float(times.get(name, time.monotonic() - begin))) for name in names]


def run_side_by_side(context, parts, results):
    """Parts are lists of rows, a group each."""
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for part in pool.map(run_part, [[row.name for row in rows] for rows in parts]):
            results += part
            context.failures += sum(not holds for _, holds, _ in part)


def run_alone(context, rows, results):
    try:
        run_group(context, rows[0].group, rows, results)
    finally:
        context.close()


def part(names):
    """A child of `run_part`."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    context, results = Context(), []
    run_alone(context, selected(table(), names), results)
    for name, _, seconds in results:
        print(f"took {name} {seconds:.1f}", flush=True)
    return 0


def main(patterns):
    rows = selected(table(), patterns)
    context, results = Context(), []
    context.out.mkdir(parents=True, exist_ok=True)
    lock = open(context.out / ".lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("waiting for another board/test of this project", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begin = time.monotonic()
    groups = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    together = [groups[group] for group in SIDE_BY_SIDE if group in groups]
    beside = threading.Thread(target=run_side_by_side, args=(context, together, results), daemon=True)
    try:
        for group, rows in groups.items():
            if group == BESIDE and together:
                beside.start()
            if group not in SIDE_BY_SIDE:
                run_alone(context, rows, results)
            if group in SIDE_BY_SIDE and beside.ident is None:
                beside.start()
            # Whatever comes next has the machine for itself.
            if beside.ident is not None:
                beside.join()
    finally:
        lines = [f"{seconds:8.1f} s  {'ok  ' if holds else 'FAIL'}  {name}" for name, holds, seconds in results]
        (context.out / "times.txt").write_text("\n".join([*lines, f"{time.monotonic() - begin:8.1f} s  all"]) + "\n")
    passed = sum(holds for _, holds, _ in results)
    print(f"{passed} passed, {len(results) - passed} failed", flush=True)
    return 0 if results and passed == len(results) else 1


if __name__ == "__main__":
    sys.path.insert(0, str(BOARD))
    # The checks' files import this one as tests.runner: one set of functions, not two.
    from tests import runner

    try:
        words = sys.argv[1:]
        sys.exit(runner.part(words[1:]) if words[:1] == ["--part"] else runner.main(words))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(130)
