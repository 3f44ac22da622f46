/* SPDX-License-Identifier: Apache-2.0 */
/* MIMD: any ready thread takes any free lane, whatever its PC; the upper bound of every comparison. Each scheduler has
 * one issue slot and the threads of its warps; once per turn it issues up to a warp's width of ready threads,
 * round-robin over their numbers, as a bundle of one group for each block and PC among them. */
#include <string.h>

#include "divergence/divergence.h"
#include "simt/threads.h"

enum { WORDS = WARPS_MAX * LANES_MAX / 64 };

struct turn {
    unsigned last; /* thread that issued last */
    /* the bundle that the last offer began */
    unsigned count;
    uint32_t offered; /* lanes */
    uint16_t threads[LANES_MAX];
};

struct mimd {
    struct threads threads;
    unsigned schedulers, thread_count, width;
    struct {
        uint64_t ready[WORDS];
        unsigned count;
        struct turn turn;
    } slots[ISSUE_SLOTS_MAX];
};

static void *mimd_create(struct arena *arena, const struct divergence_shape *shape) {
    struct mimd *mimd = ARENA_NEW(arena, struct mimd);
    threads_create(&mimd->threads, arena, shape->warps, shape->warp_size, shape->warps_per_block);
    mimd->schedulers = shape->schedulers, mimd->width = shape->width;
    mimd->thread_count = shape->warps * shape->warp_size;
    for (unsigned i = 0; i < ISSUE_SLOTS_MAX; i++)
        mimd->slots[i].turn.last = mimd->thread_count - 1;
    return mimd;
}

static unsigned slot_of(const struct mimd *mimd, unsigned thread) {
    return thread / mimd->threads.warp_size % mimd->schedulers;
}

static uint64_t mimd_returned(void *self, const uint16_t *threads, uint32_t lanes) {
    struct mimd *mimd = self;
    uint64_t changed = 0;
    for (BITS_EACH(lane, lanes)) {
        const unsigned thread = threads[lane], slot = slot_of(mimd, thread);
        mimd->slots[slot].ready[thread / 64] |= UINT64_C(1) << thread % 64;
        mimd->slots[slot].count++;
        changed |= UINT64_C(1) << slot;
    }
    return changed;
}

static uint64_t mimd_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct mimd *mimd = self;
    uint16_t threads[LANES_MAX];
    threads_start(&mimd->threads, warp, pc, lanes);
    threads_of_warp(threads, warp, mimd->threads.warp_size);
    return mimd_returned(mimd, threads, lanes);
}

/* The ready threads of [from, to) go to the free lanes of the turn. */
static void take(struct mimd *mimd, unsigned slot, unsigned from, unsigned to) {
    struct turn *turn = &mimd->slots[slot].turn;
    for (unsigned word = from / 64; word * 64 < to && turn->count < mimd->width; word++) {
        uint64_t here = mimd->slots[slot].ready[word];
        if (word == from / 64)
            here &= UINT64_MAX << from % 64;
        for (; here && turn->count < mimd->width; here &= here - 1) {
            const unsigned thread = word * 64 + bits_first64(here);
            if (thread >= to)
                return;
            turn->threads[turn->count++] = (uint16_t)thread;
        }
    }
}

static bool mimd_more(void *self, unsigned slot, struct group *out) {
    struct mimd *mimd = self;
    struct turn *turn = &mimd->slots[slot].turn;
    const uint32_t left = bits_low(turn->count) & ~turn->offered;
    if (!left)
        return false;
    const unsigned first = turn->threads[bits_first(left)], block = first / mimd->threads.per_block;
    const uint32_t pc = mimd->threads.pcs[first];
    uint32_t lanes = 0;
    for (BITS_EACH(lane, left))
        if (mimd->threads.pcs[turn->threads[lane]] == pc && turn->threads[lane] / mimd->threads.per_block == block)
            lanes |= UINT32_C(1) << lane;
    turn->offered |= lanes;
    *out = (struct group){.pc = pc, .lanes = lanes, .stop_pc = NO_PC, .threads = turn->threads};
    return true;
}

static bool mimd_offer(void *self, unsigned slot, struct group *out) {
    struct mimd *mimd = self;
    if (!mimd->slots[slot].count)
        return false;
    struct turn *turn = &mimd->slots[slot].turn;
    turn->count = 0, turn->offered = 0;
    take(mimd, slot, turn->last + 1, mimd->thread_count);
    take(mimd, slot, 0, turn->last + 1);
    return mimd_more(mimd, slot, out);
}

static uint64_t mimd_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct mimd *mimd = self;
    threads_issued(&mimd->threads, group, executed);
    for (BITS_EACH(lane, group->lanes)) {
        const unsigned thread = group->threads[lane];
        mimd->slots[slot].ready[thread / 64] &= ~(UINT64_C(1) << thread % 64);
        mimd->slots[slot].count--;
    }
    mimd->slots[slot].turn.last = mimd->slots[slot].turn.threads[mimd->slots[slot].turn.count - 1];
    return UINT64_C(1) << slot;
}

static uint32_t mimd_alive(const void *self, unsigned warp) { return ((const struct mimd *)self)->threads.alive[warp]; }

static void mimd_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    threads_where(&((const struct mimd *)self)->threads, warp, pcs);
}

/* Of one warp: the threads that can issue, and those in the pipeline or waiting for others. */
static unsigned mimd_show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    const struct mimd *mimd = self;
    const unsigned first = warp * mimd->threads.warp_size;
    const uint64_t word = mimd->slots[slot_of(mimd, first)].ready[first / 64];
    const uint32_t alive = mimd->threads.alive[warp], ready = (uint32_t)(word >> first % 64) & alive;
    const unsigned count = threads_show(&mimd->threads, warp, ready, "ready", rows, most);
    return count + threads_show(&mimd->threads, warp, alive & ~ready, "away", rows + count, most - count);
}

/* Beside its PC a thread is ready, or away. */
static void mimd_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    (void)values;
    cost_thread_pcs(shape, 1, out);
}

static const struct divergence_forming forming = {
    .fetches_alone = true,
    .more = mimd_more,
    .returned = mimd_returned,
    .issues_each = true,
};

const struct divergence_ops divergence_mimd = {
    .name = "mimd",
    .help = "every thread on its own: any ready threads issue together, whatever their PCs; the upper bound",
    .own.cost = mimd_cost,
    .create = mimd_create,
    .start = mimd_start,
    .offer = mimd_offer,
    .issued = mimd_issued,
    .forming = &forming,
    .alive = mimd_alive,
    .where = mimd_where,
    .show = mimd_show,
};
