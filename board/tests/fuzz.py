# SPDX-License-Identifier: Apache-2.0
"""Half a minute of fuzzing for each target of FuzzTesting/, and the inputs that failed before."""

from concurrent.futures import ThreadPoolExecutor

from tests import fuzzer
from tests.runner import Failed, check

SECONDS = 30


def built(context):
    context.once("the fuzz targets' build", fuzzer.build)


def all_runs(context):
    """{target: how many inputs it took, or what was found}: some targets at a time."""
    built(context)

    def one(target):
        try:
            return fuzzer.fuzz(target, SECONDS)
        except fuzzer.Found as found:
            return found

    with ThreadPoolExecutor(fuzzer.AT_A_TIME) as pool:
        return dict(zip(fuzzer.TARGETS, pool.map(one, fuzzer.TARGETS)))


@check("fuzz/fail-cases")
def fail_cases(context):
    built(context)
    try:
        return f"{sum(fuzzer.replay(target) for target in fuzzer.TARGETS)} inputs"
    except fuzzer.Found as found:
        raise Failed("fails again", str(found)) from found


def held(context, target):
    outcome = context.once("the fuzzing", lambda: all_runs(context))[target]
    if isinstance(outcome, fuzzer.Found):
        raise Failed("found", str(outcome))
    return f"{outcome} inputs"


for _target in fuzzer.TARGETS:
    check(f"fuzz/{_target}")(lambda context, target=_target: held(context, target))
