/* Fetch: a few instructions of one warp at a time, from one line of the instruction cache. */
#include "sm/state.h"

enum { INSTRUCTION_BYTES = 8 };
#define CODE_SPACE (UINT64_C(1) << 41) /* where the memory system sees code */

void sm_fetched(struct sm *sm, unsigned warp) {
    struct sm_warp *w = &sm->warps[warp];
    if (!w->fetching)
        return;
    w->fetching = false;
    w->buffer_pc = w->pc;
    const uint32_t line = sm->instruction ? 128 / INSTRUCTION_BYTES : 16;
    const uint32_t left = line - w->pc % line;
    w->buffer_count = left < sm->params.fetch_width ? left : sm->params.fetch_width;
    sm_update_warp(sm, warp);
}

void sm_instruction_arrived(struct sm *sm, uint64_t address) {
    struct cache_arrival arrival;
    if (!cache_fill(sm->instruction, address, &arrival))
        return;
    for (uint32_t i = 0; i < arrival.count; i++)
        sm_event(sm, sm->now + sm->params.fetch_cycles, EVENT_FETCHED, (uint32_t)arrival.tags[i]);
}

static bool fetch_warp(struct sm *sm, unsigned warp) {
    struct sm_warp *w = &sm->warps[warp];
    const struct request request = {.address = CODE_SPACE + (uint64_t)w->pc * INSTRUCTION_BYTES, .tag = warp, .bytes = INSTRUCTION_BYTES};
    struct cache_result result;
    const uint32_t room = link_room(sm->requests, sm->now);
    switch (cache_access(sm->instruction, &request, room, &result)) {
    case CACHE_HIT: sm_event(sm, sm->now + sm->params.fetch_cycles, EVENT_FETCHED, warp); break;
    case CACHE_MISS:
        for (uint32_t i = 0; i < result.down_count; i++) {
            const struct packet packet = {.address = result.down[i].address, .tag = UINT64_MAX, .sm = sm->shape.id,
                                          .bytes = result.down[i].bytes, .kind = PACKET_READ, .sectors = 0xf};
            link_send(sm->requests, sm->now, &packet, 1, packet.bytes);
            sm->stats.requests_sent++;
        }
        break;
    case CACHE_PENDING: break;
    case CACHE_BLOCKED: return false;
    }
    w->fetching = true;
    sm->wants_fetch &= ~(UINT64_C(1) << warp);
    sm->stats.fetches++;
    return true;
}

void sm_fetch(struct sm *sm) {
    for (unsigned n = 0; n < sm->params.fetches_per_cycle && sm->wants_fetch; n++) {
        const uint64_t after = sm->fetch_turn >= 63 ? 0 : sm->wants_fetch & ~((UINT64_C(2) << sm->fetch_turn) - 1);
        const unsigned warp = bits_first64(after ? after : sm->wants_fetch);
        if (!fetch_warp(sm, warp))
            return;
        sm->fetch_turn = warp;
    }
}
