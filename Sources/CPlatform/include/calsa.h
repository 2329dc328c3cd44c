// SPDX-License-Identifier: Apache-2.0
// Sound through alsa-lib.
#pragma once
#include <alsa/asoundlib.h>

static inline void callbox_alsa_ignore(const char *file, int line, const char *function, int error,
                                       const char *format, ...) {
    (void)file, (void)line, (void)function, (void)error, (void)format;
}

/// alsa-lib prints nothing itself: every fault is a return value here.
static inline void callbox_alsa_quiet(void) { snd_lib_error_set_handler(callbox_alsa_ignore); }

/// sin(x), so that the module map of the C library's mathematics is not needed.
static inline double callbox_sin(double x) { return __builtin_sin(x); }

/// cos(x).
static inline double callbox_cos(double x) { return __builtin_cos(x); }
