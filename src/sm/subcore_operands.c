/* SPDX-License-Identifier: Apache-2.0 */
/* sm.pipeline control-bits: operands of native code. Registers lie in two banks, each read once a cycle; an instruction of known latency reads
 * all it needs within a window of cycles, or waits, and nothing passes it. The reuse cache keeps what was read last in each slot and bank, where
 * the instruction asks for it. Constants come from a small cache of the sub-core. */
#include <string.h>

#include "sm/subcore.h"

enum { TO_ALLOCATE = 2 /* cycles from issue: control, and the stage that gives ports */ };

/* ---- registers ---- */

static void pass_ports(struct subcore *core, uint64_t now) {
    const uint64_t passed = now - core->ports_from;
    for (unsigned bank = 0; bank < REGISTER_BANKS; bank++)
        core->ports[bank] = passed < 64 ? core->ports[bank] >> passed : 0;
    core->ports_from = now;
}

/* Reads of each bank that the reuse cache does not save. Every read through a slot and bank leaves there what it marks, or nothing. */
static void count_reads(struct sm *sm, unsigned w, const struct inst_timing *said, unsigned reads[REGISTER_BANKS]) {
    struct subcore *core = subcore_of(sm, w);
    for (unsigned i = 0; i < said->source_count; i++) {
        const unsigned bank = said->sources[i] % REGISTER_BANKS, slot = said->slots[i] % SOURCE_SLOTS;
        const uint16_t name = (uint16_t)((w << 8 | said->sources[i]) + 1);
        const bool is_here = sm->params.reuse_cache && core->reused[slot][bank] == name;
        bool is_read = is_here;
        for (unsigned k = 0; k < i; k++)
            is_read |= said->sources[k] == said->sources[i];
        reads[bank] += !is_read;
        core->reused[slot][bank] = said->reuse >> slot & 1 ? name : 0;
    }
}

/* The first `count` ports of a bank that are free in the window; 0: there are not so many. */
static uint64_t find_ports(uint64_t taken, unsigned from, unsigned window, unsigned count) {
    uint64_t found = 0;
    for (unsigned i = from; count && i < from + window; i++)
        if (!(taken >> i & 1))
            found |= UINT64_C(1) << i, count--;
    return count ? 0 : found;
}

unsigned subcore_read_operands(struct sm *sm, unsigned w, const struct subcore_inst *inst) {
    enum { TRIES = 24 };
    struct subcore *core = subcore_of(sm, w);
    unsigned reads[REGISTER_BANKS] = {0};
    if (!sm->params.read_window || !subcores_of(sm)->code->has_control)
        return 0;
    pass_ports(core, sm->now);
    count_reads(sm, w, &inst->said, reads);
    unsigned at = TO_ALLOCATE;
    if (core->allocated > sm->now + at)
        at = (unsigned)(core->allocated - sm->now);
    for (unsigned tries = 0; tries < TRIES; tries++, at++) {
        uint64_t found[REGISTER_BANKS];
        bool fits = true;
        for (unsigned bank = 0; bank < REGISTER_BANKS; bank++) {
            found[bank] = find_ports(core->ports[bank], at + 1, sm->params.read_window, reads[bank]);
            fits &= found[bank] || !reads[bank];
        }
        if (!fits)
            continue;
        for (unsigned bank = 0; bank < REGISTER_BANKS; bank++)
            core->ports[bank] |= found[bank];
        break;
    }
    core->allocated = sm->now + at + 1;
    return at - TO_ALLOCATE;
}

void subcore_take_ports(struct sm *sm, unsigned w) {
    struct subcore *core = subcore_of(sm, w);
    if (!sm->params.read_window || !subcores_of(sm)->code->has_control)
        return;
    pass_ports(core, sm->now);
    unsigned at = TO_ALLOCATE + 1;
    while (at < 63 && (core->ports[0] | core->ports[1]) >> at & 1)
        at++;
    for (unsigned bank = 0; bank < REGISTER_BANKS; bank++)
        core->ports[bank] |= UINT64_C(1) << at;
}

/* ---- constants ---- */

/* Moves the line to the front of its set; false: it is not there. */
static bool find_constant(struct subcore *core, uint32_t ways, uint32_t line) {
    uint32_t *set = &core->constants[(line & (core->constant_sets - 1)) * ways];
    uint32_t way = 0;
    while (way < ways && set[way] != line + 1)
        way++;
    if (way == ways)
        return false;
    memmove(set + 1, set, way * sizeof *set);
    set[0] = line + 1;
    return true;
}

static void insert_constant(struct subcore *core, uint32_t ways, uint32_t line) {
    uint32_t *set = &core->constants[(line & (core->constant_sets - 1)) * ways];
    memmove(set + 1, set, (ways - 1) * sizeof *set);
    set[0] = line + 1;
}

uint64_t subcore_find_constant(struct sm *sm, unsigned w, uint32_t line, uint64_t cycle) {
    struct subcore *core = subcore_of(sm, w);
    const uint32_t ways = sm->params.constant_l0_ways;
    if (!core->constants || find_constant(core, ways, line))
        return 0;
    for (unsigned i = 0; i < core->constant_count; i++) {
        if (core->constant_asked[i].line != line)
            continue;
        const uint64_t there = core->constant_asked[i].there;
        if (there > cycle)
            return there;
        core->constant_asked[i] = core->constant_asked[--core->constant_count];
        insert_constant(core, ways, line);
        return 0;
    }
    if (core->constant_count == CONSTANTS_ASKED) /* the oldest is not waited for any more, or is asked for again */
        core->constant_asked[0] = core->constant_asked[--core->constant_count];
    core->constant_asked[core->constant_count].line = line;
    core->constant_asked[core->constant_count].there = cycle + sm->params.constant_l0_cycles;
    return core->constant_asked[core->constant_count++].there;
}
