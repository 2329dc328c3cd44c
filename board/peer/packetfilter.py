#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules of nftables for the network this runs in, one an argument: by the library, for its program is not needed."""

import ctypes
import subprocess
import sys

MASQUERADE = ("add table ip street",
              "add chain ip street out { type nat hook postrouting priority 100; }",
              # Another port for each far end, as the least helpful of routers do it.
              "add rule ip street out oifname outside masquerade fully-random")
SIGNALLING_ONLY = ("add table ip quiet",
                   "add chain ip quiet in { type filter hook input priority 0; }",
                   "add rule ip quiet in iifname signalling udp dport != 5060 drop")
# Of what comes to the far end's media three in ten are lost, until that ends.
LOSSY = ("add table ip lossy",
         "add chain ip lossy in { type filter hook input priority 0; }",
         "add rule ip lossy in ip daddr 10.77.0.1 udp dport 20000-20999 numgen random mod 10 < 3 drop")
LOSSLESS = ("delete table ip lossy",)
RULES = {"masquerade": MASQUERADE, "signalling": SIGNALLING_ONLY, "lossy": LOSSY, "lossless": LOSSLESS}


def apply(name, enter=()):
    """The rules of that name, in the network that this runs in, or that the words `enter` lead to."""
    subprocess.run([*enter, sys.executable, __file__, name], check=True)


def main(rules):
    library = ctypes.CDLL("libnftables.so.1")
    library.nft_ctx_new.restype = ctypes.c_void_p
    library.nft_run_cmd_from_buffer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    context = library.nft_ctx_new(0)
    return 1 if any(library.nft_run_cmd_from_buffer(context, rule.encode()) for rule in rules) else 0


if __name__ == "__main__":
    sys.exit(main(RULES[sys.argv[1]]))
