/* SPDX-License-Identifier: Apache-2.0 */
#include "emulate/parallel.h"

#include <stdalign.h>
#include <string.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/memory.h"
#include "base/team.h"
#include "exec/footprint.h"
#include "exec/step.h"

/* A piece is so small that threads end at about the same time. */
enum { PIECES_PER_THREAD = 16 };

struct worker {
    struct memory view;
    struct arena arena;
    struct exec_counts counts;
    struct emulate_stats stats;
    bool failed;
};

struct parallel {
    struct arena *arena;
    struct memory *memory;
    struct team *team; /* NULL: nothing was long enough yet */
    struct worker *workers;
    struct footprint *footprints; /* by worker */
    unsigned threads;
    uint64_t *issued; /* instructions of each */
    uint64_t alone_ns, launches;
    bool refused; /* the host gives no threads or no views */
};

struct parallel_attempt {
    struct parallel *parallel;
    const struct emulation *emulation;
    struct block_supply supply;
    atomic_uint next_worker; /* whose stores are to go to memory next */
};

static size_t footprint_bytes(uint64_t memory_bytes) { return bits_round_up(memory_bytes >> SECTOR_SHIFT, 64) / 8; }

struct parallel *parallel_create(struct arena *arena, struct memory *memory, unsigned threads, uint64_t alone_ns) {
    struct parallel *parallel = ARENA_NEW(arena, struct parallel);
    *parallel = (struct parallel){.arena = arena, .memory = memory, .threads = threads, .alone_ns = alone_ns};
    return parallel;
}

void parallel_destroy(struct parallel *parallel) {
    if (!parallel)
        return;
    team_destroy(parallel->team);
    const uint64_t bytes = parallel->memory->capacity_bytes;
    for (unsigned i = 0; parallel->workers && i < parallel->threads; i++) {
        struct worker *worker = &parallel->workers[i];
        memory_release(worker->view.host, bytes);
        memory_release(parallel->footprints[i].loaded, footprint_bytes(bytes));
        memory_release(parallel->footprints[i].stored, footprint_bytes(bytes));
        arena_free(&worker->arena);
    }
}

unsigned parallel_threads(const struct parallel *parallel) { return parallel->threads; }

uint64_t parallel_launches(const struct parallel *parallel) { return parallel->launches; }

static uint64_t *create_sectors(uint64_t memory_bytes) {
    const size_t bytes = footprint_bytes(memory_bytes);
    uint64_t *sectors = memory_reserve(bytes);
    if (sectors && !memory_commit(sectors, bytes)) {
        memory_release(sectors, bytes);
        return NULL;
    }
    return sectors;
}

/* False: the host refuses; what there is goes with the device. */
static bool start_workers(struct parallel *parallel) {
    const uint64_t bytes = parallel->memory->capacity_bytes;
    const int file = memory_share(parallel->memory->host, bytes, parallel->memory->used_bytes);
    if (file < 0)
        return false;
    parallel->workers =
        arena_alloc_aligned(parallel->arena, parallel->threads * sizeof *parallel->workers, alignof(struct worker));
    parallel->footprints = ARENA_ARRAY(parallel->arena, struct footprint, parallel->threads);
    parallel->issued = ARENA_ARRAY(parallel->arena, uint64_t, parallel->threads);
    bool made = true;
    for (unsigned i = 0; i < parallel->threads && made; i++) {
        struct worker *worker = &parallel->workers[i];
        struct footprint *footprint = &parallel->footprints[i];
        worker->view.host = memory_view(file, bytes);
        *footprint = (struct footprint){create_sectors(bytes), create_sectors(bytes)};
        made = worker->view.host && footprint->loaded && footprint->stored;
    }
    close(file);
    parallel->team = made ? team_create(parallel->arena, parallel->threads) : NULL;
    return parallel->team && team_size(parallel->team) > 1;
}

/* ---- one launch ---- */

static void prepare(struct parallel *parallel, const struct emulation *emulation) {
    const uint32_t code_count = emulation->linked->module->code_count;
    for (unsigned i = 0; i < parallel->threads; i++) {
        struct worker *worker = &parallel->workers[i];
        uint8_t *const host = worker->view.host;
        worker->view = *parallel->memory;
        worker->view.host = host;
        worker->view.footprint = &parallel->footprints[i];
        worker->counts = exec_counts_create(&worker->arena, code_count, emulation->counts->outside != NULL);
        worker->stats = (struct emulate_stats){.divergent = ARENA_ARRAY(&worker->arena, uint64_t, code_count)};
        worker->failed = false;
    }
}

/* Faults and limits are of no interest: one thread meets them again and says where. */
static void run_blocks(void *self, unsigned thread) {
    struct parallel_attempt *attempt = self;
    struct worker *worker = &attempt->parallel->workers[thread];
    struct emulation own = *attempt->emulation;
    own.supply = &attempt->supply;
    own.alone_ns = 0;
    own.memory = &worker->view;
    own.counts = &worker->counts;
    own.stats = &worker->stats;
    worker->failed = emulate(&worker->arena, &own, NULL) != STATUS_OK;
    if (worker->failed)
        atomic_store(&attempt->supply.closed, true);
}

