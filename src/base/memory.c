#include "base/memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"

size_t memory_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void *memory_reserve(size_t bytes) {
    /* MAP_NORESERVE: a simulated GPU may have more memory than the host, and most of it is never touched. */
    void *start = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
    if (first >= last || madvise((char *)start + (first - begin), last - first, MADV_DONTNEED) != 0) {
        memset(start, 0, bytes);
        return;
    }
    memset(start, 0, first - begin);
    memset((char *)start + (last - begin), 0, end - last);
}

void memory_release(void *start, size_t bytes) {
    if (start)
        munmap(start, bytes);
}
