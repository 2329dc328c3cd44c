// SPDX-License-Identifier: Apache-2.0
// ICE by libnice, which is loaded when it is wanted for the first time: it brings a dozen libraries that no other call
// needs. An agent has two streams (1 sound, 2 picture) of two components (1 RTP, 2 RTCP); everything happens in the
// thread that calls callbox_ice_wait.
#pragma once
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

struct callbox_ice;

enum { CALLBOX_ICE_HOST, CALLBOX_ICE_SERVER_REFLEXIVE, CALLBOX_ICE_PEER_REFLEXIVE, CALLBOX_ICE_RELAYED };

struct callbox_ice_candidate {
    char foundation[40];
    uint32_t component, priority, kind;
    struct sockaddr_storage address, base;
};

/// What happens to an agent. `owner` is what was given with them.
struct callbox_ice_events {
    void *owner;
    void (*gathered)(void *owner, uint32_t stream);
    void (*received)(void *owner, uint32_t stream, uint32_t component, const uint8_t *bytes, size_t count);
    void (*selected)(void *owner, uint32_t stream, uint32_t component, uint32_t local, uint32_t remote,
                     const struct sockaddr_storage *address);
    void (*failed)(void *owner, uint32_t stream, uint32_t component);
};

/// 0 where libnice is not there.
int callbox_ice_load(void);

/// NULL where libnice is not there. `controlling` may be changed before remote credentials are set.
struct callbox_ice *callbox_ice_new(struct callbox_ice_events events, uint16_t lowest_port, uint16_t highest_port);

void callbox_ice_set_stun(struct callbox_ice *ice, const char *address, uint16_t port);

/// For all components. `by_tcp`: the relay is spoken to over a stream.
void callbox_ice_add_relay(struct callbox_ice *ice, const char *address, uint16_t port, const char *user,
                           const char *password, int by_tcp);

/// With the differentiated services code points of sound and picture; 0 where no port could be had.
int callbox_ice_gather(struct callbox_ice *ice, int sound_code_point, int picture_code_point);

void callbox_ice_set_controlling(struct callbox_ice *ice, int controlling);

/// New checks, under new credentials; media stay where they are until a way is found.
void callbox_ice_restart(struct callbox_ice *ice);

void callbox_ice_set_local(struct callbox_ice *ice, uint32_t stream, const char *fragment, const char *password);

void callbox_ice_set_remote(struct callbox_ice *ice, uint32_t stream, const char *fragment, const char *password);

void callbox_ice_set_remote_candidates(struct callbox_ice *ice, uint32_t stream, uint32_t component,
                                       const struct callbox_ice_candidate *candidates, size_t count);

/// How many there are of a component, at most `max`.
size_t callbox_ice_local_candidates(struct callbox_ice *ice, uint32_t stream, uint32_t component,
                                    struct callbox_ice_candidate *candidates, size_t max);

/// 0 where there is no way yet.
int callbox_ice_send(struct callbox_ice *ice, uint32_t stream, uint32_t component, const uint8_t *bytes, size_t count);

/// No event comes any more; relays are told to forget us, for which callbox_ice_wait has to go on.
void callbox_ice_close(struct callbox_ice *ice);

/// Whether they were told.
int callbox_ice_is_closed(const struct callbox_ice *ice);

/// After callbox_ice_close only.
void callbox_ice_free(struct callbox_ice *ice);

/// Waits until `descriptor` can be read, something happens to an agent, or the time is over (NULL: for ever), and does
/// what is due.
void callbox_ice_wait(int descriptor, const struct timespec *limit);
