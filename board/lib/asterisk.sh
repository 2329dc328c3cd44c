# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A Debian sid root that holds Asterisk 22, which no stable Debian has: made once. Sourced, never run.

# shellcheck source=board/lib/root.sh
. "$(dirname "${BASH_SOURCE[0]}")/root.sh"

# asterisk_path: where the root is, or will be. Commands in the dev root see it under /cache.
asterisk_path() {
    printf '%s/root-asterisk-%s\n' "$scratch" "$(hash_of "$list_folder/packages-asterisk.txt" "$list_folder/root.sh")"
}

# make_asterisk_root: makes it unless it is there.
make_asterisk_root() {
    local path
    path=$(asterisk_path)
    [[ -d $path ]] || locked root-asterisk make_asterisk_root_now "$path"
    touch -c "$path"
}

make_asterisk_root_now() {
    local path=$1
    [[ ! -d $path ]] || return 0
    step "making the root of Asterisk (once, about half a minute)"
    mkdir -p "$scratch"
    discard "$path".new
    suite=sid bootstrap "$path".new amd64 "$list_folder/packages-asterisk.txt" apt "${left_out[@]}"
    finish "$path" root-asterisk
}
