// SPDX-License-Identifier: Apache-2.0
// The calls of the fake device, multi-planar, one plane in memory: H.264 on one side, NV12 on the other. One user at a
// time.
#include "codec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct device device = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .user = -1};

enum fault fault_now(void) {
    static const char *const names[] = {"none", "hang", "damage", "refuse", "stamps", "short", "vanish", "no-buffers",
                                        "no-export", "tiles", "sixteens", "by-slice"};
    char word[16] = "";
    const char *path = getenv(FAKE_FAULT);
    FILE *file = path ? fopen(path, "re") : NULL;
    if (!file) return FAULT_NONE;
    if (fscanf(file, "%15s", word) != 1) word[0] = 0;
    fclose(file);
    for (size_t index = 0; index < sizeof names / sizeof *names; index++)
        if (strcmp(word, names[index]) == 0) return (enum fault)index;
    return FAULT_NONE;
}

bool device_is(int fd) { return device.user >= 0 && fd == device.user; }

int device_open(void) {
    int ends[2];
    if (fault_now() == FAULT_VANISH) return errno = ENODEV, -1;
    if (device.user >= 0) return errno = EBUSY, -1;
    if (link_make(ends) < 0) return -1;
    for (int at = 0; at < QUEUES; at++) memset(&device.queues[at], 0, sizeof device.queues[at]);
    device.width = device.height = 0;
    device.announced = device.draining = device.ended = false;
    memset(device.events, 0, sizeof device.events);
    device.epoch = 0;
    device.wants_key_frame = false;
    device.own = ends[1];
    if (pthread_create(&device.thread, NULL, work_run, &device) != 0) {
        close(ends[0]);
        close(ends[1]);
        return errno = EAGAIN, -1;
    }
    return device.user = ends[0];
}

void device_close(void) {
    pthread_mutex_lock(&device.lock);
    device.ended = true;
    pthread_cond_broadcast(&device.changed);
    pthread_mutex_unlock(&device.lock);
    pthread_join(device.thread, NULL);
    for (int at = 0; at < QUEUES; at++) buffers_free(&device.queues[at]);
    int user = device.user;
    device.user = -1;
    close(user);
    close(device.own);
}

void announce(struct device *device, uint32_t event) {
    // A second urgent byte would turn the first into an ordinary one.
    if (!device->events[0] && !device->events[1]) link_urge(device->own);
    device->events[event == V4L2_EVENT_EOS] = true;
}

void finish_picture(struct device *device, uint32_t index) {
    struct queue *pictures = &device->queues[CAPTURE];
    memmove(pictures->waiting, pictures->waiting + 1, --pictures->waiting_count * sizeof *pictures->waiting);
    pictures->done[pictures->done_count++] = index;
    link_tell(device->own);
}

// Formats

static uint32_t raw_format(void) {
    return fault_now() == FAULT_TILES ? V4L2_PIX_FMT_SUNXI_TILED_NV12 : V4L2_PIX_FMT_NV12;
}

static void take_size(uint32_t width, uint32_t height) {
    device.width = width;
    device.height = height;
    bool is_exact = ENCODES && fault_now() != FAULT_SIXTEENS;
    device.coded_width = is_exact ? width : (width + 15) & ~15u;
    device.coded_height = is_exact ? height : (height + 15) & ~15u;
}

static void fill_format(struct v4l2_format *format, bool is_set) {
    struct v4l2_pix_format_mplane *picture = &format->fmt.pix_mp;
    bool is_coded = queue_of(format->type) == CODED;
    uint32_t width = picture->width, height = picture->height;
    // A decoder learns the size from its stream, unless it is told.
    if (is_set && (ENCODES ? !is_coded : IS_TOLD && is_coded)) take_size(width, height);
    memset(picture, 0, sizeof *picture);
    picture->field = V4L2_FIELD_NONE;
    picture->num_planes = 1;
    picture->width = is_coded ? width : device.width ? device.coded_width : 16;
    picture->height = is_coded ? height : device.width ? device.coded_height : 16;
    picture->pixelformat = is_coded ? CODED_FORMAT : raw_format();
    picture->plane_fmt[0].bytesperline = is_coded ? 0 : picture->width;
    picture->plane_fmt[0].sizeimage = is_coded ? CODED_BYTES : picture->width * picture->height * 3 / 2;
}

