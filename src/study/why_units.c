/* SPDX-License-Identifier: Apache-2.0 */
/* What no ideal part shows either: execution units that are all taken. */
#include "study/why.h"

#include "result/lines.h"

/* By enum sm_unit, up to the load/store unit, which is the memory's. */
static const struct why_unit_kind kinds[WHY_UNIT_KINDS] = {
    {"sp", "arithmetic units",
     "issue fewer instructions: fused ones, and what the rounds of a loop repeat computed once before it"},
    {"int", "integer units", "compute indices once, and add to them instead of multiplying anew"},
    {"dp", "double-precision units", "use single precision where it is enough"},
    {"sfu", "special-function units",
     "use fewer special functions, divisions and conversions (and double precision, where it has no units): compute "
     "them "
     "once, multiply by a reciprocal"},
    {"tensor", "tensor units", "multiply smaller or sparser matrices, or narrower elements"},
};

/* Slots of schedulers that went by at a line because all units of the kind were taken. */
static uint64_t slots_at(const struct line_stats *line, unsigned kind) { return line->timed.slots[SLOT_STALL + kind]; }

void why_look_at_units(const struct sm_stats *sm, const struct line_stats *lines, unsigned count,
                       struct why_units *out) {
    unsigned most = 0, at = 0;
    *out = (struct why_units){0};
    for (unsigned i = 1; i < WHY_UNIT_KINDS; i++)
        if (sm->in_slots[SLOT_STALL + i] > sm->in_slots[SLOT_STALL + most])
            most = i;
    out->kind = &kinds[most];
    out->taken = sm->slots ? (double)sm->in_slots[SLOT_STALL + most] / (double)sm->slots : 0;
    out->memory = sm->slots ? (double)sm->memory / (double)sm->slots : 0;
    for (unsigned i = 1; i < count; i++)
        if (slots_at(&lines[i], most) > slots_at(&lines[at], most))
            at = i;
    if (count)
        out->file = lines[at].file, out->line = lines[at].line;
}

bool why_units_are_the_limit(const struct why_units *units) { return units->taken >= WHY_LEAST_TAKEN; }
