# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The User-Mode Linux kernel of the virtual board: fetched, configured, built once. Sourced, never run.

# shellcheck source=board/lib/root.sh
. "$(dirname "${BASH_SOURCE[0]}")/root.sh"

readonly kernel_series=7.2
readonly kernel_fragment=$project/board/virtual/kernel.config

# kernel_path: the folder that holds, or will hold, the kernel as `linux`. Comments of the fragment do not count.
kernel_path() {
    local key
    key=$(sed -E '/^(# CONFIG_.* is not set|CONFIG_.*)$/!d' "$kernel_fragment" | hash_of -)
    printf '%s/kernel-%s-%s\n' "$scratch" "$kernel_series" "$key"
}

# make_kernel: makes the kernel unless it is there.
make_kernel() {
    local path
    path=$(kernel_path)
    [[ -x $path/linux ]] || locked kernel make_kernel_now "$path"
    touch -c "$path"
}

make_kernel_now() {
    local path=$1 work=$scratch/kernel-work
    [[ ! -x $path/linux ]] || return 0
    make_root
    discard "$path".new
    mkdir -p "$path".new
    # What an interrupted build left is gone on with.
    [[ -e $work/complete-$kernel_series ]] || fetch_kernel_source "$work"
    step "configuring the kernel"
    sed -i '/^config HZ$/,/^$/s/default 100$/default 1000/' "$work/source/arch/um/Kconfig"
    sed -i '/^menu "Input device support"$/,/^config/s/depends on !UML$//' "$work/source/drivers/input/Kconfig"
    "$project/board/enter" --net none make -C /cache/kernel-work/source ARCH=um \
        KCONFIG_ALLCONFIG=/callbox/board/virtual/kernel.config allnoconfig >"$path.new/config.log" 2>&1 \
        || die "the kernel's configuration failed: $(tail -3 "$path.new/config.log")"
    check_config "$work/source/.config"
    build_kernel "$path".new
    cp "$work/source/.config" "$path".new/config
    "$project/board/enter" strip /cache/kernel-work/source/linux
    cp "$work/source/linux" "$path".new/linux
    discard "$path" "$work"
    mv -T "$path".new "$path"
    forget_old kernel
    step "kernel ready: $(du -h "$path/linux" | cut -f1)"
}

# fetch_kernel_source FOLDER: the newest packaged source of the series as FOLDER/source.
fetch_kernel_source() {
    step "fetching the source of Linux $kernel_series"
    local apt=$1/apt keys source option
    keys=$(keyring)
    source=$(mirror)
    discard "$1"
    mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,parts}
    printf 'deb [signed-by=%s] %s %s-backports main\n' "$keys" "$source" "$suite" >"$apt/sources.list"
    option=(
        -qq -o Dir::State="$apt/state" -o Dir::Cache="$apt/cache" -o Dir::Etc::sourcelist="$apt/sources.list"
        -o Dir::Etc::sourceparts="$apt/parts" -o Dir::State::status=/dev/null -o APT::Architecture=amd64
        -o APT::Architectures=amd64 -o Acquire::Languages=none -o Acquire::Check-Valid-Until=false
        -o APT::Sandbox::User=root
    )
    apt-get "${option[@]}" update >"$apt/log" 2>&1 || die "apt-get update failed: $(tail -3 "$apt/log")"
    (cd "$apt" && apt-get "${option[@]}" download "linux-source-$kernel_series") >>"$apt/log" 2>&1 \
        || die "could not download linux-source-$kernel_series: $(tail -3 "$apt/log")"
    step "unpacking it"
    mkdir -p "$1/source"
    dpkg-deb --fsys-tarfile "$apt"/linux-source-*.deb \
        | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' \
        | xz -dc -T0 \
        | tar -x -C "$1/source" --strip-components=1
    discard "$apt"
    : >"$1/complete-$kernel_series"
}

# check_config FILE: every line of the fragment must have survived the kernel's own dependency rules.
check_config() {
    local line name lost=()
    while IFS= read -r line; do
        case $line in
            CONFIG_*=n) name=${line%=n} && grep -q "^$name=" "$1" && lost+=("$line") ;;
            CONFIG_*) grep -qxF "$line" "$1" || lost+=("$line") ;;
            '# CONFIG_'*) name=${line#\# } && grep -q "^${name%% *}=" "$1" && lost+=("$line") ;;
        esac
    done <"$kernel_fragment"
    ((${#lost[@]} == 0)) || die "the kernel did not take these lines of board/virtual/kernel.config: ${lost[*]}"
}

# build_kernel FOLDER: compiles in the dev root, with a count of objects on the way; the log stays in FOLDER.
build_kernel() {
    local begin=$SECONDS count=0 every=100 back='\r' line
    [[ -t 2 ]] || every=500 back='\n'
    step "building the kernel (about six minutes on two cores)"
    "$project/board/enter" --net none make -C /cache/kernel-work/source ARCH=um -j"$(nproc)" linux 2>&1 \
        | tee "$1/build.log" | while IFS= read -r line; do
        [[ $line == *' CC '* ]] || continue
        ((++count % every)) || printf "$back         %d objects, %d s " "$count" $((SECONDS - begin)) >&2
    done || die "the kernel build failed: see $1/build.log
$(grep -m5 -E 'error:|Error ' "$1/build.log")"
    printf '\n' >&2
}