static int describe(struct v4l2_fmtdesc *description) {
    int at = queue_of(description->type);
    if (at < 0 || description->index) return -EINVAL;
    description->pixelformat = at == CODED ? CODED_FORMAT : raw_format();
    description->flags = at == CODED ? V4L2_FMT_FLAG_COMPRESSED | V4L2_FMT_FLAG_DYN_RESOLUTION : 0;
    return 0;
}

static int sizes(struct v4l2_frmsizeenum *sizes) {
    if (sizes->index) return -EINVAL;
    sizes->type = V4L2_FRMSIZE_TYPE_STEPWISE;
    sizes->stepwise = (struct v4l2_frmsize_stepwise){48, 1920, 2, 48, 1088, 2};
    return 0;
}

static int next_event(struct v4l2_event *event) {
    memset(event, 0, sizeof *event);
    int at = device.events[0] ? 0 : device.events[1] ? 1 : -1;
    if (at < 0) return -ENOENT;
    device.events[at] = false;
    event->type = at ? V4L2_EVENT_EOS : V4L2_EVENT_SOURCE_CHANGE;
    if (!at) event->u.src_change.changes = V4L2_EVENT_SRC_CH_RESOLUTION;
    if (!device.events[0] && !device.events[1]) link_calm(device.user);
    return 0;
}

static int select_rectangle(struct v4l2_selection *selection, bool is_set) {
    if (!device.width || (is_set && !ENCODES)) return -EINVAL;
    if (is_set) {
        device.width = selection->r.width < device.coded_width ? selection->r.width : device.coded_width;
        device.height = selection->r.height < device.coded_height ? selection->r.height : device.coded_height;
    }
    bool is_visible = selection->target == V4L2_SEL_TGT_COMPOSE || selection->target == V4L2_SEL_TGT_COMPOSE_DEFAULT
                      || selection->target == V4L2_SEL_TGT_CROP || selection->target == V4L2_SEL_TGT_CROP_DEFAULT;
    selection->r = (struct v4l2_rect){0, 0, is_visible ? device.width : device.coded_width,
                                      is_visible ? device.height : device.coded_height};
    return 0;
}

static int capability(struct v4l2_capability *out) {
    memset(out, 0, sizeof *out);
    strcpy((char *)out->driver, FAKE_NAME);
    strcpy((char *)out->card, "fake H.264 codec");
    strcpy((char *)out->bus_info, "platform:callbox-fake");
    out->device_caps = V4L2_CAP_VIDEO_M2M_MPLANE | V4L2_CAP_STREAMING | V4L2_CAP_EXT_PIX_FORMAT;
    out->capabilities = out->device_caps | V4L2_CAP_DEVICE_CAPS;
    return 0;
}

/// How a decoder that is told wants it: there is no choice.
static int manner(struct v4l2_control *control) {
    bool is_mode = control->id == V4L2_CID_STATELESS_H264_DECODE_MODE;
    if (!IS_TOLD || (!is_mode && control->id != V4L2_CID_STATELESS_H264_START_CODE)) return -EINVAL;
    control->value = !is_mode ? V4L2_STATELESS_H264_START_CODE_ANNEX_B
                     : fault_now() == FAULT_BY_SLICE ? V4L2_STATELESS_H264_DECODE_MODE_SLICE_BASED
                                                     : V4L2_STATELESS_H264_DECODE_MODE_FRAME_BASED;
    return 0;
}

