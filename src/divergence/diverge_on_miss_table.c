/* SPDX-License-Identifier: Apache-2.0 */
/* Diverge on miss: the parties of a warp, and the memory divergence table of those that fell behind. */
#include "divergence/diverge_on_miss.h"

#include <assert.h>

/* ---- parties ---- */

unsigned diverge_on_miss_split(struct diverge_on_miss *m, unsigned warp, unsigned party, uint32_t lanes) {
    struct diverge_on_miss_warp *s = &m->warps[warp];
    const unsigned new = bits_first(~s->used);
    assert(s->used != UINT32_MAX); /* no more parties than lanes */
    pdom_split(m->stacks, diverge_on_miss_stack_of(warp, party), diverge_on_miss_stack_of(warp, new), lanes);
    s->used |= UINT32_C(1) << new;
    diverge_on_miss_keep_largest(&m->stats.parties_largest, bits_count(s->used));
    return new;
}

unsigned diverge_on_miss_join(struct diverge_on_miss *m, unsigned warp, unsigned a, unsigned b) {
    struct diverge_on_miss_warp *s = &m->warps[warp];
    if (!pdom_join(m->stacks, diverge_on_miss_stack_of(warp, a), diverge_on_miss_stack_of(warp, b))) {
        if (!pdom_join(m->stacks, diverge_on_miss_stack_of(warp, b), diverge_on_miss_stack_of(warp, a)))
            return NO_PARTY;
        const unsigned other = a;
        a = b, b = other;
    }
    const uint32_t gone = ~(UINT32_C(1) << b);
    s->used &= gone, s->slipped &= gone, s->parked &= gone;
    return a;
}

/* ---- the table ---- */

static void table_remove(struct diverge_on_miss_warp *s, uint32_t lanes) {
    struct diverge_on_miss_table *table = &s->table;
    unsigned kept = 0;
    for (unsigned i = 0; i < table->count; i++) {
        table->entries[i].lanes &= ~lanes;
        if (table->entries[i].lanes)
            table->entries[kept++] = table->entries[i];
    }
    table->count = kept;
    s->waiting &= ~lanes, s->ready &= ~lanes, s->held &= ~lanes;
    s->waited = 0;
}

void diverge_on_miss_table_add(struct diverge_on_miss *m, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t held) {
    struct diverge_on_miss_warp *s = &m->warps[warp];
    struct diverge_on_miss_table *table = &s->table;
    const unsigned at = diverge_on_miss_table_find(table, pc);
    if (at == table->count) {
        assert(table->count < TABLE_MAX); /* no more than lanes */
        table->entries[table->count].pc = pc, table->entries[table->count++].lanes = 0;
    }
    table->entries[at].lanes |= lanes;
    s->waiting |= lanes, s->held |= held, s->ready |= held;
    unsigned party = s->running;
    if (lanes == diverge_on_miss_party_lanes(m, warp, party))
        s->running = NO_PARTY;
    else
        party = diverge_on_miss_split(m, warp, party, lanes);
    s->slipped |= UINT32_C(1) << party;
    const uint32_t others = s->slipped & ~(UINT32_C(1) << party);
    for (BITS_EACH(other, others)) {
        const unsigned both = diverge_on_miss_join(m, warp, other, party);
        party = both == NO_PARTY ? party : both;
    }
    assert(diverge_on_miss_table_used(s) <= m->params->mdt_entries &&
           diverge_on_miss_table_used(s) <= m->params->mcb_entries);
    diverge_on_miss_keep_largest(&m->stats.mdt_largest, diverge_on_miss_table_used(s));
    diverge_on_miss_keep_largest(&m->stats.mcb_largest, diverge_on_miss_table_used(s));
}

uint32_t diverge_on_miss_take_back(struct diverge_on_miss *m, unsigned warp, uint32_t lanes) {
    struct diverge_on_miss_warp *s = &m->warps[warp];
    const uint32_t slipped = s->slipped;
    uint32_t taken = 0;
    for (BITS_EACH(party, slipped)) {
        const uint32_t all = diverge_on_miss_party_lanes(m, warp, party), some = all & lanes;
        if (!some)
            continue;
        const unsigned part = some == all ? party : diverge_on_miss_split(m, warp, party, some);
        if (s->running == NO_PARTY) {
            s->running = (uint8_t)part;
        } else {
            const unsigned both = diverge_on_miss_join(m, warp, s->running, part);
            if (both == NO_PARTY) {
                if (part != party)
                    diverge_on_miss_join(m, warp, party, part);
                continue;
            }
            s->running = (uint8_t)both;
        }
        s->slipped &= ~(UINT32_C(1) << s->running);
        taken |= some;
    }
    table_remove(s, taken);
    return taken;
}
