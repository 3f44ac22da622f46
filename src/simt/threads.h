/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that each have a PC of their own: what mechanisms that dissolve groups share. */
#ifndef HEDDLE_SIMT_THREADS_H
#define HEDDLE_SIMT_THREADS_H

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/arena.h"
#include "base/bits.h"
#include "simt/executor.h"

/* ---- all lanes at once: masks of threads[LANES_MAX], whatever lanes without a thread hold ---- */

typedef uint16_t threads_eight __attribute__((vector_size(16)));
#define THREADS_BITS_LOW ((threads_eight){0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x40, 0x80})
#define THREADS_BITS_HIGH ((threads_eight){0x100, 0x200, 0x400, 0x800, 0x1000, 0x2000, 0x4000, 0x8000})

static inline threads_eight threads_load(const uint16_t *threads, unsigned eighth) {
    threads_eight out;
    memcpy(&out, threads + 8 * eighth, sizeof out);
    return out;
}

/* The lanes of which all bits are set; in the others none is. */
static inline uint32_t threads_mask(threads_eight a, threads_eight b, threads_eight c, threads_eight d) {
#ifdef __SSE2__
    const int low = _mm_movemask_epi8(_mm_packs_epi16((__m128i)a, (__m128i)b));
    const int high = _mm_movemask_epi8(_mm_packs_epi16((__m128i)c, (__m128i)d));
    return (uint32_t)low | (uint32_t)high << 16;
#else
    typedef uint64_t two __attribute__((vector_size(16)));
    const two low = (two)((a & THREADS_BITS_LOW) | (b & THREADS_BITS_HIGH));
    const two high = (two)((c & THREADS_BITS_LOW) | (d & THREADS_BITS_HIGH));
    uint64_t x = low[0] | low[1], y = high[0] | high[1];
    x |= x >> 32, y |= y >> 32;
    x |= x >> 16, y |= y >> 16;
    return (uint32_t)(x & 0xffff) | (uint32_t)(y & 0xffff) << 16;
#endif
}

/* Lanes whose threads are of this warp; warps have a power of two of threads. */
static inline uint32_t threads_of(const uint16_t *threads, unsigned warp, unsigned warp_size) {
    const uint16_t first = (uint16_t)(warp * warp_size), high = (uint16_t) ~(warp_size - 1);
#define THREADS_HERE(i) (threads_eight)((threads_load(threads, i) & high) == first)
    return threads_mask(THREADS_HERE(0), THREADS_HERE(1), THREADS_HERE(2), THREADS_HERE(3));
#undef THREADS_HERE
}

/* Lanes that hold the same thread in both. */
static inline uint32_t threads_equal(const uint16_t *a, const uint16_t *b) {
#define THREADS_SAME(i) (threads_eight)(threads_load(a, i) == threads_load(b, i))
    return threads_mask(THREADS_SAME(0), THREADS_SAME(1), THREADS_SAME(2), THREADS_SAME(3));
#undef THREADS_SAME
}

/* Lanes whose thread is in the lane that it has in its warp. */
static inline uint32_t threads_in_place(const uint16_t *threads, unsigned warp_size) {
    const threads_eight lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint16_t low = (uint16_t)(warp_size - 1);
#define THREADS_HOME(i) (threads_eight)(((threads_load(threads, i) ^ (lanes + (uint16_t)(8 * (i)))) & low) == 0)
    return threads_mask(THREADS_HOME(0), THREADS_HOME(1), THREADS_HOME(2), THREADS_HOME(3));
#undef THREADS_HOME
}

/* Are the threads of all these lanes? */
static inline bool threads_all_in_place(const uint16_t *threads, unsigned warp_size, uint32_t lanes) {
    if (bits_is_power_of_two(lanes))
        return (threads[bits_first(lanes)] & (warp_size - 1)) == bits_first(lanes);
    return !(lanes & ~threads_in_place(threads, warp_size));
}

static inline void threads_put_eight(uint16_t *to, unsigned eighth, threads_eight from, threads_eight bits,
                                     uint32_t lanes) {
    const threads_eight here = (threads_eight)((bits & (uint16_t)(lanes >> eighth / 2 * 16)) != 0);
    const threads_eight put = (from & here) | (threads_load(to, eighth) & ~here);
    memcpy(to + 8 * eighth, &put, sizeof put);
}

