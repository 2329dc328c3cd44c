# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Usage: assemble.sh BOARD ROOT PARTS VERSION EPOCH
# The part of board/image that runs in the Debian 13 root: makes build/images/callbox-BOARD-VERSION.* out of the boards'
# root, the board's kernel and boot loader, and the binary. EPOCH (seconds) is the time that every file gets.

set -euo pipefail
board=$1 base=$2 parts=$3 version=$4
export SOURCE_DATE_EPOCH=$5 E2FSPROGS_FAKE_TIME=$5 TZ=UTC LC_ALL=C
here=/callbox/board/lib/image
# shellcheck source=/dev/null
. "/callbox/board/$board/meta"
name=callbox-$board-$version
work=/cache/image-$board
out=/callbox/build/images
# What the layout and the first program on the board agree on.
readonly signature=ca11b0c5 state_1=7000 state_2=7008 boot_mib=256 slot_mib=300

step() { printf '[%5ds] %s\n' "$SECONDS" "$*" >&2; }
die() {
    printf 'image: %s\n' "$*" >&2
    exit 1
}
filled() { sed -e "s|@SIGNATURE@|$signature|g" -e "s|@STATE_1@|$state_1|g" -e "s|@STATE_2@|$state_2|g" \
    -e "s|@EPOCH@|$SOURCE_DATE_EPOCH|g" "$@"; }
settled() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }

kernel=$(basename "$parts"/usr/lib/modules/* 2>/dev/null || basename "$parts"/lib/modules/*)

# shellcheck source=board/lib/image/slot.sh
. "$here/slot.sh"
# shellcheck source=board/lib/image/card.sh
. "$here/card.sh"

exec {handle}>"$work.lock"
flock "$handle"
rm -rf --one-file-system "$work"
mkdir -p "$work" "$out"
make_board_files
make_slot "$work/slot.ext4"
make_card "$out/$name.img"
make_bundle "$out/$name.raucb"
# A virtual board has its boot loader not on the card.
[[ -z ${firmware:-} ]] || cp "$parts/$firmware" "$out/$name.u-boot.bin"
python3 "$here/sbom.py" "$name" "$work/system/usr/share/callbox/packages.txt" >"$out/$name.spdx.json"
step "compressing"
bmaptool -q create -o "$out/$name.img.bmap" "$out/$name.img"
xz --force --threads=2 --block-size=16MiB -0 "$out/$name.img"
(cd "$out" && sha256sum "$name".img.xz >"$name.img.xz.sha256")
rm -rf --one-file-system "$work/system"
step "build/images/$name.img.xz: $(($(stat -c %s "$out/$name.img.xz") / 1000000)) MB"
