// SPDX-License-Identifier: Apache-2.0
// The encoder itself: pictures in, coded buffers out, the parameter sets with the first one only, as V4L2 drivers do
// that know no other header mode. Each wait ends with the device.
#include "codec.h"

#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
#include <string.h>

struct encoder {
    AVCodecContext *context;
    AVPacket *packet;
    uint32_t epoch;
    bool has_begun;
};

static bool open_encoder(struct encoder *encoder, const struct device *device) {
    const AVCodec *codec = avcodec_find_encoder_by_name("libx264");
    avcodec_free_context(&encoder->context);
    encoder->has_begun = false;
    encoder->context = codec ? avcodec_alloc_context3(codec) : NULL;
    if (!encoder->context) return false;
    AVCodecContext *context = encoder->context;
    context->width = (int)device->width, context->height = (int)device->height;
    context->pix_fmt = AV_PIX_FMT_NV12;
    context->time_base = (AVRational){1, 1000000}, context->framerate = (AVRational){30, 1};
    context->gop_size = 300, context->max_b_frames = 0;
    context->bit_rate = context->rc_max_rate = device->bitrate;
    context->rc_buffer_size = device->bitrate / 4;
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    av_opt_set(context->priv_data, "preset", "ultrafast", 0);
    av_opt_set(context->priv_data, "tune", "zerolatency", 0);
    av_opt_set(context->priv_data, "profile", "baseline", 0);
    av_opt_set(context->priv_data, "forced-idr", "1", 0);
    return avcodec_open2(context, codec, NULL) == 0;
}

/// Whether there is a picture and a buffer to encode it into; false once the device has ended.
static bool wait_for_work(struct device *device) {
    const struct queue *raw = &device->queues[RAW], *coded = &device->queues[CODED];
    while (!device->ended && !(raw->streams && raw->waiting_count && coded->streams && coded->waiting_count))
        pthread_cond_wait(&device->changed, &device->lock);
    return !device->ended;
}

static void give(struct device *device, struct encoder *encoder) {
    struct queue *coded = &device->queues[CODED];
    uint32_t index = coded->waiting[0];
    struct buffer *buffer = &coded->buffers[index];
    const AVPacket *packet = encoder->packet;
    size_t head = encoder->has_begun ? 0 : (size_t)encoder->context->extradata_size, body = (size_t)packet->size;
    enum fault fault = fault_now();
    if (head + body > buffer->size) return;
    if (head) memcpy(buffer->bytes, encoder->context->extradata, head);
    memcpy(buffer->bytes + head, packet->data, body);
    encoder->has_begun = true;
    buffer->used = fault == FAULT_SHORT ? 0 : head + body;
    buffer->flags = fault == FAULT_DAMAGE ? V4L2_BUF_FLAG_ERROR : 0;
    if (packet->flags & AV_PKT_FLAG_KEY) buffer->flags |= V4L2_BUF_FLAG_KEYFRAME;
    int64_t stamp = fault == FAULT_STAMPS ? 1 : packet->pts;
    buffer->stamp.tv_sec = stamp / 1000000;
    buffer->stamp.tv_usec = stamp % 1000000;
    finish_picture(device, index);
}

static void encode_one(struct device *device, struct encoder *encoder) {
    struct queue *raw = &device->queues[RAW];
    uint32_t index = raw->waiting[0];
    struct buffer *buffer = &raw->buffers[index];
    memmove(raw->waiting, raw->waiting + 1, --raw->waiting_count * sizeof *raw->waiting);
    AVFrame *frame = av_frame_alloc();
    if (frame && fault_now() != FAULT_HANG) {
        frame->format = AV_PIX_FMT_NV12;
        frame->width = (int)device->width, frame->height = (int)device->height;
        frame->linesize[0] = frame->linesize[1] = (int)device->coded_width;
        frame->data[0] = buffer->bytes;
        frame->data[1] = buffer->bytes + (size_t)device->coded_width * device->coded_height;
        frame->pts = (int64_t)buffer->stamp.tv_sec * 1000000 + buffer->stamp.tv_usec;
        frame->pict_type = device->wants_key_frame ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
        device->wants_key_frame = false;
        encoder->context->bit_rate = encoder->context->rc_max_rate = device->bitrate;
        if (avcodec_send_frame(encoder->context, frame) == 0
            && avcodec_receive_packet(encoder->context, encoder->packet) == 0) {
            give(device, encoder);
            av_packet_unref(encoder->packet);
        }
    }
    av_frame_free(&frame);
    raw->done[raw->done_count++] = index;
}

void *work_run(void *argument) {
    struct device *device = argument;
    struct encoder encoder = {.packet = av_packet_alloc()};
    pthread_mutex_lock(&device->lock);
    while (encoder.packet && wait_for_work(device)) {
        if (!encoder.context || encoder.epoch != device->epoch) {
            encoder.epoch = device->epoch;
            if (!open_encoder(&encoder, device)) break;
        }
        encode_one(device, &encoder);
    }
    pthread_mutex_unlock(&device->lock);
    av_packet_free(&encoder.packet);
    avcodec_free_context(&encoder.context);
    return NULL;
}