/* These lanes take over what `from` holds. */
static inline void threads_put(uint16_t *to, const uint16_t *from, uint32_t lanes) {
    threads_put_eight(to, 0, threads_load(from, 0), THREADS_BITS_LOW, lanes);
    threads_put_eight(to, 1, threads_load(from, 1), THREADS_BITS_HIGH, lanes);
    threads_put_eight(to, 2, threads_load(from, 2), THREADS_BITS_LOW, lanes);
    threads_put_eight(to, 3, threads_load(from, 3), THREADS_BITS_HIGH, lanes);
}

/* The same of threads that are in place, of which `first` would be in lane 0. */
static inline void threads_put_row(uint16_t *to, unsigned first, uint32_t lanes) {
    const threads_eight row = (threads_eight){0, 1, 2, 3, 4, 5, 6, 7} + (uint16_t)first;
    threads_put_eight(to, 0, row, THREADS_BITS_LOW, lanes);
    threads_put_eight(to, 1, row + (uint16_t)8, THREADS_BITS_HIGH, lanes);
    threads_put_eight(to, 2, row + (uint16_t)16, THREADS_BITS_LOW, lanes);
    threads_put_eight(to, 3, row + (uint16_t)24, THREADS_BITS_HIGH, lanes);
}

/* Threads of several rows, each in place: the first of the row that each lane is of. */
struct threads_rows {
    threads_eight of[LANES_MAX / 8];
};

/* All lanes are of the row that begins with this thread. */
static inline struct threads_rows threads_first_row(unsigned first) {
    const threads_eight of = (threads_eight){0} + (uint16_t)first;
    return (struct threads_rows){{of, of, of, of}};
}

/* These, which were of the first row, are of one so many threads behind it. */
static inline void threads_add_row(struct threads_rows *rows, unsigned behind, uint32_t lanes) {
    const threads_eight more = (threads_eight){0} + (uint16_t)behind, low = (threads_eight){0} + (uint16_t)lanes,
                        high = (threads_eight){0} + (uint16_t)(lanes >> 16);
    rows->of[0] += (threads_eight)((low & THREADS_BITS_LOW) == THREADS_BITS_LOW) & more;
    rows->of[1] += (threads_eight)((low & THREADS_BITS_HIGH) == THREADS_BITS_HIGH) & more;
    rows->of[2] += (threads_eight)((high & THREADS_BITS_LOW) == THREADS_BITS_LOW) & more;
    rows->of[3] += (threads_eight)((high & THREADS_BITS_HIGH) == THREADS_BITS_HIGH) & more;
}

static inline void threads_of_rows(uint16_t *to, const struct threads_rows *rows) {
    const threads_eight lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    for (unsigned i = 0; i < LANES_MAX / 8; i++) {
        const threads_eight put = rows->of[i] + (lanes + (uint16_t)(8 * i));
        memcpy(to + (size_t)8 * i, &put, sizeof put);
    }
}

/* ---- threads with a PC each ---- */

struct threads {
    unsigned warp_size, per_block;
    uint32_t *pcs;   /* of each thread: what it executes next */
    uint32_t *alive; /* of each warp: lanes */
};

static inline void threads_create(struct threads *threads, struct arena *arena, unsigned warps, unsigned warp_size,
                                  unsigned warps_per_block) {
    threads->warp_size = warp_size;
    threads->per_block = warps_per_block * warp_size;
    threads->pcs = ARENA_ARRAY(arena, uint32_t, (size_t)warps * warp_size + LANES_MAX); /* every warp's as 32 */
    threads->alive = ARENA_ARRAY(arena, uint32_t, warps);
}

/* The threads of a warp that keep their lanes. */
static inline void threads_of_warp(uint16_t threads[LANES_MAX], unsigned warp, unsigned warp_size) {
    for (unsigned lane = 0; lane < warp_size; lane++)
        threads[lane] = (uint16_t)(warp * warp_size + lane);
}

/* The threads of one warp of 32 among `rest`, which are taken from it; as lanes of the warp. threads NULL: all are the
 * slot's. */
