# SPDX-License-Identifier: Apache-2.0
"""A shell on a virtual board booted for it. Started by board/virtual/start."""

import os
import sys
from pathlib import Path

from virtual.board import Board, BoardError

COMMAND_LIMIT_S = 600


def run(board, command):
    code, output = board.sh(command, COMMAND_LIMIT_S)
    print(output, end="" if output.endswith("\n") or not output else "\n", flush=True)
    return code


def main():
    with Board(Path("build/virtual")) as board:
        print(f"virtual board: ready after {board.boot_seconds:.2f} s", file=sys.stderr)
        if len(sys.argv) > 1:
            return run(board, " ".join(sys.argv[1:]))
        code = 0
        while True:
            if os.isatty(0):
                print("board# ", end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            if not line:
                return code
            code = run(board, line)


if __name__ == "__main__":
    try:
        sys.exit(main() & 0xFF)
    except BoardError as fault:
        sys.exit(f"board/virtual/start: {fault}")
    except KeyboardInterrupt:
        sys.exit(130)
