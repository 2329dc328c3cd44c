# SPDX-License-Identifier: Apache-2.0
# What U-Boot does on every board: chooses a slot, counts the try, starts its kernel. Words between @ are filled in when
# the image is made.
#
# The state is U-Boot environment text with a checksum, twice, each in a sector of its own before the first partition:
# a power cut while one is written leaves the other.
#   order            the slots, best first: "A B" or "B A"
#   left_A, left_B   starts that each slot has left; 3 again when a start was seen to be good

setenv state_at ${ramdisk_addr_r}
setenv state_names "order left_A left_B"
${devtype} dev ${devnum}

setenv order
${devtype} read ${state_at} @STATE_1@ 1 && env import -c ${state_at} 200 ${state_names}
if test -z "${order}"; then
    ${devtype} read ${state_at} @STATE_2@ 1 && env import -c ${state_at} 200 ${state_names}
fi
if test -z "${order}"; then
    echo "callbox: no state: as on a fresh card"
    setenv order "A B"
    setenv left_A 3
    setenv left_B 3
fi

setenv slot
setenv mode
for name in ${order}; do
    if test -z "${slot}"; then
        if test "${name}" = A && test "${left_A}" -gt 0; then setenv slot A; fi
        if test "${name}" = B && test "${left_B}" -gt 0; then setenv slot B; fi
    fi
done
if test -z "${slot}"; then
    # Neither came up three times in a row: the better one again, with as little as possible.
    echo "callbox: no slot has a start left: safe mode"
    setenv mode callbox.safe
    setenv left_A 3
    setenv left_B 3
    if test "${order}" = "B A"; then setenv slot B; else setenv slot A; fi
fi

if test "${slot}" = A; then
    setenv part @SLOT_A@
    if test "${left_A}" = 3; then setenv left_A 2; elif test "${left_A}" = 2; then setenv left_A 1; else setenv left_A 0; fi
else
    setenv part @SLOT_B@
    if test "${left_B}" = 3; then setenv left_B 2; elif test "${left_B}" = 2; then setenv left_B 1; else setenv left_B 0; fi
fi
setenv keep "env export -c -s 200 ${state_at} ${state_names}; ${devtype} write ${state_at} @STATE_1@ 1"
setenv keep "${keep}; ${devtype} write ${state_at} @STATE_2@ 1"
run keep

echo "callbox: slot ${slot}, order ${order}, starts left ${left_A} ${left_B} ${mode}"
setenv bootargs "@ARGUMENTS@ rauc.slot=${slot} ${mode}"
setenv tree @TREE@
if ext4load ${devtype} ${devnum}:${part} ${kernel_addr_r} /vmlinuz; then
    @LOAD_TREE@
    if ext4load ${devtype} ${devnum}:${part} ${ramdisk_addr_r} /initrd; then
        @BOOT@ ${kernel_addr_r} ${ramdisk_addr_r}:${filesize} ${tree}
    fi
fi
# Where nothing can be loaded, as from a slot that was never written, another try is of no use.
echo "callbox: slot ${slot} cannot be started"
setenv left_${slot} 0
run keep
reset
