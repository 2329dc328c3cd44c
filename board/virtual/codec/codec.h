// SPDX-License-Identifier: Apache-2.0
// A fake of a board's H.264 decoder, with FAKE_TOLD of one that is told of each picture in a request, with FAKE_ENCODER
// of its encoder, with FAKE_JPEG of its decoder of JPEG, for a kernel that has none: what a driver does
// (Documentation/userspace-api/media/v4l, dev-decoder.rst, dev-stateless-decoder.rst, dev-encoder.rst), played within
// the process by libavcodec. Pictures are real dma-bufs of the system heap. preload.c puts it before the C library,
// device.c answers the calls, decode.c decodes, encode.c encodes; requests.c, sets.c and decode_told.c are of the
// decoder that is told. Each of the four is a library of its own.
#pragma once
#include <linux/videodev2.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUFFERS_MAX = 32, QUEUES = 2, OUTPUT = 0, CAPTURE = 1, CODED_BYTES = 1 << 20 };

#ifdef FAKE_ENCODER
enum { ENCODES = 1, RAW = OUTPUT, CODED = CAPTURE };
// No longer: v4l2_capability has 16 bytes for it.
#define FAKE_NAME "callbox-fake-enc"
#define FAKE_DEVICE "CALLBOX_FAKE_ENCODER"
#define FAKE_FAULT "CALLBOX_FAKE_ENCODER_FAULT"
#else
enum { ENCODES = 0, RAW = CAPTURE, CODED = OUTPUT };
#ifdef FAKE_TOLD
#define FAKE_NAME "callbox-fake-req"
#else
#define FAKE_NAME "callbox-fake"
#endif
#define FAKE_DEVICE "CALLBOX_FAKE_CODEC"
#define FAKE_FAULT "CALLBOX_FAKE_FAULT"
#endif

#ifdef FAKE_JPEG
enum { IS_TOLD = 0, CODED_FORMAT = V4L2_PIX_FMT_JPEG };
#elif defined FAKE_TOLD
enum { IS_TOLD = 1, CODED_FORMAT = V4L2_PIX_FMT_H264_SLICE };
#else
enum { IS_TOLD = 0, CODED_FORMAT = V4L2_PIX_FMT_H264 };
#endif

/// What goes wrong, as the first word of the file that FAKE_FAULT names at that moment.
enum fault {
    FAULT_NONE,
    /// Takes all, and nothing comes out.
    FAULT_HANG,
    /// Pictures, or what is made of them, with the flag of an error.
    FAULT_DAMAGE,
    /// EIO where a buffer is queued or taken.
    FAULT_REFUSE,
    /// Pictures with the time of none that was put in.
    FAULT_STAMPS,
    /// Pictures of half their bytes; nothing at all in a buffer for a coded one.
    FAULT_SHORT,
    /// ENODEV everywhere: the device was pulled.
    FAULT_VANISH,
    /// ENOMEM where buffers for pictures are asked for.
    FAULT_NO_BUFFERS,
    /// EINVAL where they are to be exported.
    FAULT_NO_EXPORT,
    /// Pictures in tiles that neither this display nor software knows.
    FAULT_TILES,
    /// No fault: an encoder whose pictures have rows and columns in sixteens, as no camera gives them.
    FAULT_SIXTEENS,
    /// No fault either: a decoder that is told wants slices one at a time.
    FAULT_BY_SLICE,
};

struct buffer {
    /// A memfd of coded bytes, or the dma-buf of a picture: our own, or for an encoder one that came with it.
    int fd;
    uint8_t *bytes;
    size_t size, used;
    struct timeval stamp;
    uint32_t flags;
    /// It is queued; more of the same picture follows in another one.
    bool queued, holds_picture;
    /// Of what was decoded into it: it is to stay as it is while others are decoded from it.
    bool is_whole;
    uint64_t sum;
};

struct queue {
    struct buffer buffers[BUFFERS_MAX];
    uint32_t count;
    bool streams;
    /// Indices, first in first out: given by the user, and done with.
    uint32_t waiting[BUFFERS_MAX], done[BUFFERS_MAX];
    uint32_t waiting_count, done_count;
};

