# SPDX-License-Identifier: Apache-2.0
"""Which files hold a group's checks, and which groups run side by side: what waits beside what computes, and alone what
measures time."""

from typing import NamedTuple

FILES = {
    "format": ["sources"], "harness": ["harness", "faults_table"], "unit": ["unit"], "fuzz": ["fuzz"],
    "bitstream": ["bitstream"],
    "simulate": ["simulate"],
    "bench": ["speed"], "purity": ["purity"], "size": ["sizes"], "arm": ["arm"], "time": ["duration"],
    "asterisk": ["asterisk", "asterisk_change"], "kamailio": ["kamailio"], "auth": ["auth", "auth_kept"],
    "register": ["register"], "servers": ["servers", "servers_names"], "tls": ["tls"], "secure": ["secure"],
    "reach": ["reach"], "link": ["link"],
    "ice": ["ice"], "reload": ["reload"], "errors": ["errors"], "stranger": ["stranger"], "panel": ["digits"],
    "rate": ["rates"], "targets": ["targets"], "service": ["service", "service_network"],
    "race": ["race_cancel", "race_fork", "race_change", "race_timer", "race_request", "race_refer", "race_stream",
             "race_ghost"],
    "board": ["call", "picture", "sound", "heard", "room", "signalling", "panel", "commits", "control", "rotation",
              "schedule", "abuse", "missing", "endurance"],
    "codec": ["codec", "hardware", "hardware_encoder", "hardware_jpeg"], "slices": ["slices"],
    "away": ["away", "lines"], "screens": ["screens"],
    "image": ["image"],
    "image-more": ["image_update", "image_bundles", "image_faults"],
}


class Lane(NamedTuple):
    """Groups, or checks of one, that follow one another, `at_a_time` of them side by side; `nice` as nice(1) has it."""

    patterns: tuple
    at_a_time: int = 1
    nice: int = 0


# Each has a network of its own; the longest first.
WAITING = ("race", "link", "servers", "register", "secure", "reach", "asterisk", "rate", "auth", "tls", "kamailio",
           "reload", "errors", "panel", "targets", "ice", "service")
# Their figures are times, or want every packet: nothing runs beside them.
TIMED = ("board/boot", "board/ready", "board/press-to-*", "board/hook-to-*", "board/answer-to-*", "board/remote-*",
         "board/black-bars", "board/self-view", "board/far-end-picture", "board/camera-live", "board/tone-*",
         "board/codec-*", "board/commit-lead", "board/key-tone-*", "board/echo*", "board/loudspeaker-peak",
         "board/lamp-latency", "board/noise", "codec/display-cost", "away/relay-*", "away/matrix", "away/toggled")
# The lanes of a phase run side by side, the phases one after the other.
PHASES = (
    # What is fuzzed runs for a set time, on what the others leave.
    (Lane(("format", "unit", "bitstream", "simulate", "purity", "size", "arm"), nice=10),
     Lane(("fuzz",), nice=19), Lane(WAITING, at_a_time=3), Lane(("image",))),
    (Lane(("harness", "bench", "stranger", *TIMED)),),
    # A virtual board each.
    (Lane(("codec/formats", "screens", "slices", "away")), Lane(("board", "codec"))),
    (Lane(("image-more",)),),
    (Lane(("time",)),),
)


def planned(rows, fits):
    """[[(parts, at_a_time, nice)]]: of each lane of each phase its parts, the rows of one group each, a row once.

    `fits(row, pattern)` tells whether a row is of a group, or has a name.
    """
    left, phases = list(rows), []
    for phase in PHASES:
        lanes = []
        for lane in phase:
            parts = {}
            for row in [row for pattern in lane.patterns for row in left if fits(row, pattern)]:
                if row in left:
                    left.remove(row)
                    parts.setdefault(row.group, []).append(row)
            lanes.append((list(parts.values()), lane.at_a_time, lane.nice))
        phases.append([lane for lane in lanes if lane[0]])
    if left:
        raise ValueError(f"in no phase: {', '.join(row.name for row in left)}")
    return phases
