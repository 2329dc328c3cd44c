# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The contents of a slot: kernel, initramfs, descriptions of the hardware, and the compressed root. Sourced by
# assemble.sh.

# make_board_files: the board's root as a folder, $work/system.
# shellcheck disable=SC2154 # names of assemble.sh and of the board's meta
make_board_files() {
    local root=$work/system
    step "the root: $(wc -l <"$parts/packages") packages of the board's own, kernel $kernel"
    cp -a "$base" "$root"
    rm -rf "${root:?}"/boot/* "$root"/var/{cache,log,tmp}/* "$root"/var/lib/apt "$root"/etc/{machine-id,udev/hwdb.bin} \
        "$root"/usr/lib/udev/{hwdb.d,hwdb.bin}
    # Nothing of a kiosk's is written in Perl, no desktop asks what a file is, nobody types a password, texts are UTF-8.
    rm -rf "$root"/usr/bin/perl* "$root"/usr/lib/*/{perl-base,gconv,security} \
        "$root"/usr/share/{perl5,lintian,mime,gcc,X11,pam,pam-configs,fonts-droid-fallback}
    mkdir -p "$root"/{boot/callbox,data,etc/rauc,usr/share/callbox,usr/lib/modules}
    : >"$root/etc/machine-id"
    printf 'callbox\n' >"$root/etc/hostname"
    printf '127.0.0.1 localhost callbox\n::1 localhost\n' >"$root/etc/hosts"
    ln -sf /run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"
    copy_modules "$root/usr/lib/modules/$kernel"
    depmod -b "$root" "$kernel"
    copy_firmware "$root/usr/lib/firmware"
    cp -r --no-preserve=ownership /callbox/rootfs-overlay/. "$root/"
    [[ ! -d /callbox/board/$board/overlay ]] || cp -r --no-preserve=ownership "/callbox/board/$board/overlay/." "$root/"
    install -m 755 "/callbox/build/$target/callbox" "$root/usr/bin/callbox"
    cp -r --no-preserve=ownership /callbox/build/share/. "$root/usr/share/"
    name_release "$root"
    list_certificates "$root"
    list_packages "$root" >"$root/usr/share/callbox/packages.txt"
    rm -rf "$root"/var/lib/dpkg
    settled "$root"
    in_board systemd-sysusers
    in_board fc-cache --system-only
    rm -f "$root"/etc/{passwd-,group-,shadow-,gshadow-}
}

# in_board COMMAND...: a program of the board's root, under emulation. It cannot start others.
in_board() {
    local emulator=qemu-aarch64
    [[ $architecture == arm64 ]] || emulator=qemu-arm
    cp "/usr/bin/$emulator" "$work/system/emulator"
    chroot "$work/system" /emulator "/usr/bin/$1" "${@:2}" || die "$1 failed in the board's root."
    rm "$work/system/emulator"
}

# copy_modules FOLDER: the kernel's modules without those for machines that no help point is.
copy_modules() {
    local source=$parts/usr/lib/modules/$kernel
    cp -a "$source" "$1"
    (cd "$1/kernel" && xargs rm -rf) <"$here/modules-left-out.txt"
}

# copy_firmware FOLDER: the files whose beginnings the board's meta names, for devices that want some.
copy_firmware() {
    local start
    for start in "${firmware_files[@]:-}"; do
        [[ -z $start ]] && continue
        mkdir -p "$1/$(dirname "$start")"
        cp -a "$parts/usr/lib/firmware/$start"* "$1/$(dirname "$start")/"
    done
}

