// SPDX-License-Identifier: Apache-2.0
// Put before the C library by LD_PRELOAD: writes into the file that CALLBOX_COMMITS names when pictures are given to
// the display ("commit") and when it began to read them ("flip"), in nanoseconds of the monotonic clock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <drm/drm.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int card = -1, file = -1;

static void note(const char *what, long long nanoseconds) {
    char line[64];
    const char *path = getenv("CALLBOX_COMMITS");
    if (file < 0 && path) file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    int length = snprintf(line, sizeof line, "%s %lld\n", what, nanoseconds);
    if (file >= 0 && write(file, line, (size_t)length) != length) abort();
}

int ioctl(int fd, unsigned long request, ...) {
    va_list words;
    va_start(words, request);
    void *argument = va_arg(words, void *);
    va_end(words);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int result = REAL(ioctl)(fd, request, argument);
    if (request != DRM_IOCTL_MODE_ATOMIC || result != 0) return result;
    const struct drm_mode_atomic *commit = argument;
    if ((commit->flags & DRM_MODE_PAGE_FLIP_EVENT) && !(commit->flags & DRM_MODE_ATOMIC_TEST_ONLY)) {
        card = fd;
        note("commit", now.tv_sec * 1000000000LL + now.tv_nsec);
    }
    return result;
}

ssize_t read(int fd, void *bytes, size_t count) {
    ssize_t got = REAL(read)(fd, bytes, count);
    struct drm_event_vblank event;
    for (size_t at = 0; fd == card && got > 0 && at + sizeof event <= (size_t)got; at += event.base.length) {
        memcpy(&event, (char *)bytes + at, sizeof event);
        if (event.base.length < sizeof event.base) break;
        if (event.base.type == DRM_EVENT_FLIP_COMPLETE)
            note("flip", event.tv_sec * 1000000000LL + event.tv_usec * 1000LL);
    }
    return got;
}
