/* SPDX-License-Identifier: Apache-2.0 */
/* Victim tags: for each warp of an SM the lines it lost from the L1 last, in sets, first in first out (Rogers, O'Connor and Aamodt,
 * MICRO 2012, section 3.3). Schedulers that ask who loses what it would have used again hold one. */
#ifndef HEDDLE_SM_VICTIMS_H
#define HEDDLE_SM_VICTIMS_H

#include <stdint.h>

#include "base/arena.h"
#include "cost/cost.h"

struct victims {
    unsigned warps, sets, ways; /* of a warp; sets 0: it holds nothing */
    uint32_t line_bytes;
    uint64_t *tags; /* [warp][set][way]: a line's address and 1, 0: empty */
    uint8_t *next;  /* [warp][set]: the way that is written next */
};

/* Of so many warps, for lines of so many bytes; entries of a warp, a multiple of the ways. */
static inline void victims_create(struct victims *v, struct arena *arena, unsigned warps, uint32_t line_bytes,
                                  unsigned entries, unsigned ways) {
    *v = (struct victims){.warps = warps, .sets = entries / ways, .ways = ways};
    v->line_bytes = line_bytes ? line_bytes : 1;
    v->tags = ARENA_ARRAY(arena, uint64_t, (size_t)warps * entries + 1);
    v->next = ARENA_ARRAY(arena, uint8_t, (size_t)warps * v->sets + 1);
}

/* Of a warp and the set of that line, when there are sets. */
static inline size_t victims_set(const struct victims *v, unsigned warp, uint64_t line) {
    return (size_t)warp * v->sets + (size_t)(line / v->line_bytes % v->sets);
}

static inline uint64_t *victims_find(const struct victims *v, unsigned warp, uint64_t line) {
    if (!v->sets)
        return NULL;
    uint64_t *set = v->tags + victims_set(v, warp, line) * v->ways;
    for (unsigned way = 0; way < v->ways; way++)
        if (set[way] == line + 1)
            return &set[way];
    return NULL;
}

/* One that is there already stays where it is. */
static inline void victims_add(struct victims *v, unsigned warp, uint64_t line) {
    if (!v->sets || victims_find(v, warp, line))
        return;
    const size_t set = victims_set(v, warp, line);
    v->tags[set * v->ways + v->next[set]] = line + 1;
    v->next[set] = (uint8_t)((v->next[set] + 1u) % v->ways);
}

/* From all warps: somebody has stored into the line. */
static inline void victims_remove(struct victims *v, uint64_t line) {
    for (unsigned warp = 0; warp < v->warps; warp++) {
        uint64_t *tag = victims_find(v, warp, line);
        if (tag)
            *tag = 0;
    }
}

/* In hardware: 40 bits a tag, and the owner of each line of the L1 (section 5.7). */
static inline void victims_cost(unsigned entries, const struct cost_shape *shape, struct cost *out) {
    const unsigned owner = cost_index_bits(shape->warps);
    if (entries)
        cost_add(out, COST_MEMORY, "victim tag array", "tag 40", (uint64_t)shape->warps * entries,
                 (struct cost_array){1, 40, 1, 1});
    if (shape->cache_lines)
        cost_add(out, COST_MEMORY, "owners of lines", arena_printf(out->arena, "warp %u", owner), shape->cache_lines,
                 (struct cost_array){1, owner, 1, 1});
}

#endif
