#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays simulated worlds in several processes, tells how far they are, and shows the world that failed.

Started by board/simulate inside the Debian 13 root; the checks in board/tests/simulate.py use it, too. Each process is
Tests/Simulation, which writes `begin SEED` before a world and `end CALLS DIGEST` after it, so that a trap has a seed.
"""

import argparse
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple, Optional

BINARY = Path("/cache/simulation/release/Simulation")
BUILD = ["swift", "build", "-c", "release", "--product", "Simulation", "--scratch-path", "/cache/simulation"]
# What each breaks, and the rules that notice it.
CANARIES = {"swallow-ack": ["ack"], "swallow-bye": ["ghost", "leak"],
            "swallow-register": ["unregistered"], "deaf-clock": ["leak", "hung"],
            "same-branch": ["ack", "branch"], "other-final": ["answer"], "cut-message": ["malformed"],
            "keep-media": ["media"], "hasty-cancel": ["cancel"], "old-number": ["cseq"], "old-version": ["version"]}
PROGRESS_S = 5
# A world takes milliseconds: one that takes so long will never end.
STALL_S = 60


class Failure(NamedTuple):
    seed: int
    text: str
    options: str


class Result(NamedTuple):
    worlds: int
    calls: int
    # The sum of the worlds' digests: the same for the same worlds, however many processes played them.
    digest: int
    failure: Optional[Failure]


class Worker:
    """One process with every `jobs`-th seed."""

    def __init__(self, seed, calls, jobs, canary):
        command = [BINARY, "--seed", seed, "--calls", calls, "--stride", jobs]
        command += ["--canary", canary] if canary else []
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.rest, self.seed, self.worlds, self.calls, self.digest = b"", seed, 0, 0, 0
        self.is_done, self.is_over, self.failure, self.heard, self.noise = False, False, None, time.monotonic(), ""

    def read(self):
        """Takes what the process wrote, and notices its end."""
        data = self.process.stdout.read1(65536)
        self.heard = time.monotonic()
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            self.take(line.decode(errors="replace"))
        self.is_over = not data
        if self.is_over and not self.is_done and self.failure is None:
            code = self.process.wait()
            how = signal.Signals(-code).name if code < 0 else f"exit {code}"
            self.failure = Failure(self.seed, f"trap ({how}) {self.noise}".strip(), "")

    def check_stall(self):
        if time.monotonic() - self.heard > STALL_S:
            self.failure, self.is_over = Failure(self.seed, f"the world takes more than {STALL_S} s", ""), True

    def take(self, line):
        kind, _, rest = line.partition(" ")
        if kind == "begin":
            self.seed = int(rest)
        elif kind == "end":
            calls, digest = rest.split()
            self.worlds, self.calls = self.worlds + 1, self.calls + int(calls)
            self.digest = (self.digest + int(digest, 16)) % 2**64
        elif kind == "fail":
            self.failure = Failure(self.seed, rest.partition(" ")[2], "")
        elif kind == "options" and self.failure:
            self.failure = self.failure._replace(options=rest)
        elif kind == "done":
            self.is_done = True
        elif line.strip():
            self.noise = line.strip()[:200]


def play(seed=1, calls=1, jobs=1, canary=None, tell=None):
    """The Result of worlds from `seed` on, until there were so many calls or one failed."""
    jobs = max(1, min(jobs, calls))
    workers = [Worker(seed + number, -(-calls // jobs), jobs, canary) for number in range(jobs)]
    begin = told = time.monotonic()
    try:
        with selectors.DefaultSelector() as selector:
            for worker in workers:
                selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
            while selector.get_map() and not any(worker.failure and worker.is_over for worker in workers):
                for key, _ in selector.select(1):
                    key.data.read()
                    if key.data.is_over:
                        selector.unregister(key.fileobj)
                for key in list(selector.get_map().values()):
                    key.data.check_stall()
                if tell and time.monotonic() - told >= PROGRESS_S:
                    told = time.monotonic()
                    tell(sum(worker.calls for worker in workers), told - begin)
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.wait()
    failures = sorted(worker.failure for worker in workers if worker.failure)
    return Result(sum(worker.worlds for worker in workers), sum(worker.calls for worker in workers),
                  sum(worker.digest for worker in workers) % 2**64, failures[0] if failures else None)


def log_of(seed, canary=None):
    """What happened in one world, line by line."""
    command = [BINARY, "--seed", seed, "--calls", "1", "--log", *(["--canary", canary] if canary else [])]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=STALL_S)
    return done.stdout.decode(errors="replace").splitlines()


def replay(seed, canary=None):
    return f"board/simulate --seed {seed} --calls 1" + (f" --canary {canary}" if canary else "")


def progress(calls):
    def tell(done, seconds):
        rate = max(done / seconds, 1)
        left = max(calls - done, 0) / rate
        print(f"[{seconds:5.0f} s] {done:,} of {calls:,} calls, {rate:,.0f} a second, {left:.0f} s left", flush=True)

    return tell


def main():
    words = argparse.ArgumentParser(add_help=False)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--calls", type=int, default=20_000)
    words.add_argument("--jobs", type=int, default=2)
    words.add_argument("--canary", choices=CANARIES)
    words.add_argument("--digest", action="store_true")
    words.add_argument("--log", action="store_true")
    options = words.parse_args()
    if options.log:
        print("\n".join(log_of(options.seed, options.canary)))
        return 0
    begin = time.monotonic()
    result = play(options.seed, options.calls, options.jobs, options.canary, progress(options.calls))
    seconds = time.monotonic() - begin
    if result.failure:
        folder = Path("build/simulate")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"seed-{result.failure.seed}.log"
        lines = log_of(result.failure.seed, options.canary)
        file.write_text("\n".join(lines) + "\n")
        print("\n".join(lines[-80:]))
        print(f"\nseed {result.failure.seed} fails: {result.failure.text}\noptions: {result.failure.options}\n"
              f"log: {file}\nreplay: {replay(result.failure.seed, options.canary)}")
        return 1
    print(f"{result.calls:,} calls in {result.worlds:,} worlds, all ended right, in {seconds:.0f} s"
          + (f"; digest {result.digest:016x}" if options.digest else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
