// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64
#include "cdrm.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
