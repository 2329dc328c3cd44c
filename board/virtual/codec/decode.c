// SPDX-License-Identifier: Apache-2.0
// The decoder itself: coded buffers in, pictures into the buffers of the CAPTURE queue. Each wait ends with the device.
#include "codec.h"
#include "software.h"

#include <string.h>

struct decoder {
    AVCodecContext *context;
    AVPacket *packet;
    AVFrame *frame;
    uint32_t epoch;
};

static bool open_decoder(struct decoder *decoder) {
    avcodec_free_context(&decoder->context);
    decoder->context = software_open();
    return decoder->context != NULL;
}

/// Waits until there is a coded buffer, or something else to see to. false where the device has been closed.
static bool wait_for_work(struct device *device) {
    struct queue *coded = &device->queues[OUTPUT];
    while (!device->ended && !(coded->streams && coded->waiting_count) && !device->draining)
        pthread_cond_wait(&device->changed, &device->lock);
    return !device->ended;
}

static bool is_stale(const struct device *device, const struct decoder *decoder) {
    return device->ended || decoder->epoch != device->epoch;
}

/// Waits until the user has made buffers for pictures of `frame`'s size, having told of a new one. false where that
/// became pointless.
static bool agree_on_size(struct device *device, struct decoder *decoder, const AVFrame *frame) {
    uint32_t width = (uint32_t)frame->width, height = (uint32_t)frame->height;
    if (device->width != width || device->height != height) {
        bool had_pictures = device->queues[CAPTURE].streams;
        device->width = width;
        device->height = height;
        device->coded_width = (width + 15) & ~15u;
        device->coded_height = (height + 15) & ~15u;
        device->announced = false;
        announce(device, V4L2_EVENT_SOURCE_CHANGE);
        // The last picture of the old size is an empty one (dev-decoder.rst, Dynamic Resolution Change).
        while (had_pictures && !is_stale(device, decoder) && device->queues[CAPTURE].streams) {
            struct queue *pictures = &device->queues[CAPTURE];
            if (pictures->waiting_count) {
                uint32_t index = pictures->waiting[0];
                pictures->buffers[index].used = 0;
                pictures->buffers[index].flags = V4L2_BUF_FLAG_LAST;
                finish_picture(device, index);
                break;
            }
            pthread_cond_wait(&device->changed, &device->lock);
        }
    }
    while (!is_stale(device, decoder) && !(device->announced && device->queues[CAPTURE].streams))
        pthread_cond_wait(&device->changed, &device->lock);
    return !is_stale(device, decoder);
}

static void give(struct device *device, struct decoder *decoder, const AVFrame *frame) {
    struct queue *pictures = &device->queues[CAPTURE];
    bool is_known = frame->format == AV_PIX_FMT_YUV420P || frame->format == AV_PIX_FMT_YUVJ420P;
    if (!is_known || !agree_on_size(device, decoder, frame)) return;
    while (!is_stale(device, decoder) && !pictures->waiting_count) pthread_cond_wait(&device->changed, &device->lock);
    if (is_stale(device, decoder)) return;
    uint32_t index = pictures->waiting[0];
    struct buffer *buffer = &pictures->buffers[index];
    size_t whole = (size_t)device->coded_width * device->coded_height * 3 / 2;
    if (buffer->size < whole) return;
    software_copy(device, frame, buffer->bytes);
    enum fault fault = fault_now();
    buffer->used = fault == FAULT_SHORT ? whole / 2 : whole;
    buffer->flags = fault == FAULT_DAMAGE ? V4L2_BUF_FLAG_ERROR : 0;
    int64_t stamp = fault == FAULT_STAMPS ? 1 : frame->pts;
    buffer->stamp.tv_sec = stamp / 1000000;
    buffer->stamp.tv_usec = stamp % 1000000;
    finish_picture(device, index);
}

static void receive(struct device *device, struct decoder *decoder) {
    while (avcodec_receive_frame(decoder->context, decoder->frame) == 0) give(device, decoder, decoder->frame);
}

static void decode_one(struct device *device, struct decoder *decoder) {
    struct queue *coded = &device->queues[OUTPUT];
    uint32_t index = coded->waiting[0];
    struct buffer *buffer = &coded->buffers[index];
    memmove(coded->waiting, coded->waiting + 1, --coded->waiting_count * sizeof *coded->waiting);
    if (fault_now() != FAULT_HANG && av_new_packet(decoder->packet, (int)buffer->used) == 0) {
        memcpy(decoder->packet->data, buffer->bytes, buffer->used);
        decoder->packet->pts = (int64_t)buffer->stamp.tv_sec * 1000000 + buffer->stamp.tv_usec;
        avcodec_send_packet(decoder->context, decoder->packet);
        av_packet_unref(decoder->packet);
        receive(device, decoder);
    }
    if (decoder->epoch != device->epoch) return;
    coded->done[coded->done_count++] = index;
}

static void drain(struct device *device, struct decoder *decoder) {
    struct queue *pictures = &device->queues[CAPTURE];
    avcodec_send_packet(decoder->context, NULL);
    receive(device, decoder);
    while (!is_stale(device, decoder) && pictures->streams && !pictures->waiting_count)
        pthread_cond_wait(&device->changed, &device->lock);
    device->draining = false;
    announce(device, V4L2_EVENT_EOS);
    if (is_stale(device, decoder) || !pictures->streams) return;
    pictures->buffers[pictures->waiting[0]].used = 0;
    pictures->buffers[pictures->waiting[0]].flags = V4L2_BUF_FLAG_LAST;
    finish_picture(device, pictures->waiting[0]);
    open_decoder(decoder);
}

void *work_run(void *argument) {
    struct device *device = argument;
    struct decoder decoder = {.packet = av_packet_alloc(), .frame = av_frame_alloc()};
    pthread_mutex_lock(&device->lock);
    if (decoder.packet && decoder.frame && open_decoder(&decoder))
        while (wait_for_work(device)) {
            if (decoder.epoch != device->epoch) {
                decoder.epoch = device->epoch;
                open_decoder(&decoder);
            } else if (device->queues[OUTPUT].streams && device->queues[OUTPUT].waiting_count) {
                decode_one(device, &decoder);
            } else if (device->draining) {
                drain(device, &decoder);
            }
        }
    pthread_mutex_unlock(&device->lock);
    av_frame_free(&decoder.frame);
    av_packet_free(&decoder.packet);
    avcodec_free_context(&decoder.context);
    return NULL;
}
