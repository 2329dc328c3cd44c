# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What an image is made of: a configured Debian 13 root of an ARM architecture, kernels, boot loaders, firmware.
# Sourced, never run.
# shellcheck disable=SC2016,SC2154 # words for another shell; names of the board's meta

# shellcheck source=board/lib/root.sh
. "$(dirname "${BASH_SOURCE[0]}")/../root.sh"

readonly image_folder=$project/board/lib/image

# Nobody reads a manual on a kiosk.
readonly unwanted=(
    --dpkgopt='force-unsafe-io'
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright'
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*'
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/i18n/*'
    --dpkgopt='path-exclude=/usr/share/bash-completion/*' --dpkgopt='path-exclude=/usr/share/zsh/*'
)

# What takes minutes under emulation: 150 certificates, each by programs of its own. slot.sh lists them.
readonly without_certificates='dpkg-divert --root="$1" --quiet --local --rename \
    --divert /usr/sbin/update-ca-certificates.not --add /usr/sbin/update-ca-certificates \
    && ln -s /bin/true "$1/usr/sbin/update-ca-certificates"'

# board_root_path ARCHITECTURE: where the root of arm64 or armhf is, or will be. It is made anew only where packages or
# what is left out of them have changed.
board_root_path() {
    printf '%s/board-root-%s-%s\n' "$scratch" "$1" \
        "$(hash_of "$image_folder/packages.txt" <(printf '%s\n' "${unwanted[@]}"))"
}

# make_board_root ARCHITECTURE: makes it unless it is there.
make_board_root() {
    local path
    path=$(board_root_path "$1")
    [[ -d $path ]] || locked "board-root-$1" make_board_root_now "$1" "$path"
    touch -c "$path"
}

make_board_root_now() {
    local architecture=$1 path=$2
    [[ ! -d $path ]] || return 0
    make_root
    step "making the boards' $architecture root (once, some minutes: its packages are set up under emulation)"
    mkdir -p "$scratch"
    discard "$path".new
    emulated "$architecture" bootstrap "$path".new "$architecture" "$image_folder/packages.txt" essential \
        "${unwanted[@]}" --extract-hook="$without_certificates" --skip=check/qemu --skip=cleanup/reproducible
    rm "$path".new/usr/sbin/update-ca-certificates*
    finish "$path" "board-root-$architecture"
}

# emulated ARCHITECTURE COMMAND...: while COMMAND runs, this machine runs programs of that architecture, by the dev
# root's qemu. The kernel opens the emulator at once (flag F), so that it works in any root, and forgets it when nobody
# has its table mounted any more (Linux, admin-guide/binfmt-misc): the holder has, in a mount namespace of its own.
emulated() {
    local line status=0 answer=''
    line=$(emulator_line "$1" "callbox-$1-$$")
    coproc holder { unshare --mount bash -c '
        table=/proc/sys/fs/binfmt_misc
        mount -t binfmt_misc binfmt_misc "$table" && printf %s "$1" >"$table/register" && echo ready
        read -r
        echo -1 >"$table/$2"
    ' holder "$line" "callbox-$1-$$"; }
    read -r -t 10 answer <&"${holder[0]}" || :
    [[ $answer == ready ]] \
        || die "this machine cannot run programs of $1: its kernel refused the emulator (binfmt_misc)."
    "${@:2}" || status=$?
    echo >&"${holder[1]}"
    wait "$holder_PID" 2>/dev/null || :
    return "$status"
}

# emulator_line ARCHITECTURE NAME: the line that tells the kernel of the emulator: which ELF headers are for it.
emulator_line() {
    local class machine mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff' program
    case $1 in
        arm64) class=2 machine=b7 program=qemu-aarch64 ;;
        armhf) class=1 machine=28 program=qemu-arm ;;
    esac
    printf ':%s:M::\\x7fELF\\x0%s\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x%s\\x00:%s:%s:F' \
        "$2" "$class" "$machine" "$mask" "$(root_path)/usr/bin/$program"
}

# fetch_packages ARCHITECTURE FOLDER PACKAGE...: unpacks packages, without their dependencies, into FOLDER, and notes
# their names and versions in FOLDER/packages.
fetch_packages() {
    local architecture=$1 folder=$2 apt=$2.apt source keys
    shift 2
    source=$(mirror)
    keys=$(keyring)
    discard "$folder" "$apt"
    mkdir -p "$folder" "$apt"/{etc/apt.conf.d,etc/preferences.d,state/lists/partial,cache/archives/partial,debs}
    : >"$apt/status"
    printf 'deb [signed-by=%s] %s %s main non-free-firmware\n' "$keys" "$source" "$suite" >"$apt/etc/sources.list"
    cat >"$apt/apt.conf" <<CONF
Dir "$apt"; Dir::State "$apt/state"; Dir::State::status "$apt/status"; Dir::Cache "$apt/cache"; Dir::Etc "$apt/etc";
APT::Architecture "$architecture"; APT::Architectures { "$architecture"; }; APT::Sandbox::User "root";
Acquire::Check-Valid-Until "false"; Acquire::Languages "none";
CONF
    (
        export APT_CONFIG=$apt/apt.conf
        cd "$apt/debs"
        apt-get -qq update
        mapfile -t names < <(real_packages "$@")
        apt-get -qq download "${names[@]}"
        for file in *.deb; do
            dpkg-deb -x "$file" "$folder"
            dpkg-deb -f "$file" Package Version Architecture | sed 's/^[^:]*: //' | paste -sd ' ' >>"$folder/packages"
        done
    ) >&2 || die "could not fetch $*."
    discard "$apt"
}

# real_packages PACKAGE...: the packages themselves; of a linux-image-… without a version the one that it stands for.
real_packages() {
    local name real
    for name in "$@"; do
        real=$(apt-cache depends "$name" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
        printf '%s\n' "${real:-$name}"
    done
}

# parts_path, make_parts: kernel, boot loader and firmware of the board whose meta has been read.
parts_path() {
    printf '%s/board-parts-%s-%s\n' "$scratch" "$architecture" "$(hash_of <(printf '%s\n' "${packages[@]}"))"
}

make_parts() {
    local path
    path=$(parts_path)
    [[ -d $path ]] || locked board-parts make_parts_now "$path"
    touch -c "$path"
}

make_parts_now() {
    [[ ! -d $1 ]] || return 0
    step "fetching kernel and boot loader: ${packages[*]}"
    mkdir -p "$scratch"
    # shellcheck disable=SC2154 # from the board's meta
    fetch_packages "$architecture" "$1".new "${packages[@]}"
    finish "$1" "board-parts-$architecture"
}

# version_here: of the product, as its sources say. epoch_here: the time of the last commit, which every file gets.
version_here() { sed -n 's/^let version: ByteString = "\(.*\)"$/\1/p' "$project/Sources/callbox/Run.swift"; }

epoch_here() {
    git -C "$project" -c safe.directory="$project" log -1 --format=%ct 2>/dev/null \
        || stat -c %Y "$project/Package.swift"
}

# make_signing_key: the key that signs updates, drawn once on this machine; who ships images brings an own one
# (docs/install.md). Boards take only bundles that it signed.
make_signing_key() {
    local folder=$scratch/signing
    [[ ! -e $folder/certificate.pem ]] || return 0
    mkdir -p "$folder"
    chmod 700 "$folder"
    "$project/board/enter" --net none openssl req -x509 -newkey rsa:3072 -nodes -days 7300 \
        -subj '/CN=callbox development' -keyout /cache/signing/key.pem -out /cache/signing/certificate.pem 2>/dev/null \
        || die "openssl made no key."
}
