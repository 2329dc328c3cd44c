# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The Debian 13 root in which everything is built and tested: made once. Sourced, never run.

[[ -n ${list_folder:-} ]] && return
# shellcheck source=board/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly list_folder=$project/board/lib

# root_path: where the dev root is, or will be.
root_path() { printf '%s/root-dev-%s\n' "$cache" "$(hash_of "$list_folder/packages-dev.txt" "$list_folder/root.sh")"; }

# make_root: makes the dev root unless it is there.
make_root() {
    local path
    path=$(root_path)
    [[ -d $path ]] || locked root-dev make_root_now "$path"
    touch -c "$path"
}

make_root_now() {
    local path=$1
    [[ ! -d $path ]] || return 0
    step "making the Debian 13 root (once, about a minute)"
    discard "$path".new
    bootstrap "$path".new amd64 "$list_folder/packages-dev.txt" apt "${left_out[@]}"
    mkdir -p "$path".new/{callbox,cache,swift/usr,share,boot/callbox}
    printf 'callbox\n' >"$path".new/etc/hostname
    printf '127.0.0.1 localhost callbox\n::1 localhost\n' >"$path".new/etc/hosts
    ln -sf /run/resolv.conf "$path".new/etc/resolv.conf
    finish "$path" root-dev
}

# What no build or test reads. qemu-user holds emulators for 60 machines, of which two are ours; nothing links the
# large static libraries; and there is no GPU for Mesa's drivers.
readonly left_out=(
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*'
    --dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/share/locale/*'
    --dpkgopt='path-exclude=/usr/share/gir-1.0/*' --dpkgopt='path-exclude=/usr/bin/*lto-dump*'
    --dpkgopt='path-exclude=/usr/bin/qemu-*'
    --dpkgopt='path-include=/usr/bin/qemu-arm' --dpkgopt='path-include=/usr/bin/qemu-aarch64'
    --dpkgopt='path-include=/usr/bin/qemu-system-arm' --dpkgopt='path-include=/usr/bin/qemu-system-aarch64'
    --dpkgopt='path-exclude=/usr/lib/*/libicu*.a' --dpkgopt='path-exclude=/usr/lib/*/libav*.a'
    --dpkgopt='path-exclude=/usr/lib/*/libLLVM*' --dpkgopt='path-exclude=/usr/lib/*/libgallium*'
)

# bootstrap TARGET ARCHITECTURE LISTFILE VARIANT [OPTION...]: unpacks Debian 13 with the packages of a list.
bootstrap() {
    local keys source options
    apt_need mmdebstrap=mmdebstrap
    keys=$(keyring)
    source=$(mirror)
    options=(
        --architectures="$2" --variant="$4" --mode=root --format=directory --keyring="$keys"
        --include="$(packages "$3")" --aptopt='Acquire::Check-Valid-Until "false"'
        --aptopt='APT::Install-Recommends "false"' "${@:5}"
    )
    # In a mount namespace of its own, so that an interrupted run leaves no mount behind.
    unshare --mount mmdebstrap "${options[@]}" "$suite" "$1" "$source" 2>&1 | stages "$1.log" \
        || die "mmdebstrap failed; the end of $1.log:
$(tail -5 "$1.log")"
}

# stages LOG: keeps the whole output in LOG and shows the stages.
stages() { tee "$1" | sed -u -n 's/^I: \(.*\)\.\.\.$/         \1/p' >&2; }

# finish PATH KIND: what was made as PATH.new becomes PATH; entries of that kind nobody uses any more go.
finish() {
    # Unpacking leaves the folder with a date of long ago.
    touch "$1".new
    mv -T "$1".new "$1"
    rm -f "$1".new.log
    forget_old "$2"
    step "made ${1##*/}: $(du -sh --one-file-system "$1" | cut -f1)"
}
