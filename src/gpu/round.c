/* SPDX-License-Identifier: Apache-2.0 */
/* Epochs of all parts, shared among host threads where that pays, and stores that reach memory at the end of a round. */
#include "gpu/round.h"

#include "gpu/dispatch.h"
#include "base/meter.h"

static inline struct crew_epoch epoch_between(const struct gpu *gpu, uint64_t from, uint64_t to) {
    return (struct crew_epoch){.from = from,
                               .to = to,
                               .net_from = clock_first_tick(&gpu->interconnect, from),
                               .net_to = clock_first_tick(&gpu->interconnect, to),
                               .l2_from = clock_first_tick(&gpu->l2, from),
                               .l2_to = clock_first_tick(&gpu->l2, to)};
}

/* Cycle by cycle, for who observes each. Apart from the others: what nobody asks for costs them nothing. */
static __attribute__((noinline)) void run_watched(struct launch_state *state, uint64_t from, uint64_t to) {
    const struct sm_observer *observer = state->launch->issues;
    for (uint32_t i = 0; i < state->made_count; i++) {
        bool faulted = false;
        for (uint64_t cycle = from; cycle < to && !faulted; cycle++) {
            faulted = sm_run(state->sms[i], cycle, cycle + 1);
            observer->passed(observer->self, state->sms[i], cycle);
        }
        state->faulted |= faulted;
    }
}

/* Part by part, for who asks what each takes of the host. */
static __attribute__((noinline)) void run_metered(struct launch_state *state, const struct crew_epoch *epoch) {
    const struct gpu *gpu = state->gpu;
    struct meter *meter = state->launch->meter;
    meter_begin(meter);
    for (uint32_t i = 0; i < state->made_count; i++) {
        state->faulted |= sm_run(state->sms[i], epoch->from, epoch->to);
        net_route(&state->requests, launch_state_sm(state, i), launch_state_sm(state, i) + 1);
        meter_part(meter);
    }
    if (net_next(&state->requests, epoch->net_to - 1) < epoch->net_to)
        net_run(&state->requests, epoch->net_from, epoch->net_to);
    meter_part(meter);
    for (uint32_t i = 0; i < gpu->partition_count; i++) {
        partition_run(&gpu->partitions[i], 1, epoch->l2_from, epoch->l2_to);
        meter_part(meter);
    }
    if (net_next(&state->replies, epoch->net_to - 1) < epoch->net_to)
        net_run(&state->replies, epoch->net_from, epoch->net_to);
    meter_part(meter);
    if (state->clusters)
        clusters_run(state->clusters, epoch->from, epoch->to);
    meter_part(meter);
    net_exchange(&state->requests);
    net_exchange(&state->replies);
    if (state->clusters)
        clusters_exchange(state->clusters);
    meter_epoch(meter, gpu->config.gpu->host_alone_ns);
}

static void run_epoch(struct launch_state *state, uint64_t from, uint64_t to) {
    const struct gpu *gpu = state->gpu;
    const struct crew_epoch epoch = epoch_between(gpu, from, to);
    if (state->launch->meter) {
        run_metered(state, &epoch);
        return;
    }
    if (state->launch->issues && state->launch->issues->passed)
        run_watched(state, from, to);
    else
        for (uint32_t i = 0; i < state->made_count; i++) {
            if (sm_run(state->sms[i], from, to))
                state->faulted = true;
        }
    if (state->requests.routed)
        net_route(&state->requests, 0, state->requests.inputs);
    if (net_next(&state->requests, epoch.net_to - 1) < epoch.net_to)
        net_run(&state->requests, epoch.net_from, epoch.net_to);
    partition_run(gpu->partitions, gpu->partition_count, epoch.l2_from, epoch.l2_to);
    if (net_next(&state->replies, epoch.net_to - 1) < epoch.net_to)
        net_run(&state->replies, epoch.net_from, epoch.net_to);
    if (state->clusters)
        clusters_run(state->clusters, from, to);
    net_exchange(&state->requests);
    net_exchange(&state->replies);
    if (state->clusters)
        clusters_exchange(state->clusters);
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

/* Atomics and stores reach memory. */
static void publish_round(void *self) {
    struct launch_state *state = self;
    for (uint32_t i = 0; i < state->gpu->partition_count; i++)
        partition_perform(state->gpu->partitions[i]);
    if (state->clusters)
        clusters_end_round(state);
    const uint64_t now = launch_state_progress(state);
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
                                     .clusters = state->clusters,
                                     .sms = state->sms,
                                     .sm_count = state->made_count,
                                     .partitions = gpu->partitions,
                                     .partition_count = gpu->partition_count};
    const struct crew_epoch epoch = epoch_between(gpu, from, to);
    if (crew_run(&state->crew, gpu->team, &parts, &epoch, last ? publish_round : NULL, state))
        state->faulted = true;
}

enum status round_run(struct launch_state *state, uint64_t from, uint64_t to, struct report *report) {
    const uint32_t wanted = state->gpu->config.gpu->host_epoch;
    const uint64_t epoch = wanted ? wanted : to - from;
    const bool alone = state->crew.size == 1;
    if (state->clusters)
        state->clusters->round_end = to;
    for (uint64_t at = from; at < to; at += epoch)
        if (alone)
            run_epoch(state, at, at + epoch);
        else
            share_epoch(state, at, at + epoch, at + epoch == to);
    if (alone)
        publish_round(state);
    const enum status status =
        state->next_block < state->launch->blocks ? dispatch_blocks(state, to, report) : STATUS_OK;
    if (state->launch->meter)
        meter_serial(state->launch->meter);
    return status;
}
