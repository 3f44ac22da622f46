/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/collect.h"

#include <string.h>

void collect_settle(const struct launch_state *state, uint64_t cycle) {
    if (!cycle)
        return;
    for (uint32_t i = 0; i < state->gpu->partition_count; i++)
        partition_settle(state->gpu->partitions[i], clock_last_tick(&state->gpu->l2, cycle - 1));
    for (uint32_t i = 0; i < state->made_count; i++)
        sm_settle(state->sms[i], cycle);
    const uint64_t tick = clock_last_tick(&state->gpu->interconnect, cycle - 1);
    crossbar_advance(state->requests.crossbar, tick);
    crossbar_advance(state->replies.crossbar, tick);
}

/* What SMs counted on another host thread than the first. */
static void collect_thread(const struct crew_thread *thread, uint32_t code_count, struct gpu_stats *stats) {
    histogram_merge(&stats->histograms, &thread->histograms, sm_histogram_table);
    sm_inst_stats_add(&stats->nobody, &thread->instructions[code_count]);
    for (uint32_t pc = 0; pc < code_count; pc++)
        sm_inst_stats_add(&stats->instructions[pc], &thread->instructions[pc]);
}

void collect_launch(const struct launch_state *state, uint64_t cycles, struct gpu_stats *stats) {
    const struct gpu *gpu = state->gpu;
    stats->cycles = cycles;
    stats->l1_bytes = state->launch->l1->size_bytes;
    stat_merge(&stats->request_crossbar, crossbar_stats(state->requests.crossbar), crossbar_stat_table);
    stat_merge(&stats->reply_crossbar, crossbar_stats(state->replies.crossbar), crossbar_stat_table);
    const uint64_t untouched =
        (uint64_t)(gpu->config.sm_count - state->made_count) * cycles * gpu->config.sm->schedulers;
    stats->sm.slots = stats->sm.idle = untouched;
    /* what they count from here on, while stores drain, is not the launch's */
    const uint32_t code_count = state->launch->module->code_count;
    const struct crew_thread *first = &state->crew.threads[0];
    stats->histograms = first->histograms;
    stats->nobody = first->instructions[code_count];
    memcpy(stats->instructions, first->instructions, code_count * sizeof *stats->instructions);
    for (unsigned i = 1; i < state->crew.size; i++)
        collect_thread(&first[i], code_count, stats);
    for (uint32_t pc = 0; pc < code_count; pc++)
        for (unsigned i = 0; i < WAIT_COUNT; i++)
            stats->waits[i] += stats->instructions[pc].waits[i];
    stats->nobody.slots[SLOT_IDLE] += untouched;
    for (uint32_t i = 0; i < state->made_count; i++) {
        const struct sm *sm = state->sms[i];
        const uint64_t *divergent;
        stat_merge(&stats->sm, sm_statistics(sm), sm_stats_table);
        stat_merge(&stats->l1, sm_l1_statistics(sm), cache_stat_table);
        stats->divergent_branches += sm_divergent_branches(sm, &divergent);
        stats->threads += sm_threads(sm);
        if (sm_dsm_statistics(sm))
            stat_merge(&stats->dsm, sm_dsm_statistics(sm), dsm_stats_table);
        if (stats->predicts)
            stat_merge(&stats->predictor, sm_predictor_statistics(sm), predictor_stats_table);
        for (unsigned part = 0; part < OWN_PARTS; part++)
            if (stats->own_stats[part])
                sm_add_own_statistics(sm, (enum own_part)part, stats->own_stats[part]);
        for (uint32_t pc = 0; pc < code_count; pc++)
            stats->divergent[pc] += divergent[pc];
    }
}

/* Of its slices, or of the SMs' own: they outlive launches, so those of SMs without a block yet count too. l2_end: the
 * L2's tick up to which, NO_CYCLE: all. */
static struct cache_stats l2_statistics(const struct gpu *gpu, uint64_t l2_end) {
    struct cache_stats sum = caches_l2_statistics(&gpu->caches);
    for (uint32_t i = 0; i < gpu->partition_count; i++)
        for (unsigned k = 0; k < gpu->config.gpu->slices; k++) {
            const struct cache_stats l2 = partition_l2_statistics(gpu->partitions[i], k, l2_end);
            stat_merge(&sum, &l2, cache_stat_table);
        }
    return sum;
}

void collect_memory(const struct gpu *gpu, uint64_t end, struct gpu_stats *stats) {
    stats->constant = caches_constant_statistics(&gpu->caches);
    stats->texture = caches_texture_statistics(&gpu->caches);
    stats->l2 = l2_statistics(gpu, end == NO_CYCLE ? end : clock_first_tick(&gpu->l2, end));
    for (uint32_t i = 0; i < gpu->partition_count; i++) {
        const struct dram_stats dram = partition_dram_statistics(gpu->partitions[i]);
        stat_merge(&stats->dram, &dram, dram_stat_table);
        histogram_merge(&stats->dram_histograms, partition_dram_histograms(gpu->partitions[i]), dram_histogram_table);
    }
}

