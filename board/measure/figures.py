#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small statistics of what was measured, and the shape of a lamp's blinking."""

from typing import NamedTuple


def percentile(values, fraction):
    """Nearest rank, so that the figure is one that was really measured. `fraction` is 0…1."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(fraction * 1000) * len(ordered) // 1000) - 1))]


def median(values):
    return percentile(values, 0.5)


def growth(values):
    """By how much the last quarter lies above the first: a leak shows, a single spike does not."""
    quarter = max(1, len(values) // 4)
    return median(values[-quarter:]) - median(values[:quarter])


class Blink(NamedTuple):
    """`pattern` is off, on or blink; of a blink `period_ms` and `lit` (0…1) are the medians."""

    pattern: str
    period_ms: float
    lit: float


def blink(edges, start_level, seconds):
    """`edges` is [(milliseconds from the start, new level)] as sampled over `seconds`."""
    if not edges:
        return Blink("on" if start_level else "off", 0.0, float(start_level))
    rises = [at for at, level in edges if level]
    periods = [later - earlier for earlier, later in zip(rises, rises[1:])]
    lit = _lit_ms(edges, start_level, seconds * 1000) / (seconds * 1000)
    return Blink("blink", median(periods) if periods else seconds * 1000, lit)


def _lit_ms(edges, level, end_ms):
    lit, at = 0.0, 0.0
    for time, new_level in [*edges, (end_ms, 0)]:
        lit += (time - at) * bool(level)
        at, level = time, new_level
    return lit


def self_test():
    assert percentile([5], 0.5) == 5 and median([3, 1, 2]) == 2 and median([4, 1, 2, 3]) == 2
    assert percentile(range(1, 101), 0.95) == 95 and percentile(range(1, 101), 1.0) == 100
    assert growth([10] * 90 + [99] + [10] * 9) == 0 and growth(list(range(100))) == 75
    assert blink([], 0, 3).pattern == "off" and blink([], 1, 3).pattern == "on"
    slow = blink([(at * 500, (at + 1) % 2) for at in range(6)], 0, 3)
    assert slow.pattern == "blink" and slow.period_ms == 1000 and abs(slow.lit - 0.5) < 0.01, slow


if __name__ == "__main__":
    self_test()
    print("figures: ok")
