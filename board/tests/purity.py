# SPDX-License-Identifier: Apache-2.0
"""The pure half really is pure: compiled as Embedded Swift, its objects may import nothing but memory from outside."""

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

from tests.runner import Failed, check

# In the order of their arrows: each may import those before it.
PURE = ["Bytes", "SIPWire", "SDPWire", "RTPWire", "SIPEngine", "MediaEngine", "KioskEngine"]
# One of the computer's size and one half of it; board/build compiles the third.
TRIPLES = {"x86_64": "x86_64-unknown-linux-gnu", "armv7": "armv7-none-none-eabi"}
# Memory, and the arithmetic a CPU lacks. arc4random_buf only seeds Swift's hash tables.
ALLOWED = re.compile(
    r"^(free|malloc|posix_memalign|aligned_alloc|mem(set|cpy|move|cmp|chr)|bcmp|strlen|arc4random_buf|__stack_chk_\w+|"
    r"__aeabi_\w+|__u?(div|mod|divmod|mul|cmp)\w+|__\w*(di|ti|df|sf|dixf|sidf)[2-4]?|_GLOBAL_OFFSET_TABLE_|"
    r"__tls_get_addr|(floor|ceil|round|rint|trunc|fm(a|in|ax|od)|sqrt)f?)$")
IMPORT = re.compile(r"\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public |internal |private )?import (?:\w+ )?(\w+)")
FLAGS = ["-enable-experimental-feature", "Embedded", "-wmo", "-parse-as-library", "-O", "-swift-version", "5",
         "-warnings-as-errors"]


def compiled(context):
    """{target: a folder of objects, or why there is none}: all triples, as many at a time as there are processors."""
    def one(target):
        try:
            return compile_all(context, target)
        except Failed as failure:
            return failure

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(TRIPLES, pool.map(one, TRIPLES)))


def compile_all(context, target):
    """Objects and modules of the pure targets for one triple; the folder they are in."""
    folder = context.out / "purity" / "objects" / target
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in PURE:
        sources = sorted((context.project / "Sources" / name).glob("**/*.swift"))
        hard_float = ["-Xcc", "-mfloat-abi=hard"] if target == "armv7" else []
        context.run("swiftc", *FLAGS, "-target", TRIPLES[target], *hard_float, "-Xcc", "-fPIC", "-module-name", name,
                    "-I", folder, "-emit-module", "-emit-module-path", folder / f"{name}.swiftmodule", "-c", "-o",
                    folder / f"{name}.o", *sources)
    return folder


def undefined(context, folder):
    """What the objects want from outside, beyond each other."""
    defined, wanted = set(), set()
    for line in context.run("nm", "-A", *sorted(folder.glob("*.o")), keep=False).splitlines():
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
    folder = context.once("the pure half's objects", lambda: compiled(context))[target]
    if isinstance(folder, Failed):
        raise folder
    outside = undefined(context, folder)
    context.log("from outside:", *outside)
    strange = [symbol for symbol in outside if not ALLOWED.match(symbol)]
    if strange:
        raise Failed(f"{len(strange)} symbols", f"the pure half wants {', '.join(strange[:6])}")
    return f"{len(outside)} symbols"


for _target in TRIPLES:
    check(f"purity/{_target}")(lambda context, target=_target: symbols(context, target))
