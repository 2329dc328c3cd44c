# SPDX-License-Identifier: Apache-2.0
"""How long the whole of board/test takes: the last check."""

import os
import time

from tests.runner import Failed, check

COLD_MIN, WARM_MIN = 60, 20


@check("time/whole")
def whole(_):
    began, cold = os.environ.get("CALLBOX_TEST_BEGAN"), os.environ.get("CALLBOX_TEST_COLD")
    if not began:
        return "started without board/test"
    minutes = (time.time() - float(began)) / 60
    kind, limit = ("cold", COLD_MIN) if cold else ("warm", WARM_MIN)
    if minutes > limit:
        raise Failed(f"{minutes:.1f} min", f"more than {limit} min with {kind} caches")
    return f"{minutes:.1f} min, {kind}"
