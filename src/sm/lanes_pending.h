/* SPDX-License-Identifier: Apache-2.0 */
/* Registers that wait for a write in some lanes of a warp: what scoreboards by lanes and by thread share. */
#ifndef HEDDLE_SM_LANES_PENDING_H
#define HEDDLE_SM_LANES_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"

/* Lanes in which a register waits for a write, and those of them that wait for memory. */
struct lanes_pending {
    uint32_t any, memory;
};

/* These registers of a word of the scoreboard wait for a write in these lanes. */
static inline void lanes_set(struct lanes_pending *masks, uint64_t registers, uint32_t lanes, bool memory) {
    for (; registers; registers &= registers - 1) {
        struct lanes_pending *mask = &masks[bits_first64(registers)];
        mask->any |= lanes;
        mask->memory |= memory ? lanes : 0;
    }
}

/* They are written; the registers that no lane waits for any more. */
static inline uint64_t lanes_clear(struct lanes_pending *masks, uint64_t registers, uint32_t lanes) {
    uint64_t free = 0;
    for (uint64_t rest = registers; rest; rest &= rest - 1) {
        struct lanes_pending *mask = &masks[bits_first64(rest)];
        mask->any &= ~lanes, mask->memory &= ~lanes;
        free |= mask->any ? 0 : rest & -rest;
    }
    return free;
}

/* Adds the lanes that wait for these registers. */
static inline void lanes_add(const struct lanes_pending *masks, uint64_t registers, struct lanes_pending *sum) {
    for (; registers; registers &= registers - 1) {
        const struct lanes_pending *mask = &masks[bits_first64(registers)];
        sum->any |= mask->any, sum->memory |= mask->memory;
    }
}

#endif
