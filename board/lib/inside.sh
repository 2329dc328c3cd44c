# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Usage: inside.sh ROOT PROJECT SCRATCH TOOLCHAIN alone|"" [COMMAND...]
# The second half of board/enter, already in a mount namespace of its own: lays out the root, then becomes COMMAND.

set -euo pipefail
root=$1 project=$2 scratch=$3 toolchain=$4 alone=$5
shift 5

# Nothing that is mounted here may travel back to the machine.
mount --make-rprivate /
mount --bind "$root" "$root"
mount --bind "$project" "$root/callbox"
mount --bind "$scratch" "$root/cache"
mkdir -p "$scratch/home"
mount --bind "$scratch/home" "$root/root"
mount --bind "$toolchain" "$root/swift/usr"
mount -o remount,bind,ro "$root/swift/usr"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount --bind /tmp "$root/tmp"

# A /dev of its own: the machine's is never bound as a whole.
mount -t tmpfs -o mode=755,size=1m tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
for node in null zero full random urandom tty; do
    : >"$root/dev/$node"
    mount --bind "/dev/$node" "$root/dev/$node"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"

cat /etc/resolv.conf >"$root/run/resolv.conf" 2>/dev/null || true
mount -o remount,bind,ro "$root"
[[ -z $alone ]] || ip link set lo up

(($#)) || set -- bash
# Of the machine's environment only what is meant for the project goes in.
mapfile -t passed < <(env | grep '^CALLBOX_' || true)
exec env -i "${passed[@]}" TERM="${TERM:-dumb}" LANG=C.UTF-8 HOME=/root CALLBOX_IN_ROOT=1 ${CI:+CI="$CI"} \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/swift/usr/bin \
    chroot "$root" /bin/sh -c 'cd /callbox && exec "$@"' enter "$@"
