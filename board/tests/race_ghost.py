# SPDX-License-Identifier: Apache-2.0
"""Call and hook at once, again and again, against far ends that answer without a word before: no ghost call stays."""

import random
import socket
import time

from peer.sipp import Scenario, session
from tests.race import expect, race

SEED, GAP_MS_MAX = 7, 10


class Presses:
    """One connection to the control socket, kept open: a word and its answer in well under a millisecond."""

    def __init__(self, desk):
        self.line = socket.socket(socket.AF_UNIX)
        self.line.settimeout(5)
        self.line.connect(desk.control)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.line.close()

    def tell(self, word):
        self.line.sendall(word.encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self.line.recv(65536)
        return answer

    def until_over(self, limit_s=5):
        """Waits until the kiosk would take the next press."""
        until = time.monotonic() + limit_s
        while not any(word in self.tell("status")[:40] for word in (b'"state":"idle"', b'"state":"ended"')):
            if time.monotonic() > until:
                return False
            time.sleep(0.001)
        return True


def many(desk, count, answer_after_ms):
    """So many presses, each taken back within 10 ms. How many seconds one took."""
    scenario = Scenario().recv("INVITE", keep="i")
    if answer_after_ms:
        scenario.pause(answer_after_ms)
    scenario.reply("i", 200, tag="a[call_number]", body=session(), retrans=True).recv("ACK").is_hung_up()
    generator = random.Random(SEED)
    with desk.sipp(scenario, calls_max=None), Presses(desk) as presses:
        begin = time.monotonic()
        for number in range(count):
            for word in ("press call", "release call"):
                presses.tell(word)
            time.sleep(generator.uniform(0, GAP_MS_MAX) / 1000)
            for word in ("press hook", "release hook"):
                presses.tell(word)
            expect(f"press {number}", presses.until_over(), "the kiosk was not ready for the next press after 5 s")
        seconds = (time.monotonic() - begin) / count
        until = time.monotonic() + 40
        while desk.status().get("calls", 0) and time.monotonic() < until:
            time.sleep(0.05)
        expect(f"{desk.status().get('calls')} calls", not desk.status().get("calls", 0), "ghosts stay")
    refused = [event for event in desk.find("call", state="ended") if event.get("reason") == "out-of-room"]
    expect(f"{len(refused)} refused", not refused, "nobody who presses is to be refused because of ghosts")
    return seconds


@race("ghost-calls", is_slow=True)
def ghost_calls(desk):
    """A thousand times, the answer coming at once: as many BYEs as calls, each acknowledged."""
    seconds = many(desk, 1000, 0)
    calls, byes = ({message.header("call-id") for message in desk.sent(name)} for name in ("INVITE", "BYE"))
    acknowledged = {message.header("call-id") for message in desk.sent("ACK")}
    expect(f"{len(calls)} calls", len(calls) == 1000, "every press is to make a call")
    open_ended = f"{len(calls - acknowledged)} without ACK, {len(calls - byes)} without BYE"
    expect(open_ended, calls == acknowledged == byes, "every answer wants both")
    return f"{len(calls)} calls, {1000 * seconds:.0f} ms each, none left"


@race("ghost-calls-late", is_slow=True)
def ghost_calls_late(desk):
    """A hundred times, the answer coming 400 ms later, when the person has long turned to the next press."""
    seconds = many(desk, 100, 400)
    return f"{1000 * seconds:.0f} ms each, none left"
