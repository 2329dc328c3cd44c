# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Embedded Swift for ARM Linux. Swift has Embedded libraries for the bare-metal triples only; their objects run on Linux
# when C is compiled, and all is linked, against a Linux sysroot. Sourced, never run.

# shellcheck source=board/lib/sysroot.sh
. "$(dirname "${BASH_SOURCE[0]}")/sysroot.sh"

# describe_target TARGET: sets what differs between the two: architecture, multiarch, c_triple, triple, c_flags.
describe_target() {
    case $1 in
        arm64)
            architecture=arm64 multiarch=aarch64-linux-gnu c_triple=aarch64-linux-gnu triple=aarch64-none-none-elf
            c_flags=()
            ;;
        armv7)
            architecture=armhf multiarch=arm-linux-gnueabihf c_triple=armv7-linux-gnueabihf triple=armv7-none-none-eabi
            # Debian's 32-bit libraries have 64-bit times; its gcc knows, clang has to be told.
            c_flags=(-mfloat-abi=hard -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64)
            ;;
    esac
}

# json_list WORD...: the words as a JSON array.
json_list() { printf '"%s"\n' "$@" | paste -sd, | sed 's/^/[/; s/$/]/'; }

# write_toolset FILE SYSROOT: what every compiler call needs that Package.swift does not know.
write_toolset() {
    local headers=(
        --sysroot="$2" -isystem "$2/usr/include/$multiarch" -isystem "$2/usr/include"
        -D__linux__ -D__gnu_linux__ -fPIC "${c_flags[@]}"
    )
    local swift=() word c
    for word in "${headers[@]}"; do swift+=(-Xcc "$word"); done
    swift+=(-Xcc -ffunction-sections -Xfrontend -function-sections)
    c=$(json_list --target="$c_triple" --sysroot="$2" -fPIC "${c_flags[@]}")
    cat >"$1" <<EOF
{
    "schemaVersion": "1.0",
    "swiftCompiler": {"extraCLIOptions": $(json_list "${swift[@]}")},
    "cCompiler": {"extraCLIOptions": $c},
    "cxxCompiler": {"extraCLIOptions": $c}
}
EOF
}

# cross_build TARGET OUTPUT: compiles and links the product for TARGET into OUTPUT, a path in the root.
cross_build() {
    local architecture multiarch c_triple triple c_flags sysroot work=$scratch/build-$1
    describe_target "$1"
    make_sysroot "$architecture"
    sysroot=/cache/$(basename "$(sysroot_path "$architecture")")
    mkdir -p "$work"
    write_toolset "$work/toolset.json" "$sysroot"
    CALLBOX_EMBEDDED=1 CALLBOX_MULTIARCH=$multiarch CALLBOX_SYSROOT=$sysroot "$project/board/enter" \
        swift build -c release --triple "$triple" --toolset "/cache/build-$1/toolset.json" \
        --scratch-path "/cache/build-$1" --target callbox || die "the $1 build failed."
    cross_link "$work/release.yaml" "$sysroot" "$2"
}

# cross_link MANIFEST SYSROOT OUTPUT: links the objects and libraries that the package manager's own plan names.
cross_link() {
    local objects libraries folder=$2/usr/lib/$multiarch cxx
    # libstdc++ lies with the compiler's own files.
    cxx=$(dirname "$scratch/${2#/cache/}/usr/lib/gcc/$multiarch"/*/libstdc++.so)
    cxx=/cache/${cxx#"$scratch/"}
    # The player of the tests is built for the virtual board alone.
    mapfile -t objects < <(grep -o '"[^"]*\.o"' "$1" | tr -d '"' | grep -v '/Player\.build/' | sort -u)
    mapfile -t libraries < <(grep -o '"-l[A-Za-z0-9.+_-]*"' "$1" | tr -d '"' | sort -u)
    ((${#objects[@]} && ${#libraries[@]})) || die "$1 names no objects or no libraries; did its form change?"
    "$project/board/enter" "$multiarch-gcc" --sysroot="$2" -B"$folder" -L"$folder" -L"$cxx" -pie \
        -Wl,-rpath-link,"$folder" -Wl,--defsym=main=callbox_main -Wl,--gc-sections -Wl,--no-warn-mismatch \
        -Wl,-z,relro,-z,now -o "$3" "${objects[@]}" \
        "/swift/usr/lib/swift/embedded/$triple/libswiftUnicodeDataTables.a" -Wl,--as-needed "${libraries[@]}" -lm \
        || die "linking failed."
}
