// SPDX-License-Identifier: Apache-2.0
// The buffers of codecs in hardware (kernel document "Streaming I/O"). All as in ccodec.h.
#pragma once
#include "ccodec.h"

/// Asks for `*count` buffers of a kind of memory (V4L2_MEMORY_*), writes back how many there are; 0 gives all back.
static inline int callbox_codec_request(int fd, __u32 type, __u32 memory, __u32 *count) {
    struct v4l2_requestbuffers request = {.count = *count, .type = type, .memory = memory};
    int result = callbox_v4l2_ioctl(fd, VIDIOC_REQBUFS, &request);
    *count = result < 0 ? 0 : request.count;
    return result;
}

/// One buffer on its way to or from the driver. `stamp_us` travels through the codec unchanged.
struct callbox_codec_buffer {
    __u32 index, plane_count, flags, sequence;
    /// Of each plane: bytes in use; bytes that there are; where its mapping begins, or its dma-buf.
    struct callbox_codec_planes used, length, place;
    __u64 stamp_us;
    /// The request that it goes with, 0 for none; whether the picture that comes of it takes more than this one.
    int request, holds_picture;
};

static inline void callbox_codec_fill(struct v4l2_buffer *buffer, struct v4l2_plane *planes, __u32 type, __u32 memory,
                                      struct callbox_codec_buffer *from) {
    memset(buffer, 0, sizeof *buffer);
    memset(planes, 0, CALLBOX_CODEC_PLANES * sizeof *planes);
    buffer->index = from->index, buffer->type = type, buffer->memory = memory, buffer->field = V4L2_FIELD_NONE;
    buffer->timestamp.tv_sec = (time_t)(from->stamp_us / 1000000), buffer->timestamp.tv_usec = from->stamp_us % 1000000;
    if (from->request > 0) buffer->flags |= V4L2_BUF_FLAG_REQUEST_FD, buffer->request_fd = from->request;
    if (from->holds_picture) buffer->flags |= V4L2_BUF_FLAG_M2M_HOLD_CAPTURE_BUF;
    if (V4L2_TYPE_IS_MULTIPLANAR(type)) {
        buffer->m.planes = planes, buffer->length = from->plane_count;
        for (__u32 index = 0; index < from->plane_count && index < CALLBOX_CODEC_PLANES; index++) {
            planes[index].bytesused = *callbox_codec_plane(&from->used, index);
            planes[index].length = *callbox_codec_plane(&from->length, index);
            if (memory == V4L2_MEMORY_DMABUF) planes[index].m.fd = (int)*callbox_codec_plane(&from->place, index);
        }
    } else {
        buffer->bytesused = from->used.at0, buffer->length = from->length.at0;
        if (memory == V4L2_MEMORY_DMABUF) buffer->m.fd = (int)from->place.at0;
    }
}

static inline void callbox_codec_read(const struct v4l2_buffer *buffer, const struct v4l2_plane *planes,
                                      struct callbox_codec_buffer *out) {
    out->index = buffer->index, out->flags = buffer->flags, out->sequence = buffer->sequence;
    out->stamp_us = (__u64)buffer->timestamp.tv_sec * 1000000u + (__u64)buffer->timestamp.tv_usec;
    if (V4L2_TYPE_IS_MULTIPLANAR(buffer->type)) {
        out->plane_count = buffer->length < CALLBOX_CODEC_PLANES ? buffer->length : CALLBOX_CODEC_PLANES;
        for (__u32 index = 0; index < out->plane_count; index++) {
            __u32 before = planes[index].data_offset, until = planes[index].bytesused;
            *callbox_codec_plane(&out->used, index) = until > before ? until - before : 0;
            *callbox_codec_plane(&out->length, index) = planes[index].length;
            *callbox_codec_plane(&out->place, index) = planes[index].m.mem_offset;
        }
    } else {
        out->plane_count = 1, out->used.at0 = buffer->bytesused;
        out->length.at0 = buffer->length, out->place.at0 = buffer->m.offset;
    }
}

/// Where to map the planes of buffer `out->index`, and how long they are.
static inline int callbox_codec_query(int fd, __u32 type, struct callbox_codec_buffer *out) {
    struct v4l2_plane planes[CALLBOX_CODEC_PLANES];
    struct v4l2_buffer buffer;
    callbox_codec_fill(&buffer, planes, type, V4L2_MEMORY_MMAP, out);
    if (V4L2_TYPE_IS_MULTIPLANAR(type)) buffer.length = CALLBOX_CODEC_PLANES;
    int result = callbox_v4l2_ioctl(fd, VIDIOC_QUERYBUF, &buffer);
    if (result == 0) callbox_codec_read(&buffer, planes, out);
    return result;
}

static inline int callbox_codec_queue(int fd, __u32 type, __u32 memory, struct callbox_codec_buffer *wish) {
    struct v4l2_plane planes[CALLBOX_CODEC_PLANES];
    struct v4l2_buffer buffer;
    callbox_codec_fill(&buffer, planes, type, memory, wish);
    return callbox_v4l2_ioctl(fd, VIDIOC_QBUF, &buffer);
}

/// Takes a buffer that the driver is done with; -EAGAIN when there is none, -EPIPE after the last.
static inline int callbox_codec_dequeue(int fd, __u32 type, __u32 memory, struct callbox_codec_buffer *out) {
    struct v4l2_plane planes[CALLBOX_CODEC_PLANES];
    struct v4l2_buffer buffer;
    memset(out, 0, sizeof *out);
    callbox_codec_fill(&buffer, planes, type, memory, out);
    if (V4L2_TYPE_IS_MULTIPLANAR(type)) buffer.length = CALLBOX_CODEC_PLANES;
    int result = callbox_v4l2_ioctl(fd, VIDIOC_DQBUF, &buffer);
    if (result == 0) callbox_codec_read(&buffer, planes, out);
    return result;
}

/// A dma-buf of one plane of a buffer, close-on-exec.
static inline int callbox_codec_export(int fd, __u32 type, __u32 index, __u32 plane) {
    struct v4l2_exportbuffer export = {.type = type, .index = index, .plane = plane, .flags = O_RDWR | O_CLOEXEC};
    int result = callbox_v4l2_ioctl(fd, VIDIOC_EXPBUF, &export);
    return result < 0 ? result : export.fd;
}
