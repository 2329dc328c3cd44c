// SPDX-License-Identifier: Apache-2.0
// The readiness of the fake device's descriptor, which poll(2) and epoll(7) see alike: TCP has urgent data.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "codec.h"

/// Whoever waits for room to write waits for ever: a driver says that only when it has read a coded buffer.
static void fill(int user) {
    static const char bytes[4096];
    while (send(user, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {}
}

int link_make(int ends[2]) {
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof place;
    int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ends[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_made = listener >= 0 && ends[0] >= 0 && bind(listener, (void *)&place, length) == 0
                   && listen(listener, 1) == 0 && getsockname(listener, (void *)&place, &length) == 0
                   && connect(ends[0], (void *)&place, length) == 0
                   && (ends[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0
                   && setsockopt(ends[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
    if (is_made) fill(ends[0]);
    if (listener >= 0) close(listener);
    if (!is_made && ends[0] >= 0) close(ends[0]);
    return is_made ? 0 : -1;
}

void link_tell(int own) { send(own, "p", 1, MSG_NOSIGNAL); }

void link_urge(int own) { send(own, "e", 1, MSG_OOB | MSG_NOSIGNAL); }

void link_read(int user) {
    char byte;
    recv(user, &byte, 1, MSG_DONTWAIT);
}

void link_drain(int user) {
    char bytes[64];
    while (recv(user, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
}

void link_calm(int user) {
    char byte;
    recv(user, &byte, 1, MSG_OOB | MSG_DONTWAIT);
}
