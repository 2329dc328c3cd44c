// SPDX-License-Identifier: Apache-2.0
// Codecs in hardware through Video4Linux 2 (kernel documents dev-decoder, dev-encoder, mem2mem), and the memory that
// they share with a display (dma-buf). The shims hide from Swift what differs between the single-planar and the
// multi-planar interface, and the request macros. All give 0 (or what they open) or a negative errno.
#pragma once
#include "cv4l2.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/videodev2.h>
#include <string.h>
#include <sys/ioctl.h>

enum { CALLBOX_CODEC_PLANES = 4 };

/// What is given where no buffer is done, and after the last one.
static const int callbox_codec_nothing = -EAGAIN, callbox_codec_ended = -EPIPE;

/// A number for each plane in memory.
struct callbox_codec_planes {
    __u32 at0, at1, at2, at3;
};

/// What a queue is set to. `stride` and `size` in bytes, one a plane in memory.
struct callbox_codec_format {
    __u32 width, height, pixelformat, plane_count;
    struct callbox_codec_planes stride, size;
    int is_bt709, is_full_range;
};

static inline __u32 *callbox_codec_plane(struct callbox_codec_planes *planes, __u32 index) {
    __u32 *places[CALLBOX_CODEC_PLANES] = {&planes->at0, &planes->at1, &planes->at2, &planes->at3};
    return places[index % CALLBOX_CODEC_PLANES];
}

static inline void callbox_codec_set_plane(struct callbox_codec_planes *planes, __u32 index, __u32 value) {
    *callbox_codec_plane(planes, index) = value;
}

/// The pixel format number `index` of the queue `type` with its V4L2_FMT_FLAG_*; -EINVAL past the last.
static inline int callbox_codec_format_at(int fd, __u32 type, __u32 index, __u32 *pixelformat, __u32 *flags) {
    struct v4l2_fmtdesc description = {.index = index, .type = type};
    int result = callbox_v4l2_ioctl(fd, VIDIOC_ENUM_FMT, &description);
    *pixelformat = description.pixelformat;
    *flags = description.flags;
    return result;
}

/// Where a stream says nothing, by the kernel's own rules (videodev2.h, V4L2_MAP_*_DEFAULT).
static inline void callbox_codec_read_colours(struct callbox_codec_format *out, __u32 space, __u32 encoding,
                                              __u32 quantization) {
    if (encoding == V4L2_YCBCR_ENC_DEFAULT) encoding = V4L2_MAP_YCBCR_ENC_DEFAULT(space);
    if (quantization == V4L2_QUANTIZATION_DEFAULT)
        quantization = V4L2_MAP_QUANTIZATION_DEFAULT(0, space, encoding);
    out->is_bt709 = encoding == V4L2_YCBCR_ENC_709 || encoding == V4L2_YCBCR_ENC_XV709;
    out->is_full_range = quantization == V4L2_QUANTIZATION_FULL_RANGE;
}

static inline int callbox_codec_read_format(const struct v4l2_format *format, struct callbox_codec_format *out) {
    memset(out, 0, sizeof *out);
    if (V4L2_TYPE_IS_MULTIPLANAR(format->type)) {
        const struct v4l2_pix_format_mplane *picture = &format->fmt.pix_mp;
        if (picture->num_planes == 0 || picture->num_planes > CALLBOX_CODEC_PLANES) return -EINVAL;
        out->width = picture->width, out->height = picture->height, out->pixelformat = picture->pixelformat;
        out->plane_count = picture->num_planes;
        for (__u32 index = 0; index < out->plane_count; index++) {
            *callbox_codec_plane(&out->stride, index) = picture->plane_fmt[index].bytesperline;
            *callbox_codec_plane(&out->size, index) = picture->plane_fmt[index].sizeimage;
        }
        callbox_codec_read_colours(out, picture->colorspace, picture->ycbcr_enc, picture->quantization);
    } else {
        const struct v4l2_pix_format *picture = &format->fmt.pix;
        out->width = picture->width, out->height = picture->height, out->pixelformat = picture->pixelformat;
        out->plane_count = 1, out->stride.at0 = picture->bytesperline, out->size.at0 = picture->sizeimage;
        callbox_codec_read_colours(out, picture->colorspace, picture->ycbcr_enc, picture->quantization);
    }
    return 0;
}

static inline int callbox_codec_get_format(int fd, __u32 type, struct callbox_codec_format *out) {
    struct v4l2_format format = {.type = type};
    int result = callbox_v4l2_ioctl(fd, VIDIOC_G_FMT, &format);
    return result < 0 ? result : callbox_codec_read_format(&format, out);
}

/// Asks for size, pixel format, plane count and the first plane's size in bytes (0 for the driver's choice), with
/// colours as of television (BT.601 or BT.709, limited range); the driver answers with the nearest it can do.
static inline int callbox_codec_set_format(int fd, __u32 type, struct callbox_codec_format *wish) {
    struct v4l2_format format = {.type = type};
    __u32 space = wish->is_bt709 ? V4L2_COLORSPACE_REC709 : V4L2_COLORSPACE_SMPTE170M;
    if (V4L2_TYPE_IS_MULTIPLANAR(type)) {
        format.fmt.pix_mp.width = wish->width, format.fmt.pix_mp.height = wish->height;
        format.fmt.pix_mp.pixelformat = wish->pixelformat, format.fmt.pix_mp.num_planes = wish->plane_count;
        format.fmt.pix_mp.field = V4L2_FIELD_NONE, format.fmt.pix_mp.colorspace = space;
        format.fmt.pix_mp.plane_fmt[0].sizeimage = wish->size.at0;
    } else {
        format.fmt.pix.width = wish->width, format.fmt.pix.height = wish->height;
        format.fmt.pix.pixelformat = wish->pixelformat, format.fmt.pix.sizeimage = wish->size.at0;
        format.fmt.pix.field = V4L2_FIELD_NONE, format.fmt.pix.colorspace = space;
    }
    int result = callbox_v4l2_ioctl(fd, VIDIOC_S_FMT, &format);
    return result < 0 ? result : callbox_codec_read_format(&format, wish);
}

