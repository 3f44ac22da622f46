/* SPDX-License-Identifier: Apache-2.0 */
/* What Linux gives and WebAssembly does not. base/memory.h, in the place of base/memory.c: no page can be reserved and left
 * untouched, so what is reserved is there, and large reservations are refused; whoever asks for less gets it. One processor, no
 * process whose limits could be set, no signal that stops a run, and no terminal: emscripten says that there is one, of an unset
 * width. */
#include "base/memory.h"
#include "store/child.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t *set) {
    (void)process, (void)bytes, (void)set;
    return -1;
}

int __sched_cpucount(size_t bytes, const cpu_set_t *set) {
    (void)bytes, (void)set;
    return 1;
}

int prlimit(pid_t process, int what, const struct rlimit *wanted, struct rlimit *had) {
    (void)process, (void)what, (void)wanted, (void)had;
    return -1;
}

int isatty(int descriptor) {
    (void)descriptor;
    errno = ENOTTY;
    return 0;
}

#define RESERVE_MOST_BYTES (UINT64_C(128) << 20) /* a simulated GPU has no more in a browser */
enum { PAGE_BYTES = 4096 };

size_t memory_page_bytes(void) { return PAGE_BYTES; }

void child_add_stops(sigset_t *set) { (void)set; }

int sigtimedwait(const sigset_t *signals, siginfo_t *about, const struct timespec *most) {
    (void)signals, (void)about, (void)most;
    return -1;
}

void *memory_reserve(uint64_t bytes) {
    if (bytes > RESERVE_MOST_BYTES)
        return NULL;
    void *start = aligned_alloc(PAGE_BYTES, ((size_t)bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
    if (start)
        memset(start, 0, (size_t)bytes);
    return start;
}

void *memory_reserve_at(uint64_t address, uint64_t bytes) {
    (void)address, (void)bytes;
    return NULL;
}

bool memory_commit(void *start, size_t bytes) {
    (void)start, (void)bytes;
    return true;
}

void memory_clear(void *start, size_t bytes) { memset(start, 0, bytes); }

int memory_share(void *start, size_t bytes, size_t used) {
    (void)start, (void)bytes, (void)used;
    return -1;
}

void *memory_view(int file, size_t bytes) {
    (void)file, (void)bytes;
    return NULL;
}

bool memory_view_reset(void *view, size_t bytes) {
    (void)view, (void)bytes;
    return false;
}

void memory_release(void *start, uint64_t bytes) {
    (void)bytes;
    free(start);
}
