/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu.h"
#include "gpu/collect.h"
#include "gpu/dispatch.h"
#include "gpu/round.h"

static enum status create_links(struct link ***out, struct arena *arena, uint32_t count,
                                const struct gpu_params *params, struct report *report) {
    const struct link_params shape = {.latency_cycles = params->link_latency,
                                      .capacity_units = params->link_capacity,
                                      .item_bytes = sizeof(struct packet)};
    *out = ARENA_ARRAY(arena, struct link *, count);
    for (uint32_t i = 0; i < count; i++) {
        const enum status status = link_create(&(*out)[i], arena, &shape, report);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status check_epoch(const struct gpu_params *params, struct report *report) {
    if (params->host_epoch && params->link_latency % params->host_epoch)
        return report_add(report, STATUS_INVALID,
                          "host.epoch=%u does not divide link.latency=%u: use one of its divisors, or 0 for all of it",
                          (unsigned)params->host_epoch, (unsigned)params->link_latency);
    return STATUS_OK;
}

struct gpu *gpu_create(struct arena *arena, const struct gpu_config *config, struct report *report) {
    struct gpu *gpu = ARENA_NEW(arena, struct gpu);
    gpu->config = *config;
    gpu->interconnect = gpu_clock(config->gpu, config->gpu->interconnect_khz);
    gpu->l2 = gpu_clock(config->gpu, config->gpu->l2_khz);
    gpu->dram = gpu_clock(config->gpu, config->gpu->dram_khz);
    gpu->arena = arena;
    caches_create(&gpu->caches, arena, &gpu->config);
    if (dram_check(config->dram, report) != STATUS_OK || check_epoch(config->gpu, report) != STATUS_OK)
        return NULL;
    series_create(&gpu->series, arena, dram_banks(config->dram));
    const struct address_masks masks = dram_masks(config->dram);
    address_map_create(&gpu->map, &masks);
    gpu->partition_count = address_map_chips(&gpu->map);
    gpu->slice_total = gpu->partition_count * config->gpu->slices;
    gpu->partitions = ARENA_ARRAY(arena, struct partition *, gpu->partition_count);
    for (uint32_t i = 0; i < gpu->partition_count; i++) {
        arena_alloc_aligned(arena, 0, 64); /* host threads share no line */
        if (!(gpu->partitions[i] = partition_create(arena, &gpu->config, i, &gpu->map, report)))
            return NULL;
    }
    struct link ***const links[] = {&gpu->sm_out, &gpu->sm_in, &gpu->slice_in, &gpu->slice_out};
    for (unsigned i = 0; i < 4; i++)
        if (create_links(links[i], arena, i < 2 ? config->sm_count : gpu->slice_total, config->gpu, report) !=
            STATUS_OK)
            return NULL;
    return gpu;
}

enum status gpu_check(struct gpu *gpu, const struct cache_params *l1, struct report *report) {
    return caches_of(&gpu->caches, 0, l1, gpu->arena, report);
}

void gpu_destroy(struct gpu *gpu) {
    if (gpu)
        team_destroy(gpu->team);
}

unsigned gpu_host_threads(const struct gpu *gpu) {
    const unsigned wanted = team_threads(gpu->config.gpu->host_threads);
    return wanted < gpu->config.sm_count ? wanted : gpu->config.sm_count;
}

/* The L2 holds what was copied last, and a run of lines as long as it reaches all its sets: of a range that is many times
 * as long the beginning leaves nothing, and is not gone through. */
void gpu_host_copied(struct gpu *gpu, uint64_t address, uint64_t bytes) {
    enum { SEEN_BYTES = 64 << 20, SEEN_TIMES = 8 };
    if (!gpu->config.gpu->host_copies)
        return;
    const uint64_t l2 = gpu->config.l2.size_bytes * gpu->slice_total;
    const uint64_t seen = l2 * SEEN_TIMES > SEEN_BYTES ? l2 * SEEN_TIMES : SEEN_BYTES;
    const uint64_t first = bytes > seen ? address + bytes - seen : address;
    for (uint64_t at = first / 128 * 128; at < address + bytes; at += 128)
        partition_touch(gpu->partitions[address_map_chip(&gpu->map, at)], at);
}

enum status gpu_keep(struct gpu *gpu, const struct module *next, const struct cache_params *l1, struct keep *keep,
                     struct report *report) {
    keep_u32(keep, &gpu->first_sm, gpu->config.sm_count - 1);
    for (uint32_t i = 0; i < gpu->partition_count && keep->good; i++)
        partition_keep(gpu->partitions[i], keep);
    return caches_keep(&gpu->caches, next, l1, keep, report);
}

static enum status create_state(struct launch_state *state, struct gpu *gpu, const struct gpu_launch *launch,
                                struct report *report) {
    const struct gpu_config *config = &gpu->config;
    struct arena *arena = launch->arena;
    *state = (struct launch_state){.gpu = gpu, .launch = launch, .arena = arena, .first_sm = gpu->first_sm};
    caches_begin(&gpu->caches, launch->module);
    enum status status = net_create(&state->requests, arena, gpu, true, report);
    if (status == STATUS_OK)
        status = net_create(&state->replies, arena, gpu, false, report);
    state->sms = ARENA_ARRAY(arena, struct sm *, config->sm_count);
    state->given = config->gpu->launch_parts ? ARENA_ARRAY(arena, uint64_t, config->sm_count) : NULL;
    dispatch_create(state);
    if (status == STATUS_OK)
        status = clusters_create(state, report);
    state->code = sm_decode(arena, launch->module, config->sm, launch->warp_size, launch->cluster_blocks > 1);
    crew_create(&state->crew, arena, launch->alone || launch->issues ? 1 : gpu_host_threads(gpu),
                launch->module->code_count);
    state->requests.routed = state->crew.size > 1 || launch->meter;
    for (uint32_t i = 0; i < gpu->partition_count && status == STATUS_OK; i++) {
        partition_connect(gpu->partitions[i], &gpu->slice_in[i * config->gpu->slices],
                          &gpu->slice_out[i * config->gpu->slices], launch->executors);
        partition_begin(gpu->partitions[i]);
    }
    return status;
}

static bool is_done(const struct launch_state *state) {
    if (state->next_block < state->launch->blocks)
        return false;
    for (uint32_t i = 0; i < state->made_count; i++)
        if (!sm_is_idle(state->sms[i]))
            return false;
    return true;
}

static bool is_quiet(const struct launch_state *state) {
    for (uint32_t i = 0; i < state->gpu->partition_count; i++)
        if (!partition_is_idle(state->gpu->partitions[i]))
            return false;
    return net_is_idle(&state->requests) && net_is_idle(&state->replies) &&
           (!state->clusters || clusters_are_idle(state->clusters));
}

/* The fault with the smallest (cycle, SM). */
static bool find_fault(const struct launch_state *state, struct gpu_fault *fault) {
    uint64_t best = NO_CYCLE;
    for (uint32_t i = 0; i < state->made_count; i++) {
        uint64_t cycle;
        unsigned warp;
        if (!sm_faulted(state->sms[i], &cycle, &warp) || cycle >= best)
            continue;
        best = cycle;
        *fault = (struct gpu_fault){.found = true, .sm = launch_state_sm(state, i), .warp = warp};
        sm_where(state->sms[i], warp, fault->pcs);
    }
    return best != NO_CYCLE;
}

static const char *kernel_name(const struct gpu_launch *launch) {
    return module_function_at(launch->module, launch->first_pc)->name;
}

/* The warps of the first SM that has any: enough to see where a launch stands. */
static void describe_first(const struct launch_state *state, struct report *report) {
    uint32_t i = 0;
    while (i < state->made_count && sm_is_idle(state->sms[i]))
        i++;
    if (i < state->made_count)
        sm_describe(state->sms[i], report);
}

static enum status report_stuck(const struct launch_state *state, uint64_t cycle, struct report *report) {
    report_add(report, STATUS_STOPPED, "kernel '%s' makes no progress after cycle %llu: every warp waits",
               kernel_name(state->launch), (unsigned long long)cycle);
    for (uint32_t i = 0; i < state->made_count; i++)
        if (!sm_is_idle(state->sms[i]))
            sm_describe(state->sms[i], report);
    return STATUS_STOPPED;
}

static enum status report_limit(const struct launch_state *state, uint64_t cycle, struct report *report) {
    report_add(report, STATUS_STOPPED, "kernel '%s' was stopped after %llu cycles (--max-cycles, limits.max_cycles)",
               kernel_name(state->launch), (unsigned long long)cycle);
    describe_first(state, report);
    return STATUS_STOPPED;
}

/* Whether it moved since it was last asked; cycle: now. */
static bool makes_progress(struct launch_state *state, uint64_t cycle) {
    const uint64_t now = launch_state_progress(state);
    if (now != state->progress_seen) {
        state->progress_seen = now;
        state->progress_cycle = cycle;
    }
    return cycle - state->progress_cycle < state->gpu->config.gpu->livelock_cycles;
}

static enum status report_livelock(const struct launch_state *state, uint64_t cycle, struct report *report) {
    report_add(report, STATUS_STOPPED,
               "kernel '%s' makes no progress: %llu cycles without a store to global memory, an atomic that changed "
               "memory or the end of a thread (limits.livelock_cycles)",
               kernel_name(state->launch), (unsigned long long)(cycle - state->progress_cycle));
    describe_first(state, report);
    return STATUS_STOPPED;
}

static bool all_stuck(const struct launch_state *state) {
    for (uint32_t i = 0; i < state->made_count; i++)
        if (!sm_is_idle(state->sms[i]) && !sm_is_stuck(state->sms[i]))
            return false;
    return is_quiet(state);
}

static uint64_t cycle_of(const struct clock_ratio *clock, uint64_t tick) {
    return tick == NO_CYCLE ? NO_CYCLE : clock_cycle(clock, tick);
}

/* The first cycle at which some part has something to do; any cycle up to `enough` stands for all of them, and those who
 * can tell fastest are asked first. */
static uint64_t next_cycle(const struct launch_state *state, uint64_t enough) {
    const struct gpu *gpu = state->gpu;
    const uint64_t net_to = clock_first_tick(&gpu->interconnect, enough + 1);
    const uint64_t there = net_next(&state->requests, net_to - 1);
    if (there < net_to)
        return enough;
    const uint64_t back = net_next(&state->replies, net_to - 1);
    if (back < net_to)
        return enough;
    uint64_t next = cycle_of(&gpu->interconnect, there < back ? there : back);
    if (state->clusters) {
        const uint64_t at = clusters_next(state->clusters);
        next = at < next ? at : next;
    }
    for (uint32_t i = 0; i < gpu->partition_count && next > enough; i++) {
        const uint64_t at = cycle_of(&gpu->l2, partition_next(gpu->partitions[i]));
        next = at < next ? at : next;
    }
    for (uint32_t i = 0; i < state->made_count && next > enough; i++) {
        const uint64_t at = sm_next(state->sms[i]);
        next = at < next ? at : next;
    }
    return next;
}

enum { WATCH_ROUNDS = 64 };

/* False: whoever watches wants it stopped. */
static bool go_on(const struct launch_state *state, uint64_t cycle) {
    if (!state->launch->watch)
        return true;
    struct launch_progress progress = {.cycles = cycle, .blocks = state->launch->blocks};
    for (uint32_t i = 0; i < state->made_count; i++) {
        progress.blocks_done += sm_statistics(state->sms[i])->blocks;
        progress.warp_instructions += sm_statistics(state->sms[i])->issues;
    }
    return state->launch->watch(state->launch->watcher, &progress);
}

/* Cycles [from, to), whole rounds in which nothing happens anywhere. */
static void pass_rounds(struct launch_state *state, uint64_t from, uint64_t to) {
    while (from < to) {
        from = state->gpu->series.due < to ? state->gpu->series.due : to;
        collect_sample(state, from);
    }
}

/* A write-back cache that is emptied writes what is dirty first, and the launch lasts until all of it is in memory. */
static enum status clean_caches(struct launch_state *state, uint64_t *cycle, struct report *report) {
    const struct gpu_config *config = &state->gpu->config;
    const bool l1 = config->gpu->l1_flush && state->launch->l1->write == CACHE_BACK && !state->launch->l1->perfect;
    const bool l2 = config->gpu->l2_flush && config->gpu->l2_private && config->gpu->l2_enabled;
    enum status status = STATUS_OK;
    while ((l1 || l2) && status == STATUS_OK) {
        collect_settle(state, *cycle);
        bool left = !is_quiet(state);
        for (uint32_t i = 0; i < state->made_count; i++)
            left |= sm_clean(state->sms[i], l1, l2);
        if (!left)
            break;
        status = round_run(state, *cycle, *cycle + config->gpu->link_latency, report);
        *cycle += config->gpu->link_latency;
        collect_sample(state, *cycle);
    }
    return status;
}

/* A round has ended: may the launch go on? */
static enum status check_round(struct launch_state *state, uint64_t rounds, uint64_t cycle, struct gpu_fault *fault,
                               struct report *report) {
    const uint64_t limit = state->gpu->config.gpu->max_cycles;
    if (state->faulted && find_fault(state, fault))
        return STATUS_STOPPED;
    if (limit && cycle >= limit)
        return report_limit(state, cycle, report);
    if (rounds % WATCH_ROUNDS != 0)
        return STATUS_OK;
    if (!makes_progress(state, cycle))
        return report_livelock(state, cycle, report);
    if (!go_on(state, cycle))
        return report_add(report, STATUS_STOPPED, "kernel '%s' was interrupted after %llu cycles",
                          kernel_name(state->launch), (unsigned long long)cycle);
    return STATUS_OK;
}

/* Rounds in which nothing happens are passed at once. */
static enum status skip_rounds(struct launch_state *state, uint64_t *cycle, struct report *report) {
    const uint64_t round = state->gpu->config.gpu->link_latency;
    uint64_t next = next_cycle(state, *cycle + round);
    if (state->next_block < state->launch->blocks) { /* some may be on their way */
        const uint64_t block = dispatch_next(state, *cycle);
        next = next < block ? next : block;
    }
    if (next == NO_CYCLE || next > *cycle + (UINT64_C(1) << 40))
        return all_stuck(state) ? report_stuck(state, *cycle, report) : STATUS_OK;
    if (next > *cycle + round) {
        const uint64_t to = next / round * round;
        pass_rounds(state, *cycle, to);
        *cycle = to;
    }
    return STATUS_OK;
}

/* From the first block to the end of the last thread. */
static enum status run_rounds(struct launch_state *state, uint64_t *cycle, struct gpu_fault *fault,
                              struct report *report) {
    const uint64_t round = state->gpu->config.gpu->link_latency;
    enum status status = dispatch_blocks(state, *cycle, report);
    bool done = is_done(state);
    for (uint64_t rounds = 1; !done && status == STATUS_OK; rounds++) {
        status = round_run(state, *cycle, *cycle + round, report);
        *cycle += round;
        if (status != STATUS_OK)
            break;
        done = is_done(state);
        collect_sample(state, *cycle);
        status = check_round(state, rounds, *cycle, fault, report);
        if (status == STATUS_OK && !done)
            status = skip_rounds(state, cycle, report);
    }
    return status;
}

/* What is still on its way (stores' acknowledgements are in) drains before the next launch. */
static enum status drain(struct launch_state *state, uint64_t cycle, struct report *report) {
    const uint64_t round = state->gpu->config.gpu->link_latency;
    enum status status = STATUS_OK;
    for (unsigned n = 0; n < 100000 && !is_quiet(state) && status == STATUS_OK; n++) {
        status = round_run(state, cycle, cycle + round, report);
        cycle += round;
        collect_settle(state, cycle);
    }
    return status;
}

enum status gpu_run(struct gpu *gpu, const struct gpu_launch *launch, struct gpu_stats *stats, struct gpu_fault *fault,
                    struct report *report) {
    struct launch_state state;
    struct gpu_stats before = {0};
    struct arena *kept = launch->kept;
    *fault = (struct gpu_fault){0};
    *stats = (struct gpu_stats){.instructions = ARENA_ARRAY(kept, struct sm_inst_stats, launch->module->code_count),
                                .divergent = ARENA_ARRAY(kept, uint64_t, launch->module->code_count),
                                .predicts = sm_predicts(gpu->config.sm),
                                .has_clusters = launch->cluster_blocks > 1};
    for (unsigned part = 0; part < OWN_PARTS; part++) {
        stats->own[part] = launch->own[part];
        if (launch->own[part] && launch->own[part]->stats && part != OWN_INSTRUCTION_POLICY)
            stats->own_stats[part] = arena_alloc(kept, launch->own[part]->stats_bytes);
    }
    collect_memory(gpu, NO_CYCLE, &before);
    enum status status = create_state(&state, gpu, launch, report);
    if (status != STATUS_OK)
        return status;
    const uint64_t round = gpu->config.gpu->link_latency;
    uint64_t cycle = gpu->config.gpu->launch_cycles / round * round;
    collect_begin(&state);
    collect_sample(&state, cycle);
    status = run_rounds(&state, &cycle, fault, report);
    if (status == STATUS_OK)
        status = clean_caches(&state, &cycle, report);
    collect_settle(&state, cycle);
    collect_end(&state, cycle, kept, stats);
    collect_launch(&state, cycle, stats);
    collect_memory_since(gpu, &before, cycle, stats);
    collect_policies(gpu, stats);
    if (status == STATUS_OK)
        status = drain(&state, cycle, report);
    caches_end(&gpu->caches);
    if (gpu->config.gpu->l2_flush)
        for (uint32_t i = 0; i < gpu->partition_count; i++)
            partition_flush(gpu->partitions[i]);
    return status;
}
