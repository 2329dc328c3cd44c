# SPDX-License-Identifier: Apache-2.0
"""What has to be fast, beside somebody else's code that does the same."""

from tests import benches
from tests.runner import Failed, Late, check

PARSE_US = 20


@check("bench/parse-invite", again=())
def parse_invite(context):
    """Where oSIP takes longer than the bound as well, the machine is slow or busy, and oSIP is the bound."""
    try:
        ours, theirs = benches.parse()
    except benches.NotMeasured as fault:
        raise Failed("not measured", str(fault)) from fault
    if ours > max(PARSE_US, theirs):
        raise Late(benches.sentence(ours, theirs), "too slow")
    return benches.sentence(ours, theirs)
