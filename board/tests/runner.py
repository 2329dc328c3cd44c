# SPDX-License-Identifier: Apache-2.0
"""Named checks: the table of them, what they share, and how the rows of a group are run (run.py runs groups).

A check is a function of a Context. It returns its figure: a number, which the bound in checks.txt judges, or a text,
when the bound there is in words. It raises Failed, or anything else, when it does not hold.
"""

import contextlib
import fnmatch
import importlib
import re
import signal
import subprocess
import time
import traceback
from pathlib import Path
from typing import NamedTuple, Optional

from peer import crash
from tests import plan

BOARD = Path(__file__).resolve().parent.parent
LIMIT_S = 420
FUNCTIONS, LIMITS = {}, {}
# How often a time is taken, or a check made whose far end crashes, and the pause before the next time.
AGAIN, TRIES, PAUSE_S = {}, 3, 5


class Failed(Exception):
    """Does not hold: the figure, and why in a few words."""

    def __init__(self, figure, why):
        super().__init__(f"{figure}: {why}")
        self.figure, self.why = figure, why


class Late(Failed):
    """A time is out of its bound, or could not be taken because the machine is too busy."""


class Row(NamedTuple):
    name: str
    bound: str
    meaning: str

    @property
    def group(self):
        return self.name.split("/")[0]


def check(name, again: Optional[tuple] = None, limit_s=LIMIT_S):
    """Declares the function below as the check of that name, which takes `limit_s` seconds at most.

    `again` is for times, which another program on this machine makes longer: out of bound they are taken anew, TRIES
    in all. It names what `once` made for them, which is then forgotten.
    """

    def declare(function):
        if name in FUNCTIONS:
            raise ValueError(f"two checks are called {name}")
        FUNCTIONS[name], LIMITS[name] = function, limit_s
        if again is not None:
            AGAIN[name] = again
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
        if not any(fits(row, pattern) for row in rows):
            raise SystemExit(f"board/test: no check is called {pattern}; see board/test --list")
    return [row for row in rows if any(fits(row, pattern) for pattern in patterns)]


def fits(row, pattern):
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
    before = ""
    for left in reversed(range(TRIES)):
        crash.seen()
        figure, fault = measured(context, row)
        if fault is None:
            return True, f"ok {row.name} {figure} ({row.bound}){before}"
        crashed = "".join(f" ({name} crashed)" for name in crash.seen())
        if not left or not crashed and not (isinstance(fault, Late) and row.name in AGAIN):
            break
        before += f"{',' if before else '; before:'} {figure}{crashed}"
        for made in AGAIN.get(row.name, ()):
            context.made.pop(made, None)
        time.sleep(PAUSE_S)
    return False, f"FAIL {row.name} {figure} ({row.bound}){before} — {fault.why}; log: build/test/{row.name}/log"


def measured(context, row):
    """(the figure as text, the Failed that says why it does not hold, or None)."""
    try:
        with time_limit(LIMITS[row.name]):
            figure, holds = judge(FUNCTIONS[row.name](context), row.bound)
        return figure, None if holds else Late(figure, "out of bound")
    except Failed as failure:
        context.log(f"failed: {failure}")
        return failure.figure, failure
    except Exception as fault:
        context.log(traceback.format_exc())
        name = type(fault).__name__
        return name, Failed(name, " ".join(str(fault).split())[:240])


def run_group(context, group, rows):
    """Prints a line for each check, and one for `Parts.run`: whether it held, and how long it took."""
    try:
        for file in plan.FILES[group]:
            importlib.import_module(f"tests.{file}")
    except Exception as fault:
        traceback.print_exc()
        for row in rows:
            print(f"FAIL {row.name} not run ({row.bound}) — its file cannot be loaded: {fault}", flush=True)
            print(f"took {row.name} failed 0", flush=True)
        return
    context.rows = rows
    for row in rows:
        begin = time.monotonic()
        if row.name in FUNCTIONS:
            holds, line = run_one(context, row)
        else:
            holds, line = False, f"FAIL {row.name} not run ({row.bound}) — no function has this name"
        context.failures += not holds
        print(f"{line}\ntook {row.name} {'held' if holds else 'failed'} {time.monotonic() - begin:.1f}", flush=True)
