/* SPDX-License-Identifier: Apache-2.0 */
/* The area of a whole core [001 §6.1, table 2]. The study measured the units of another processor on a photograph and scaled
 * them by capacities and ports; it prints four areas at 45 nm and no parts. Ours: a core is a front end, lanes, and what
 * each thread needs (registers, and its share of what grows with warps), which three of the four areas give exactly; a
 * scalar core has one lane and one thread. The fourth is 32 scalar cores. So this is a reading of the table and foretells
 * nothing in it; what it foretells are cores with other numbers of lanes and warps. */
#include "cost/cost.h"

#define TARJAN "Tarjan 2009, table 2"

static const struct cost_core_published published[] = {
    {TARJAN, "scalar core", 1, 1, 1.05},
    {TARJAN, "core of 32 lanes with 2 warps", 32, 64, 7.3},
    {TARJAN, "core of 32 lanes with 16 warps", 32, 512, 11.5},
};

const struct cost_core_published *cost_core_find_published(const struct cost_shape *shape) {
    for (unsigned i = 0; i < COST_CORES; i++)
        if (published[i].lanes == shape->lanes && published[i].threads == shape->threads)
            return &published[i];
    return NULL;
}

/* Two cores that differ in threads alone, and one of one lane and one thread. */
void cost_core_fit(struct cost_core *core) {
    const struct cost_core_published *scalar = &published[0], *few = &published[1], *many = &published[2];
    core->thread = (many->area_mm2 - few->area_mm2) / (many->threads - few->threads);
    const double without = few->area_mm2 - few->threads * core->thread, one = scalar->area_mm2 - core->thread;
    core->lane = (without - one) / (few->lanes - 1);
    core->front_end = one - core->lane;
}

double cost_core_mm2(const struct cost_core *core, const struct cost_shape *shape) {
    return core->front_end + shape->lanes * core->lane + shape->threads * core->thread;
}

double cost_scaled_mm2(double mm2, double from_nm, double to_nm) { return mm2 * (to_nm / from_nm) * (to_nm / from_nm); }
