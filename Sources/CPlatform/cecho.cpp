// SPDX-License-Identifier: Apache-2.0
#include "cecho.h"

#include <modules/audio_processing/include/audio_processing.h>

#include <algorithm>
#include <cstring>

using webrtc::AudioProcessing;

struct callbox_echo {
    rtc::scoped_refptr<AudioProcessing> processing;
};

static const webrtc::StreamConfig format(100 * CALLBOX_ECHO_FRAMES, 1);

static AudioProcessing::Config configuration(const callbox_echo_plan &plan) {
    using Suppression = AudioProcessing::Config::NoiseSuppression;
    AudioProcessing::Config config;
    config.echo_canceller.enabled = plan.cancels_echo;
    config.noise_suppression.enabled = plan.noise_suppression > 0;
    config.noise_suppression.level = plan.noise_suppression == 1   ? Suppression::kLow
                                     : plan.noise_suppression == 2 ? Suppression::kModerate
                                                                   : Suppression::kHigh;
    config.gain_controller1.enabled = plan.controls_gain;
    config.gain_controller1.mode = AudioProcessing::Config::GainController1::kAdaptiveDigital;
    config.gain_controller1.analog_gain_controller.enabled = false;
    // Only counts, and costs as much as it tells.
    config.residual_echo_detector.enabled = false;
    return config;
}

callbox_echo *callbox_echo_new(callbox_echo_plan plan) {
    rtc::scoped_refptr<AudioProcessing> processing(webrtc::AudioProcessingBuilder().Create());
    if (!processing) return nullptr;
    processing->ApplyConfig(configuration(plan));
    if (processing->Initialize({{format, format, format, format}}) != AudioProcessing::kNoError) return nullptr;
    return new callbox_echo{processing};
}

void callbox_echo_reset(callbox_echo *echo) { echo->processing->Initialize(); }

void callbox_echo_render(callbox_echo *echo, const int16_t *frames) {
    int16_t unused[CALLBOX_ECHO_FRAMES];
    echo->processing->ProcessReverseStream(frames, format, format, unused);
}

int callbox_echo_capture(callbox_echo *echo, int16_t *frames, int delay_ms) {
    int16_t result[CALLBOX_ECHO_FRAMES];
    echo->processing->set_stream_delay_ms(std::clamp(delay_ms, 0, 500));
    if (echo->processing->ProcessStream(frames, format, format, result) != AudioProcessing::kNoError) return 0;
    std::memcpy(frames, result, sizeof result);
    return 1;
}

void callbox_echo_free(callbox_echo *echo) { delete echo; }
