// SPDX-License-Identifier: Apache-2.0
// Decoders that are told of each picture by its controls, in requests (kernel documents "Memory-to-memory Stateless
// Video Decoder Interface" and "Request API"). All give 0 (or what they open) or a negative errno.
#pragma once
#include "ccodec.h"
#include <linux/media.h>
#include <linux/v4l2-controls.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { CALLBOX_STATELESS_MEDIA = 32, CALLBOX_STATELESS_INTERFACES = 64 };

/// Whether one of a media device's interfaces is the device file with this number.
static inline int callbox_stateless_owns(int media, dev_t video) {
    struct media_v2_interface interfaces[CALLBOX_STATELESS_INTERFACES];
    struct media_v2_topology topology = {0};
    if (callbox_v4l2_ioctl(media, MEDIA_IOC_G_TOPOLOGY, &topology) < 0) return 0;
    if (topology.num_interfaces > CALLBOX_STATELESS_INTERFACES) return 0;
    struct media_v2_topology wish = {
        .num_interfaces = topology.num_interfaces, .ptr_interfaces = (__u64)(size_t)interfaces};
    if (callbox_v4l2_ioctl(media, MEDIA_IOC_G_TOPOLOGY, &wish) < 0) return 0;
    for (__u32 index = 0; index < wish.num_interfaces && index < CALLBOX_STATELESS_INTERFACES; index++)
        if (interfaces[index].intf_type == MEDIA_INTF_T_V4L_VIDEO && interfaces[index].devnode.major == major(video)
            && interfaces[index].devnode.minor == minor(video))
            return 1;
    return 0;
}

/// Opens the media device that an open video device belongs to; -ENODEV where there is none.
static inline int callbox_stateless_open_media(int video) {
    struct stat status;
    if (fstat(video, &status) < 0) return -errno;
    for (int number = 0; number < CALLBOX_STATELESS_MEDIA; number++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/media%d", number);
        int media = open(path, O_RDWR | O_CLOEXEC);
        if (media < 0) continue;
        if (callbox_stateless_owns(media, status.st_rdev)) return media;
        close(media);
    }
    return -ENODEV;
}

static inline int callbox_stateless_new_request(int media) {
    int request = -1;
    int result = callbox_v4l2_ioctl(media, MEDIA_IOC_REQUEST_ALLOC, &request);
    return result < 0 ? result : request;
}

static inline int callbox_stateless_queue_request(int request) {
    return callbox_v4l2_ioctl(request, MEDIA_REQUEST_IOC_QUEUE, NULL);
}

/// Makes a request that is done with fit for another use; waits until it is done, at most so long, and gives -ETIME.
static inline int callbox_stateless_reuse_request(int request, int limit_ms) {
    int result = callbox_v4l2_ioctl(request, MEDIA_REQUEST_IOC_REINIT, NULL);
    if (result != -EBUSY) return result;
    struct pollfd entry = {.fd = request, .events = POLLPRI};
    if (poll(&entry, 1, limit_ms) <= 0) return -ETIME;
    return callbox_v4l2_ioctl(request, MEDIA_REQUEST_IOC_REINIT, NULL);
}

/// What a picture, or one slice of it, is told by.
struct callbox_h264_controls {
    struct v4l2_ctrl_h264_sps sps;
    struct v4l2_ctrl_h264_pps pps;
    struct v4l2_ctrl_h264_scaling_matrix matrix;
    struct v4l2_ctrl_h264_decode_params picture;
    struct v4l2_ctrl_h264_slice_params slice;
    struct v4l2_ctrl_h264_pred_weights weights;
};

/// Which of them are given.
enum {
    CALLBOX_H264_SPS = 1, CALLBOX_H264_PPS = 2, CALLBOX_H264_MATRIX = 4, CALLBOX_H264_PICTURE = 8,
    CALLBOX_H264_SLICE = 16, CALLBOX_H264_WEIGHTS = 32
};