static int control(struct v4l2_control *control) {
    if (manner(control) == 0) return 0;
    if (ENCODES || control->id != V4L2_CID_MIN_BUFFERS_FOR_CAPTURE) return -EINVAL;
    control->value = 4;
    return 0;
}

static int set_control(const struct v4l2_control *control) {
    struct v4l2_control now = {.id = control->id};
    if (!ENCODES) return manner(&now) == 0 && now.value == control->value ? 0 : -EINVAL;
    switch (control->id) {
        case V4L2_CID_MPEG_VIDEO_BITRATE: device.bitrate = control->value; return 0;
        case V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME: device.wants_key_frame = true; return 0;
        case V4L2_CID_MPEG_VIDEO_H264_PROFILE:
        case V4L2_CID_MPEG_VIDEO_H264_LEVEL:
        case V4L2_CID_MPEG_VIDEO_GOP_SIZE: return 0;
        default: return -EINVAL;
    }
}

static int query_control(struct v4l2_queryctrl *query) {
    if (!ENCODES || query->id != V4L2_CID_MPEG_VIDEO_FORCE_KEY_FRAME) return -EINVAL;
    query->flags = 0;
    return 0;
}

static int command(struct v4l2_decoder_cmd *command) {
    if (command->cmd == V4L2_DEC_CMD_STOP) device.draining = true;
    pthread_cond_broadcast(&device.changed);
    return command->cmd <= V4L2_DEC_CMD_STOP ? 0 : -EINVAL;
}

static int answer(unsigned long call, void *argument) {
    switch (call) {
        case VIDIOC_QUERYCAP: return capability(argument);
        case VIDIOC_ENUM_FMT: return describe(argument);
        case VIDIOC_ENUM_FRAMESIZES: return sizes(argument);
        case VIDIOC_G_FMT:
        case VIDIOC_S_FMT:
        case VIDIOC_TRY_FMT:
            if (queue_of(((struct v4l2_format *)argument)->type) < 0) return -EINVAL;
            fill_format(argument, call == VIDIOC_S_FMT);
            return 0;
        case VIDIOC_G_SELECTION:
        case VIDIOC_S_SELECTION: return select_rectangle(argument, call == VIDIOC_S_SELECTION);
        case VIDIOC_REQBUFS: return buffers_request(argument);
        case VIDIOC_QUERYBUF: return buffers_query(argument);
        case VIDIOC_EXPBUF: return buffers_export(argument);
        case VIDIOC_QBUF: return buffers_enqueue(argument);
        case VIDIOC_DQBUF: return buffers_dequeue(argument);
        case VIDIOC_STREAMON: return buffers_stream(*(uint32_t *)argument, true);
        case VIDIOC_STREAMOFF: return buffers_stream(*(uint32_t *)argument, false);
        case VIDIOC_SUBSCRIBE_EVENT: return IS_TOLD ? -EINVAL : 0;
        case VIDIOC_S_EXT_CTRLS: return IS_TOLD ? request_controls(argument) : -ENOTTY;
        case VIDIOC_DQEVENT: return next_event(argument);
        case VIDIOC_G_CTRL: return control(argument);
        case VIDIOC_S_CTRL: return set_control(argument);
        case VIDIOC_QUERYCTRL: return query_control(argument);
        case VIDIOC_S_PARM: return ENCODES ? 0 : -ENOTTY;
        case VIDIOC_DECODER_CMD: return command(argument);
        case VIDIOC_TRY_DECODER_CMD: return 0;
        default: return -ENOTTY;
    }
}

int device_ioctl(unsigned long call, void *argument) {
    if (fault_now() == FAULT_VANISH) return errno = ENODEV, -1;
    pthread_mutex_lock(&device.lock);
    int result = answer(call, argument);
    pthread_mutex_unlock(&device.lock);
    if (result < 0) errno = -result;
    return result < 0 ? -1 : 0;
}
