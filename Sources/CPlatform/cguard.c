// SPDX-License-Identifier: Apache-2.0
// The relays' guard, and the resetting of USB devices.
#define _GNU_SOURCE 1
#include "csystem.h"

#include <linux/usbdevice_fs.h>
#include <sys/prctl.h>

int callbox_start_guard(void (*guard)(int news, void *context), void *context) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    pid_t process = fork();
    if (process == 0) {
        close(ends[1]);
        prctl(PR_SET_NAME, "callbox-guard");
        guard(ends[0], context);
        _exit(0);
    }
    close(ends[0]);
    if (process < 0) {
        close(ends[1]);
        return -1;
    }
    return ends[1];
}

int callbox_reset_usb(const char *node) {
    int fd = open(node, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    int result = ioctl(fd, USBDEVFS_RESET, 0);
    int code = errno;
    close(fd);
    errno = code;
    return result < 0 ? -1 : 0;
}

int callbox_write_once(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t length = (ssize_t)strlen(text);
    ssize_t count = write(fd, text, (size_t)length);
    int code = errno;
    close(fd);
    errno = code;
    return count == length ? 0 : -1;
}
