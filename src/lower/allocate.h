/* SPDX-License-Identifier: Apache-2.0 */
/* The register allocator: what its parts share, where units are live and which registers are free there. */
#ifndef HEDDLE_LOWER_ALLOCATE_H
#define HEDDLE_LOWER_ALLOCATE_H

#include "lower/machine_flow.h"

struct segment {
    uint32_t from, to; /* [from, to) */
};

struct unit_range {
    struct {
        struct segment *items;
        unsigned count, capacity;
    } segments;
    uint64_t uses; /* weighted by loops */
    uint32_t colour;
    uint32_t merged; /* the unit it was merged into, or itself */
};

struct allocator {
    struct machine_kernel *machine;
    struct arena *arena; /* of one round */
    struct machine_flow flow;
    uint32_t unit_count, word_count; /* 64-bit words of a set of units */
    uint64_t *live_in;               /* by block */
    uint32_t *first;                 /* by block: its first point / 2 */
    uint32_t points;
    struct unit_range *ranges;
    uint64_t **busy[2]; /* by class and register: points */
    uint32_t limit[2];
};

/* By unit: where it is kept from now on. */
struct spill {
    uint32_t place; /* local memory of the unit, or the unit that keeps a predicate; 0: it is not spilled */
};

static inline bool test_bit(const uint64_t *set, uint32_t i) { return set[i / 64] >> i % 64 & 1; }
static inline void set_bit(uint64_t *set, uint32_t i) { set[i / 64] |= UINT64_C(1) << i % 64; }
static inline void clear_bit(uint64_t *set, uint32_t i) { set[i / 64] &= ~(UINT64_C(1) << i % 64); }

static inline unsigned width_of(const struct machine_inst *inst, unsigned operand) {
    return inst->widths[operand] ? inst->widths[operand] : 1;
}

/* It leaves in place what the destination held where the guard fails. */
static inline bool keeps_old(const struct machine_inst *inst) {
    return inst->native.guard != GUARD_NONE && !inst->whole;
}

/* live_in, points and ranges of an allocator whose flow and numbers of units are set. */
void allocate_find_ranges(struct allocator *a);
/* Units that are live where a block ends, its branch's predicate with them. */
void allocate_live_out(const struct allocator *a, uint32_t b, uint64_t *live);
/* Flow, live_in, points and ranges of an allocator that has a machine and an arena. */
void allocate_begin(struct allocator *a);
/* Copies whose two sides never live at once become one unit, and are gone. */
void allocate_join_copies(struct machine_kernel *machine);
/* Segments in the order of their first points. */
void allocate_sort_segments(struct unit_range *range);
/* Loads before instructions that read a spilled unit, stores behind those that write one. Units from `known` on are not
 * spilled. */
void allocate_rewrite(struct machine_kernel *machine, const struct spill *spills, uint32_t known);

#endif
