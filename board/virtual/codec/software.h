// SPDX-License-Identifier: Apache-2.0
// What libavcodec does for a decoder, whichever kind it plays.
#pragma once
#include "codec.h"

#include <libavcodec/avcodec.h>

/// A decoder of CODED_FORMAT that holds nothing back; NULL where there is none.
AVCodecContext *software_open(void);
/// As NV12, rows as wide as the coded size.
void software_copy(const struct device *device, const AVFrame *frame, uint8_t *to);
