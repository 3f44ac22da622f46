/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu.h"
#include "base/bits.h"
#include "gpu/collect.h"

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
    if (dram_check(config->dram, report) != STATUS_OK || check_epoch(config->gpu, report) != STATUS_OK ||
        caches_check(config, report) != STATUS_OK)
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
    const uint64_t l2 = gpu->config.l2->size_bytes * gpu->slice_total;
    const uint64_t seen = l2 * SEEN_TIMES > SEEN_BYTES ? l2 * SEEN_TIMES : SEEN_BYTES;
    const uint64_t first = bytes > seen ? address + bytes - seen : address;
    for (uint64_t at = first / 128 * 128; at < address + bytes; at += 128)
        partition_touch(gpu->partitions[address_map_chip(&gpu->map, at)], at);
}

/* ---- blocks ---- */

/* Which of the machine's SMs the i-th of the launch is. */
static uint32_t sm_number(const struct launch_state *state, uint32_t i) {
    return (state->first_sm + i) % state->gpu->config.sm_count;
}

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
static enum status make_sm(struct launch_state *state, uint64_t cycle, struct report *report) {
    struct gpu *gpu = state->gpu;
    const struct gpu_config *config = &gpu->config;
    const struct gpu_launch *launch = state->launch;
    const uint32_t number = sm_number(state, state->made_count);
    const struct sm_shape shape = {launch->places,
                                   launch->warps_per_place,
                                   launch->warp_size,
                                   number,
                                   config->gpu->link_latency,
                                   state->crew.threads[0].instructions,
                                   &state->crew.threads[0].histograms,
                                   launch->mechanism_params,
                                   memory_share(config, state->l1),
                                   launch->issues,
                                   cache_is_far(state->l1, config->sm_count)};
    struct sm **sm = &state->sms[state->made_count];
    const struct sm_caches *caches;
    enum status status = caches_of(&gpu->caches, number, state->l1, &caches, report);
    if (status == STATUS_OK)
        status = sm_create(sm, launch->arenas ? &launch->arenas[number] : state->arena, config->sm, state->l1, caches,
                           launch->module, state->code, &launch->executors[number], launch->mechanism, &shape,
                           gpu->sm_out[number], gpu->sm_in[number], report);
    if (status != STATUS_OK)
        return status;
    state->made_count++;
    sm_run(*sm, 0, cycle);
    return STATUS_OK;
}

/* The next block for the SM whose turn it is; false: its part of the grid has been given to it. Parts differ by at most
 * a block, and the larger are first. */
static bool choose_block(const struct launch_state *state, uint64_t *block) {
    *block = state->next_block;
    if (!state->given)
        return true;
    const uint64_t share = state->launch->blocks / state->gpu->config.sm_count,
                   more = state->launch->blocks % state->gpu->config.sm_count, turn = state->next_sm;
    *block = turn * share + (turn < more ? turn : more) + state->given[turn];
    return state->given[turn] < share + (turn < more);
}

