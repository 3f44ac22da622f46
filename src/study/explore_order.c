/* SPDX-License-Identifier: Apache-2.0 */
#include "study/explore_order.h"

#include <string.h>

#include "divergence/divergence.h"
#include "machine/machine.h"

enum { BLOCKS_FORWARD, BLOCKS_BACKWARD, BLOCKS_MIXED, BLOCK_ORDERS };

/* The mechanism of that number that can run without time with its own keys as they are, and is not the machine's; NULL: there are not so
 * many. */
static const char *mechanism_at(uint64_t number, const char *own) {
    for (unsigned i = 0; divergence_at(i); i++) {
        const struct divergence_ops *mechanism = divergence_at(i);
        if (mechanism->forming || mechanism->slipping || strcmp(mechanism->name, own) == 0)
            continue;
        if (number-- == 0)
            return mechanism->name;
    }
    return NULL;
}

struct explore_order explore_order_of(uint64_t number, const char *own, struct arena *arena) {
    static const unsigned bursts[] = {1, 4, 16, 64, 256};
    static const uint64_t turns[] = {3, 12, 100, 2000};
    static const char *const picks[PICKS] = {"any lane", "the first lane", "the last lane",
                                             "the lane that is farthest behind", "the lane that is farthest ahead"};
    static const char *const blocks[BLOCK_ORDERS] = {"in order", "in reverse", "mixed"};
    struct explore_order out = {.mechanism = number && number % 2 == 0 ? mechanism_at(number / 2 - 1, own) : NULL};
    if (!number || out.mechanism) {
        out.text = number ? arena_printf(arena, "mechanism %s", out.mechanism) : "the machine's own order";
        return out;
    }
    struct rng rng;
    rng_seed(&rng, number);
    const unsigned pick = (unsigned)rng_below(&rng, PICKS), which = (unsigned)rng_below(&rng, BLOCK_ORDERS);
    out.order = (struct emulate_order){.seed = number,
                                       .scatters = true,
                                       .burst = bursts[rng_below(&rng, sizeof bursts / sizeof *bursts)],
                                       .part = rng_below(&rng, 2) ? 64 : 0,
                                       .pick = pick,
                                       .turn_issues = turns[rng_below(&rng, sizeof turns / sizeof *turns)],
                                       .block_step = which,
                                       .block_first = rng_u32(&rng)};
    out.delay_chance = rng_below(&rng, 2) ? 160 : 0;
    out.text = arena_printf(arena, "%s goes on, for up to %u instructions, blocks %s%s", picks[pick], out.order.burst,
                            blocks[which], out.delay_chance ? ", stores reach memory late" : "");
    return out;
}

static uint64_t common_factor(uint64_t a, uint64_t b) { return b ? common_factor(b, a % b) : a; }

struct emulate_order explore_blocks(const struct explore_order *order, uint64_t blocks) {
    struct emulate_order out = order->order;
    const uint64_t which = out.block_step, first = out.block_first;
    out.block_step = which == BLOCKS_BACKWARD ? blocks - 1 : 1;
    out.block_first = which == BLOCKS_FORWARD ? 0 : which == BLOCKS_BACKWARD ? blocks - 1 : first % blocks;
    for (uint64_t step = blocks / 2 + 1; which == BLOCKS_MIXED && step < blocks && out.block_step == 1; step++)
        if (common_factor(step, blocks) == 1)
            out.block_step = step;
    return out;
}
