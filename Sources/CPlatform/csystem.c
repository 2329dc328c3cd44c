// SPDX-License-Identifier: Apache-2.0
// What Swift cannot say: macros, control messages, and calls that glibc shows under _GNU_SOURCE only.
#define _GNU_SOURCE 1
#include "csystem.h"

#include <limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

int callbox_errno(void) { return errno; }

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

int callbox_open_read(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

int callbox_open_write(const char *path) { return open(path, O_WRONLY | O_TRUNC | O_CLOEXEC); }

int callbox_open_plain(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); }

int callbox_create(const char *path, mode_t mode) {
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

pid_t callbox_run(const char *path, const void *bytes, size_t count, int *output) {
    int in[2], out[2];
    pid_t process = -1;
    if (pipe2(in, O_CLOEXEC) != 0) return -1;
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        return -1;
    }
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    // The pipe takes this much at once, so that nobody waits for the program to read.
    fcntl(in[1], F_SETFL, O_NONBLOCK);
    if (write(in[1], bytes, count) == (ssize_t)count) {
        char *arguments[] = {(char *)path, NULL};
        if (posix_spawn(&process, path, &files, &attributes, arguments, environ) != 0) process = -1;
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    close(in[0]);
    close(in[1]);
    close(out[1]);
    if (process < 0) {
        close(out[0]);
        return -1;
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    *output = out[0];
    return process;
}

long long callbox_built(void) {
    struct tm parts = {0};
    return strptime(__DATE__ " " __TIME__, "%b %d %Y %H:%M:%S", &parts) ? timegm(&parts) : 0;
}

long long callbox_wall_time(void) { return time(NULL); }

int callbox_wall_time_is_set(void) {
    struct timex state = {0};
    return adjtimex(&state) >= 0 && !(state.status & STA_UNSYNC);
}

int callbox_count_entries(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return 0;
    int count = 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

size_t callbox_list(const char *path, void *names, size_t size) {
    DIR *folder = opendir(path);
    if (!folder) return 0;
    size_t used = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name) + 1;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || length > size - used) continue;
        memcpy((char *)names + used, entry->d_name, length);
        used += length;
    }
    closedir(folder);
    return used;
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

int callbox_open_append(const char *path) { return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600); }

int callbox_epoll_wait(int epoll, struct epoll_event *events, int count, const struct timespec *limit) {
    int ready = epoll_pwait2(epoll, events, count, limit, NULL);
    if (ready >= 0 || errno != ENOSYS) return ready;
    // Kernels before 5.11, and emulators: whole milliseconds, rounded up so that the deadline has passed.
    long long ms = limit ? limit->tv_sec * 1000LL + (limit->tv_nsec + 999999) / 1000000 : -1;
    return epoll_wait(epoll, events, count, ms > INT_MAX ? INT_MAX : (int)ms);
}

int callbox_accept(int fd, struct sockaddr_storage *from) {
    socklen_t size = sizeof *from;
    return accept4(fd, (struct sockaddr *)from, from ? &size : NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int callbox_start_thread(const char *name, int priority, void *(*run)(void *), void *context) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int failure = pthread_create(&thread, &attributes, run, context);
    pthread_attr_destroy(&attributes);
    if (failure) return failure;
    pthread_setname_np(thread, name);
    if (priority > 0) {
        struct sched_param parameters = {.sched_priority = priority};
        pthread_setschedparam(thread, SCHED_RR, &parameters);
    }
    return 0;
}

void callbox_init_mutex(pthread_mutex_t *mutex) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
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

int callbox_open_signals(void) {
    sigset_t set;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The words, each of which ends in NUL, as a list that ends in NULL; to be freed, but not they. */
static char **list_of(char *words, size_t size) {
    size_t count = 0;
    for (size_t at = 0; at < size; at++) count += words[at] == 0;
    char **arguments = calloc(count + 1, sizeof *arguments);
    size_t begin = 0, word = 0;
    for (size_t at = 0; arguments && at < size; at++) {
        if (words[at] != 0) continue;
        arguments[word++] = words + begin;
        begin = at + 1;
    }
    return arguments;
}

int callbox_command(const void *words, size_t size, void *output, size_t room, size_t *length) {
    int out[2], status = -1;
    *length = 0;
    char **arguments = list_of((char *)words, size);
    if (!arguments || !arguments[0] || pipe2(out, O_CLOEXEC) != 0) {
        free(arguments);
        return -1;
    }
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    if (room) posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    pid_t process = -1;
    if (posix_spawnp(&process, arguments[0], &files, NULL, arguments, environ) != 0) process = -1;
    posix_spawn_file_actions_destroy(&files);
    close(out[1]);
    char rest[512];
    ssize_t count = process > 0 ? 1 : 0;
    while (count > 0) {
        /* What is too much is read too, so that the program does not wait for us. */
        size_t left = room - *length;
        count = left ? read(out[0], (char *)output + *length, left) : read(out[0], rest, sizeof rest);
        if (count > 0 && left) *length += (size_t)count;
    }
    close(out[0]);
    if (process > 0 && waitpid(process, &status, 0) == process) status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    free(arguments);
    return status;
}

void callbox_replace_self(void *bytes, size_t size) {
    char **arguments = list_of(bytes, size);
    if (!arguments) return;
    execv("/proc/self/exe", arguments);
    free(arguments);
}
