// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE 1
#include "cice.h"

#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <nice/agent.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STREAMS = 2, COMPONENTS = 2, DESCRIPTORS_MAX = 128, ADDRESSES_MAX = 6 };

// The functions of libnice that are used here, by the names that they have there.
#define FUNCTIONS(entry)                                                                                               \
    entry(nice_agent_new_full) entry(nice_agent_add_stream) entry(nice_agent_set_port_range)                           \
    entry(nice_agent_add_local_address)                                                                                \
    entry(nice_agent_set_relay_info) entry(nice_agent_gather_candidates) entry(nice_agent_set_local_credentials)       \
    entry(nice_agent_set_remote_credentials) entry(nice_agent_set_remote_candidates) entry(nice_agent_restart)         \
    entry(nice_agent_get_local_candidates) entry(nice_agent_attach_recv) entry(nice_agent_send)                        \
    entry(nice_agent_set_stream_tos) entry(nice_agent_close_async) entry(nice_candidate_new)                           \
    entry(nice_candidate_free) entry(nice_address_copy_to_sockaddr) entry(nice_address_set_from_sockaddr)

#define DECLARE(name) __typeof__(&name) name;
static struct { FUNCTIONS(DECLARE) } library;

struct callbox_ice {
    NiceAgent *agent;
    struct callbox_ice_events events;
    int closing;
    // Freed while the library still uses it: who is told last frees it.
    int closed, orphaned;
};

static GMainContext *context;

int callbox_ice_load(void) {
    static int loaded = -1;
    if (loaded >= 0) return loaded;
    loaded = 0;
    void *file = dlopen("libnice.so.10", RTLD_NOW | RTLD_LOCAL);
    if (!file) return 0;
#define FIND(name)                                                                                                     \
    library.name = (__typeof__(&name))dlsym(file, #name);                                                            \
    if (!library.name) return 0;
    FUNCTIONS(FIND)
    context = g_main_context_new();
    return loaded = 1;
}

// MARK: events

static void copy_address(const NiceAddress *from, struct sockaddr_storage *to) {
    memset(to, 0, sizeof *to);
    library.nice_address_copy_to_sockaddr(from, (struct sockaddr *)to);
}

static uint32_t kind_of(const NiceCandidate *candidate) {
    switch (candidate->type) {
    case NICE_CANDIDATE_TYPE_HOST: return CALLBOX_ICE_HOST;
    case NICE_CANDIDATE_TYPE_SERVER_REFLEXIVE: return CALLBOX_ICE_SERVER_REFLEXIVE;
    case NICE_CANDIDATE_TYPE_PEER_REFLEXIVE: return CALLBOX_ICE_PEER_REFLEXIVE;
    case NICE_CANDIDATE_TYPE_RELAYED: return CALLBOX_ICE_RELAYED;
    }
    return CALLBOX_ICE_HOST;
}

static void gathered(NiceAgent *agent, guint stream, gpointer data) {
    (void)agent;
    struct callbox_ice *ice = data;
    ice->events.gathered(ice->events.owner, stream);
}

static void selected(NiceAgent *agent, guint stream, guint component, NiceCandidate *local, NiceCandidate *remote,
                     gpointer data) {
    (void)agent;
    struct callbox_ice *ice = data;
    struct sockaddr_storage address;
    copy_address(&remote->addr, &address);
    ice->events.selected(ice->events.owner, stream, component, kind_of(local), kind_of(remote), &address);
}

static void changed(NiceAgent *agent, guint stream, guint component, guint state, gpointer data) {
    (void)agent;
    struct callbox_ice *ice = data;
    if (state == NICE_COMPONENT_STATE_FAILED) ice->events.failed(ice->events.owner, stream, component);
}

static void received(NiceAgent *agent, guint stream, guint component, guint count, gchar *bytes, gpointer data) {
    (void)agent;
    struct callbox_ice *ice = data;
    if (!ice->closing) ice->events.received(ice->events.owner, stream, component, (const uint8_t *)bytes, count);
}

// MARK: agents

static int is_of_use(const struct ifaddrs *entry) {
    if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP) || entry->ifa_flags & IFF_LOOPBACK) return 0;
    if (entry->ifa_addr->sa_family == AF_INET) return 1;
    const struct sockaddr_in6 *address = (const void *)entry->ifa_addr;
    return address->sin6_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr);
}

