# SPDX-License-Identifier: Apache-2.0
"""The three binaries that board/build made: how large, and stripped."""

from tests.runner import Failed, check

TARGETS = {"x86_64": "x86-64", "arm64": "aarch64", "armv7": "ARM"}


def binary(context, target):
    """The path of a binary that this run built; board/test leaves a note when a build failed."""
    note = context.out / f"build-{target}.failed"
    if note.exists():
        raise Failed("not built", f"board/build {target} failed; see build/test/build-{target}.log")
    path = context.project / "build" / target / "callbox"
    if not path.exists():
        raise Failed("not built", f"there is no build/{target}/callbox")
    return path


def size(context, target):
    path = binary(context, target)
    kind = context.run("file", "--brief", path)
    if TARGETS[target] not in kind or "stripped" not in kind or "not stripped" in kind:
        raise Failed(f"{path.stat().st_size} bytes", f"not a stripped {target} binary: {kind.strip()[:100]}")
    return path.stat().st_size / 1e6


for _target in TARGETS:
    check(f"size/{_target}")(lambda context, target=_target: size(context, target))
