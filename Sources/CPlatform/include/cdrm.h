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

/// Lets go of a memory that was named to the card; framebuffers keep theirs. 0 or a negative errno.
int callbox_close_handle(int fd, uint32_t handle);

/// A fence for all that is still being written to a dma-buf; -1 where its kernel has none to give.
int callbox_export_fence(int dma_buf);

/// A socket on which the kernel tells of devices that change (kobject_uevent(7) in the kernel's driver-api);
/// close-on-exec and non-blocking; -1 with errno.
int callbox_open_device_news(void);

/// Takes all news that wait: 1 where something was plugged into a display controller or pulled out of it, else 0.
int callbox_take_display_news(int fd);

/// A process that has /dev/dri/card`number` open, other than this one: its id, its name in `name`; 0 where none is
/// found.
int callbox_find_card_user(int number, char *name, size_t size);
