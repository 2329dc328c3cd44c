// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64
#include "cdrm.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int callbox_open_card(int number) {
    char path[64];
    snprintf(path, sizeof path, "/dev/dri/card%d", number);
    return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

void *callbox_map_dumb(int fd, uint64_t offset, size_t size) {
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    return map == MAP_FAILED ? NULL : map;
}

int callbox_close_handle(int fd, uint32_t handle) {
    struct drm_gem_close request = {.handle = handle};
    return drmIoctl(fd, DRM_IOCTL_GEM_CLOSE, &request) == 0 ? 0 : -errno;
}

int callbox_export_fence(int dma_buf) {
    struct dma_buf_export_sync_file request = {.flags = DMA_BUF_SYNC_READ, .fd = -1};
    return ioctl(dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &request) == 0 ? request.fd : -1;
}

int callbox_open_device_news(void) {
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    // Group 1 is the kernel itself; others are programs, whose word counts for nothing here.
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1};
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int callbox_take_display_news(int fd) {
    char news[4096];
    int found = 0;
    struct sockaddr_nl sender;
    socklen_t length = sizeof sender;
    ssize_t count;
    while ((count = recvfrom(fd, news, sizeof news - 1, 0, (struct sockaddr *)&sender, &length)) > 0) {
        if (sender.nl_pid != 0) continue;
        news[count] = 0;
        // Strings, one after the other.
        for (char *line = news; line < news + count; line += strlen(line) + 1) {
            if (strcmp(line, "HOTPLUG=1") == 0) found = 1;
        }
        length = sizeof sender;
    }
    // What was lost may have been about a display.
    return found || (count < 0 && errno == ENOBUFS);
}

static int holds(int pid, const char *wanted) {
    char folder[64], link[384], target[64];
    snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
    DIR *files = opendir(folder);
    if (!files) return 0;
    int found = 0;
    for (struct dirent *file; !found && (file = readdir(files));) {
        snprintf(link, sizeof link, "%s/%s", folder, file->d_name);
        ssize_t count = readlink(link, target, sizeof target - 1);
        if (count <= 0) continue;
        target[count] = 0;
        found = strcmp(target, wanted) == 0;
    }
    closedir(files);
    return found;
}

int callbox_find_card_user(int number, char *name, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/dev/dri/card%d", number);
    DIR *processes = opendir("/proc");
    if (!processes) return 0;
    int user = 0;
    for (struct dirent *process; !user && (process = readdir(processes));) {
        if (!isdigit((unsigned char)process->d_name[0])) continue;
        int pid = atoi(process->d_name);
        if (pid != getpid() && holds(pid, path)) user = pid;
    }
    closedir(processes);
    if (!user || size == 0) return user;
    name[0] = 0;
    snprintf(path, sizeof path, "/proc/%d/comm", user);
    FILE *file = fopen(path, "re");
    if (file) {
        if (!fgets(name, (int)size, file)) name[0] = 0;
        fclose(file);
    }
    name[strcspn(name, "\n")] = 0;
    return user;
}
