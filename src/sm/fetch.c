/* SPDX-License-Identifier: Apache-2.0 */
/* Fetch: a few instructions of one warp at a time, from one line of the instruction cache. */
#include "sm/fetch.h"

#include "sm/wheel.h"

enum { LINE_INSTRUCTIONS = 16 };

/* The outcome of the warp's branch is known. Apart from the loop over cycles: most machines know it at once. */
__attribute__((noinline)) void sm_know_outcome(struct sm *sm, unsigned warp) {
    struct sm_warp *w = &SETS(sm)->warps[warp];
    const struct sm_kept kept = sm->kept[warp];
    w->wrong_path = w->fetching = false;
    w->buffer_pc = w->pc;
    w->buffer_end = w->pc - kept.pc < kept.end - kept.pc ? kept.end : w->pc;
    SETS(sm)->front->consider(sm, warp);
}

void sm_fetched_wrong_path(struct sm *sm, unsigned warp) {
    struct sm_warp *w = &SETS(sm)->warps[warp];
    if (w->fetching)
        return;
    w->wrong_path = true;
    if (w->buffer_end == w->buffer_pc) /* the fetch to come is in vain */
        return;
    w->fetching = true; /* what is here is looked at in the next cycle */
    sm_event(sm, sm->now + 1, EVENT_FETCHED, warp);
}

/* Lanes that diverge: fetch was right if the side it took is the one the mechanism goes on with, or another path of the
 * warp altogether. */
static bool was_right(struct sm *sm, unsigned warp, const struct executed *executed, bool predicted) {
    const uint32_t sides[2] = {executed->pc + 1, executed->target};
    struct group next;
    if (sm->predictor->ops->knows)
        return true;
    if (!executed_diverges(executed))
        return predicted == (executed->taken != 0);
    return !sm->mechanism->offer(sm->control, warp, &next) || next.pc == sides[predicted] ||
           next.pc != sides[!predicted];
}

/* The warp is fetched for again when the outcome is known; before, what was predicted is, in vain, if its turn comes. What
 * is in the buffer is of no use then; where fetch only waits, it is. */
void sm_predict(struct sm *sm, unsigned warp, const struct executed *executed) {
    struct predictor *predictor = sm->predictor;
    struct sm_warp *w = &SETS(sm)->warps[warp];
    bool predicted = false;
    if (!predictor_branched(predictor, warp, NULL, executed, &predicted) || !sm->params.branch_cycles)
        return;
    if (predictor->ops && was_right(sm, warp, executed, predicted)) {
        predictor->stats.followed++;
        return;
    }
    predictor->stats.waited += !predictor->ops;
    predictor->stats.squashed += predictor->ops != NULL;
    sm->kept[warp] = (struct sm_kept){executed->pc + 1, predictor->ops ? executed->pc + 1 : w->buffer_end};
    w->buffer_end = executed->pc + 1;
    w->wrong_path = true;
    w->fetching = !predictor->ops;
    sm_event(sm, sm->now + sm->params.branch_cycles, EVENT_FETCHED, warp);
}

void sm_instruction_arrived(struct sm *sm, uint64_t address) {
    struct cache_arrival arrival;
    if (!cache_fill(sm->instruction, address, &arrival))
        return;
    for (uint32_t i = 0; i < arrival.count; i++)
        sm_event(sm, sm->now + sm->params.fetch_cycles, EVENT_FETCHED, (uint32_t)arrival.tags[i]);
}

/* Apart from the loop over cycles, in which blocks begin. */
__attribute__((noinline)) void sm_remember_code(struct sm *sm, uint32_t first_pc) {
    if (sm->kept) /* some fetches are in vain, and looked at first */
        return;
    const struct function *kernel = module_function_at(sm->module, first_pc);
    uint32_t *used = ARENA_ARRAY(sm->arena, uint32_t, cache_sets(sm->instruction));
    if (cache_atom_bytes(sm->instruction) != LINE_INSTRUCTIONS * SM_INSTRUCTION_BYTES)
        return;
    for (uint32_t pc = kernel->first_pc; pc < kernel->end_pc; pc++)
        if (sm->module->code[pc].op == OP_CALL)
            return;
    for (uint32_t i = kernel->first_pc / LINE_INSTRUCTIONS; i <= (kernel->end_pc - 1) / LINE_INSTRUCTIONS; i++)
        if (++used[cache_set_of(sm->instruction, sm_code_address(i * LINE_INSTRUCTIONS))] > sm->instruction_ways)
            return;
    sm->code_here = ARENA_ARRAY(sm->arena, uint64_t, sm->module->code_count / LINE_INSTRUCTIONS / 64 + 1);
}

static bool is_here(const struct sm *sm, uint32_t pc) {
    const uint32_t line = pc / LINE_INSTRUCTIONS;
    return sm->code_here && sm->code_here[line / 64] >> line % 64 & 1;
}

static void fetched_soon(struct sm *sm, unsigned warp) {
    sm_event(sm, sm->now + sm->params.fetch_cycles, EVENT_FETCHED, warp);
}

void sm_ask_for_code(struct sm *sm, const struct cache_result *missed) {
    for (uint32_t i = 0; i < missed->down_count; i++) {
        const struct packet packet = {.address = missed->down[i].address,
                                      .tag = TAG_INSTRUCTION,
                                      .sm = sm->shape.id,
                                      .bytes = missed->down[i].bytes,
                                      .kind = PACKET_READ,
                                      .sectors = sm_sectors(missed->down[i].address, missed->down[i].bytes)};
        link_send(sm->requests, sm->now, &packet, 1, packet.bytes);
        sm->stats.requests_sent++;
    }
}

static void remember(struct sm *sm, uint32_t pc) {
    const uint32_t line = pc / LINE_INSTRUCTIONS;
    if (sm->code_here)
        sm->code_here[line / 64] |= UINT64_C(1) << line % 64;
}

static bool fetch_warp(struct sm *sm, unsigned warp) {
    struct sm_warp *w = &SETS(sm)->warps[warp];
    if (is_here(sm, w->pc)) {
        fetched_soon(sm, warp);
        w->fetching = true;
        SETS(sm)->wants_fetch &= ~set_of(warp);
        sm->stats.fetches++;
        return true;
    }
    if (w->wrong_path && sm->kept) { /* what a branch was predicted to go to: only the turn counts */
        w->fetching = true;
        SETS(sm)->wants_fetch &= ~set_of(warp);
        sm->stats.fetches++;
        sm->predictor->stats.vain_fetches++;
        return true;
    }
    const struct request request = {.address = sm_code_address(w->pc), .tag = warp, .bytes = SM_INSTRUCTION_BYTES};
    struct cache_result result;
    const uint32_t room = sm_room(sm);
    switch (cache_access(sm->instruction, &request, room, &result)) {
    case CACHE_HIT:
        fetched_soon(sm, warp);
        remember(sm, w->pc);
        break;
    case CACHE_MISS: sm_ask_for_code(sm, &result); break;
    case CACHE_PENDING: break;
    case CACHE_BLOCKED: return false;
    }
    w->fetching = true;
    SETS(sm)->wants_fetch &= ~set_of(warp);
    sm->stats.fetches++;
    return true;
}

void sm_fetch(struct sm *sm) {
    for (unsigned n = 0; n < sm->params.fetches_per_cycle && SETS(sm)->wants_fetch; n++) {
        const unsigned warp = set_next(SETS(sm)->wants_fetch, sm->fetch_turn);
        if (!fetch_warp(sm, warp))
            return;
        sm->fetch_turn = warp;
    }
}