void collect_memory_since(const struct gpu *gpu, const struct gpu_stats *before, uint64_t end,
                          struct gpu_stats *stats) {
    collect_memory(gpu, end, stats);
    stat_subtract(&stats->constant, &before->constant, cache_stat_table);
    stat_subtract(&stats->texture, &before->texture, cache_stat_table);
    stat_subtract(&stats->l2, &before->l2, cache_stat_table);
    stat_subtract(&stats->dram, &before->dram, dram_stat_table);
    histogram_subtract(&stats->dram_histograms, &before->dram_histograms, dram_histogram_table);
    stats->dram_cycles = clock_last_tick(&gpu->dram, end) * gpu->partition_count;
}

void collect_policies(const struct gpu *gpu, struct gpu_stats *stats) {
    caches_add_policies(&gpu->caches, stats->own_stats);
    if (!stats->own_stats[OWN_L2_POLICY])
        return;
    for (uint32_t i = 0; i < gpu->partition_count; i++)
        partition_add_policies(gpu->partitions[i], stats->own_stats[OWN_L2_POLICY]);
}

/* ---- series ---- */

static void read_counters(const struct launch_state *state, uint64_t cycle, uint64_t values[SERIES_COLUMNS]) {
    const struct gpu *gpu = state->gpu;
    const uint64_t untouched =
        (uint64_t)(gpu->config.sm_count - state->made_count) * cycle * gpu->config.sm->schedulers;
    const struct sm_stats others = {.slots = untouched, .idle = untouched};
    struct series_levels levels = {.threads_unfinished = state->next_block * state->launch->block_threads,
                                   .blocks_resident = state->next_block};
    const unsigned *first = gpu->series.first;
    const struct cache_stats own_l2 = caches_l2_statistics(&gpu->caches);
    const uint64_t l2_end = clock_first_tick(&gpu->l2, cycle);
    memset(values, 0, gpu->series.columns * sizeof values[0]);
    series_read(values, first[SERIES_L2], &own_l2);
    series_read(values, first[SERIES_SM], &others);
    for (uint32_t i = 0; i < state->made_count; i++) {
        const struct sm_stats *sm = sm_statistics(state->sms[i]);
        levels.threads_unfinished -= sm_threads(state->sms[i]);
        levels.blocks_resident -= sm->blocks;
        sm_count_waits(state->sms[i], levels.warps);
        series_read(values, first[SERIES_SM], sm);
        series_read(values, first[SERIES_L1], sm_l1_statistics(state->sms[i]));
    }
    for (uint32_t i = 0; i < gpu->partition_count; i++) {
        const struct dram_stats dram = partition_dram_statistics(gpu->partitions[i]);
        series_read(values, first[SERIES_DRAM], &dram);
        partition_add_banks(gpu->partitions[i], values + SERIES_COUNT);
        for (unsigned k = 0; k < gpu->config.gpu->slices; k++) {
            const struct cache_stats l2 = partition_l2_statistics(gpu->partitions[i], k, l2_end);
            series_read(values, first[SERIES_L2], &l2);
        }
    }
    series_read(values, first[SERIES_GPU], &levels);
}

void collect_begin(struct launch_state *state) {
    const struct gpu_params *params = state->gpu->config.gpu;
    const uint64_t round = params->link_latency;
    uint64_t origin[SERIES_COLUMNS];
    read_counters(state, 0, origin);
    series_begin(&state->gpu->series, (params->series_interval + round - 1) / round * round, origin);
}

void collect_sample(struct launch_state *state, uint64_t cycle) {
    struct series_recorder *series = &state->gpu->series;
    while (series->due <= cycle) {
        uint64_t values[SERIES_COLUMNS];
        collect_settle(state, series->due);
        read_counters(state, series->due, values);
        series_sample(series, values);
    }
}

/* The same counters of the whole launch, SM by SM. */
static void collect_sms(const struct launch_state *state, uint64_t cycles, struct arena *kept, struct series *out) {
    const struct gpu_config *config = &state->gpu->config;
    const unsigned *first = state->gpu->series.first;
    const uint64_t slots = cycles * config->sm->schedulers;
    const struct sm_stats untouched = {.slots = slots, .idle = slots};
    const struct sm **sms = ARENA_ARRAY(state->arena, const struct sm *, config->sm_count);
    for (uint32_t i = 0; i < state->made_count; i++)
        sms[sm_shape_of(state->sms[i])->id] = state->sms[i];
    *out = (struct series){.count = config->sm_count, .columns = SERIES_COUNT};
    for (unsigned i = 0; i < SERIES_COUNT; i++)
        if (series_is_of_sm(i))
            out->values[i] = ARENA_ARRAY(kept, uint64_t, out->count);
    for (uint32_t id = 0; id < config->sm_count; id++) {
        uint64_t values[SERIES_COUNT] = {0};
        series_read(values, first[SERIES_SM], sms[id] ? sm_statistics(sms[id]) : &untouched);
        if (sms[id])
            series_read(values, first[SERIES_L1], sm_l1_statistics(sms[id]));
        for (unsigned i = 0; i < SERIES_COUNT; i++)
            if (series_is_of_sm(i))
                out->values[i][id] = values[i];
    }
}

void collect_end(struct launch_state *state, uint64_t cycle, struct arena *kept, struct gpu_stats *stats) {
    uint64_t values[SERIES_COLUMNS];
    read_counters(state, cycle, values);
    series_end(&state->gpu->series, cycle, values, kept, &stats->series);
    collect_sms(state, cycle, kept, &stats->sms);
}
