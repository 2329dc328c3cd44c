# SPDX-License-Identifier: Apache-2.0
"""Cards that something is wrong with, and a board without network or clock: it starts, says so, and calls."""

import time

from machine.card import BOOT_AT, DATA_AT, MIB
from machine.wire import HERE
from tests.runner import Failed, check
from tests.trial import START_S, Trial, call_peer

LIMIT_S = 900
# Of data partition and boot partition: so much that no copy of a superblock or of a table is left.
SPOILT_MIB = 16


def tells(context, trial, codes):
    """Waits until the kiosk tells of each fault, by its code in the doctor's words, and some on the screen."""
    until = time.monotonic() + 90
    while True:
        said = trial.machine.shell("callbox doctor; cat /run/callbox-boot", 60, may_fail=True)
        banner = trial.status()["screen"]["banner"]
        missing = [code for code in codes if code not in said]
        if not missing and banner:
            trial.machine.screen("fault.png").save(context.folder / "page.png")
            context.log(banner, said)
            return
        if time.monotonic() > until:
            context.log(banner, said)
            raise Failed(" ".join(missing), f"not told; the screen says {banner!r}")
        time.sleep(2)


@check("image-more/small-card", limit_s=LIMIT_S)
def small_card(context):
    """A card that ends in slot B, renamed by its owner, in a board without a clock; the cable comes later."""
    with Trial(context, size_mib=700) as trial:
        trial.card.relabel("KIOSK")
        machine = trial.power_on(clock="1970-01-01", plugged=False)
        machine.wait_ready(START_S)
        tells(context, trial, ["CB-DAT-NONE", "CB-CLK-NONE", "CB-NET-LINK"])
        machine.plug(True)
        call_peer(context, trial)
    return "told, called"


@check("image-more/full", limit_s=LIMIT_S)
def full(context):
    """The boot partition is full, its file is missing, and the data partition is beyond repair."""
    with Trial(context) as trial:
        trial.card.remove("callbox.conf")
        trial.card.fill()
        trial.card.spoil(DATA_AT, SPOILT_MIB * MIB)
        trial.power_on().wait_ready(START_S)
        tells(context, trial, ["CB-BOOT-FULL", "CB-DAT-LOST"])
        call_peer(context, trial, f"call sip:peer@{HERE}")
        trial.machine.shell("until [ -s /data/callbox/calls.jsonl ]; do sleep 1; done", 30)
    return "told, called"


@check("image-more/no-boot", limit_s=LIMIT_S)
def no_boot(context):
    """The boot partition cannot be read any more: whom the last good file called is called."""
    with Trial(context) as trial:
        machine = trial.power_on()
        machine.wait_ready(START_S)
        machine.shell("until [ -s /data/callbox/callbox.conf.good ]; do sleep 1; done; sync", 60)
        trial.power_off()
        trial.card.spoil(BOOT_AT, SPOILT_MIB * MIB)
        trial.power_on().wait_ready(START_S)
        tells(context, trial, ["CB-BOOT-LOST"])
        call_peer(context, trial)
    return "told, called"