// The library would take those of one link only, too, and try each port of the range on them.
static void add_addresses(NiceAgent *agent) {
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0) return;
    int count = 0;
    for (const struct ifaddrs *entry = all; entry && count < ADDRESSES_MAX; entry = entry->ifa_next) {
        if (!is_of_use(entry)) continue;
        NiceAddress address;
        library.nice_address_set_from_sockaddr(&address, entry->ifa_addr);
        count += library.nice_agent_add_local_address(agent, &address) != 0;
    }
    freeifaddrs(all);
}

struct callbox_ice *callbox_ice_new(struct callbox_ice_events events, uint16_t lowest_port, uint16_t highest_port) {
    if (!callbox_ice_load()) return NULL;
    struct callbox_ice *ice = calloc(1, sizeof *ice);
    if (!ice) return NULL;
    ice->events = events;
    ice->agent = library.nice_agent_new_full(context, NICE_COMPATIBILITY_RFC5245,
                                          NICE_AGENT_OPTION_REGULAR_NOMINATION | NICE_AGENT_OPTION_CONSENT_FRESHNESS);
    g_object_set(ice->agent, "upnp", FALSE, "ice-tcp", FALSE, NULL);
    add_addresses(ice->agent);
    g_signal_connect_data(ice->agent, "candidate-gathering-done", (GCallback)gathered, ice, NULL, 0);
    g_signal_connect_data(ice->agent, "new-selected-pair-full", (GCallback)selected, ice, NULL, 0);
    g_signal_connect_data(ice->agent, "component-state-changed", (GCallback)changed, ice, NULL, 0);
    for (guint stream = 1; stream <= STREAMS; stream++) {
        library.nice_agent_add_stream(ice->agent, COMPONENTS);
        for (guint component = 1; component <= COMPONENTS; component++) {
            if (lowest_port) {
                library.nice_agent_set_port_range(ice->agent, stream, component, lowest_port, highest_port);
            }
            library.nice_agent_attach_recv(ice->agent, stream, component, context, received, ice);
        }
    }
    return ice;
}

void callbox_ice_set_stun(struct callbox_ice *ice, const char *address, uint16_t port) {
    g_object_set(ice->agent, "stun-server", address, "stun-server-port", (guint)port, NULL);
}

void callbox_ice_add_relay(struct callbox_ice *ice, const char *address, uint16_t port, const char *user,
                           const char *password, int by_tcp) {
    NiceRelayType type = by_tcp ? NICE_RELAY_TYPE_TURN_TCP : NICE_RELAY_TYPE_TURN_UDP;
    for (guint stream = 1; stream <= STREAMS; stream++) {
        for (guint component = 1; component <= COMPONENTS; component++) {
            library.nice_agent_set_relay_info(ice->agent, stream, component, address, port, user, password, type);
        }
    }
}

int callbox_ice_gather(struct callbox_ice *ice, int sound_code_point, int picture_code_point) {
    library.nice_agent_set_stream_tos(ice->agent, 1, sound_code_point << 2);
    library.nice_agent_set_stream_tos(ice->agent, 2, picture_code_point << 2);
    int good = 1;
    for (guint stream = 1; stream <= STREAMS; stream++) {
        good = good && library.nice_agent_gather_candidates(ice->agent, stream);
    }
    return good;
}

void callbox_ice_set_controlling(struct callbox_ice *ice, int controlling) {
    g_object_set(ice->agent, "controlling-mode", (gboolean)controlling, NULL);
}

void callbox_ice_restart(struct callbox_ice *ice) {
    library.nice_agent_restart(ice->agent);
}

void callbox_ice_set_local(struct callbox_ice *ice, uint32_t stream, const char *fragment, const char *password) {
    library.nice_agent_set_local_credentials(ice->agent, stream, fragment, password);
}

void callbox_ice_set_remote(struct callbox_ice *ice, uint32_t stream, const char *fragment, const char *password) {
    library.nice_agent_set_remote_credentials(ice->agent, stream, fragment, password);
}

