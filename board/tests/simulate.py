# SPDX-License-Identifier: Apache-2.0
"""Two whole kiosks over a hostile network in virtual time: Tests/Simulation, and whether it would notice a fault."""

import os

from simulation import workers
from tests.runner import Failed, check

CALLS = 20_000
REPLAYED_CALLS = 300
# A fault that is put in on purpose shows within so many calls.
CANARY_CALLS = 2_000


def build(context):
    context.run(*workers.BUILD)


def played(context, **options):
    context.once("the simulation's build", lambda: build(context))
    return workers.play(**options)


@check("simulate/calls")
def calls(context):
    result = played(context, calls=CALLS, jobs=os.cpu_count())
    failure = result.failure
    if failure:
        context.log("\n".join(workers.log_of(failure.seed)))
        raise Failed(f"seed {failure.seed}", f"{failure.text}; replay: {workers.replay(failure.seed)}")
    context.log(f"{result.calls} calls in {result.worlds} worlds")
    return result.calls


@check("simulate/replay")
def replay(context):
    once, again, other = (played(context, seed=seed, calls=REPLAYED_CALLS, jobs=jobs)
                          for seed, jobs in ((1, 1), (1, 1), (2, 1)))
    if once.digest != again.digest or once.worlds != again.worlds:
        raise Failed("differs", f"{once.digest:016x} and {again.digest:016x} from the same seeds")
    if once.digest == other.digest:
        raise Failed("the same", "other seeds give the same digest: it says nothing")
    return f"{once.worlds} worlds twice"


@check("simulate/canary")
def canary(context):
    unnoticed = []
    for name, rules in workers.CANARIES.items():
        failure = played(context, calls=CANARY_CALLS, canary=name).failure
        context.log(name, failure)
        if not failure or failure.text.split()[0] not in rules:
            unnoticed.append(name)
    if unnoticed:
        raise Failed(f"{len(unnoticed)} unnoticed", ", ".join(unnoticed))
    return f"{len(workers.CANARIES)} noticed"
