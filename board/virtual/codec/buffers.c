// SPDX-License-Identifier: Apache-2.0
// The buffers of the fake device: coded ones in memory files, pictures in dma-bufs of the system heap.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codec.h"

int queue_of(uint32_t type) {
    if (type == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE) return OUTPUT;
    return type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE ? CAPTURE : -1;
}

static void forget_memory(struct buffer *buffer) {
    if (!buffer->bytes) return;
    munmap(buffer->bytes, buffer->size);
    close(buffer->fd);
    buffer->bytes = NULL;
}

/// Takes the dma-buf that a picture lies in, until the next one comes.
static int import_memory(struct buffer *buffer, const struct v4l2_plane *plane) {
    forget_memory(buffer);
    size_t size = (size_t)device.coded_width * device.coded_height * 3 / 2;
    int fd = plane->length < size ? -1 : fcntl(plane->m.fd, F_DUPFD_CLOEXEC, 0);
    void *bytes = fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED) return fd >= 0 ? close(fd) : 0, -EINVAL;
    buffer->fd = fd, buffer->bytes = bytes, buffer->size = size;
    return 0;
}

void buffers_free(struct queue *queue) {
    for (uint32_t index = 0; index < queue->count; index++) forget_memory(&queue->buffers[index]);
    memset(queue, 0, sizeof *queue);
}

static int make_buffer(struct buffer *buffer, int at) {
    size_t size = at == CODED ? CODED_BYTES : (size_t)device.coded_width * device.coded_height * 3 / 2;
    int fd = -1;
    if (at == CODED) {
        fd = memfd_create("coded", MFD_CLOEXEC);
        if (fd < 0 || ftruncate(fd, (off_t)size) < 0) return -ENOMEM;
    } else {
        struct dma_heap_allocation_data wanted = {.len = size, .fd_flags = O_RDWR | O_CLOEXEC};
        int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
        int result = heap < 0 ? -1 : ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &wanted);
        if (heap >= 0) close(heap);
        if (result < 0) return -ENOMEM;
        fd = (int)wanted.fd;
    }
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED) return close(fd), -ENOMEM;
    *buffer = (struct buffer){.fd = fd, .bytes = bytes, .size = size};
    return 0;
}

int buffers_request(struct v4l2_requestbuffers *wanted) {
    int at = queue_of(wanted->type);
    bool imports = ENCODES && at == RAW && wanted->memory == V4L2_MEMORY_DMABUF;
    if (at < 0 || (wanted->memory != V4L2_MEMORY_MMAP && !imports)) return -EINVAL;
    struct queue *queue = &device.queues[at];
    if (queue->streams) return -EBUSY;
    buffers_free(queue);
    wanted->capabilities = V4L2_BUF_CAP_SUPPORTS_MMAP | V4L2_BUF_CAP_SUPPORTS_ORPHANED_BUFS;
    if (!wanted->count) return 0;
    if (at == CAPTURE && fault_now() == FAULT_NO_BUFFERS) return -ENOMEM;
    if (at == RAW && !device.width) return -EINVAL;
    if (wanted->count > BUFFERS_MAX) wanted->count = BUFFERS_MAX;
    while (queue->count < wanted->count && (imports || make_buffer(&queue->buffers[queue->count], at) == 0))
        queue->count++;
    wanted->count = queue->count;
    if (at == CAPTURE) device.announced = true;
    return queue->count ? 0 : -ENOMEM;
}

static struct buffer *buffer_of(int at, uint32_t index) {
    return at >= 0 && index < device.queues[at].count ? &device.queues[at].buffers[index] : NULL;
}

int buffers_query(struct v4l2_buffer *wanted) {
    int at = queue_of(wanted->type);
    struct buffer *buffer = buffer_of(at, wanted->index);
    if (!buffer || wanted->length < 1) return -EINVAL;
    wanted->m.planes[0].length = (uint32_t)buffer->size;
    wanted->m.planes[0].m.mem_offset = (uint32_t)(at << 30 | (int)wanted->index << 16);
    wanted->length = 1;
    return 0;
}

