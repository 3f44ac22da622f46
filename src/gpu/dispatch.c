/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks are handed out, and SMs made for them. */
#include "gpu/dispatch.h"

#include "base/bits.h"

/* Lines of the L1 that memory moves in 1000 cycles, divided among the SMs. */
static uint64_t memory_share(const struct gpu_config *config, const struct cache_params *l1) {
    const struct dram_params *dram = config->dram;
    const uint64_t count = dram->chip_mask ? UINT64_C(1) << bits_count64(dram->chip_mask) : dram->chips;
    const uint64_t bytes = dram->model == DRAM_BANKS ? UINT64_C(1000) * dram->burst_bytes / dram->burst_clocks
                                                     : UINT64_C(1000) * dram->bytes_per_clock;
    const uint64_t line = l1->sector_bytes ? l1->sector_bytes : l1->line_bytes;
    return bytes * count * config->gpu->dram_khz / config->gpu->sm_khz / line / config->sm_count;
}

/* An SM is made with its first block: before, all it does is pass idle slots. SMs get theirs in order. */
enum status dispatch_make_sm(struct launch_state *state, uint64_t cycle, struct report *report) {
    struct gpu *gpu = state->gpu;
    const struct gpu_config *config = &gpu->config;
    const struct gpu_launch *launch = state->launch;
    const uint32_t number = launch_state_sm(state, state->made_count);
    const struct sm_shape shape = {launch->places,
                                   launch->warps_per_place,
                                   launch->warp_size,
                                   number,
                                   config->gpu->link_latency,
                                   state->crew.threads[0].instructions,
                                   &state->crew.threads[0].histograms,
                                   launch->own_params,
                                   memory_share(config, launch->l1),
                                   launch->issues,
                                   cache_is_far(launch->l1, config->sm_count)};
    struct sm **sm = &state->sms[state->made_count];
    struct arena *arena = launch->arenas ? &launch->arenas[number] : state->arena;
    enum status status = caches_of(&gpu->caches, number, launch->l1, arena, report);
    if (status == STATUS_OK && sm_code_samples(state->code))
        status = caches_texture(&gpu->caches, number, report);
    const struct sm_parts parts = {.dsm = state->clusters ? &state->clusters->sms[number] : NULL,
                                   .params = config->sm,
                                   .l1 = launch->l1,
                                   .caches = &gpu->caches.of[number],
                                   .module = launch->module,
                                   .code = state->code,
                                   .executor = &launch->executors[number],
                                   .mechanism = launch->mechanism,
                                   .shape = &shape,
                                   .requests = gpu->sm_out[number],
                                   .replies = gpu->sm_in[number]};
    if (status == STATUS_OK)
        status = sm_create(sm, arena, &parts, report);
    if (status != STATUS_OK)
        return status;
    state->made_count++;
    sm_run(*sm, 0, cycle);
    return STATUS_OK;
}

/* The next block for the SM whose turn it is; false: its part of the grid has been given to it. Parts differ by at most
 * a block, and the larger are first. */
static bool choose_block(const struct launch_state *state, uint64_t *block) {
    *block = state->coming.blocks ? state->coming.handed : state->next_block;
    if (!state->given)
        return true;
    const uint64_t share = state->launch->blocks / state->gpu->config.sm_count,
                   more = state->launch->blocks % state->gpu->config.sm_count, turn = state->next_sm;
    *block = turn * share + (turn < more ? turn : more) + state->given[turn];
    return state->given[turn] < share + (turn < more);
}

void dispatch_create(struct launch_state *state) {
    const struct gpu_config *config = &state->gpu->config;
    const struct gpu_launch *launch = state->launch;
    const uint64_t delay =
        config->gpu->launch_block_cycles + (uint64_t)launch->warps_per_place * config->gpu->launch_warp_cycles;
    if (!delay && config->gpu->launch_block_interval <= 0)
        return;
    const uint32_t size = config->sm_count * launch->places;
    state->coming = (struct coming_blocks){.blocks = ARENA_ARRAY(state->arena, struct coming_block, size),
                                           .to = ARENA_ARRAY(state->arena, uint32_t, config->sm_count),
                                           .size = size,
                                           .delay = delay};
}

