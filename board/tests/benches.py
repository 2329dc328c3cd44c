# SPDX-License-Identifier: Apache-2.0
"""Measures how long the parser takes, beside GNU oSIP. Started by board/bench inside the Debian 13 root; the check in
speed.py uses the same function."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
SOURCES = PROJECT / "board" / "benches" / "parse"
BUILD = Path(os.environ.get("CALLBOX_BENCH_CACHE", "/cache/bench"))
# As the product is built (board/build).
SWIFT = ["swiftc", "-enable-experimental-feature", "Embedded", "-wmo", "-O", "-parse-as-library", "-swift-version", "5",
         "-Xfrontend", "-function-sections"]


class NotMeasured(Exception):
    """It could not be built or run: why."""


def run(*command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise NotMeasured(f"{command[0]}: {done.stderr.strip()[:400]}")
    return done.stdout


def parse():
    """(ours, oSIP's): microseconds of processor time for reading and printing one INVITE."""
    BUILD.mkdir(parents=True, exist_ok=True)
    objects = []
    modules = {name: sorted((PROJECT / "Sources" / name).glob("**/*.swift")) for name in ("Bytes", "SIPWire")}
    for name, sources in {**modules, "ours": [SOURCES / "ours.swift"]}.items():
        objects.append(BUILD / f"{name}.o")
        run(*SWIFT, "-module-name", name, "-I", BUILD, "-emit-module", "-emit-module-path",
            BUILD / f"{name}.swiftmodule", "-c", "-o", objects[-1], *sources)
    run("gcc", "-O2", "-Wall", "-Werror", "-Wl,--gc-sections", "-o", BUILD / "compare", SOURCES / "compare.c", *objects,
        "-losipparser2")
    ours, theirs = run(BUILD / "compare", SOURCES / "invite.sip").split()
    return float(ours) / 1_000, float(theirs) / 1_000


def sentence(ours, theirs):
    return f"{ours:.1f} us, oSIP {theirs:.1f} us, ratio {ours / theirs:.2f}"


if __name__ == "__main__":
    try:
        print(sentence(*parse()))
    except NotMeasured as fault:
        sys.exit(f"board/bench: {fault}")
