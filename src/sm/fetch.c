/* Fetch: a few instructions of one warp at a time, from one line of the instruction cache. */
#include "sm/state.h"

enum { LINE_INSTRUCTIONS = 16 };
#define CODE_SPACE (UINT64_C(1) << 41) /* where the memory system sees code */

void sm_fetched(struct sm *sm, unsigned warp) {
    struct sm_warp *w = &sm->warps[warp];
    if (!w->fetching)
        return;
    w->fetching = false;
    w->buffer_pc = w->pc;
    if (w->astray) { /* issue finds out now */
        w->astray = false;
        w->buffer_end = w->pc;
        sm_consider_warp(sm, warp);
        return;
    }
    const uint32_t left = (~w->pc & sm->line_mask) + 1;
    w->buffer_end = w->pc + (left < sm->params.fetch_width ? left : sm->params.fetch_width);
    sm_consider_fetched(sm, warp);
}

void sm_fetched_astray(struct sm *sm, unsigned warp) {
    struct sm_warp *w = &sm->warps[warp];
    if (w->fetching)
        return;
    w->astray = true;
    if (w->buffer_end == w->buffer_pc) /* the fetch to come is in vain */
        return;
    w->fetching = true; /* what is here is looked at in the next cycle */
    sm_event(sm, sm->now + 1, EVENT_FETCHED, warp);
}

void sm_instruction_arrived(struct sm *sm, uint64_t address) {
    struct cache_arrival arrival;
    if (!cache_fill(sm->instruction, address, &arrival))
        return;
    for (uint32_t i = 0; i < arrival.count; i++)
        sm_event(sm, sm->now + sm->params.fetch_cycles, EVENT_FETCHED, (uint32_t)arrival.tags[i]);
}

static uint64_t code_address(uint32_t pc) { return CODE_SPACE + (uint64_t)pc * SM_INSTRUCTION_BYTES; }

/* Apart from the loop over cycles, in which blocks begin. */
__attribute__((noinline)) void sm_remember_code(struct sm *sm, uint32_t first_pc) {
    const struct function *kernel = module_function_at(sm->module, first_pc);
    uint32_t *used = ARENA_ARRAY(sm->arena, uint32_t, cache_sets(sm->instruction));
    if (cache_atom_bytes(sm->instruction) != LINE_INSTRUCTIONS * SM_INSTRUCTION_BYTES)
        return;
    for (uint32_t pc = kernel->first_pc; pc < kernel->end_pc; pc++)
        if (sm->module->code[pc].op == OP_CALL)
            return;
    for (uint32_t i = kernel->first_pc / LINE_INSTRUCTIONS; i <= (kernel->end_pc - 1) / LINE_INSTRUCTIONS; i++)
        if (++used[cache_set_of(sm->instruction, code_address(i * LINE_INSTRUCTIONS))] > sm->instruction_ways)
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

static void remember(struct sm *sm, uint32_t pc) {
    const uint32_t line = pc / LINE_INSTRUCTIONS;
    if (sm->code_here)
        sm->code_here[line / 64] |= UINT64_C(1) << line % 64;
}

static bool fetch_warp(struct sm *sm, unsigned warp) {
    struct sm_warp *w = &sm->warps[warp];
    if (is_here(sm, w->pc)) {
        fetched_soon(sm, warp);
        w->fetching = true;
        sm->wants_fetch &= ~set_of(warp);
        sm->stats.fetches++;
        return true;
    }
    const struct request request = {.address = code_address(w->pc), .tag = warp, .bytes = SM_INSTRUCTION_BYTES};
    struct cache_result result;
    const uint32_t room = sm_room(sm);
    switch (cache_access(sm->instruction, &request, room, &result)) {
    case CACHE_HIT:
        fetched_soon(sm, warp);
        remember(sm, w->pc);
        break;
    case CACHE_MISS:
        for (uint32_t i = 0; i < result.down_count; i++) {
            const struct packet packet = {.address = result.down[i].address,
                                          .tag = TAG_INSTRUCTION,
                                          .sm = sm->shape.id,
                                          .bytes = result.down[i].bytes,
                                          .kind = PACKET_READ,
                                          .sectors = sm_sectors(result.down[i].address, result.down[i].bytes)};
            link_send(sm->requests, sm->now, &packet, 1, packet.bytes);
            sm->stats.requests_sent++;
        }
        break;
    case CACHE_PENDING: break;
    case CACHE_BLOCKED: return false;
    }
    w->fetching = true;
    sm->wants_fetch &= ~set_of(warp);
    sm->stats.fetches++;
    return true;
}

void sm_fetch(struct sm *sm) {
    for (unsigned n = 0; n < sm->params.fetches_per_cycle && sm->wants_fetch; n++) {
        const unsigned warp = set_next(sm->wants_fetch, sm->fetch_turn);
        if (!fetch_warp(sm, warp))
            return;
        sm->fetch_turn = warp;
    }
}
