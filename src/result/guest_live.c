/* SPDX-License-Identifier: Apache-2.0 */
#include "result/guest_live.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

enum { WORDS = sizeof(struct guest_counts) / 8, READS_MAX = 100 };
_Static_assert(sizeof(struct guest_counts) % 8 == 0, "it is copied by words");

/* As it lies in the file: counters that are being written have an odd turn, and who reads them reads again (a sequence lock). Words are
 * atomic, so that no word is ever half of two. */
struct shared {
    _Atomic uint64_t turn, words[WORDS];
};

struct guest_live {
    struct shared *shared;
    struct guest_counts counts;                  /* of what has ended */
    uint64_t launch_cycles, launch_instructions; /* of what is under way */
};

struct guest_live *guest_live_create(const char *path, struct arena *arena) {
    struct guest_live *live = ARENA_NEW(arena, struct guest_live);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    if (posix_fallocate(fd, 0, sizeof(struct shared)) == 0) /* a full disk says so here, and not as SIGBUS */
        at = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) {
        unlink(path);
        return NULL;
    }
    live->shared = at;
    return live;
}

void guest_live_destroy(struct guest_live *live) {
    if (live)
        munmap(live->shared, sizeof *live->shared);
}

static void publish(const struct guest_live *live) {
    struct guest_counts now = live->counts;
    uint64_t words[WORDS];
    now.cycles += live->launch_cycles, now.warp_instructions += live->launch_instructions;
    memcpy(words, &now, sizeof words);
    const uint64_t turn = atomic_load_explicit(&live->shared->turn, memory_order_relaxed);
    atomic_store_explicit(&live->shared->turn, turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    for (unsigned i = 0; i < WORDS; i++)
        atomic_store_explicit(&live->shared->words[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&live->shared->turn, turn + 2, memory_order_release);
}

void guest_live_begin(struct guest_live *live, const char *kernel) {
    if (!live)
        return;
    live->counts.under_way = 1, live->counts.blocks_done = live->counts.blocks = 0;
    snprintf(live->counts.kernel, sizeof live->counts.kernel, "%s", kernel);
    publish(live);
}

void guest_live_progress(struct guest_live *live, const struct launch_progress *progress) {
    if (!live)
        return;
    live->counts.blocks_done = progress->blocks_done, live->counts.blocks = progress->blocks;
    live->launch_cycles = progress->cycles, live->launch_instructions = progress->warp_instructions;
    publish(live);
}

void guest_live_end(struct guest_live *live, const struct launch_result *result, bool in_time) {
    if (!live)
        return;
    live->launch_cycles = live->launch_instructions = live->counts.under_way = 0;
    if (in_time && !result->timed) {
        live->counts.untimed++;
    } else {
        live->counts.launches++;
        live->counts.cycles += result->timed ? result->timed->cycles : 0;
        live->counts.warp_instructions += result->stats.warp_instructions;
    }
    publish(live);
}

static bool read_counts(const char *path, struct guest_counts *out) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ, MAP_SHARED, fd, 0);
    const bool is_whole = lseek(fd, 0, SEEK_END) == (off_t)sizeof *shared;
    close(fd);
    if (shared == MAP_FAILED)
        return false;
    uint64_t words[WORDS], before = 1, after = 0;
    for (unsigned i = 0; i < READS_MAX && is_whole && (before != after || before % 2); i++) {
        before = atomic_load_explicit(&shared->turn, memory_order_acquire);
        for (unsigned k = 0; k < WORDS; k++)
            words[k] = atomic_load_explicit(&shared->words[k], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&shared->turn, memory_order_relaxed);
    }
    munmap(shared, sizeof *shared);
    if (before != after || before % 2)
        return false;
    memcpy(out, words, sizeof words);
    out->kernel[sizeof out->kernel - 1] = '\0';
    return true;
}

void guest_live_sum(const char *folder, struct guest_counts *sum) {
    struct arena arena = {0};
    unsigned count = 0;
    const char **names = file_list(&arena, folder, GUEST_LIVE, &count);
    *sum = (struct guest_counts){0};
    for (unsigned i = 0; i < count; i++) {
        struct guest_counts one;
        if (!read_counts(arena_printf(&arena, "%s/%s" GUEST_LIVE, folder, names[i]), &one))
            continue;
        sum->launches += one.launches, sum->untimed += one.untimed;
        sum->cycles += one.cycles, sum->warp_instructions += one.warp_instructions;
        sum->under_way += one.under_way;
        if (!one.under_way)
            continue;
        sum->blocks_done = one.blocks_done, sum->blocks = one.blocks;
        memcpy(sum->kernel, one.kernel, sizeof sum->kernel);
    }
    arena_free(&arena);
}
