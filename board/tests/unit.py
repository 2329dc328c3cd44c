# SPDX-License-Identifier: Apache-2.0
"""The unit tests, as ordinary Swift with warnings as errors, and how many there are of each kind that must be."""

import re

from tests.runner import Failed, check

SCRATCH = "/cache/swift-test"
# From nothing, beside all that waits.
BUILD_LIMIT_S = 1200


def build(context):
    context.run("swift", "build", "--build-tests", "--scratch-path", SCRATCH, limit_s=BUILD_LIMIT_S)


def passed(context):
    """{"Module/Class.test": seconds} of the tests that passed; raises when any failed or none ran."""
    context.once("the tests' build", lambda: build(context))
    output = context.run("swift", "test", "--skip-build", "--scratch-path", SCRATCH, may_fail=True,
                         limit_s=BUILD_LIMIT_S)
    finished = re.findall(r"^Test Case '([\w.]+)' passed \(([\d.]+) seconds\)", output, re.M)
    failed = re.findall(r"^Test Case '([\w.]+)' failed", output, re.M)
    crashed = re.search(r"(Fatal error|error: Exited with .*signal.*)", output)
    total = re.findall(r"Executed (\d+) tests?, with (\d+) failures?", output)
    if failed:
        raise Failed(f"{len(failed)} failed", failed[0])
    if crashed:
        started = re.findall(r"^Test Case '([\w.]+)' started", output, re.M)
        raise Failed("crashed", f"{started[-1] if started else 'before the first test'}: {crashed.group(1)[:120]}")
    if not finished or not total or int(total[-1][0]) != len(finished):
        raise Failed(f"{len(finished)} passed", f"the runner counted {total[-1][0] if total else 'nothing'}")
    module = modules(context)
    return {f"{module.get(name.split('.')[0], '')}/{name}": float(seconds) for name, seconds in finished}


def modules(context):
    """{"Class": "Module"}: the runner names classes only."""
    found = {}
    for path in sorted((context.project / "Tests").glob("*/**/*.swift")):
        target = path.relative_to(context.project / "Tests").parts[0]
        for name in re.findall(r"\bclass (\w+)\s*:\s*XCTestCase", path.read_text()):
            found[name] = target.removesuffix("Tests")
    return found


def tests(context):
    return context.once("the tests' run", lambda: passed(context))


def count(context, pattern):
    names = [name for name in tests(context) if re.search(pattern, name)]
    context.log(f"{len(names)} tests fit {pattern}:", *names)
    return len(names)


@check("unit/build", limit_s=BUILD_LIMIT_S)
def warnings(context):
    context.once("the tests' build", lambda: build(context))
    return "0 warnings"


@check("unit/all")
def everything(context):
    return len(tests(context))


# What must be covered, by name. The patterns fit Module/Class.test.
KINDS = {
    "unit/rfc4475": r"RFC4475|Torture",
    "unit/state-cells": r"Cell|EveryState|StateTable",
    "unit/sdp-answers": r"SDPWire.*(Answer|Direction)",
    "unit/h264-payloads": r"RTPWire.*H264",
    "unit/display-plan": r"Display.*Plan",
    "unit/screens": r"Display.*PagePictures",
    "unit/configuration": r"KioskEngine.*Configuration",
}

for _name, _pattern in KINDS.items():
    check(_name)(lambda context, pattern=_pattern: count(context, pattern))