struct device {
    pthread_mutex_t lock;
    /// Something changed that the decoder may wait for.
    pthread_cond_t changed;
    pthread_t thread;
    /// The user's descriptor, and our end of it: a byte for each picture, urgent data for an event.
    int user, own;
    struct queue queues[QUEUES];
    /// Of the pictures, as the stream has them, or as they are to be encoded; 0 before that is known.
    uint32_t width, height, coded_width, coded_height;
    /// The CAPTURE queue has been set up for this size.
    bool announced;
    bool draining, ended, events[2];
    /// Grows with each flush: what was worked on before is stale.
    uint32_t epoch;
    /// What an encoder is told: bits a second, and that the next picture is to be a key frame.
    int32_t bitrate;
    bool wants_key_frame;
};

/// What a picture is told by.
struct told {
    struct v4l2_ctrl_h264_sps sequence;
    struct v4l2_ctrl_h264_pps picture_set;
    struct v4l2_ctrl_h264_decode_params picture;
    /// Of decoders that take slices one at a time.
    struct v4l2_ctrl_h264_slice_params slice;
};

enum fault fault_now(void);
/// Opens the only device; a descriptor or -1 with errno.
int device_open(void);
bool device_is(int fd);
void device_close(void);
/// As ioctl(2): 0, or -1 with errno.
int device_ioctl(unsigned long request, void *argument);
/// The memory that QUERYBUF's offset names.
void *device_map(size_t length, int64_t offset);

/// The decoder's or the encoder's thread. `argument` is the device.
void *work_run(void *argument);
/// Both with the lock held.
void announce(struct device *device, uint32_t event);
void finish_picture(struct device *device, uint32_t index);

extern struct device device;

/// OUTPUT, CAPTURE, or -1.
int queue_of(uint32_t type);
/// As the calls of the same names; 0 or a negative errno, with the lock held.
int buffers_request(struct v4l2_requestbuffers *wanted);
int buffers_query(struct v4l2_buffer *wanted);
int buffers_export(struct v4l2_exportbuffer *wanted);
int buffers_enqueue(struct v4l2_buffer *given);
int buffers_dequeue(struct v4l2_buffer *taken);
int buffers_stream(uint32_t type, bool on);
void buffers_free(struct queue *queue);

/// What makes a descriptor ready as a driver does: a connection within this machine. ends[0] is the user's, to whom
/// `tell` is POLLIN and `urge` POLLPRI. 0 or -1 with errno.
int link_make(int ends[2]);
void link_tell(int own);
void link_urge(int own);
/// Takes back one `tell`; all of them; the `urge`.
void link_read(int user);
void link_drain(int user);
void link_calm(int user);

// The decoder that is told (requests.c, sets.c).

#ifdef FAKE_TOLD
/// The media device that requests come from, and the requests themselves.
bool request_is(int fd);
bool request_is_path(const char *path);
int request_open(void);
void request_close(int fd);
/// As ioctl(2): 0, or -1 with errno.
int request_ioctl(int fd, unsigned long call, void *argument);
/// All with the lock held: a coded buffer goes with a request; what its request tells; its request is done, or
/// forgotten with all others.
int request_bind(int fd, uint32_t buffer);
const struct told *request_of(uint32_t buffer);
void request_done(uint32_t buffer);
void requests_forget(void);
int request_controls(const struct v4l2_ext_controls *given);
#else
static inline bool request_is(int fd) { return (void)fd, false; }
static inline bool request_is_path(const char *path) { return (void)path, false; }
static inline int request_open(void) { return -1; }
static inline void request_close(int fd) { (void)fd; }
static inline int request_ioctl(int fd, unsigned long call, void *argument) {
    return (void)fd, (void)call, (void)argument, -1;
}
static inline int request_bind(int fd, uint32_t buffer) { return (void)fd, (void)buffer, -1; }
static inline void requests_forget(void) {}
static inline int request_controls(const struct v4l2_ext_controls *given) { return (void)given, -1; }
#endif

/// Parameter sets as a NAL unit each with start codes, written anew from what was told; the bytes used, 0 where there
/// is no room or they cannot be written.
size_t sets_write(const struct told *told, uint8_t *to, size_t room);
