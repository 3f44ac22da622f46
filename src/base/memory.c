/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"

size_t memory_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void *memory_reserve(uint64_t bytes) {
    /* MAP_NORESERVE: a simulated GPU may have more memory than the host, and most of it is never touched. */
    void *start = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? NULL : start;
}

void *memory_reserve_at(uint64_t address, uint64_t bytes) {
    void *wanted = (void *)(uintptr_t)address;
    void *start =
        mmap(wanted, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (start != MAP_FAILED && start != wanted) { /* a kernel that does not know the flag takes it for a wish */
        munmap(start, bytes);
        return NULL;
    }
    return start == MAP_FAILED ? NULL : start;
}

bool memory_commit(void *start, size_t bytes) {
    if (bytes == 0)
        return true;
    uintptr_t page = memory_page_bytes();
    uintptr_t first = (uintptr_t)start / page * page;
    uintptr_t end = bits_round_up((uintptr_t)start + bytes, page);
    return mprotect((char *)start - ((uintptr_t)start - first), end - first, PROT_READ | PROT_WRITE) == 0;
}

void memory_clear(void *start, size_t bytes) {
    const uintptr_t page = memory_page_bytes(), begin = (uintptr_t)start, end = begin + bytes;
    const uintptr_t first = bits_round_up(begin, page), last = end / page * page;
    char *const pages = (char *)start + (first - begin);
    /* with a file behind them it is the file that must forget them */
    if (first >= last || (madvise(pages, last - first, MADV_REMOVE) && madvise(pages, last - first, MADV_DONTNEED))) {
        memset(start, 0, bytes);
        return;
    }
    memset(start, 0, first - begin);
    memset((char *)start + (last - begin), 0, end - last);
}

static bool is_zero(const char *bytes, size_t count) {
    return count == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

/* Pages that were never touched stay so. */
static bool copy_pages(int file, const char *start, size_t bytes) {
    const size_t page = memory_page_bytes();
    for (size_t at = 0; at < bytes; at += page) {
        const size_t count = bytes - at < page ? bytes - at : page;
        if (!is_zero(start + at, count) && pwrite(file, start + at, count, (off_t)at) != (ssize_t)count)
            return false;
    }
    return true;
}

int memory_share(void *start, size_t bytes, size_t used) {
    const int file = memfd_create("heddle", MFD_CLOEXEC);
    if (file < 0)
        return -1;
    if (ftruncate(file, (off_t)bytes) || !copy_pages(file, start, used) ||
        mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED) {
        close(file);
        return -1;
    }
    return file;
}

void *memory_view(int file, size_t bytes) {
    void *view = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    return view == MAP_FAILED ? NULL : view;
}

bool memory_view_reset(void *view, size_t bytes) {
    const size_t whole = bits_round_up(bytes, memory_page_bytes());
    return whole == 0 || madvise(view, whole, MADV_DONTNEED) == 0;
}

void memory_release(void *start, uint64_t bytes) {
    if (start)
        munmap(start, bytes);
}
