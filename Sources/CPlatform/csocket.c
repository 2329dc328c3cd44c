// SPDX-License-Identifier: Apache-2.0
// Sockets, as far as Swift cannot say them: macros, control messages, and calls under _GNU_SOURCE.
#define _GNU_SOURCE 1
#include "csystem.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

void callbox_prepare_datagram_socket(int fd, int is_v6) {
    int on = 1, off = 0;
    if (is_v6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
    }
    setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
}

static void callbox_map_v4(struct in6_addr *out, struct in_addr v4) {
    memset(out, 0, sizeof *out);
    out->s6_addr[10] = out->s6_addr[11] = 0xFF;
    memcpy(&out->s6_addr[12], &v4, 4);
}

ssize_t callbox_receive(int fd, void *buffer, size_t size, struct sockaddr_storage *from,
                        struct in6_addr *to, int *is_error) {
    _Alignas(struct cmsghdr) char control[512];
    struct iovec part = {buffer, size};
    struct msghdr message = {from, sizeof *from, &part, 1, control, sizeof control, 0};
    memset(to, 0, sizeof *to);
    *is_error = 0;
    ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT);
    if (count < 0) {
        // A pending error is reported by one failed call; its details lie in the error queue.
        message = (struct msghdr){from, sizeof *from, &part, 1, control, sizeof control, 0};
        count = recvmsg(fd, &message, MSG_DONTWAIT | MSG_ERRQUEUE);
        *is_error = 1;
        return count;
    }
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            callbox_map_v4(to, info.ipi_addr);
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            *to = info.ipi6_addr;
        }
    }
    return count;
}

void callbox_prepare_listener(int fd, int is_v6) {
    int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (is_v6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
}

void callbox_mark(int fd, int dscp) {
    int field = dscp << 2;
    setsockopt(fd, IPPROTO_IP, IP_TOS, &field, sizeof field);
    setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &field, sizeof field);
}

void callbox_prepare_stream(int fd) {
    int on = 1;
    unsigned limit_ms = 20000;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
}

int callbox_socket_error(int fd) {
    int code = 0;
    socklen_t size = sizeof code;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno;
}

static int callbox_unix_address(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) return -1;
    strcpy(address->sun_path, path);
    return 0;
}

int callbox_listen_unix(const char *path) {
    struct sockaddr_un address;
    if (callbox_unix_address(path, &address) != 0) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    unlink(path);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0660) != 0 || listen(fd, 8) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

int callbox_connect_unix(const char *path) {
    struct sockaddr_un address;
    if (callbox_unix_address(path, &address) != 0) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int is_reachable(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        uint32_t host = ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr);
        return host >> 24 != 127 && host >> 16 != 0xA9FE;
    }
    if (address->sa_family != AF_INET6) return 0;
    const struct in6_addr *host = &((const struct sockaddr_in6 *)address)->sin6_addr;
    return !IN6_IS_ADDR_LOOPBACK(host) && !IN6_IS_ADDR_LINKLOCAL(host);
}

size_t callbox_addresses(void *texts, size_t size) {
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0) return 0;
    size_t used = 0;
    for (struct ifaddrs *one = all; one; one = one->ifa_next) {
        // What is switched off, or has no cable, may keep its addresses.
        if (!(one->ifa_flags & IFF_UP) || !(one->ifa_flags & IFF_RUNNING)) continue;
        if (!one->ifa_addr || !is_reachable(one->ifa_addr)) continue;
        int is_v4 = one->ifa_addr->sa_family == AF_INET;
        socklen_t length = is_v4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        char text[NI_MAXHOST];
        if (getnameinfo(one->ifa_addr, length, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0) continue;
        if (strlen(text) + 1 > size - used) break;
        strcpy((char *)texts + used, text);
        used += strlen(text) + 1;
    }
    freeifaddrs(all);
    return used;
}

int callbox_has_address(const char *name) {
    struct addrinfo *found;
    if (getaddrinfo(name, NULL, NULL, &found) != 0) return 0;
    freeaddrinfo(found);
    return 1;
}

int callbox_accept(int fd, struct sockaddr_storage *from) {
    socklen_t size = sizeof *from;
    return accept4(fd, (struct sockaddr *)from, from ? &size : NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int callbox_socket(int is_v6, int is_stream) {
    int type = (is_stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK;
    return socket(is_v6 ? AF_INET6 : AF_INET, type, 0);
}

ssize_t callbox_send(int fd, const void *bytes, size_t count, const struct sockaddr *to, socklen_t size) {
    return sendto(fd, bytes, count, MSG_NOSIGNAL, to, size);
}

int callbox_watch_routes(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0)
        return -1;
    struct sockaddr_nl groups = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE,
    };
    if (bind(fd, (struct sockaddr *)&groups, sizeof groups) == 0)
        return fd;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}
