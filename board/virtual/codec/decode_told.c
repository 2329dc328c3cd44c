// SPDX-License-Identifier: Apache-2.0
// The decoder that is told of each picture: it reads no parameter sets but those that it writes anew from what it was
// told, and gives a damaged picture where one that it is told to decode from is not there as it was.
#include "codec.h"
#include "software.h"

#include <string.h>
#include <time.h>

enum { SETS_BYTES = 4096, HANG_MS = 20 };

struct decoder {
    AVCodecContext *context;
    AVPacket *packet;
    AVFrame *frame;
    uint32_t epoch;
    /// Of a picture whose other slices are still to come.
    uint8_t slices[CODED_BYTES];
    size_t used;
    bool is_wrong;
};

static uint64_t sum_of(const struct buffer *buffer) {
    uint64_t sum = 0xcbf29ce484222325, word;
    for (size_t at = 0; at + sizeof word <= buffer->size; at += sizeof word) {
        memcpy(&word, buffer->bytes + at, sizeof word);
        sum = (sum ^ word) * 0x100000001b3;
    }
    return sum;
}

/// It was given back to be decoded into.
static bool is_free(const struct queue *pictures, uint32_t index) {
    for (uint32_t at = 0; at < pictures->waiting_count; at++)
        if (pictures->waiting[at] == index) return true;
    return false;
}

static bool is_there(const struct device *device, uint64_t stamp_ns) {
    const struct queue *pictures = &device->queues[CAPTURE];
    for (uint32_t at = 0; at < pictures->count; at++) {
        const struct buffer *one = &pictures->buffers[at];
        uint64_t stamp = (uint64_t)one->stamp.tv_sec * 1000000000u + (uint64_t)one->stamp.tv_usec * 1000u;
        if (one->is_whole && stamp == stamp_ns) return !is_free(pictures, at) && sum_of(one) == one->sum;
    }
    return false;
}

/// All frames that it may refer to are whole, and whoever is decoded from others has some.
static bool are_references_there(const struct device *device, const struct v4l2_ctrl_h264_decode_params *picture) {
    unsigned count = 0;
    for (int at = 0; at < V4L2_H264_NUM_DPB_ENTRIES; at++) {
        if (!(picture->dpb[at].flags & V4L2_H264_DPB_ENTRY_FLAG_ACTIVE)) continue;
        if (!is_there(device, picture->dpb[at].reference_ts)) return false;
        count++;
    }
    return count > 0 || !(picture->flags & V4L2_H264_DECODE_PARAM_FLAG_PFRAME);
}

/// The slice refers to nothing but what the picture may.
static bool is_list_sound(const struct told *told) {
    const struct v4l2_ctrl_h264_slice_params *slice = &told->slice;
    bool has_list = slice->slice_type == V4L2_H264_SLICE_TYPE_P || slice->slice_type == V4L2_H264_SLICE_TYPE_B;
    for (int at = 0; has_list && at <= slice->num_ref_idx_l0_active_minus1; at++) {
        uint8_t index = slice->ref_pic_list0[at].index;
        if (index >= V4L2_H264_NUM_DPB_ENTRIES || slice->ref_pic_list0[at].fields != V4L2_H264_FRAME_REF) return false;
        if (!(told->picture.dpb[index].flags & V4L2_H264_DPB_ENTRY_FLAG_ACTIVE)) return false;
    }
    return slice->header_bit_size > 0;
}

static void take(const struct device *device, struct decoder *decoder, const struct buffer *coded,
                 const struct told *told) {
    bool fits = coded->used <= sizeof decoder->slices - decoder->used;
    bool is_sound = told && (fault_now() != FAULT_BY_SLICE || is_list_sound(told));
    decoder->is_wrong = decoder->is_wrong || !fits || !is_sound || !are_references_there(device, &told->picture);
    if (!fits) return;
    memcpy(decoder->slices + decoder->used, coded->bytes, coded->used);
    decoder->used += coded->used;
}

