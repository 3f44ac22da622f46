/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic warp formation: which group issues first, by the policy. */
#include "divergence/dwf.h"

#include <assert.h>

static bool comes_before(const struct dwf *dwf, const struct formed *a, const struct formed *b) {
    const uint32_t of_a = dwf->counts[a->pc], of_b = dwf->counts[b->pc];
    switch ((enum dwf_policy)dwf->params.policy) {
    case POLICY_TIME: break;
    case POLICY_PC:
        if (a->pc != b->pc)
            return a->pc < b->pc;
        break;
    case POLICY_MAJORITY:
        if ((a->pc == dwf->majority) != (b->pc == dwf->majority))
            return a->pc == dwf->majority;
        if (of_a != of_b)
            return of_a > of_b;
        break;
    case POLICY_MINORITY:
        if (of_a != of_b)
            return of_a < of_b;
        break;
    case POLICY_PDOM:
        if (a->rank != b->rank)
            return a->rank < b->rank;
        break;
    }
    return a->birth < b->birth;
}

/* The group that comes first, of those in these slots and, if so asked, of the queue; NULL: there is none. */
static struct formed *find_first(const struct dwf *dwf, uint64_t slots, bool queued) {
    struct formed *best = NULL;
    for (; slots; slots &= slots - 1) {
        struct formed *formed = formed_at(&dwf->pool, bits_first64(slots));
        if (!best || comes_before(dwf, formed, best))
            best = formed;
    }
    for (uint16_t i = queued ? dwf->pool.first : FORMED_NONE; i != FORMED_NONE; i = dwf->pool.items[i].next)
        if (!best || comes_before(dwf, &dwf->pool.items[i], best))
            best = &dwf->pool.items[i];
    return best;
}

uint64_t dwf_settle_by_policy(struct dwf *dwf) {
    struct formed_pool *pool = &dwf->pool;
    uint64_t changed = 0;
    while (pool->first != FORMED_NONE) {
        const struct formed *best = find_first(dwf, 0, true), *worst = NULL;
        for (uint64_t rest = pool->slots_free ? 0 : UINT64_MAX; rest; rest &= rest - 1) {
            const struct formed *formed = formed_at(pool, bits_first64(rest));
            if (!worst || comes_before(dwf, worst, formed))
                worst = formed;
        }
        if (worst && !comes_before(dwf, best, worst))
            break;
        const unsigned slot = worst ? worst->slot : bits_first64(pool->slots_free);
        if (worst)
            formed_requeue(pool, formed_leave(pool, slot));
        formed_enter(pool, (uint16_t)(best - pool->items), slot);
        changed |= UINT64_C(1) << slot;
    }
    return changed;
}

unsigned dwf_pick(void *self, uint64_t ready) {
    const struct dwf *dwf = self;
    const struct formed *best = find_first(dwf, ready, false);
    if (dwf->params.policy == POLICY_MAJORITY && best->pc != dwf->majority)
        return ISSUE_SLOTS_MAX; /* all groups at the majority PC come before any other */
    return best->slot;
}

/* ---- policy majority ---- */

void dwf_next_majority(struct dwf *dwf) {
    if (!dwf_pool_count(dwf))
        return; /* the entry keeps its PC */
    if (!dwf->has_heap) {
        dwf->majority = NO_PC;
        dwf->majority = find_first(dwf, ~dwf->pool.slots_free, true)->pc;
        return;
    }
    const uint64_t now = *dwf->now;
    if (dwf->params.ports && now < dwf->heap_free) {
        dwf_wake_at(dwf, dwf->heap_free);
        return;
    }
    struct heap_entry root;
    const unsigned levels = heap_pop(&dwf->heap, &root);
    assert(root.count == dwf->counts[root.key]);
    dwf->majority = root.key;
    const unsigned reads = dwf->params.ports == 1 ? 2 : 1; /* of both children: with one port one after the other */
    dwf->heap_free = now + 1 + reads * levels, dwf->heap_growth = NEVER;
}

/* ---- policy pdom-priority ---- */

void dwf_find_points(struct dwf *dwf, struct arena *arena, unsigned threads) {
    unsigned count = 0;
    dwf->point = ARENA_ARRAY(arena, uint16_t, dwf->code_count);
    for (uint32_t pc = 0; pc < dwf->code_count; pc++) {
        const uint32_t meet = dwf->code[pc].reconverge;
        if (inst_may_diverge(&dwf->code[pc]) && meet != NO_PC && !dwf->point[meet])
            dwf->point[meet] = (uint16_t)++count;
    }
    dwf->words = count / 64 + 1;
    dwf->ahead = ARENA_ARRAY(arena, uint64_t, (size_t)threads * dwf->words);
    dwf->passed = ARENA_ARRAY(arena, uint32_t, threads);
}

void dwf_pass_points(struct dwf *dwf, const struct group *group, uint32_t pc) {
    const uint32_t meet = inst_may_diverge(&dwf->code[pc]) ? dwf->code[pc].reconverge : NO_PC;
    for (BITS_EACH(lane, group->lanes)) {
        const unsigned thread = group->threads[lane];
        uint64_t *ahead = dwf->ahead + (size_t)thread * dwf->words;
        if (meet != NO_PC)
            ahead[dwf->point[meet] / 64] |= UINT64_C(1) << dwf->point[meet] % 64;
        const uint32_t next = dwf->threads.pcs[thread];
        const unsigned point = next < dwf->code_count ? dwf->point[next] : 0;
        dwf->passed[thread] += point && ahead[point / 64] >> point % 64 & 1;
    }
}
