# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Debian 13 sysroots of the ARM targets: linked against, and what qemu-user runs with. Sourced, never run.

# shellcheck source=board/lib/root.sh
. "$(dirname "${BASH_SOURCE[0]}")/root.sh"

# sysroot_path ARCHITECTURE: where the sysroot of arm64 or armhf is, or will be.
sysroot_path() {
    printf '%s/sysroot-%s-%s\n' "$scratch" "$1" "$(hash_of "$list_folder/packages-sysroot.txt" "$list_folder/root.sh")"
}

# make_sysroot ARCHITECTURE: makes it unless it is there.
make_sysroot() {
    local path
    path=$(sysroot_path "$1")
    [[ -d $path ]] || locked "sysroot-$1" make_sysroot_now "$1" "$path"
    touch -c "$path"
}

make_sysroot_now() {
    local architecture=$1 path=$2
    [[ ! -d $path ]] || return 0
    step "making the $architecture sysroot (once, about half a minute)"
    mkdir -p "$scratch"
    discard "$path".new
    bootstrap "$path".new "$architecture" "$list_folder/packages-sysroot.txt" extract
    discard "$path".new/usr/share/{doc,man,info,locale,gir-1.0}
    # Unpacked without base-files, which would make these.
    ln -sfn usr/lib "$path".new/lib
    ln -sfn usr/bin "$path".new/bin
    relative_links "$path".new
    finish "$path" "sysroot-$architecture"
}

# relative_links ROOT: absolute links would lead a linker on this machine out of the sysroot.
relative_links() {
    local link
    while IFS= read -r -d '' link; do
        ln -sfnr "$1$(readlink "$link")" "$link"
    done < <(find "$1" -xdev -type l -lname '/*' -print0)
}
