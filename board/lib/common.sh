# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shared by the commands in board/: messages, cache, mirror, host packages. Sourced, never run.

[[ -n ${callbox_common:-} ]] && return
callbox_common=1

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/callbox
# The part of the cache that commands in the root see, as /cache.
scratch=$cache/scratch
suite=trixie

say() { printf '%s\n' "$*" >&2; }
step() { printf '[%5ds] %s\n' "$SECONDS" "$*" >&2; }
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# usage: prints the comment block below the SPDX line of the calling command.
usage() { sed -n '3,/^[^#]/{s/^# \{0,1\}//p}' "$0"; }

# need_root ARGS...: starts the calling command again under sudo when it does not run as root.
need_root() {
    ((EUID != 0)) || return 0
    command -v sudo >/dev/null || die "needs root (mounts, namespaces) and there is no sudo: run it as root."
    exec sudo env PATH="$PATH" HOME="$HOME" XDG_CACHE_HOME="${cache%/callbox}" "$0" "$@"
}

# apt_need COMMAND=PACKAGE...: installs the host packages whose command is missing.
apt_need() {
    local pair missing=()
    for pair in "$@"; do
        command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
    done
    ((${#missing[@]})) || return 0
    step "installing on this machine: ${missing[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Check-Valid-Until=false update
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null \
        || die "apt-get could not install ${missing[*]}."
}

# mirror: the Debian mirror that this machine itself installs from.
mirror() {
    # shellcheck disable=SC2016 # $(...) below is apt's own notation
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' \
        | awk '$1 ~ /^https?:/ && $2 ~ /^(bookworm|trixie|stable|testing|sid|unstable)$/ && $3 == "main" { print $1 }' \
        | head -n 1 | grep . || die "found no http(s) Debian mirror in this machine's apt sources."
}

keyring() {
    local file=/usr/share/keyrings/debian-archive-keyring
    [[ -e $file.pgp ]] && file+=.pgp || file+=.gpg
    [[ -e $file ]] || die "no $file: install debian-archive-keyring."
    printf '%s\n' "$file"
}

# hash_of FILE...: a short name for the contents of files, which keys the cache.
hash_of() { cat -- "$@" | sha256sum | cut -c1-12; }

# packages LISTFILE: the packages named in a list, joined by commas.
packages() { sed 's/#.*//' "$1" | awk 'NF { printf "%s%s", sep, $1; sep = "," }'; }

# locked NAME COMMAND...: one at a time per NAME, so that two commands never build the same thing.
locked() {
    local name=$1 handle
    shift
    mkdir -p "$cache/locks"
    exec {handle}>"$cache/locks/$name"
    if ! flock -n "$handle"; then
        step "waiting for another command that is making $name"
        flock "$handle"
    fi
    "$@"
    exec {handle}>&-
}

source_folders=(Package.swift Sources Tests FuzzTesting board/benches board/simulation)

# settle_sources: gives each source file the time that it had when a file of its name and contents was here before. The
# build tools go by times, and a fresh clone has new ones: they would build anew what the cache holds.
settle_sources() { locked source-times settle_sources_now; }

settle_sources_now() {
    local record=$scratch/source-times sum path time
    local -A known=() times=()
    mkdir -p "$scratch"
    if [[ -e $record ]]; then
        while read -r time sum path; do known[$sum $path]=$time; done <"$record"
    fi
    while read -r time path; do times[$path]=$time; done \
        < <(cd "$project" && find "${source_folders[@]}" -type f -printf '%T@ %p\n')
    while read -r sum path; do
        time=${known[$sum $path]:-${times[$path]}}
        [[ $time == "${times[$path]}" ]] || touch -c -d "@$time" "$project/$path"
        printf '%s %s %s\n' "$time" "$sum" "$path"
    done < <(cd "$project" && find "${source_folders[@]}" -type f -print0 | xargs -0 sha256sum) >"$record.new"
    # What was built of other sources is of no more use.
    cmp -s "$record.new" "$record" || rm -f "$scratch/tested"
    mv "$record.new" "$record"
}

# discard PATH...: deletes trees, never crossing into a mount.
discard() { rm -rf --one-file-system -- "$@"; }

# forget_old PREFIX: deletes cache entries of that kind which nobody has used for two weeks.
forget_old() {
    local entry
    while IFS= read -r -d '' entry; do
        discard "$entry"
    done < <(find "$cache" "$scratch" -maxdepth 1 -name "$1-*" -mtime +14 -print0 2>/dev/null)
}

# toolchain: the folder that holds bin/swift of this machine, links and the swiftly launcher resolved.
toolchain() {
    local swift
    swift=$(readlink -f "$(command -v swift)") || die "no swift in PATH: install Swift 6.3 (swift.org/install)."
    if [[ ${swift##*/} == swiftly ]]; then
        swift=$(swiftly use --print-location 2>/dev/null | tail -1)/usr/bin/swift
    fi
    [[ -x $swift ]] || die "cannot find the Swift toolchain behind $(command -v swift)."
    printf '%s\n' "${swift%/bin/*}"
}
