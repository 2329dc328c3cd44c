# SPDX-License-Identifier: Apache-2.0
"""Builds FuzzTesting/ with libFuzzer and runs its targets. Started by board/fuzz inside the Debian 13 root; the checks
in fuzz.py use the same functions.

Growth: inputs of the corpus that a run leaves are replayed 2 and 40 times over, and the peaks of resident memory are
compared: what leaks 300 bytes an input is seen.
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
FUZZING = PROJECT / "FuzzTesting"
CACHE = Path(os.environ.get("CALLBOX_FUZZ_CACHE", "/cache/fuzz"))
BINARY = CACHE / "build" / "fuzz"
# In the order of their arrows: each may import those before it.
MODULES = ["Bytes", "SIPWire", "SDPWire", "H264", "RTPWire", "SIPEngine", "MediaEngine", "KioskEngine"]
FLAGS = ["-O", "-wmo", "-parse-as-library", "-swift-version", "5", "-sanitize=fuzzer"]
# The longest input of each target, in bytes.
TARGETS = {
    "sip": 65_536, "stream": 65_536, "sdp": 16_384, "uri": 2_048, "challenge": 4_096, "rtp": 4_096, "rtcp": 2_048,
    "h264": 8_192, "configuration": 16_384, "dialog": 4_096,
    "bitstream": 8_192,
}
# What takes too long is told by the targets themselves, in processor time; the time-out is for what never ends.
TIMEOUT_S, MEMORY_MIB, GROWTH_KIB = 20, 512, 2_048
GROWTH_INPUTS = 200
AT_A_TIME = 2


class Found(Exception):
    """A target did not hold: why, in a sentence."""


def build(log=subprocess.DEVNULL):
    """Everything that is fuzzed, instrumented, in one binary; what is as it was is not compiled again."""
    folder = BINARY.parent
    folder.mkdir(parents=True, exist_ok=True)
    # Of everything before: a module is compiled against those that it imports.
    seen = hashlib.sha256(" ".join(FLAGS).encode())

    def compile_swift(made, sources, *words):
        for source in sources:
            seen.update(source.read_bytes())
        note = made.with_suffix(".sources")
        if made.exists() and note.exists() and note.read_text() == seen.hexdigest():
            return
        note.unlink(missing_ok=True)
        done = subprocess.run(["swiftc", *FLAGS, "-I", folder, "-o", made, *words, *sources], stdout=log,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Found(f"the fuzz targets cannot be built: {done.stderr.strip()[:400]}")
        note.write_text(seen.hexdigest())

    for name in MODULES:
        compile_swift(folder / f"{name}.o", sorted((PROJECT / "Sources" / name).glob("**/*.swift")), "-module-name",
                      name, "-emit-module", "-emit-module-path", folder / f"{name}.swiftmodule", "-c")
    compile_swift(BINARY, sorted((FUZZING / "Sources").glob("*.swift")), "-module-name", "FuzzTesting",
                  "-static-stdlib", *(folder / f"{name}.o" for name in MODULES))


def seeds(target):
    """Folders of inputs to begin with."""
    folders = [FUZZING / "Seeds" / target, FUZZING / "FailCases" / target]
    if target in ("sip", "stream"):
        folders.append(PROJECT / "Tests" / "SIPWireTests" / "RFC4475")
    return [folder for folder in folders if folder.is_dir()]


def execute(target, *words):
    """(exit status, what it said, peak resident memory in KiB) of the binary."""
    # Whatever waits for something beside it goes first.
    command = ["nice", "-n", "10", BINARY, f"--target={target}", f"-timeout={TIMEOUT_S}",
               f"-rss_limit_mb={MEMORY_MIB}", *words]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT,
                                   env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return process.returncode, said.read().decode(errors="replace"), usage.ru_maxrss


def why(said):
    """What libFuzzer or the target says about an input it does not like."""
    for pattern in (r"Fatal error: (.*)", r"ERROR: libFuzzer: ([^(\n]*)"):
        found = re.search(pattern, said)
        if found:
            return found.group(1).strip()
    return said.strip().splitlines()[-1] if said.strip() else "it ended without a word"


def replay(target):
    """Feeds every fail case to its target; their number."""
    folder = FUZZING / "FailCases" / target
    cases = sorted(folder.iterdir()) if folder.is_dir() else []
    for case in cases:
        status, said, _ = execute(target, case)
        if status:
            raise Found(f"{target} fails again on {case.name}: {why(said)}")
    return len(cases)


def fuzz(target, seconds):
    """Runs a target; how many inputs it took. Raises when one of them trapped or took too long, or memory grew."""
    corpus, kept = CACHE / "corpus" / target, FUZZING / "FailCases" / target
    corpus.mkdir(parents=True, exist_ok=True)
    kept.mkdir(parents=True, exist_ok=True)
    words = FUZZING / "Dictionaries" / f"{target}.txt"
    status, said, _ = execute(
        target, f"-max_total_time={seconds}", f"-max_len={TARGETS[target]}", f"-artifact_prefix={kept}/",
        "-print_final_stats=1", *([f"-dict={words}"] if words.exists() else []), corpus, *seeds(target))
    if status:
        case = re.search(r"written to (\S+)", said)
        place = f"; the input is {Path(case.group(1)).relative_to(PROJECT)}" if case else ""
        raise Found(f"{target}: {why(said)}{place}")
    if not any(kept.iterdir()):
        kept.rmdir()
    check_growth(target, corpus)
    return int(re.search(r"number_of_executed_units: (\d+)", said).group(1))


def check_growth(target, corpus):
    """The same inputs again and again leave nothing behind."""
    inputs = sorted(corpus.iterdir())
    inputs = inputs[:: len(inputs) // GROWTH_INPUTS + 1]
    if not inputs:
        return
    few, many = (execute(target, f"-runs={times}", *inputs)[2] for times in (2, 40))
    if many - few > GROWTH_KIB:
        raise Found(f"{target}: resident memory grew by {many - few} KiB over 38 more rounds of its corpus")


def main():
    parser = argparse.ArgumentParser(prog="board/fuzz")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("target", nargs="*")
    given = parser.parse_args()
    for name in given.target:
        if name not in TARGETS:
            parser.error(f"there is no target {name}; see board/fuzz --list")
    if given.list:
        print("\n".join(TARGETS))
        return 0

    def one(target):
        try:
            replay(target)
            return f"ok {target} {fuzz(target, given.seconds)} inputs", True
        except Found as found:
            return f"FOUND {found}", False

    try:
        build()
    except Found as found:
        print(f"FOUND {found}")
        return 1
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        holds = True
        for line, held in pool.map(one, given.target or TARGETS):
            print(line, flush=True)
            holds = holds and held
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
