// SPDX-License-Identifier: Apache-2.0
// The requests of the decoder that is told of each picture (Documentation/userspace-api/media/mediactl,
// request-api.rst): a coded buffer and its controls, which begin and end together.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/media.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codec.h"

enum { REQUESTS_MAX = 64, NONE = -1 };

struct request {
    /// 0 where there is none: nobody has that descriptor for one.
    int fd;
    /// NONE, or the coded buffer that goes with it.
    int buffer;
    /// From its beginning to its end; ended, and not yet made fit for another use.
    bool in_work, is_done;
    struct told told;
};

static int media = NONE;
static struct request requests[REQUESTS_MAX];
/// What is told without a request.
static struct told now;

static struct request *find(int fd) {
    for (int at = 0; fd > 0 && at < REQUESTS_MAX; at++)
        if (requests[at].fd == fd) return &requests[at];
    return NULL;
}

static struct request *find_buffer(uint32_t buffer) {
    for (int at = 0; at < REQUESTS_MAX; at++)
        if (requests[at].fd && requests[at].buffer == (int)buffer) return &requests[at];
    return NULL;
}

bool request_is(int fd) { return fd == media || find(fd); }

bool request_is_path(const char *path) {
    const char *ours = getenv("CALLBOX_FAKE_MEDIA");
    return ours && path && strcmp(path, ours) == 0;
}

int request_open(void) {
    if (media != NONE) return errno = EBUSY, -1;
    return media = memfd_create("media", MFD_CLOEXEC);
}

/// The caller closes it.
void request_close(int fd) {
    pthread_mutex_lock(&device.lock);
    struct request *request = find(fd);
    if (fd == media) media = NONE;
    if (request) *request = (struct request){.buffer = NONE};
    pthread_mutex_unlock(&device.lock);
}

static int allocate(int *out) {
    for (int at = 0; at < REQUESTS_MAX; at++) {
        if (requests[at].fd) continue;
        int fd = memfd_create("request", MFD_CLOEXEC);
        if (fd < 0) return -ENOMEM;
        requests[at] = (struct request){.fd = *out = fd, .buffer = NONE};
        return 0;
    }
    return -ENOMEM;
}

/// One interface: the device's own file, which has no number.
static int topology(struct media_v2_topology *out) {
    struct media_v2_interface *interfaces = (struct media_v2_interface *)(size_t)out->ptr_interfaces;
    if (interfaces && out->num_interfaces >= 1)
        interfaces[0] = (struct media_v2_interface){.id = 1, .intf_type = MEDIA_INTF_T_V4L_VIDEO};
    out->num_interfaces = 1;
    return 0;
}

static int begin(struct request *request) {
    if (request->in_work || request->is_done) return -EBUSY;
    if (request->buffer == NONE) return -ENOENT;
    struct queue *coded = &device.queues[OUTPUT];
    request->in_work = true;
    coded->waiting[coded->waiting_count++] = (uint32_t)request->buffer;
    pthread_cond_broadcast(&device.changed);
    return 0;
}

static int answer(int fd, unsigned long call, void *argument) {
    struct request *request = find(fd);
    if (!request) {
        if (call == MEDIA_IOC_REQUEST_ALLOC) return allocate(argument);
        return call == MEDIA_IOC_G_TOPOLOGY ? topology(argument) : -ENOTTY;
    }
    if (call == MEDIA_REQUEST_IOC_QUEUE) return begin(request);
    if (call != MEDIA_REQUEST_IOC_REINIT) return -ENOTTY;
    if (request->in_work) return -EBUSY;
    *request = (struct request){.fd = request->fd, .buffer = NONE};
    return 0;
}

int request_ioctl(int fd, unsigned long call, void *argument) {
    pthread_mutex_lock(&device.lock);
    int result = answer(fd, call, argument);
    pthread_mutex_unlock(&device.lock);
    if (result < 0) errno = -result;
    return result < 0 ? -1 : 0;
}

int request_bind(int fd, uint32_t buffer) {
    struct request *request = find(fd);
    if (!request || request->buffer != NONE) return -EINVAL;
    if (request->in_work || request->is_done) return -EBUSY;
    request->buffer = (int)buffer;
    return 0;
}

const struct told *request_of(uint32_t buffer) {
    const struct request *request = find_buffer(buffer);
    return request ? &request->told : NULL;
}

void request_done(uint32_t buffer) {
    struct request *request = find_buffer(buffer);
    if (request) request->buffer = NONE, request->in_work = false, request->is_done = true;
}

void requests_forget(void) {
    for (int at = 0; at < REQUESTS_MAX; at++) {
        requests[at].is_done = requests[at].is_done || requests[at].in_work;
        requests[at].in_work = false;
        requests[at].buffer = NONE;
    }
}

static void *place_of(struct told *told, uint32_t control, size_t *size) {
    switch (control) {
        case V4L2_CID_STATELESS_H264_SPS: return *size = sizeof told->sequence, &told->sequence;
        case V4L2_CID_STATELESS_H264_PPS: return *size = sizeof told->picture_set, &told->picture_set;
        case V4L2_CID_STATELESS_H264_DECODE_PARAMS: return *size = sizeof told->picture, &told->picture;
        case V4L2_CID_STATELESS_H264_SLICE_PARAMS: return *size = sizeof told->slice, &told->slice;
        default: return NULL;
    }
}

int request_controls(const struct v4l2_ext_controls *given) {
    struct request *request = given->which == V4L2_CTRL_WHICH_REQUEST_VAL ? find(given->request_fd) : NULL;
    if (given->which == V4L2_CTRL_WHICH_REQUEST_VAL && !request) return -EINVAL;
    if (request && (request->in_work || request->is_done)) return -EBUSY;
    struct told *told = request ? &request->told : &now;
    for (uint32_t at = 0; at < given->count; at++) {
        const struct v4l2_ext_control *one = &given->controls[at];
        size_t size = 0;
        void *place = place_of(told, one->id, &size);
        if (!place || one->size != size) return -EINVAL;
        memcpy(place, one->ptr, size);
    }
    return 0;
}
