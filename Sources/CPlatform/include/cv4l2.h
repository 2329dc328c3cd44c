// SPDX-License-Identifier: Apache-2.0
// Cameras through Video4Linux 2. The shims hide from Swift what differs between the single-planar and the
// multi-planar interface (with one plane in memory), and the request macros. All give 0 or a negative errno.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <string.h>
#include <sys/ioctl.h>

static inline int callbox_v4l2_ioctl(int fd, unsigned long request, void *argument) {
    int result;
    do result = ioctl(fd, request, argument);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : 0;
}

static inline int callbox_v4l2_is_multiplanar(__u32 type) { return type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE; }

static inline int callbox_v4l2_capability(int fd, struct v4l2_capability *out) {
    memset(out, 0, sizeof *out);
    return callbox_v4l2_ioctl(fd, VIDIOC_QUERYCAP, out);
}

/// The pixel format number `index`; -EINVAL past the last.
static inline int callbox_v4l2_format_at(int fd, __u32 type, __u32 index, __u32 *pixelformat) {
    struct v4l2_fmtdesc description = {.index = index, .type = type};
    int result = callbox_v4l2_ioctl(fd, VIDIOC_ENUM_FMT, &description);
    *pixelformat = description.pixelformat;
    return result;
}

static inline int callbox_v4l2_size_at(int fd, __u32 index, __u32 pixelformat, struct v4l2_frmsizeenum *out) {
    memset(out, 0, sizeof *out);
    out->index = index;
    out->pixel_format = pixelformat;
    return callbox_v4l2_ioctl(fd, VIDIOC_ENUM_FRAMESIZES, out);
}

static inline int callbox_v4l2_interval_at(int fd, __u32 index, __u32 pixelformat, __u32 width, __u32 height,
                                           struct v4l2_frmivalenum *out) {
    memset(out, 0, sizeof *out);
    out->index = index;
    out->pixel_format = pixelformat;
    out->width = width;
    out->height = height;
    return callbox_v4l2_ioctl(fd, VIDIOC_ENUM_FRAMEINTERVALS, out);
}

/// What the driver settled on; `stride` and `size` in bytes.
struct callbox_v4l2_picture {
    __u32 width, height, pixelformat, stride, size;
    int full_range;
};

/// Asks for a format; the driver answers with the nearest it can do.
static inline int callbox_v4l2_set_format(int fd, __u32 type, struct callbox_v4l2_picture *picture) {
    struct v4l2_format format = {.type = type};
    if (callbox_v4l2_is_multiplanar(type)) {
        format.fmt.pix_mp.width = picture->width;
        format.fmt.pix_mp.height = picture->height;
        format.fmt.pix_mp.pixelformat = picture->pixelformat;
        format.fmt.pix_mp.field = V4L2_FIELD_NONE;
        format.fmt.pix_mp.num_planes = 1;
    } else {
        format.fmt.pix.width = picture->width;
        format.fmt.pix.height = picture->height;
        format.fmt.pix.pixelformat = picture->pixelformat;
        format.fmt.pix.field = V4L2_FIELD_NONE;
    }
    int result = callbox_v4l2_ioctl(fd, VIDIOC_S_FMT, &format);
    if (result < 0) return result;
    if (callbox_v4l2_is_multiplanar(type)) {
        if (format.fmt.pix_mp.num_planes != 1) return -EINVAL;
        picture->width = format.fmt.pix_mp.width;
        picture->height = format.fmt.pix_mp.height;
        picture->pixelformat = format.fmt.pix_mp.pixelformat;
        picture->stride = format.fmt.pix_mp.plane_fmt[0].bytesperline;
        picture->size = format.fmt.pix_mp.plane_fmt[0].sizeimage;
        picture->full_range = format.fmt.pix_mp.quantization == V4L2_QUANTIZATION_FULL_RANGE;
    } else {
        picture->width = format.fmt.pix.width;
        picture->height = format.fmt.pix.height;
        picture->pixelformat = format.fmt.pix.pixelformat;
        picture->stride = format.fmt.pix.bytesperline;
        picture->size = format.fmt.pix.sizeimage;
        picture->full_range = format.fmt.pix.quantization == V4L2_QUANTIZATION_FULL_RANGE;
    }
    return 0;
}