void *device_map(size_t length, int64_t offset) {
    struct buffer *buffer = buffer_of((int)(offset >> 30 & 1), (uint32_t)(offset >> 16 & 0x3fff));
    if (!buffer || length > buffer->size) return errno = EINVAL, MAP_FAILED;
    return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);
}

int buffers_export(struct v4l2_exportbuffer *wanted) {
    struct buffer *buffer = buffer_of(queue_of(wanted->type), wanted->index);
    if (!buffer || wanted->plane || fault_now() == FAULT_NO_EXPORT) return -EINVAL;
    wanted->fd = fcntl(buffer->fd, F_DUPFD_CLOEXEC, 0);
    return wanted->fd < 0 ? -errno : 0;
}

int buffers_enqueue(struct v4l2_buffer *given) {
    int at = queue_of(given->type);
    struct buffer *buffer = buffer_of(at, given->index);
    if (!buffer || buffer->queued || given->length < 1) return -EINVAL;
    if (fault_now() == FAULT_REFUSE) return -EIO;
    if (given->memory == V4L2_MEMORY_DMABUF && import_memory(buffer, &given->m.planes[0]) < 0) return -EINVAL;
    if (at == OUTPUT) {
        if (given->m.planes[0].bytesused > buffer->size) return -EINVAL;
        buffer->used = given->m.planes[0].bytesused;
        buffer->stamp = given->timestamp;
        buffer->holds_picture = given->flags & V4L2_BUF_FLAG_M2M_HOLD_CAPTURE_BUF;
    }
    struct queue *queue = &device.queues[at];
    if (IS_TOLD && at == OUTPUT) {
        int result = given->flags & V4L2_BUF_FLAG_REQUEST_FD ? request_bind(given->request_fd, given->index) : -EBADR;
        buffer->queued = result == 0;
        return result;
    }
    buffer->queued = true;
    queue->waiting[queue->waiting_count++] = given->index;
    pthread_cond_broadcast(&device.changed);
    return 0;
}

int buffers_dequeue(struct v4l2_buffer *taken) {
    int at = queue_of(taken->type);
    if (at < 0 || taken->length < 1) return -EINVAL;
    struct queue *queue = &device.queues[at];
    if (fault_now() == FAULT_REFUSE) return -EIO;
    if (!queue->streams) return -EINVAL;
    if (!queue->done_count) {
        if (at == CAPTURE) link_drain(device.user);
        return -EAGAIN;
    }
    taken->index = queue->done[0];
    memmove(queue->done, queue->done + 1, --queue->done_count * sizeof *queue->done);
    struct buffer *buffer = &queue->buffers[taken->index];
    buffer->queued = false;
    taken->flags = buffer->flags | V4L2_BUF_FLAG_TIMESTAMP_COPY;
    taken->timestamp = buffer->stamp;
    taken->field = V4L2_FIELD_NONE;
    taken->m.planes[0].bytesused = (uint32_t)buffer->used;
    taken->m.planes[0].data_offset = 0;
    taken->m.planes[0].length = (uint32_t)buffer->size;
    if (at == CAPTURE) link_read(device.user);
    return 0;
}

int buffers_stream(uint32_t type, bool on) {
    int at = queue_of(type);
    if (at < 0) return -EINVAL;
    struct queue *queue = &device.queues[at];
    queue->streams = on;
    if (!on) {
        if (at == CAPTURE) link_drain(device.user);
        queue->waiting_count = queue->done_count = 0;
        for (uint32_t index = 0; index < queue->count; index++) queue->buffers[index].queued = false;
        if (at == OUTPUT) device.epoch++;
        if (at == OUTPUT) requests_forget();
    }
    pthread_cond_broadcast(&device.changed);
    return 0;
}