/// Gives controls to a request, or at once where `request` is negative.
static inline int callbox_h264_set(int fd, int request, struct callbox_h264_controls *all, int which) {
    struct v4l2_ext_control list[6];
    __u32 count = 0;
    memset(list, 0, sizeof list);
    const struct {
        int bit;
        __u32 id, size;
        void *place;
    } rows[] = {
        {CALLBOX_H264_SPS, V4L2_CID_STATELESS_H264_SPS, sizeof all->sps, &all->sps},
        {CALLBOX_H264_PPS, V4L2_CID_STATELESS_H264_PPS, sizeof all->pps, &all->pps},
        {CALLBOX_H264_MATRIX, V4L2_CID_STATELESS_H264_SCALING_MATRIX, sizeof all->matrix, &all->matrix},
        {CALLBOX_H264_PICTURE, V4L2_CID_STATELESS_H264_DECODE_PARAMS, sizeof all->picture, &all->picture},
        {CALLBOX_H264_SLICE, V4L2_CID_STATELESS_H264_SLICE_PARAMS, sizeof all->slice, &all->slice},
        {CALLBOX_H264_WEIGHTS, V4L2_CID_STATELESS_H264_PRED_WEIGHTS, sizeof all->weights, &all->weights},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        if (!(which & rows[row].bit)) continue;
        list[count].id = rows[row].id, list[count].size = rows[row].size, list[count].ptr = rows[row].place;
        count++;
    }
    struct v4l2_ext_controls wish = {.count = count, .controls = list};
    wish.which = request < 0 ? V4L2_CTRL_WHICH_CUR_VAL : V4L2_CTRL_WHICH_REQUEST_VAL;
    wish.request_fd = request < 0 ? 0 : request;
    return callbox_v4l2_ioctl(fd, VIDIOC_S_EXT_CTRLS, &wish);
}

// Fixed arrays, which Swift sees as tuples. Indices beyond them are passed over.

static inline void callbox_h264_set_cycle(struct v4l2_ctrl_h264_sps *sps, __u32 index, __s32 offset) {
    if (index < 255) sps->offset_for_ref_frame[index] = offset;
}

/// `list` in the order of table 7-2: six of 16 weights, six of 64, each in raster order.
static inline void callbox_h264_set_scaling(struct v4l2_ctrl_h264_scaling_matrix *matrix, __u32 list,
                                            const __u8 *weights, __u32 count) {
    if (list < 6 && count == 16) memcpy(matrix->scaling_list_4x4[list], weights, 16);
    if (list >= 6 && list < 12 && count == 64) memcpy(matrix->scaling_list_8x8[list - 6], weights, 64);
}

static inline void callbox_h264_set_frame(struct v4l2_ctrl_h264_decode_params *picture, __u32 index,
                                          const struct v4l2_h264_dpb_entry *frame) {
    if (index < V4L2_H264_NUM_DPB_ENTRIES) picture->dpb[index] = *frame;
}

static inline void callbox_h264_set_reference(struct v4l2_ctrl_h264_slice_params *slice, __u32 list, __u32 index,
                                              __u8 frame) {
    struct v4l2_h264_reference reference = {.fields = V4L2_H264_FRAME_REF, .index = frame};
    if (index < V4L2_H264_REF_LIST_LEN) (list ? slice->ref_pic_list1 : slice->ref_pic_list0)[index] = reference;
}

static inline void callbox_h264_set_weight(struct v4l2_ctrl_h264_pred_weights *weights, __u32 list, __u32 index,
                                           __s16 weight, __s16 offset) {
    if (list > 1 || index >= V4L2_H264_REF_LIST_LEN) return;
    weights->weight_factors[list].luma_weight[index] = weight;
    weights->weight_factors[list].luma_offset[index] = offset;
}

static inline void callbox_h264_set_chroma_weight(struct v4l2_ctrl_h264_pred_weights *weights, __u32 list, __u32 index,
                                                  __u32 plane, __s16 weight, __s16 offset) {
    if (list > 1 || index >= V4L2_H264_REF_LIST_LEN || plane > 1) return;
    weights->weight_factors[list].chroma_weight[index][plane] = weight;
    weights->weight_factors[list].chroma_offset[index][plane] = offset;
}
