// SPDX-License-Identifier: Apache-2.0
// Echo cancellation, noise suppression and gain control by webrtc-audio-processing, which speaks C++ only. Sound is
// 48 kHz, one channel, 16 bits, in steps of 10 ms (480 frames). All calls of one canceller come from one thread.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct callbox_echo;

enum { CALLBOX_ECHO_FRAMES = 480 };

/// What is done to the microphone's sound; each field is 0 where it is not wanted.
struct callbox_echo_plan {
    int cancels_echo;
    /// 1 to 3: 6, 12 or 18 dB less of steady noise.
    int noise_suppression;
    int controls_gain;
};

/// NULL where the library refuses the plan.
struct callbox_echo *callbox_echo_new(struct callbox_echo_plan plan);

/// Forgets what was learned of the room.
void callbox_echo_reset(struct callbox_echo *echo);

/// One step of what the loudspeaker plays, before the microphone can hear it. Left as it is.
void callbox_echo_render(struct callbox_echo *echo, const int16_t *frames);

/// One step of the microphone; becomes what is to be sent. `delay_ms` is what lies between the two steps that come at
/// the same time, as far as the devices tell. Left as it is, and 0 given back, where the library fails.
int callbox_echo_capture(struct callbox_echo *echo, int16_t *frames, int delay_ms);

void callbox_echo_free(struct callbox_echo *echo);

#ifdef __cplusplus
}
#endif
