// SPDX-License-Identifier: Apache-2.0
// Kernel mode setting through libdrm.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <xf86drm.h>
#include <xf86drmMode.h>
#include <drm_fourcc.h>

/// Opens /dev/dri/card`number`, close-on-exec and non-blocking; -1 with errno.
int callbox_open_card(int number);

/// Maps a dumb buffer for writing; NULL where that fails. The offset is beyond 32 bits on some kernels.
void *callbox_map_dumb(int fd, uint64_t offset, size_t size);

/// A process that has /dev/dri/card`number` open, other than this one: its id, its name in `name`; 0 where none is
/// found.
int callbox_find_card_user(int number, char *name, size_t size);
