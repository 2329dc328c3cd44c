# SPDX-License-Identifier: Apache-2.0
"""A card, as somebody with a card reader has it: written from an image, its files changed, its bytes spoilt."""

import re
import shutil
import subprocess
from pathlib import Path

MIB = 1 << 20
# board/lib/image/card.sh lays them out.
BOOT_AT, SLOT_A_AT, SLOT_B_AT, DATA_AT = 16 * MIB, 272 * MIB, 572 * MIB, 872 * MIB
STATE_AT = (14 * MIB, 14 * MIB + 4096)


class Card:
    """The file `path`, `size_mib` large, with what `image` (.img.xz) holds."""

    def __init__(self, path, image, size_mib=1024):
        self.path, self.image = Path(path), Path(image)
        # Zeros become holes.
        with open(self.path, "wb") as target:
            subprocess.run(["xz", "--decompress", "--stdout", "--threads=0", image], check=True, stdout=target)
        with open(self.path, "rb+") as target:
            target.truncate(size_mib * MIB)

    def copy(self, path):
        """Another card with the same bytes."""
        other = Card.__new__(Card)
        other.path, other.image = Path(path), self.image
        subprocess.run(["cp", "--sparse=always", self.path, path], check=True)
        return other

    def _tool(self, name, *words, **options):
        return subprocess.run([name, "-i", f"{self.path}@@{BOOT_AT}", *words], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, **options)

    def read(self, name):
        """A file of the boot partition."""
        return self._tool("mtype", f"::{name}").stdout

    def write(self, name, data):
        self._tool("mcopy", "-o", "-", f"::{name}", input=data)

    def fill(self):
        """The boot partition has no room any more."""
        free = re.search(r"([\d ]+) bytes free", self._tool("mdir").stdout.decode())[1]
        self.write("fill", bytes(int(free.replace(" ", ""))))

    def remove(self, name):
        self._tool("mdel", f"::{name}")

    def relabel(self, label):
        self._tool("mlabel", f"::{label}")

    def read_slot(self, name):
        """A file of slot A, which is an ext4."""
        return subprocess.run(["debugfs", "-R", f"cat /{name}", f"{self.path}?offset={SLOT_A_AT}"], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    def spoil(self, at, length):
        """Writes 0xA5 over `length` bytes at `at`."""
        with open(self.path, "rb+") as file:
            file.seek(at)
            file.write(b"\xa5" * length)


def make_stick(path, files):
    """What a USB stick has as it is sold: one partition of FAT, here with some files on it."""
    begin, size = MIB, sum(map(len, files.values())) + 64 * MIB
    with open(path, "wb") as stick:
        stick.truncate(begin + size)
        # An entry of the table: type 0x0C, the first sector, how many (the layout of an MBR).
        stick.seek(446)
        stick.write(bytes(4) + b"\x0c" + bytes(3) + (begin // 512).to_bytes(4, "little")
                    + (size // 512).to_bytes(4, "little"))
        stick.seek(510)
        stick.write(b"\x55\xaa")
    subprocess.run(["mformat", "-i", f"{path}@@{begin}", "-T", str(size // 512), "-h", "255", "-s", "63", "::"],
                   check=True)
    for name, data in files.items():
        subprocess.run(["mcopy", "-i", f"{path}@@{begin}", "-", f"::{name}"], input=data, check=True)


def bundle(source, folder, name, change=None, key=("/cache/signing/key.pem", "/cache/signing/certificate.pem")):
    """A signed update like `source` (.raucb), remade after `change(tree)` has changed the slot's file in a folder."""
    folder = Path(folder)
    tree = folder / f"{name}.tree"
    shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(["unsquashfs", "-q", "-n", "-d", tree, source], check=True, stdout=subprocess.DEVNULL)
    if change:
        change(tree)
    # Digest and size of what was there before.
    manifest = tree / "manifest.raucm"
    lines = [line for line in manifest.read_text().splitlines() if not line.startswith(("sha256=", "size="))]
    manifest.write_text("\n".join(lines) + "\n")
    path = folder / f"{name}.raucb"
    path.unlink(missing_ok=True)
    subprocess.run(["rauc", "--key", key[0], "--cert", key[1], "--mksquashfs-args=-comp zstd -Xcompression-level 1",
                    "bundle", tree, path], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path
