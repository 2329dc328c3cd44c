# SPDX-License-Identifier: Apache-2.0
"""The pure half really is pure: compiled as it ships, its objects want nothing but memory from outside."""

import re
from pathlib import Path

from tests.runner import Failed, check

PROJECT = Path(__file__).resolve().parent.parent.parent

# In the order of their arrows: each may import those before it.
PURE = ["Bytes", "PanelEngine", "SIPWire", "SDPWire", "H264", "RTPWire", "SIPEngine", "MediaEngine", "KioskEngine"]
# The builds that ship: one of the computer's size, and one of half of it.
TARGETS = ["x86_64", "armv7"]
# Memory, and the arithmetic a CPU lacks. arc4random_buf only seeds Swift's hash tables.
ALLOWED = re.compile(
    r"^(free|malloc|posix_memalign|aligned_alloc|mem(set|cpy|move|cmp|chr)|bcmp|strlen|arc4random_buf|__stack_chk_\w+|"
    r"__aeabi_\w+|__u?(div|mod|divmod|mul|cmp)\w+|__\w*(di|ti|df|sf|dixf|sidf)[2-4]?|_GLOBAL_OFFSET_TABLE_|"
    r"__tls_get_addr|(floor|ceil|round|rint|trunc|fm(a|in|ax|od)|sqrt)f?)$")
IMPORT = re.compile(r"\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public |internal |private )?import (?:\w+ )?(\w+)")


def objects(target):
    """The objects of the pure targets that the build of the product made, by its own plan."""
    if (PROJECT / "build" / "test" / f"build-{target}.failed").exists():
        raise Failed("not built", f"the {target} build failed; see build/test/build-{target}.log")
    plan = Path(f"/cache/build-{target}/release.yaml").read_text()
    found = {name: sorted(set(re.findall(rf'"([^"]*/{name}\.build/[^"]*\.o)"', plan))) for name in PURE}
    for name, paths in found.items():
        if not paths:
            raise Failed("not built", f"the plan of the {target} build names no objects of {name}")
    return [path for paths in found.values() for path in paths]


def undefined(context, paths):
    """What the objects want from outside, beyond each other."""
    defined, wanted = set(), set()
    for line in context.run("nm", "-A", *paths, keep=False).splitlines():
        if len(line.split()) >= 2:
            kind, symbol = line.split()[-2:]
            (wanted if kind in ("U", "w") else defined).add(symbol)
    return sorted(wanted - defined)


@check("purity/imports")
def imports(context):
    faults = []
    for name in PURE:
        for path in sorted((context.project / "Sources" / name).glob("**/*.swift")):
            for line in path.read_text().splitlines():
                found = IMPORT.match(line)
                if found and found.group(1) not in PURE[: PURE.index(name)]:
                    faults.append(f"{name}/{path.name} imports {found.group(1)}")
    if faults:
        raise Failed(f"{len(faults)} imports", "; ".join(faults)[:200])
    return f"{len(PURE)} targets"


def symbols(context, target):
    outside = undefined(context, objects(target))
    context.log("from outside:", *outside)
    strange = [symbol for symbol in outside if not ALLOWED.match(symbol)]
    if strange:
        raise Failed(f"{len(strange)} symbols", f"the pure half wants {', '.join(strange[:6])}")
    return f"{len(outside)} symbols"


for _target in TARGETS:
    check(f"purity/{_target}")(lambda context, target=_target: symbols(context, target))
