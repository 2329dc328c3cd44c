// SPDX-License-Identifier: Apache-2.0
// A fake of the room round the virtual board, between its loudspeaker and its microphone: room TAP FEED FILE.
//
// What is played comes in by the card TAP, what the microphone hears goes out by FEED, at 48 kHz, one channel, 16 bits,
// and is kept in FILE. The direct sound 12 dB down and its reflections from walls of stone within 50 ms, all of it as
// late as two cards with deep buffers make it. Air does not wait for a processor, and does not change its length: this
// runs before everything else, and where a card was not served in time, both begin anew with the same delay.

#include <alsa/asoundlib.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <unistd.h>

enum { RATE = 48000, FRAMES = 480, BUFFER = 20 * FRAMES, DELAY = 12 * FRAMES, TAIL = 2400, REFLECTIONS = 60 };
static const double loss_db = 12;
static const int priority = 30;

static int places[REFLECTIONS + 1];
static double levels[REFLECTIONS + 1];

static void build_walls(void) {
    unsigned random = 7;
    double power = 0;
    for (int index = 0; index <= REFLECTIONS; index++) {
        random = random * 1103515245u + 12345u;
        places[index] = index ? 1 + (int)((random >> 8) % (TAIL - 1)) : 0;
        levels[index] = index ? (random >> 31 ? 0.3 : -0.3) * exp(-5.0 * places[index] / TAIL) : 1;
        power += levels[index] * levels[index];
    }
    for (int index = 0; index <= REFLECTIONS; index++) levels[index] *= pow(10, -loss_db / 20) / sqrt(power);
}

static void must(long result, const char *what) {
    if (result >= 0) return;
    fprintf(stderr, "room: %s: %s\n", what, snd_strerror((int)result));
    exit(1);
}

static snd_pcm_t *opened(const char *name, snd_pcm_stream_t direction) {
    snd_pcm_t *pcm;
    snd_pcm_hw_params_t *shape;
    must(snd_pcm_open(&pcm, name, direction, 0), name);
    snd_pcm_hw_params_alloca(&shape);
    snd_pcm_hw_params_any(pcm, shape);
    must(snd_pcm_hw_params_set_access(pcm, shape, SND_PCM_ACCESS_RW_INTERLEAVED), name);
    must(snd_pcm_hw_params_set_format(pcm, shape, SND_PCM_FORMAT_S16), name);
    must(snd_pcm_hw_params_set_channels(pcm, shape, 1), name);
    must(snd_pcm_hw_params_set_rate(pcm, shape, RATE, 0), name);
    must(snd_pcm_hw_params_set_period_size(pcm, shape, FRAMES, 0), name);
    must(snd_pcm_hw_params_set_buffer_size(pcm, shape, BUFFER), name);
    must(snd_pcm_hw_params(pcm, shape), name);
    return pcm;
}

static void begin(snd_pcm_t *tap, snd_pcm_t *feed) {
    static const int16_t silence[DELAY];
    snd_pcm_drop(tap);
    snd_pcm_drop(feed);
    must(snd_pcm_prepare(tap), "prepare");
    must(snd_pcm_prepare(feed), "prepare");
    must(snd_pcm_writei(feed, silence, DELAY), "write");
    must(snd_pcm_start(tap), "start");
}

// `line` ends with what is played now, after what was played before.
static void reflect(const int16_t *line, int16_t *heard) {
    for (int frame = 0; frame < FRAMES; frame++) {
        double sum = 0;
        for (int index = 0; index <= REFLECTIONS; index++) sum += levels[index] * line[TAIL + frame - places[index]];
        heard[frame] = (int16_t)lrint(fmax(-32768, fmin(32767, sum)));
    }
}

int main(int count, char **words) {
    if (count != 4) return 2;
    struct sched_param first = {.sched_priority = priority};
    must(sched_setscheduler(0, SCHED_RR, &first) ? -errno : 0, "priority");
    int file = open(words[3], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    must(file < 0 ? -errno : 0, words[3]);
    snd_pcm_t *tap = opened(words[1], SND_PCM_STREAM_CAPTURE), *feed = opened(words[2], SND_PCM_STREAM_PLAYBACK);
    static int16_t line[TAIL + FRAMES], heard[FRAMES];
    build_walls();
    begin(tap, feed);
    for (;;) {
        memmove(line, line + FRAMES, TAIL * sizeof *line);
        if (snd_pcm_readi(tap, line + TAIL, FRAMES) == FRAMES) {
            reflect(line, heard);
            if (write(file, heard, sizeof heard) != sizeof heard) return 1;
            if (snd_pcm_writei(feed, heard, FRAMES) == FRAMES) continue;
        }
        fprintf(stderr, "room: a card was not served in time\n");
        begin(tap, feed);
    }
}
