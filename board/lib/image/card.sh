# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The card: boot loader, boot partition, two slots, data. Sourced by assemble.sh.

# make_boot_script FILE: board/lib/image/boot.cmd with the board's own words, as U-Boot wants it.
# shellcheck disable=SC2016,SC2154 # words for U-Boot; names of assemble.sh and of the board's meta
make_boot_script() {
    local boot=booti load=true tree='${fdtcontroladdr}'
    [[ $architecture == arm64 ]] || boot=bootz
    case $device_tree in
        firmware) tree='${fdtcontroladdr}' ;;
        raspberry) tree='${fdt_addr}' ;;
        slot)
            tree='${fdt_addr_r}'
            # U-Boot may know better which of them this board is.
            load='ext4load ${devtype} ${devnum}:${part} ${fdt_addr_r} /trees/'
            load="$load\${fdtfile} || $load${trees[0]}"
            ;;
    esac
    filled -e 's|@SLOT_A@|2|g; s|@SLOT_B@|3|g' -e "s|@BOOT@|$boot|" -e "s|@TREE@|$tree|" -e "s#@LOAD_TREE@#$load#" \
        -e "s|@ARGUMENTS@|$(kernel_arguments)|" "$here/boot.cmd" >"$work/boot.cmd"
    mkimage -q -A arm -T script -n "Callbox" -d "$work/boot.cmd" "$1" >/dev/null
}

# A kernel that gives up starts anew, and the try is counted. /var lives in memory. Huge pages would keep some 60 MB
# free for themselves.
kernel_arguments() {
    printf '%s' "console=$console,115200 console=tty0 quiet loglevel=3 vt.global_cursor_default=0 panic=10" \
        " transparent_hugepage=never systemd.volatile=state systemd.show_status=no"
}

make_boot_partition() {
    local tree=$work/boot
    mkdir -p "$tree"
    cp /callbox/rootfs-overlay/boot/callbox/callbox.conf "$tree/"
    cp "$here/README.txt" "$tree/README.txt"
    printf 'The help point writes here what it has found out about callbox.conf. It has not started yet.\r\n' \
        >"$tree/callbox-report.txt"
    make_boot_script "$tree/boot.scr"
    [[ $(type -t board_boot_files) != function ]] || board_boot_files "$tree"
    settled "$tree"
    rm -f "$1"
    truncate -s "${boot_mib}M" "$1"
    mkfs.vfat --invariant -F 32 -n CALLBOX -i "$signature" "$1" >/dev/null
    (cd "$tree" && for file in *; do mcopy -s -m -i "$1" "$file" ::; done)
}

# make_card FILE: four partitions, which every board's first program can read (MBR), after 16 MiB for boot loaders and
# the state of the slots.
make_card() {
    step "laying out the card"
    make_boot_partition "$work/boot.vfat"
    make_ext4 "$work/data.ext4" 16 callbox-data da7a -m 1
    mkdir -p "$work/genimage.root"
    {
        printf 'image card.img {\n  hdimage { partition-table-type = "mbr"\n disk-signature = 0x%s }\n' "$signature"
        local loader
        for loader in "${loaders[@]:-}"; do
            [[ -z $loader ]] || printf '  partition loader-%s { %s\n image = "%s"\n offset = %s }\n' \
                "${loader%%:*}" 'in-partition-table = false' "$parts/${loader#*:}" "${loader%%:*}"
        done
        # U-Boot looks for its words in what is marked as bootable, one after the other.
        partition boot boot.vfat 0x0c "${boot_mib}M" true 16M
        partition a slot.ext4 0x83 "${slot_mib}M" true "$((16 + boot_mib))M"
        printf '  partition b { partition-type = 0x83\n size = %sM }\n' "$slot_mib"
        partition data data.ext4 0x83 16M false
        printf '}\n'
    } >"$work/genimage.cfg"
    genimage --loglevel 1 --config "$work/genimage.cfg" --rootpath "$work/genimage.root" \
        --tmppath "$work/genimage.tmp" --inputpath "$work" --outputpath "$work" >"$work/genimage.log" 2>&1 \
        || die "genimage failed: $(tail -3 "$work/genimage.log")"
    mv "$work/card.img" "$1"
}

# partition NAME FILE TYPE SIZE BOOTABLE [OFFSET]: a line of genimage's.
partition() {
    printf '  partition %s { partition-type = %s\n image = "%s"\n size = %s\n bootable = %s\n' "$1" "$3" "$2" "$4" "$5"
    [[ -z ${6:-} ]] || printf ' offset = %s\n' "$6"
    printf '  }\n'
}

# make_bundle FILE: the same slot as an update, signed.
make_bundle() {
    local tree=$work/bundle
    step "signing the update"
    mkdir -p "$tree"
    # RAUC copies what is called .img as it is.
    ln "$work/slot.ext4" "$tree/slot.img"
    cat >"$tree/manifest.raucm" <<MANIFEST
[update]
compatible=callbox-$board
version=$version

[bundle]
format=verity

[image.system]
filename=slot.img
MANIFEST
    rm -f "$1"
    rauc --key /cache/signing/key.pem --cert /cache/signing/certificate.pem \
        --mksquashfs-args='-comp zstd -Xcompression-level 3 -quiet -no-progress' bundle "$tree" "$1" >/dev/null 2>&1 \
        || die "rauc made no bundle."
}
