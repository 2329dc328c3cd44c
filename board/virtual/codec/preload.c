// SPDX-License-Identifier: Apache-2.0
// Put before the C library by LD_PRELOAD: the file that CALLBOX_FAKE_CODEC names is the fake device, all else is real.
#define _GNU_SOURCE
#include "codec.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static bool is_ours(const char *path) {
    const char *ours = getenv(FAKE_DEVICE);
    return ours && path && strcmp(path, ours) == 0;
}

EXPORT int open(const char *path, int flags, ...) {
    va_list words;
    va_start(words, flags);
    mode_t mode = va_arg(words, mode_t);
    va_end(words);
    if (request_is_path(path)) return request_open();
    return is_ours(path) ? device_open() : REAL(open)(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...) {
    va_list words;
    va_start(words, flags);
    mode_t mode = va_arg(words, mode_t);
    va_end(words);
    if (request_is_path(path)) return request_open();
    return is_ours(path) ? device_open() : REAL(open64)(path, flags, mode);
}

EXPORT int ioctl(int fd, unsigned long request, ...) {
    va_list words;
    va_start(words, request);
    void *argument = va_arg(words, void *);
    va_end(words);
    if (fd >= 0 && request_is(fd)) return request_ioctl(fd, request, argument);
    return device_is(fd) ? device_ioctl(request, argument) : REAL(ioctl)(fd, request, argument);
}

EXPORT void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
    if (fd >= 0 && device_is(fd)) return device_map(length, offset);
    return REAL(mmap)(at, length, protection, flags, fd, offset);
}

EXPORT void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
    if (fd >= 0 && device_is(fd)) return device_map(length, offset);
    return REAL(mmap64)(at, length, protection, flags, fd, offset);
}

EXPORT int close(int fd) {
    if (fd >= 0 && device_is(fd)) {
        device_close();
        return 0;
    }
    if (fd >= 0 && request_is(fd)) request_close(fd);
    return REAL(close)(fd);
}