bool parallel_is_within(uint64_t limit, uint64_t issued, const uint64_t *more, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        issued += more[i];
    return !limit || issued <= limit;
}

/* Nothing stopped, and nobody touched what another stored. */
static bool is_as_by_one(const struct parallel *parallel, const struct emulation *emulation) {
    for (unsigned i = 0; i < parallel->threads; i++) {
        if (parallel->workers[i].failed)
            return false;
        parallel->issued[i] = parallel->workers[i].stats.issued;
    }
    return parallel_is_within(emulation->options->max_instructions, emulation->stats->issued, parallel->issued,
                              parallel->threads) &&
           !footprints_conflict(parallel->footprints, parallel->threads,
                                footprint_bytes(parallel->memory->used_bytes) / sizeof(uint64_t));
}

static void publish(const struct parallel *parallel, unsigned number) {
    const uint64_t used = bits_round_up(parallel->memory->used_bytes, UINT64_C(1) << SECTOR_SHIFT);
    footprint_copy(parallel->footprints[number].stored, footprint_bytes(used) / sizeof(uint64_t),
                   parallel->memory->host, parallel->workers[number].view.host);
}

static void publish_all(void *self, unsigned thread) {
    struct parallel_attempt *attempt = self;
    (void)thread;
    for (unsigned i; (i = atomic_fetch_add(&attempt->next_worker, 1)) < attempt->parallel->threads;)
        publish(attempt->parallel, i);
}

/* Whoever wants to know what the launch touches. */
static void note_all(const struct parallel *parallel) {
    const struct footprint *to = parallel->memory->footprint;
    const size_t words = footprint_bytes(parallel->memory->used_bytes) / sizeof(uint64_t);
    for (unsigned i = 0; to && i < parallel->threads; i++)
        for (size_t word = 0; word < words; word++) {
            to->loaded[word] |= parallel->footprints[i].loaded[word];
            to->stored[word] |= parallel->footprints[i].stored[word];
        }
}

static void add_stats(struct emulate_stats *into, const struct emulate_stats *from, uint32_t code_count) {
    into->full_groups += from->full_groups, into->divergent_branches += from->divergent_branches;
    into->threads += from->threads, into->blocks += from->blocks, into->issued += from->issued;
    for (uint32_t pc = 0; pc < code_count; pc++)
        into->divergent[pc] += from->divergent[pc];
}

static void forget(struct parallel *parallel) {
    for (unsigned i = 0; i < parallel->threads; i++) {
        struct worker *worker = &parallel->workers[i];
        parallel->refused |= !memory_view_reset(worker->view.host, parallel->memory->used_bytes);
        memory_clear(parallel->footprints[i].loaded, footprint_bytes(parallel->memory->used_bytes));
        memory_clear(parallel->footprints[i].stored, footprint_bytes(parallel->memory->used_bytes));
        arena_reset(&worker->arena);
    }
}

/* False: memory, counts and stats are as they were. */
static bool try_rest(struct parallel *parallel, const struct emulation *emulation) {
    const uint32_t code_count = emulation->linked->module->code_count;
    const uint64_t blocks = emulation->end_block - emulation->first_block;
    const uint64_t pieces = (uint64_t)parallel->threads * PIECES_PER_THREAD;
    struct parallel_attempt attempt = {.parallel = parallel,
                                       .emulation = emulation,
                                       .supply = {.end = emulation->end_block,
                                                  .piece = (blocks + pieces - 1) / pieces}};
    atomic_init(&attempt.supply.next, emulation->first_block);
    prepare(parallel, emulation);
    team_run(parallel->team, run_blocks, &attempt);
    const bool good = is_as_by_one(parallel, emulation);
    if (good) {
        parallel->launches++;
        note_all(parallel);
        team_run(parallel->team, publish_all, &attempt);
        for (unsigned i = 0; i < parallel->threads; i++) {
            exec_counts_add(emulation->counts, &parallel->workers[i].counts, code_count);
            add_stats(emulation->stats, &parallel->workers[i].stats, code_count);
        }
    }
    forget(parallel);
    return good;
}

enum status parallel_emulate(struct parallel *parallel, struct arena *arena, struct linked *linked,
                             const struct emulation *emulation, struct report *report) {
    struct emulation rest = *emulation;
    if (linked->in_order || parallel->refused || emulation->options->listener)
        return emulate(arena, &rest, report);
    rest.alone_ns = parallel->alone_ns;
    if (parallel->alone_ns) {
        const enum status status = emulate(arena, &rest, report);
        if (status != STATUS_OK)
            return status;
        rest.first_block += rest.stats->blocks;
    }
    if (rest.end_block - rest.first_block < 2)
        return rest.first_block == rest.end_block ? STATUS_OK : emulate(arena, &rest, report);
    if (!parallel->team && !start_workers(parallel))
        parallel->refused = true;
    if (!parallel->refused && try_rest(parallel, &rest))
        return STATUS_OK;
    linked->in_order = true;
    rest.alone_ns = 0;
    return emulate(arena, &rest, report);
}