void callbox_ice_set_remote_candidates(struct callbox_ice *ice, uint32_t stream, uint32_t component,
                                       const struct callbox_ice_candidate *candidates, size_t count) {
    static const NiceCandidateType types[] = {NICE_CANDIDATE_TYPE_HOST, NICE_CANDIDATE_TYPE_SERVER_REFLEXIVE,
                                              NICE_CANDIDATE_TYPE_PEER_REFLEXIVE, NICE_CANDIDATE_TYPE_RELAYED};
    GSList *list = NULL;
    for (size_t index = 0; index < count; index++) {
        const struct callbox_ice_candidate *from = &candidates[index];
        NiceCandidate *candidate = library.nice_candidate_new(types[from->kind & 3]);
        candidate->transport = NICE_CANDIDATE_TRANSPORT_UDP;
        candidate->stream_id = stream;
        candidate->component_id = component;
        candidate->priority = from->priority;
        library.nice_address_set_from_sockaddr(&candidate->addr, (const struct sockaddr *)&from->address);
        library.nice_address_set_from_sockaddr(&candidate->base_addr, (const struct sockaddr *)&from->base);
        g_strlcpy(candidate->foundation, from->foundation, sizeof candidate->foundation);
        list = g_slist_append(list, candidate);
    }
    library.nice_agent_set_remote_candidates(ice->agent, stream, component, list);
    g_slist_free_full(list, (GDestroyNotify)library.nice_candidate_free);
}

size_t callbox_ice_local_candidates(struct callbox_ice *ice, uint32_t stream, uint32_t component,
                                    struct callbox_ice_candidate *candidates, size_t max) {
    GSList *list = library.nice_agent_get_local_candidates(ice->agent, stream, component);
    size_t count = 0;
    for (GSList *entry = list; entry && count < max; entry = entry->next) {
        const NiceCandidate *from = entry->data;
        if (from->transport != NICE_CANDIDATE_TRANSPORT_UDP) continue;
        struct callbox_ice_candidate *to = &candidates[count++];
        memset(to, 0, sizeof *to);
        g_strlcpy(to->foundation, from->foundation, sizeof to->foundation);
        to->component = component;
        to->priority = from->priority;
        to->kind = kind_of(from);
        copy_address(&from->addr, &to->address);
        copy_address(&from->base_addr, &to->base);
    }
    g_slist_free_full(list, (GDestroyNotify)library.nice_candidate_free);
    return count;
}

int callbox_ice_send(struct callbox_ice *ice, uint32_t stream, uint32_t component, const uint8_t *bytes,
                     size_t count) {
    return library.nice_agent_send(ice->agent, stream, component, (guint)count, (const gchar *)bytes) >= 0;
}

// MARK: ends

static void release(struct callbox_ice *ice) {
    g_object_unref(ice->agent);
    free(ice);
}

static void closed(GObject *source, GAsyncResult *result, gpointer data) {
    (void)source, (void)result;
    struct callbox_ice *ice = data;
    ice->closed = 1;
    if (ice->orphaned) release(ice);
}

void callbox_ice_close(struct callbox_ice *ice) {
    ice->closing = 1;
    g_signal_handlers_disconnect_matched(ice->agent, G_SIGNAL_MATCH_DATA, 0, 0, NULL, NULL, ice);
    for (guint stream = 1; stream <= STREAMS; stream++) {
        for (guint component = 1; component <= COMPONENTS; component++) {
            library.nice_agent_attach_recv(ice->agent, stream, component, context, NULL, NULL);
        }
    }
    g_main_context_push_thread_default(context);
    library.nice_agent_close_async(ice->agent, closed, ice);
    g_main_context_pop_thread_default(context);
}

int callbox_ice_is_closed(const struct callbox_ice *ice) {
    return ice->closed;
}

void callbox_ice_free(struct callbox_ice *ice) {
    if (ice->closed) {
        release(ice);
    } else {
        ice->orphaned = 1;
    }
}

// MARK: waiting

void callbox_ice_wait(int descriptor, const struct timespec *limit) {
    GPollFD watched[DESCRIPTORS_MAX + 1];
    gint priority, timeout_ms;
    if (!g_main_context_acquire(context)) return;
    g_main_context_prepare(context, &priority);
    gint count = g_main_context_query(context, priority, &timeout_ms, watched, DESCRIPTORS_MAX);
    if (count > DESCRIPTORS_MAX) count = DESCRIPTORS_MAX;
    watched[count] = (GPollFD){.fd = descriptor, .events = G_IO_IN};
    struct timespec own = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L};
    int is_sooner = timeout_ms >= 0 && (!limit || own.tv_sec < limit->tv_sec ||
                                        (own.tv_sec == limit->tv_sec && own.tv_nsec < limit->tv_nsec));
    ppoll((struct pollfd *)watched, (nfds_t)count + 1, is_sooner ? &own : limit, NULL);
    if (g_main_context_check(context, priority, watched, count)) g_main_context_dispatch(context);
    g_main_context_release(context);
}