/// The type that selections go by: the single-planar one, as drivers before Linux 4.13 want it.
static inline __u32 callbox_codec_selection_type(__u32 type) {
    if (type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE) return V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return type == V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE ? V4L2_BUF_TYPE_VIDEO_OUTPUT : type;
}

/// The part of the pictures of a decoder's CAPTURE queue that is to be seen.
static inline int callbox_codec_get_visible(int fd, __u32 type, struct v4l2_rect *out) {
    struct v4l2_selection selection = {.type = callbox_codec_selection_type(type), .target = V4L2_SEL_TGT_COMPOSE};
    int result = callbox_v4l2_ioctl(fd, VIDIOC_G_SELECTION, &selection);
    *out = selection.r;
    return result;
}

/// The part of the pictures of an encoder's OUTPUT queue that is to be encoded; what the driver made of it.
static inline int callbox_codec_set_visible(int fd, __u32 type, struct v4l2_rect *part) {
    struct v4l2_selection selection = {
        .type = callbox_codec_selection_type(type), .target = V4L2_SEL_TGT_CROP, .r = *part};
    int result = callbox_v4l2_ioctl(fd, VIDIOC_S_SELECTION, &selection);
    *part = selection.r;
    return result;
}

/// An encoder's frames a second, from the OUTPUT queue.
static inline int callbox_codec_set_rate(int fd, __u32 type, __u32 numerator, __u32 denominator) {
    struct v4l2_streamparm parameters = {.type = type};
    parameters.parm.output.timeperframe.numerator = denominator;
    parameters.parm.output.timeperframe.denominator = numerator;
    return callbox_v4l2_ioctl(fd, VIDIOC_S_PARM, &parameters);
}

static inline int callbox_codec_decoder_command(int fd, __u32 command) {
    struct v4l2_decoder_cmd order = {.cmd = command};
    return callbox_v4l2_ioctl(fd, VIDIOC_DECODER_CMD, &order);
}

static inline int callbox_codec_encoder_command(int fd, __u32 command) {
    struct v4l2_encoder_cmd order = {.cmd = command};
    return callbox_v4l2_ioctl(fd, VIDIOC_ENCODER_CMD, &order);
}

static inline int callbox_codec_subscribe(int fd, __u32 event) {
    struct v4l2_event_subscription subscription = {.type = event};
    return callbox_v4l2_ioctl(fd, VIDIOC_SUBSCRIBE_EVENT, &subscription);
}

/// The next event that waits, and for V4L2_EVENT_SOURCE_CHANGE what has changed; -ENOENT where none does.
static inline int callbox_codec_next_event(int fd, __u32 *event, __u32 *changes) {
    struct v4l2_event news = {0};
    int result = callbox_v4l2_ioctl(fd, VIDIOC_DQEVENT, &news);
    *event = news.type;
    *changes = news.type == V4L2_EVENT_SOURCE_CHANGE ? news.u.src_change.changes : 0;
    return result;
}

static inline int callbox_codec_get_control(int fd, __u32 id, __s32 *value) {
    struct v4l2_control control = {.id = id};
    int result = callbox_v4l2_ioctl(fd, VIDIOC_G_CTRL, &control);
    *value = control.value;
    return result;
}

static inline int callbox_codec_set_control(int fd, __u32 id, __s32 value) {
    struct v4l2_control control = {.id = id, .value = value};
    return callbox_v4l2_ioctl(fd, VIDIOC_S_CTRL, &control);
}

/// Whether a control exists and can be set.
static inline int callbox_codec_has_control(int fd, __u32 id) {
    struct v4l2_queryctrl query = {.id = id};
    return callbox_v4l2_ioctl(fd, VIDIOC_QUERYCTRL, &query) == 0 && !(query.flags & V4L2_CTRL_FLAG_DISABLED);
}

/// The largest value of a control, for a menu its last entry; -EINVAL where there is none such.
static inline int callbox_codec_control_max(int fd, __u32 id) {
    struct v4l2_queryctrl query = {.id = id};
    int failure = callbox_v4l2_ioctl(fd, VIDIOC_QUERYCTRL, &query);
    return failure ? failure : query.flags & V4L2_CTRL_FLAG_DISABLED || query.maximum < 0 ? -EINVAL : query.maximum;
}

/// The processor is about to read what devices share (`begins`), or has read it: caches are made to fit.
static inline int callbox_share_read(int dma_buf, int begins) {
    struct dma_buf_sync sync = {
        .flags = DMA_BUF_SYNC_READ | (begins ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END)};
    return callbox_v4l2_ioctl(dma_buf, DMA_BUF_IOCTL_SYNC, &sync);
}
