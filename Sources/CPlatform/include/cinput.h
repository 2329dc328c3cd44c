// SPDX-License-Identifier: Apache-2.0
// Keypads through the kernel's event interface (Documentation/input/event-codes.rst).
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/// One event without its time.
struct callbox_key_event {
    uint16_t type, code;
    int32_t value;
};

/// Opens an event device without waiting; -1 with errno.
static inline int callbox_open_keypad(const char *path) {
    return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/// The name that the device says, cut where it is long; 0 or -1 with errno.
static inline int callbox_keypad_name(int fd, char *name, size_t size) {
    memset(name, 0, size);
    return ioctl(fd, EVIOCGNAME(size - 1), name) < 0 ? -1 : 0;
}

/// Takes the device for this program alone, so that no console hears the keys; -1 with errno.
static inline int callbox_grab_keypad(int fd) { return ioctl(fd, EVIOCGRAB, 1); }

/// Reads events that wait; their number, 0 where none does, or -1 where the device is gone.
static inline int callbox_read_keypad(int fd, struct callbox_key_event *events, int count) {
    struct input_event raw[64];
    if (count > 64) count = 64;
    ssize_t size = read(fd, raw, (size_t)count * sizeof raw[0]);
    if (size < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    int got = (int)(size / (ssize_t)sizeof raw[0]);
    for (int i = 0; i < got; i++) {
        events[i].type = raw[i].type;
        events[i].code = raw[i].code;
        events[i].value = raw[i].value;
    }
    return got;
}
