/* SPDX-License-Identifier: Apache-2.0 */
/* An input as a file for code that reads files: in memory, and gone with its descriptor. */
#ifndef HEDDLE_TESTS_FUZZ_MEMORY_FILE_H
#define HEDDLE_TESTS_FUZZ_MEMORY_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct memory_file {
    int fd;
    char path[64];
};

static inline void memory_file_make(struct memory_file *file, const void *data, size_t size) {
    file->fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (file->fd < 0 || write(file->fd, data, size) != (ssize_t)size)
        abort();
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
}

#endif
