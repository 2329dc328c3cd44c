// SPDX-License-Identifier: Apache-2.0
// Software codecs, scaling and resampling through FFmpeg's libraries.
#pragma once
#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
#include <libavutil/crc.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

/// AVERROR(EAGAIN): the codec wants more input before it gives output, or the reverse.
static inline int callbox_av_again(void) { return AVERROR(EAGAIN); }

/// AVERROR_EOF: nothing more will come.
static inline int callbox_av_eof(void) { return AVERROR_EOF; }

/// AVERROR(ENOMEM): the only fault of a codec that says nothing about its input.
static inline int callbox_av_no_memory(void) { return AVERROR(ENOMEM); }

/// Sets a private option of a codec (not of its context); 0 or AVERROR.
static inline int callbox_av_private(AVCodecContext *context, const char *name, const char *value) {
    return av_opt_set(context->priv_data, name, value, 0);
}

/// The same for a number.
static inline int callbox_av_private_int(AVCodecContext *context, const char *name, int64_t value) {
    return av_opt_set_int(context->priv_data, name, value, 0);
}

/// The same for a fraction.
static inline int callbox_av_private_float(AVCodecContext *context, const char *name, double value) {
    return av_opt_set_double(context->priv_data, name, value, 0);
}

/// Nothing of FFmpeg or of the codecs below it goes to the terminal: every fault is a return value here.
static inline void callbox_av_quiet(void) { av_log_set_level(AV_LOG_QUIET); }