/* SMs in turn, one block each, while one has a place. Before the cycle. */
static enum status dispatch(struct launch_state *state, uint64_t cycle, struct report *report) {
    const uint32_t count = state->gpu->config.sm_count;
    uint64_t block;
    unsigned full = 0;
    while (state->next_block < state->launch->blocks && full < count) {
        if (state->next_sm == state->made_count) {
            const enum status status = make_sm(state, cycle, report);
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
            state->gpu->first_sm = sm_number(state, state->next_sm);
    }
    return STATUS_OK;
}

static enum status create_state(struct launch_state *state, struct arena *arena, struct gpu *gpu,
                                const struct gpu_launch *launch, struct report *report) {
    const struct gpu_config *config = &gpu->config;
    *state = (struct launch_state){.gpu = gpu, .launch = launch, .arena = arena, .first_sm = gpu->first_sm};
    state->l1 = launch->l1 ? launch->l1 : config->l1;
    caches_begin(&gpu->caches, launch->module);
    enum status status = net_create(&state->requests, arena, config, &gpu->map, gpu->slice_total, gpu->sm_out,
                                    gpu->slice_in, true, report);
    if (status == STATUS_OK)
        status = net_create(&state->replies, arena, config, &gpu->map, gpu->slice_total, gpu->slice_out, gpu->sm_in,
                            false, report);
    state->sms = ARENA_ARRAY(arena, struct sm *, config->sm_count);
    state->given = config->gpu->launch_parts ? ARENA_ARRAY(arena, uint64_t, config->sm_count) : NULL;
    state->code = sm_decode(arena, launch->module, config->sm, launch->warp_size);
    crew_create(&state->crew, arena, launch->alone || launch->issues ? 1 : gpu_host_threads(gpu),
                launch->module->code_count);
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
    return net_is_idle(&state->requests) && net_is_idle(&state->replies);
}

/* ---- rounds ---- */

static inline struct crew_epoch epoch_between(const struct gpu *gpu, uint64_t from, uint64_t to) {
    return (struct crew_epoch){.from = from,
                               .to = to,
                               .net_from = clock_first_tick(&gpu->interconnect, from),
                               .net_to = clock_first_tick(&gpu->interconnect, to),
                               .l2_from = clock_first_tick(&gpu->l2, from),
                               .l2_to = clock_first_tick(&gpu->l2, to)};
}

/* Cycle by cycle, for who looks on at each. Apart from the others: what nobody asks for costs them nothing. */
static __attribute__((noinline)) void run_watched(struct launch_state *state, uint64_t from, uint64_t to) {
    const struct sm_watcher *watcher = state->launch->issues;
    for (uint32_t i = 0; i < state->made_count; i++) {
        bool faulted = false;
        for (uint64_t cycle = from; cycle < to && !faulted; cycle++) {
            faulted = sm_run(state->sms[i], cycle, cycle + 1);
            watcher->passed(watcher->self, state->sms[i], cycle);
        }
        state->faulted |= faulted;
    }
}

static void run_epoch(struct launch_state *state, uint64_t from, uint64_t to) {
    const struct gpu *gpu = state->gpu;
    const struct crew_epoch epoch = epoch_between(gpu, from, to);
    if (state->launch->issues && state->launch->issues->passed)
        run_watched(state, from, to);
    else
        for (uint32_t i = 0; i < state->made_count; i++)
            if (sm_run(state->sms[i], from, to))
                state->faulted = true;
    if (net_next(&state->requests, epoch.net_to - 1) < epoch.net_to)
        net_run(&state->requests, epoch.net_from, epoch.net_to);
    partition_run(gpu->partitions, gpu->partition_count, epoch.l2_from, epoch.l2_to);
    if (net_next(&state->replies, epoch.net_to - 1) < epoch.net_to)
        net_run(&state->replies, epoch.net_from, epoch.net_to);
    net_exchange(&state->requests);
    net_exchange(&state->replies);
}

/* Stores of SMs [from, to) reach memory. */
static inline void publish(const struct gpu_launch *launch, uint32_t from, uint32_t to) {
    const struct executor *const end = launch->executors + to;
    for (const struct executor *executor = launch->executors + from; executor < end; executor++)
        if (*executor->unpublished)
            executor->publish(executor->self);
}

/* Stores reach memory, in the order of the SMs. */
static void publish_stores(const struct launch_state *state) {
    const uint32_t count = state->gpu->config.sm_count, end = state->first_sm + state->made_count;
    publish(state->launch, state->first_sm, end < count ? end : count);
    if (end > count)
        publish(state->launch, 0, end - count);
}

/* What threads have done that others can see: moves with every store. */
static uint64_t progress(const struct launch_state *state) {
    uint64_t sum = *state->launch->progress[0];
    for (unsigned i = 1; i < state->crew.size; i++)
        sum += *state->launch->progress[i];
    return sum;
}

/* Atomics and stores reach memory. */
static void publish_round(void *self) {
    struct launch_state *state = self;
    for (uint32_t i = 0; i < state->gpu->partition_count; i++)
        partition_perform(state->gpu->partitions[i]);
    const uint64_t now = progress(state);
    if (now != state->progress_published)
        publish_stores(state);
    state->progress_published = now;
}

/* An epoch on several host threads, but by itself where that would take longer. `last`: of its round. */
static void share_epoch(struct launch_state *state, uint64_t from, uint64_t to, bool last) {
    struct gpu *gpu = state->gpu;
    if (state->crew.busy_ns < gpu->config.gpu->host_alone_ns) {
        const uint64_t begin = team_clock_ns();
        run_epoch(state, from, to);
        state->crew.busy_ns = team_clock_ns() - begin;
        if (last)
            publish_round(state);
        return;
    }
    if (!gpu->team)
        gpu->team = team_create(gpu->arena, gpu_host_threads(gpu));
    const struct crew_parts parts = {.nets = {&state->requests, &state->replies},
                                     .sms = state->sms,
                                     .sm_count = state->made_count,
                                     .partitions = gpu->partitions,
                                     .partition_count = gpu->partition_count};
    const struct crew_epoch epoch = epoch_between(gpu, from, to);
    if (crew_run(&state->crew, gpu->team, &parts, &epoch, last ? publish_round : NULL, state))
        state->faulted = true;
}

/* A round is as long as the links' latency, whatever the epochs: at its end, and only there, atomics and stores reach
 * memory and blocks are handed out, so that results do not depend on how often links are exchanged. */
static enum status run_round(struct launch_state *state, uint64_t from, uint64_t to, struct report *report) {
    const uint32_t wanted = state->gpu->config.gpu->host_epoch;
    const uint64_t epoch = wanted ? wanted : to - from;
    const bool alone = state->crew.size == 1;
    for (uint64_t at = from; at < to; at += epoch)
        if (alone)
            run_epoch(state, at, at + epoch);
        else
            share_epoch(state, at, at + epoch, at + epoch == to);
    if (alone)
        publish_round(state);
    return state->next_block < state->launch->blocks ? dispatch(state, to, report) : STATUS_OK;
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
        *fault = (struct gpu_fault){.found = true, .sm = sm_number(state, i), .warp = warp};
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
    const uint64_t now = progress(state);
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
    const bool l1 = config->gpu->l1_flush && state->l1->write == CACHE_BACK && !state->l1->perfect;
    const bool l2 = config->gpu->l2_flush && config->gpu->l2_private && config->gpu->l2_enabled;
    enum status status = STATUS_OK;
    while ((l1 || l2) && status == STATUS_OK) {
        collect_settle(state, *cycle);
        bool left = !is_quiet(state);
        for (uint32_t i = 0; i < state->made_count; i++)
            left |= sm_clean(state->sms[i], l1, l2);
        if (!left)
            break;
        status = run_round(state, *cycle, *cycle + config->gpu->link_latency, report);
        *cycle += config->gpu->link_latency;
        collect_sample(state, *cycle);
    }
    return status;
}

enum status gpu_run(struct gpu *gpu, struct arena *arena, struct arena *kept, const struct gpu_launch *launch,
                    struct gpu_stats *stats, struct gpu_fault *fault, struct report *report) {
    struct launch_state state;
    struct gpu_stats before = {0};
    *fault = (struct gpu_fault){0};
    *stats = (struct gpu_stats){.instructions = ARENA_ARRAY(kept, struct sm_inst_stats, launch->module->code_count),
                                .divergent = ARENA_ARRAY(kept, uint64_t, launch->module->code_count),
                                .predicts = sm_predicts(gpu->config.sm),
                                .mechanism = launch->mechanism};
    if (launch->mechanism->stats)
        stats->mechanism_stats = arena_alloc(kept, launch->mechanism->stats_bytes);
    collect_memory(gpu, NO_CYCLE, &before);
    enum status status = create_state(&state, arena, gpu, launch, report);
    if (status != STATUS_OK)
        return status;
    const uint64_t round = gpu->config.gpu->link_latency;
    uint64_t cycle = gpu->config.gpu->launch_cycles / round * round;
    collect_begin(&state);
    collect_sample(&state, cycle);
    status = dispatch(&state, cycle, report);
    bool done = is_done(&state);
    for (uint64_t rounds = 1; !done && status == STATUS_OK; rounds++) {
        status = run_round(&state, cycle, cycle + round, report);
        cycle += round;
        if (status != STATUS_OK)
            break;
        done = is_done(&state);
        collect_sample(&state, cycle);
        if (state.faulted && find_fault(&state, fault))
            status = STATUS_STOPPED;
        else if (gpu->config.gpu->max_cycles && cycle >= gpu->config.gpu->max_cycles)
            status = report_limit(&state, cycle, report);
        else if (rounds % WATCH_ROUNDS == 0 && !makes_progress(&state, cycle))
            status = report_livelock(&state, cycle, report);
        else if (rounds % WATCH_ROUNDS == 0 && !go_on(&state, cycle))
            status = report_add(report, STATUS_STOPPED, "kernel '%s' was interrupted after %llu cycles",
                                kernel_name(launch), (unsigned long long)cycle);
        else if (!done) {
            const uint64_t next = next_cycle(&state, cycle + round);
            if (next == NO_CYCLE || next > cycle + (UINT64_C(1) << 40)) {
                if (all_stuck(&state))
                    status = report_stuck(&state, cycle, report);
            } else if (next > cycle + round) {
                const uint64_t to = next / round * round;
                pass_rounds(&state, cycle, to);
                cycle = to;
            }
        }
    }
    if (status == STATUS_OK)
        status = clean_caches(&state, &cycle, report);
    collect_settle(&state, cycle);
    collect_end(&state, cycle, kept, stats);
    collect_launch(&state, cycle, stats);
    collect_memory_since(gpu, &before, cycle, stats);
    /* what is still on its way (stores' acknowledgements are in) drains before the next launch */
    for (unsigned n = 0; n < 100000 && !is_quiet(&state) && status == STATUS_OK; n++) {
        status = run_round(&state, cycle, cycle + round, report);
        cycle += round;
        collect_settle(&state, cycle);
    }
    caches_end(&gpu->caches);
    if (gpu->config.gpu->l2_flush)
        for (uint32_t i = 0; i < gpu->partition_count; i++)
            partition_flush(gpu->partitions[i]);
    return status;
}