static inline uint32_t threads_take_warp(unsigned slot, const uint16_t *threads, uint32_t *rest, unsigned *warp) {
    uint32_t lanes = *rest, home = 0;
    *warp = threads ? threads[bits_first(lanes)] / LANES_MAX : slot;
    if (threads)
        lanes &= threads_of(threads, *warp, LANES_MAX);
    *rest &= ~lanes;
    if (!threads || !(lanes & ~threads_in_place(threads, LANES_MAX)))
        return lanes;
    for (BITS_EACH(lane, lanes))
        home |= UINT32_C(1) << threads[lane] % LANES_MAX;
    return home;
}

static inline void threads_start(struct threads *threads, unsigned warp, uint32_t pc, uint32_t lanes) {
    threads->alive[warp] = lanes;
    for (BITS_EACH(lane, lanes))
        threads->pcs[warp * threads->warp_size + lane] = pc;
}

/* Lanes of the warp that stand at the PC, as far as they have threads. */
static inline uint32_t threads_at(const struct threads *threads, unsigned warp, uint32_t pc) {
    typedef uint32_t four __attribute__((vector_size(16)));
    const uint32_t *pcs = threads->pcs + (size_t)warp * threads->warp_size;
    four bits = {0x1, 0x2, 0x4, 0x8}, here = {0}, some;
    for (unsigned i = 0; i < LANES_MAX / 4; i++, bits <<= 4) {
        memcpy(&some, pcs + 4 * i, sizeof some);
        here |= (four)(some == pc) & bits;
    }
    return here[0] | here[1] | here[2] | here[3];
}

static inline uint32_t threads_next(const struct executed *executed, unsigned lane) {
    const bool taken = executed->taken >> lane & 1;
    switch (executed->flow) {
    case FLOW_BRANCH: return taken ? executed->target : executed->pc + 1;
    case FLOW_MULTI: return executed->next[lane];
    case FLOW_CALL:
    case FLOW_RETURN: return taken ? executed->next[lane] : executed->pc + 1;
    default: return executed->pc + 1;
    }
}

/* Where all threads of the group that do not end go on; NO_PC: that differs, or may. */
static inline uint32_t threads_next_of_all(const struct executed *executed) {
    switch (executed->flow) {
    case FLOW_BRANCH:
        if (executed->taken && executed->taken != executed->lanes)
            return NO_PC;
        return executed->taken ? executed->target : executed->pc + 1;
    case FLOW_MULTI:
    case FLOW_CALL:
    case FLOW_RETURN: return NO_PC;
    default: return executed->pc + 1;
    }
}

/* Every thread of an issued group learns its next PC; those that end are gone. */
static inline void threads_issued(struct threads *threads, const struct group *group, const struct executed *executed) {
    if (executed->flow == FLOW_NEXT) { /* most often */
        for (BITS_EACH(lane, group->lanes))
            threads->pcs[group->threads[lane]] = executed->pc + 1;
        return;
    }
    for (BITS_EACH(lane, group->lanes)) {
        const unsigned thread = group->threads[lane];
        threads->pcs[thread] = threads_next(executed, lane);
        if (executed->flow == FLOW_EXIT && executed->taken >> lane & 1)
            threads->alive[thread / threads->warp_size] &= ~(UINT32_C(1) << thread % threads->warp_size);
    }
}

static inline void threads_where(const struct threads *threads, unsigned warp, uint32_t pcs[LANES_MAX]) {
    for (BITS_EACH(lane, threads->alive[warp]))
        pcs[lane] = threads->pcs[warp * threads->warp_size + lane];
}

/* These lanes of the warp, a row for each PC; how many rows, at most `most`. */
static inline unsigned threads_show(const struct threads *threads, unsigned warp, uint32_t lanes, const char *what,
                                    struct group_row *rows, unsigned most) {
    const uint32_t *pcs = threads->pcs + (size_t)warp * threads->warp_size;
    unsigned count = 0;
    for (uint32_t rest = lanes, here; rest && count < most; rest &= ~here) {
        const uint32_t pc = pcs[bits_first(rest)];
        here = 0;
        for (BITS_EACH(lane, rest))
            here |= (uint32_t)(pcs[lane] == pc) << lane;
        rows[count++] = (struct group_row){what, pc, NO_PC, here, NULL};
    }
    return count;
}

#endif