# list_certificates ROOT: whom the board believes by itself, one by one for OpenSSL and in one file for others.
list_certificates() {
    local folder=$1/etc/ssl/certs file
    rm -rf "${folder:?}"
    mkdir -p "$folder"
    cat "$1"/usr/share/ca-certificates/mozilla/*.crt >"$folder/ca-certificates.crt"
    for file in "$1"/usr/share/ca-certificates/mozilla/*.crt; do
        ln -s "/usr/share/ca-certificates/mozilla/$(basename "$file")" "$folder/$(basename "$file" .crt).pem"
        ln -sf "$(basename "$file" .crt).pem" "$folder/$(openssl x509 -in "$file" -noout -hash).0"
    done
}

name_release() {
    cat >"$1/usr/lib/callbox-release" <<RELEASE
CALLBOX_VERSION=$version
CALLBOX_BOARD=$board
RELEASE
    sed -e "s|@BOARD@|$board|g" "$here/rauc.conf" >"$1/etc/rauc/system.conf"
    cp /cache/signing/certificate.pem "$1/etc/rauc/keyring.pem"
}

# list_packages ROOT: what the image is made of: name, version, architecture.
list_packages() {
    {
        dpkg-query --admindir="$1/var/lib/dpkg" -W -f '${Package} ${Version} ${Architecture}\n'
        cat "$parts/packages"
    } | sort -u
}

# make_initramfs FILE: busybox, what mounts a card, and the first program.
make_initramfs() {
    local tree=$work/initramfs folder group
    mkdir -p "$tree/bin" "$tree/usr/lib/modules/$kernel"
    ln -s usr/lib "$tree/lib"
    install -m 755 "$base/usr/bin/busybox" "$tree/bin/busybox"
    group=$(awk -F: '$1 == "callbox" { print $3 }' "$work/system/etc/group")
    filled -e "s|callbox-gid|$group|" "$here/init" >"$tree/init"
    chmod 755 "$tree/init"
    mkdir -p "$tree/dev"
    cp "$parts/usr/lib/modules/$kernel"/modules.{builtin,order} "$tree/usr/lib/modules/$kernel/"
    cp "$parts/usr/lib/modules/$kernel/modules.builtin.modinfo" "$tree/usr/lib/modules/$kernel/" 2>/dev/null || :
    while read -r folder; do
        [[ -e $parts/usr/lib/modules/$kernel/kernel/$folder ]] || continue
        mkdir -p "$tree/usr/lib/modules/$kernel/kernel/$(dirname "$folder")"
        cp -a "$parts/usr/lib/modules/$kernel/kernel/$folder" "$tree/usr/lib/modules/$kernel/kernel/$folder"
    done < <(sed 's/#.*//' "$here/modules-first.txt" | awk NF)
    add_needed "$tree"
    # Busybox reads plain modules only.
    find "$tree" -name '*.ko.xz' -exec xz -d {} +
    depmod -b "$tree" "$kernel"
    settled "$tree"
    (cd "$tree" && find . -print0 | sort -z | cpio --null --create --format=newc --reproducible --owner=0:0 --quiet) \
        | zstd -q -15 -T0 >"$1"
}

# add_needed TREE: the modules that those in TREE need and that are in other folders.
add_needed() {
    local dependencies=$work/system/usr/lib/modules/$kernel/modules.dep module
    while read -r module; do
        [[ -e $1/usr/lib/modules/$kernel/$module ]] || install -D -m 644 \
            "$parts/usr/lib/modules/$kernel/$module" "$1/usr/lib/modules/$kernel/$module"
    done < <(cd "$1/usr/lib/modules/$kernel" && find kernel -name '*.ko*' | sort \
        | grep -F -x -f - <(awk -F: '{ print $1 }' "$dependencies") \
        | while read -r module; do awk -F': ' -v m="$module" '$1 == m { print $2 }' "$dependencies"; done \
        | tr ' ' '\n' | awk NF | sort -u)
}

# make_slot FILE: a file system that U-Boot can read (ext4 without what it does not know), just as large as needed.
make_slot() {
    local tree=$work/slot
    mkdir -p "$tree"
    step "compressing the root"
    mksquashfs "$work/system" "$tree/root.squashfs" -quiet -no-progress -reproducible -comp zstd \
        -Xcompression-level 15 -b 512K -wildcards -e 'proc/*' 'sys/*' 'dev/*' 'run/*' 'tmp/*'
    step "root: $(($(stat -c %s "$tree/root.squashfs") / 1000000)) MB"
    cp "$parts/boot/vmlinuz-$kernel" "$tree/vmlinuz"
    make_initramfs "$tree/initrd"
    copy_trees "$tree"
    # U-Boot looks for it here where it does not find the one of the boot partition.
    make_boot_script "$tree/boot.scr"
    settled "$tree"
    make_ext4 "$1" $(($(du -sm --apparent-size "$tree" | cut -f1) + 12)) callbox-slot 5107 -d "$tree" -m 0 \
        -O '^has_journal,^metadata_csum,^64bit,^orphan_file,^resize_inode'
}

# copy_trees FOLDER: the descriptions of the hardware that the board's meta names.
copy_trees() {
    local tree
    for tree in "${trees[@]:-}"; do
        [[ -z $tree ]] || install -D -m 644 "$parts/usr/lib/linux-image-$kernel/$tree" "$1/trees/$tree"
    done
}

# make_ext4 FILE MIB LABEL NUMBER OPTION...: the same bytes from the same files: no identity or seed is drawn.
make_ext4() {
    local file=$1 mib=$2 label=$3 identity
    identity=$(printf '%08x-0000-4000-8000-%012x' "0x$signature" "0x$4")
    shift 4
    rm -f "$file"
    truncate -s "${mib}M" "$file"
    mke2fs -q -t ext4 -L "$label" -U "$identity" -E "hash_seed=$identity,root_owner=0:0" "$@" "$file"
}