/// Asks for a rate in frames a second, and writes back what the driver took; cameras without a choice refuse it.
static inline int callbox_v4l2_set_rate(int fd, __u32 type, __u32 *numerator, __u32 *denominator) {
    struct v4l2_streamparm parameters = {.type = type};
    parameters.parm.capture.timeperframe.numerator = *denominator;
    parameters.parm.capture.timeperframe.denominator = *numerator;
    int result = callbox_v4l2_ioctl(fd, VIDIOC_S_PARM, &parameters);
    if (result < 0) return result;
    *numerator = parameters.parm.capture.timeperframe.denominator;
    *denominator = parameters.parm.capture.timeperframe.numerator;
    return 0;
}

/// Asks for `*count` buffers in kernel memory and writes back how many there are; 0 gives them back.
static inline int callbox_v4l2_request_buffers(int fd, __u32 type, __u32 *count) {
    struct v4l2_requestbuffers request = {.count = *count, .type = type, .memory = V4L2_MEMORY_MMAP};
    int result = callbox_v4l2_ioctl(fd, VIDIOC_REQBUFS, &request);
    *count = request.count;
    return result;
}

/// Where to map buffer `index`, and its length in bytes.
static inline int callbox_v4l2_query_buffer(int fd, __u32 type, __u32 index, __u32 *offset, __u32 *length) {
    struct v4l2_plane plane = {0};
    struct v4l2_buffer buffer = {.index = index, .type = type, .memory = V4L2_MEMORY_MMAP};
    if (callbox_v4l2_is_multiplanar(type)) {
        buffer.m.planes = &plane;
        buffer.length = 1;
    }
    int result = callbox_v4l2_ioctl(fd, VIDIOC_QUERYBUF, &buffer);
    *offset = callbox_v4l2_is_multiplanar(type) ? plane.m.mem_offset : buffer.m.offset;
    *length = callbox_v4l2_is_multiplanar(type) ? plane.length : buffer.length;
    return result;
}

static inline int callbox_v4l2_queue(int fd, __u32 type, __u32 index) {
    struct v4l2_plane plane = {0};
    struct v4l2_buffer buffer = {.index = index, .type = type, .memory = V4L2_MEMORY_MMAP};
    if (callbox_v4l2_is_multiplanar(type)) {
        buffer.m.planes = &plane;
        buffer.length = 1;
    }
    return callbox_v4l2_ioctl(fd, VIDIOC_QBUF, &buffer);
}

/// A filled buffer. `monotonic_ns` is 0 where the driver stamps by another clock.
struct callbox_v4l2_filled {
    __u32 index, bytes_used, sequence;
    int damaged;
    __u64 monotonic_ns;
};

/// Takes a filled buffer; -EAGAIN when there is none.
static inline int callbox_v4l2_dequeue(int fd, __u32 type, struct callbox_v4l2_filled *out) {
    struct v4l2_plane plane = {0};
    struct v4l2_buffer buffer = {.type = type, .memory = V4L2_MEMORY_MMAP};
    if (callbox_v4l2_is_multiplanar(type)) {
        buffer.m.planes = &plane;
        buffer.length = 1;
    }
    int result = callbox_v4l2_ioctl(fd, VIDIOC_DQBUF, &buffer);
    if (result < 0) return result;
    out->index = buffer.index;
    out->sequence = buffer.sequence;
    out->bytes_used = callbox_v4l2_is_multiplanar(type) ? plane.bytesused : buffer.bytesused;
    out->damaged = (buffer.flags & V4L2_BUF_FLAG_ERROR) != 0;
    out->monotonic_ns = 0;
    if ((buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        out->monotonic_ns =
            (__u64)buffer.timestamp.tv_sec * 1000000000u + (__u64)buffer.timestamp.tv_usec * 1000u;
    return 0;
}

static inline int callbox_v4l2_stream(int fd, __u32 type, int on) {
    return callbox_v4l2_ioctl(fd, on ? VIDIOC_STREAMON : VIDIOC_STREAMOFF, &type);
}

/// Opens a device file for reading and writing without waiting; a descriptor, or a negative errno.
static inline int callbox_v4l2_open(const char *path) {
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}