/// The picture of all slices that were taken, in `decoder->frame`.
static bool decode(struct device *device, struct decoder *decoder, const struct told *told) {
    uint8_t sets[SETS_BYTES];
    size_t head = decoder->is_wrong ? 0 : sets_write(told, sets, sizeof sets), body = decoder->used;
    decoder->used = 0, decoder->is_wrong = false;
    if (!head || av_new_packet(decoder->packet, (int)(head + body)) < 0) return false;
    memcpy(decoder->packet->data, sets, head);
    memcpy(decoder->packet->data + head, decoder->slices, body);
    bool is_sent = avcodec_send_packet(decoder->context, decoder->packet) == 0;
    av_packet_unref(decoder->packet);
    return is_sent && avcodec_receive_frame(decoder->context, decoder->frame) == 0
           && (decoder->frame->format == AV_PIX_FMT_YUV420P || decoder->frame->format == AV_PIX_FMT_YUVJ420P)
           && decoder->frame->width == (int)device->coded_width
           && decoder->frame->height == (int)device->coded_height;
}

static void give(struct device *device, struct decoder *decoder, const struct buffer *coded,
                 const struct told *told) {
    struct queue *pictures = &device->queues[CAPTURE];
    uint32_t to = pictures->waiting[0];
    struct buffer *buffer = &pictures->buffers[to];
    size_t whole = (size_t)device->coded_width * device->coded_height * 3 / 2;
    enum fault fault = fault_now();
    buffer->is_whole = decode(device, decoder, told) && buffer->size >= whole;
    if (buffer->is_whole) software_copy(device, decoder->frame, buffer->bytes);
    buffer->sum = sum_of(buffer);
    buffer->used = fault == FAULT_SHORT ? whole / 2 : whole;
    buffer->flags = !buffer->is_whole || fault == FAULT_DAMAGE ? V4L2_BUF_FLAG_ERROR : 0;
    if (told && told->picture.flags & V4L2_H264_DECODE_PARAM_FLAG_IDR_PIC) buffer->flags |= V4L2_BUF_FLAG_KEYFRAME;
    buffer->stamp = fault == FAULT_STAMPS ? (struct timeval){.tv_usec = 1} : coded->stamp;
    finish_picture(device, to);
}

static void decode_one(struct device *device, struct decoder *decoder) {
    struct queue *coded = &device->queues[OUTPUT];
    uint32_t from = coded->waiting[0];
    const struct buffer *buffer = &coded->buffers[from];
    const struct told *told = request_of(from);
    take(device, decoder, buffer, told);
    if (!buffer->holds_picture) give(device, decoder, buffer, told);
    memmove(coded->waiting, coded->waiting + 1, --coded->waiting_count * sizeof *coded->waiting);
    coded->done[coded->done_count++] = from;
    request_done(from);
}

/// Whether there is something to do now; false also while it hangs.
static bool may_work(struct device *device) {
    const struct queue *coded = &device->queues[OUTPUT], *pictures = &device->queues[CAPTURE];
    return coded->streams && coded->waiting_count && pictures->streams && pictures->waiting_count
           && fault_now() != FAULT_HANG;
}

static void wait_a_moment(struct device *device) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += HANG_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&device->changed, &device->lock, &until);
}

void *work_run(void *argument) {
    struct device *device = argument;
    static struct decoder decoder;
    decoder.packet = av_packet_alloc(), decoder.frame = av_frame_alloc(), decoder.context = software_open();
    decoder.used = decoder.epoch = 0, decoder.is_wrong = false;
    pthread_mutex_lock(&device->lock);
    while (decoder.packet && decoder.frame && decoder.context && !device->ended) {
        if (decoder.epoch != device->epoch) {
            decoder.epoch = device->epoch;
            decoder.used = 0, decoder.is_wrong = false;
            avcodec_flush_buffers(decoder.context);
        }
        if (may_work(device)) decode_one(device, &decoder);
        else wait_a_moment(device);
    }
    pthread_mutex_unlock(&device->lock);
    av_frame_free(&decoder.frame);
    av_packet_free(&decoder.packet);
    avcodec_free_context(&decoder.context);
    return NULL;
}
