// SPDX-License-Identifier: Apache-2.0
// The C library and Linux system calls; sd_notify.
#pragma once
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/errqueue.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

/// errno of the calling thread; the C macro is not visible from Swift.
int callbox_errno(void);

/// Asks for the destination address of each datagram and for ICMP errors; opens an IPv6 socket for IPv4 too.
void callbox_prepare_datagram_socket(int fd, int is_v6);

/// Reads one datagram, or one queued ICMP error (`*is_error` 1, `from` then being the address that was written to).
/// IPv4 destinations come in mapped form. Returns the length, or -1 where nothing waits. A datagram longer than
/// `size` gives `size`.
ssize_t callbox_receive(int fd, void *buffer, size_t size, struct sockaddr_storage *from, struct in6_addr *to,
                        int *is_error);

/// A non-blocking, close-on-exec socket for IPv6 (or IPv4), stream or datagram; -1 with errno.
int callbox_socket(int is_v6, int is_stream);

/// sendto(2) without SIGPIPE; `to` NULL on connected sockets.
ssize_t callbox_send(int fd, const void *bytes, size_t count, const struct sockaddr *to, socklen_t size);

/// Blocks SIGTERM, SIGINT and SIGHUP for delivery through the descriptor that is returned; ignores SIGPIPE.
int callbox_open_signals(void);

/// Runs a program with its arguments, `size` bytes of words that each end in NUL, and waits for its end. What it says
/// is kept in `output`, cut at `room`; with a room of 0 it is heard where ours is. Returns its exit status, or -1.
int callbox_command(const void *words, size_t size, void *output, size_t room, size_t *length);

/// Goes on as this program from its beginning, in the same process, with `size` bytes of arguments, each ending in NUL
/// (as in /proc/self/cmdline). Blocked signals stay so, and wait for it. Returns only where that fails.
void callbox_replace_self(void *words, size_t size);

/// A non-blocking, close-on-exec socket on which the kernel tells of changed links, addresses and routes; -1 with
/// errno.
int callbox_watch_routes(void);

void callbox_prepare_listener(int fd, int is_v6);

/// Marks what a socket sends with a differentiated services code point (RFC 2474); each family takes its own.
void callbox_mark(int fd, int dscp);

/// No delay, and an end to a connection whose peer is silent on the wire for 20 s.
void callbox_prepare_stream(int fd);

/// The pending error of a socket, 0 where there is none.
int callbox_socket_error(int fd);

/// A listening stream socket at `path`, for owner and group; -1 with errno.
int callbox_listen_unix(const char *path);

int callbox_connect_unix(const char *path);

int callbox_open_read(const char *path);
/// A file that is there, to be written anew; -1 on failure.
int callbox_open_write(const char *path);

/// As callbox_open_read, but follows no link and waits for nothing.
int callbox_open_plain(const char *path);

/// A new file, opened for writing; an existing one is an error.
int callbox_create(const char *path, mode_t mode);

/// Starts the program at `path` with `bytes` as its standard input. Returns its process, with the other end of its
/// standard output, non-blocking, in `*output`; or -1.
pid_t callbox_run(const char *path, const void *bytes, size_t count, int *output);

/// When this program was built, in seconds since 1970.
long long callbox_built(void);

/// The wall clock, in seconds since 1970.
long long callbox_wall_time(void);

/// Whether somebody keeps the wall clock right (adjtimex(2)).
int callbox_wall_time_is_set(void);

/// How many names a folder lists, `.` and `..` included.
int callbox_count_entries(const char *path);

/// The names in a folder but `.` and `..`, each ending in NUL, as far as whole ones fit. Returns the bytes written.
size_t callbox_list(const char *path, void *names, size_t size);

/// The addresses of this machine that others can reach, as text, each ending in NUL, as far as whole ones fit: neither
/// loopback nor link-local, nor of an interface that is switched off or has no cable. Returns the bytes written.
size_t callbox_addresses(void *texts, size_t size);

/// Whether the name service knows an address of this name. Waits for it.
int callbox_has_address(const char *name);

/// Opened for appending, made for its owner alone where it is not there; -1 with errno.
int callbox_open_append(const char *path);

/// epoll_pwait2(2) without a mask: `limit` nil waits for ever. Returns the count of events, or -1.
int callbox_epoll_wait(int epoll, struct epoll_event *events, int count, const struct timespec *limit);

/// accept4(2), close-on-exec and non-blocking; `from` may be NULL.
int callbox_accept(int fd, struct sockaddr_storage *from);

/// Starts a detached thread of 1 MB stack; `priority` above 0 asks for SCHED_RR at that level. 0 or an errno.
int callbox_start_thread(const char *name, int priority, void *(*run)(void *), void *context);

/// A mutex that inherits priority.
void callbox_init_mutex(pthread_mutex_t *mutex);

/// Starts a process that shares nothing with this one but what it had until now: it calls `guard` with a descriptor
/// that can be read once this process writes to the other end, or ends in whatever way, and ends itself afterwards.
/// No signal ends it that is blocked here. To be called before there are threads. Returns the other end,
/// close-on-exec, or -1.
int callbox_start_guard(void (*guard)(int news, void *context), void *context);

/// Resets the USB device of this node below /dev/bus/usb (USBDEVFS_RESET). 0, or -1 with errno.
int callbox_reset_usb(const char *node);

/// Writes a text into a file that is there, as one write. 0, or -1 with errno.
int callbox_write_once(const char *path, const char *text);

/// Gives memory that was freed back to the system (malloc_trim(3)).
static inline void callbox_trim_memory(void) { malloc_trim(0); }
