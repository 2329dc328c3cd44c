# SPDX-License-Identifier: Apache-2.0
"""How races are run: each with a kiosk and a network of its own, many side by side, since most of them only wait.

After each one the kiosk must be idle, know of no call, place the next call, and end well.
"""

import concurrent.futures
import contextlib
import time
import traceback
from typing import Callable, NamedTuple

from measure.sip import messages
from peer.sipp import Scenario, SippFault
from tests.desk import Desk
from tests.runner import Failed, check

AT_ONCE = 12
RACES = {}


class Race(NamedTuple):
    run: Callable
    changes: dict
    is_slow: bool


def race(name, is_slow=False, **changes):
    """Declares a function of a Desk as the check `race/NAME`. `changes` are of the configuration, `.` written `__`."""

    def declare(function):
        RACES[name] = Race(function, {key.replace("__", "."): value for key, value in changes.items()}, is_slow)
        check(f"race/{name}")(lambda context: outcome(context, name))
        return function

    return declare


def outcome(context, name):
    """What the race gave, from the run of all that were asked for."""
    figure, fault, log = context.once("races", lambda: run_all(context))[name]
    context.log(log)
    if fault:
        raise fault
    return figure


def run_all(context):
    """{name: (figure, fault, log)}; the slow ones begin first."""
    wanted = [row.name.split("/", 1)[1] for row in context.rows if row.name.startswith("race/")]
    names = sorted((name for name in wanted if name in RACES), key=lambda name: not RACES[name].is_slow)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(names, pool.map(lambda name: run_one(context.out / "race" / name, RACES[name]), names)))


def run_one(folder, race):
    begin, figure, fault, log = time.monotonic(), None, None, ""
    try:
        with Desk(folder) as desk:
            try:
                desk.start(changes=race.changes)
                figure = race.run(desk) or "held"
                aftermath(desk, race.changes.get("sip.transport", "udp"))
            finally:
                (folder / "wire.txt").write_text(told(desk))
    except SippFault as wrong:
        fault = Failed("peer's view", str(wrong))
    except Failed as failure:
        fault = failure
    except Exception as error:  # whatever it is, the other races go on
        fault, log = error, traceback.format_exc()
    return figure, fault, f"{time.monotonic() - begin:.1f} s\n{log}"


def told(desk, since=0):
    """Every message in full."""
    found = messages(desk.wire, since)
    return "\n".join(f"--- {message.at_ms - found[0].at_ms:.0f} ms {message.source} > {message.target}\n"
                     + message.data.decode(errors="replace") for message in found)


def aftermath(desk, transport):
    """Idle, no call left behind, the next call works, a clean end."""
    desk.idle()
    calls = desk.status().get("calls", 0)
    if calls:
        raise Failed(f"{calls} calls", "the kiosk is idle and still holds calls")
    next_call_works(desk, transport)
    code, _ = desk.stop()
    if code != 0:
        raise Failed(f"exit {code}", f"after SIGTERM; {desk.tail()}")


def next_call_works(desk, transport):
    with desk.sipp(Scenario().answers().is_hung_up(), name="next", transport=transport) as peer:
        connect(desk)
        hang_up(desk)
        peer.done(5)


def connect(desk, *words):
    """The kiosk calls and is connected; the index of the first event."""
    mark = desk.mark()
    desk.must("call", *words)
    desk.wait_event("call", since=mark, state="connected", limit_s=5)
    return mark


def hang_up(desk, reason="hangup"):
    mark = desk.mark()
    desk.must("hangup")
    return desk.ended(reason, since=mark)


@contextlib.contextmanager
def connected(desk, scenario, **options):
    """A call that the kiosk placed to a scenario which answers it; afterwards the scenario must be through."""
    with desk.sipp(scenario, **options) as peer:
        connect(desk)
        yield peer


def expect(figure, holds, why):
    """The check fails with these words unless `holds`."""
    if not holds:
        raise Failed(figure, why)
