// SPDX-License-Identifier: Apache-2.0
#include "software.h"

#include <string.h>

AVCodecContext *software_open(void) {
    AVCodecContext *context = avcodec_alloc_context3(
        avcodec_find_decoder(CODED_FORMAT == V4L2_PIX_FMT_JPEG ? AV_CODEC_ID_MJPEG : AV_CODEC_ID_H264));
    if (!context) return NULL;
    context->thread_count = 1;
    context->flags |= AV_CODEC_FLAG_LOW_DELAY;
    if (avcodec_open2(context, NULL, NULL) < 0) avcodec_free_context(&context);
    return context;
}

void software_copy(const struct device *device, const AVFrame *frame, uint8_t *to) {
    size_t stride = device->coded_width;
    for (int row = 0; row < frame->height; row++)
        memcpy(to + (size_t)row * stride, frame->data[0] + row * frame->linesize[0], (size_t)frame->width);
    to += stride * device->coded_height;
    for (int row = 0; row < (frame->height + 1) / 2; row++)
        for (int column = 0; column < (frame->width + 1) / 2; column++) {
            to[(size_t)row * stride + 2 * (size_t)column] = frame->data[1][row * frame->linesize[1] + column];
            to[(size_t)row * stride + 2 * (size_t)column + 1] = frame->data[2][row * frame->linesize[2] + column];
        }
}
