// SPDX-License-Identifier: Apache-2.0
// What Swift cannot say: macros, and calls that glibc shows under _GNU_SOURCE only.
#define _GNU_SOURCE 1
#include "csystem.h"

#include <limits.h>

int callbox_errno(void) { return errno; }

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

int callbox_open_append(const char *path) { return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600); }

int callbox_epoll_wait(int epoll, struct epoll_event *events, int count, const struct timespec *limit) {
    int ready = epoll_pwait2(epoll, events, count, limit, NULL);
    if (ready >= 0 || errno != ENOSYS) return ready;
    // Kernels before 5.11, and emulators: whole milliseconds, rounded up so that the deadline has passed.
    long long ms = limit ? limit->tv_sec * 1000LL + (limit->tv_nsec + 999999) / 1000000 : -1;
    return epoll_wait(epoll, events, count, ms > INT_MAX ? INT_MAX : (int)ms);
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