/* Whether a block may be handed out in the round from `cycle` on, and from when on its SM has it. */
bool dispatch_turn(struct launch_state *state, uint64_t cycle, uint64_t *start) {
    struct coming_blocks *coming = &state->coming;
    const double at = coming->free > (double)cycle ? coming->free : (double)cycle;
    *start = (uint64_t)at + coming->delay;
    return at < (double)(cycle + state->gpu->config.gpu->link_latency);
}

void dispatch_send(struct launch_state *state, const struct coming_block *block) {
    struct coming_blocks *coming = &state->coming;
    const uint64_t at = block->start - coming->delay;
    coming->blocks[(coming->head + coming->count++) % coming->size] = *block;
    coming->to[block->turn]++;
    coming->handed++;
    if (coming->free < (double)at)
        coming->free = (double)at;
    coming->free += state->gpu->config.gpu->launch_block_interval;
}

void dispatch_give(struct launch_state *state, const struct coming_block *block) {
    sm_give_member(state->sms[block->turn], block->block, state->launch->first_pc, block->cluster, block->rank);
    state->next_block++;
}

/* Those whose time has come. */
void dispatch_deliver(struct launch_state *state, uint64_t cycle) {
    struct coming_blocks *coming = &state->coming;
    for (; coming->count && coming->blocks[coming->head].start <= cycle; coming->count--) {
        const struct coming_block *first = &coming->blocks[coming->head];
        dispatch_give(state, first);
        coming->to[first->turn]--;
        coming->head = (coming->head + 1) % coming->size;
    }
}

uint64_t dispatch_next(const struct launch_state *state, uint64_t cycle) {
    const struct coming_blocks *coming = &state->coming;
    uint64_t next = coming->count ? coming->blocks[coming->head].start : NO_CYCLE;
    if (coming->handed < state->launch->blocks && coming->free > (double)cycle && coming->free < (double)next)
        next = (uint64_t)coming->free;
    return next;
}

/* The SM whose turn it is has been asked; `takes`: it has another block. */
static void pass_turn(struct launch_state *state, unsigned turn, bool takes) {
    state->next_sm = (turn + 1) % state->gpu->config.sm_count;
    if (!takes)
        return;
    if (state->given)
        state->given[turn]++;
    if (state->gpu->config.gpu->launch_rotates)
        state->gpu->first_sm = launch_state_sm(state, state->next_sm);
}

/* Blocks that take time. */
static __attribute__((noinline)) enum status send_blocks(struct launch_state *state, uint64_t cycle,
                                                         struct report *report) {
    const uint32_t count = state->gpu->config.sm_count;
    uint64_t block, start;
    for (unsigned full = 0; state->coming.handed < state->launch->blocks && full < count;) {
        if (state->next_sm == state->made_count) {
            const enum status status = dispatch_make_sm(state, cycle, report);
            if (status != STATUS_OK)
                return status;
        }
        const unsigned turn = state->next_sm;
        const bool takes = sm_free_places(state->sms[turn]) > state->coming.to[turn] && choose_block(state, &block);
        if (takes && !dispatch_turn(state, cycle, &start))
            break;
        if (takes)
            dispatch_send(state, &(struct coming_block){.start = start, .block = block, .turn = turn});
        full = takes ? 0 : full + 1;
        pass_turn(state, turn, takes);
    }
    dispatch_deliver(state, cycle);
    return STATUS_OK;
}

enum status dispatch_blocks(struct launch_state *state, uint64_t cycle, struct report *report) {
    const uint32_t count = state->gpu->config.sm_count;
    uint64_t block;
    unsigned full = 0;
    if (state->clusters)
        return clusters_dispatch(state, cycle, report);
    if (state->coming.blocks)
        return send_blocks(state, cycle, report);
    while (state->next_block < state->launch->blocks && full < count) {
        if (state->next_sm == state->made_count) {
            const enum status status = dispatch_make_sm(state, cycle, report);
            if (status != STATUS_OK)
                return status;
        }
        const unsigned turn = state->next_sm;
        struct sm *sm = state->sms[turn];
        const bool takes = sm_free_places(sm) && choose_block(state, &block);
        state->next_sm = (turn + 1) % count;
        if (!takes) {
            full++;
            continue;
        }
        full = 0;
        sm_give(sm, block, state->launch->first_pc);
        state->next_block++;
        if (state->given)
            state->given[turn]++;
        if (state->gpu->config.gpu->launch_rotates)
            state->gpu->first_sm = launch_state_sm(state, state->next_sm);
    }
    return STATUS_OK;
}
