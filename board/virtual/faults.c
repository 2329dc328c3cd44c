// SPDX-License-Identifier: Apache-2.0
// Faults of a video codec that no virtual one has of itself, put between a program and the kernel's real vicodec:
// loaded with LD_PRELOAD. CALLBOX_FAULT names one; it begins after CALLBOX_FAULT_AFTER pictures, at once without.
//
//     no-buffers   the codec has none for pictures        no-export   it does not share them
//     short        half of each picture is there          eio         it fails
//     hang         nothing ever becomes ready             vanish      the device is gone
//     stamps       pictures of another time               damaged     every picture is marked so
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int pictures;

static int is(const char *fault) {
    const char *name = getenv("CALLBOX_FAULT"), *after = getenv("CALLBOX_FAULT_AFTER");
    return name && strcmp(name, fault) == 0 && pictures >= (after ? atoi(after) : 0);
}

static int refuse(int code) {
    errno = code;
    return -1;
}

static int is_of_pictures(__u32 type) {
    return type == V4L2_BUF_TYPE_VIDEO_CAPTURE || type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
}

/// What becomes of a picture that the codec has given.
static void spoil(struct v4l2_buffer *buffer) {
    if (is("short")) buffer->bytesused /= 2;
    if (is("stamps")) buffer->timestamp.tv_sec += 3600;
    if (is("damaged")) buffer->flags |= V4L2_BUF_FLAG_ERROR;
    pictures++;
}

int ioctl(int fd, unsigned long request, ...) {
    static int (*real)(int, unsigned long, void *);
    if (!real) real = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (_IOC_TYPE(request) != 'V') return real(fd, request, argument);
    if (is("vanish") && request != VIDIOC_QUERYCAP && pictures > 0) return refuse(ENODEV);
    if (request == VIDIOC_REQBUFS) {
        struct v4l2_requestbuffers *wish = argument;
        if (is("no-buffers") && wish->count > 0 && is_of_pictures(wish->type)) return refuse(ENOMEM);
    }
    if (request == VIDIOC_EXPBUF && is("no-export")) return refuse(EINVAL);
    if (request != VIDIOC_DQBUF || !is_of_pictures(((struct v4l2_buffer *)argument)->type))
        return real(fd, request, argument);
    if (is("eio")) return refuse(EIO);
    if (is("hang")) return refuse(EAGAIN);
    int result = real(fd, request, argument);
    if (result == 0 && ((struct v4l2_buffer *)argument)->bytesused > 0) spoil(argument);
    return result;
}

int poll(struct pollfd *entries, nfds_t count, int limit_ms) {
    static int (*real)(struct pollfd *, nfds_t, int);
    if (!real) real = (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
    if (is("hang") && count == 1 && entries->events & POLLOUT) return real(NULL, 0, limit_ms);
    return real(entries, count, limit_ms);
}
