/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/clusters.h"

#include "gpu/dispatch.h"
#include "gpu/state.h"

/* ---- groups of SMs ---- */

/* SMs that are left over are spread over the groups: 132 by 16 are 8 groups of 16 or 17. */
static uint32_t group_start(const struct launch_state *state, uint32_t group) {
    return (uint32_t)((uint64_t)state->gpu->config.sm_count * group / state->clusters->group_count);
}

static uint32_t count_groups(const struct gpu_config *config) {
    const uint32_t count = config->sm_count / config->gpu->cluster_sms;
    return count ? count : 1;
}

static enum status check_fit(const struct launch_state *state, struct report *report) {
    uint32_t most = 0;
    for (uint32_t g = 0; g < state->clusters->group_count; g++) {
        const uint32_t sms = group_start(state, g + 1) - group_start(state, g);
        most = sms > most ? sms : most;
    }
    if ((uint64_t)most * state->launch->places >= state->clusters->blocks)
        return STATUS_OK;
    return report_add(report, STATUS_INVALID,
                      "kernel '%s': a cluster of %u blocks fits on no group of SMs: %u SMs (launch.cluster_sms) with "
                      "room for %u of its blocks each",
                      module_function_at(state->launch->module, state->launch->first_pc)->name,
                      (unsigned)state->clusters->blocks, (unsigned)most, state->launch->places);
}

/* ---- the network ---- */

static enum status create_links(struct launch_state *state, struct link ***out, struct report *report) {
    const struct gpu_params *params = state->gpu->config.gpu;
    const struct link_params shape = {.latency_cycles = params->link_latency,
                                      .capacity_units = params->link_capacity,
                                      .item_bytes = sizeof(struct packet)};
    const uint32_t count = state->gpu->config.sm_count;
    enum status status = STATUS_OK;
    *out = ARENA_ARRAY(state->arena, struct link *, count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        status = link_create(&(*out)[i], state->arena, &shape, report);
    return status;
}

static enum status create_nets(struct launch_state *state, struct report *report) {
    struct clusters *clusters = state->clusters;
    enum { OUT, IN, BACK_OUT, BACK_IN, WAYS };
    struct link **links[WAYS];
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < WAYS && status == STATUS_OK; i++)
        status = create_links(state, &links[i], report);
    for (unsigned i = 0; i < 2 && status == STATUS_OK; i++)
        status = net_create_between_sms(&clusters->nets[i], state->arena, state->gpu,
                                        &(struct net_ends){links[2 * i], links[2 * i + 1], i == 0}, report);
    for (uint32_t i = 0; i < state->gpu->config.sm_count && status == STATUS_OK; i++)
        clusters->sms[i] = (struct sm_dsm_parts){.out = links[OUT][i],
                                                 .in = links[IN][i],
                                                 .back_out = links[BACK_OUT][i],
                                                 .back_in = links[BACK_IN][i],
                                                 .latency = state->gpu->config.gpu->dsm_latency,
                                                 .header_bytes = state->gpu->config.crossbar->header_bytes,
                                                 .bytes_per_cycle = state->gpu->config.gpu->dsm_bytes};
    return status;
}

enum status clusters_create(struct launch_state *state, struct report *report) {
    const struct gpu_config *config = &state->gpu->config;
    if (state->launch->cluster_blocks <= 1)
        return STATUS_OK;
    struct clusters *clusters = state->clusters = ARENA_NEW(state->arena, struct clusters);
    const uint32_t most = config->sm_count * state->launch->places;
    clusters->blocks = state->launch->cluster_blocks, clusters->group_count = count_groups(config);
    clusters->sms = ARENA_ARRAY(state->arena, struct sm_dsm_parts, config->sm_count);
    clusters->room = ARENA_ARRAY(state->arena, uint32_t, config->sm_count);
    clusters->active = ARENA_ARRAY(state->arena, struct cluster_blocks *, most);
    clusters->free = ARENA_ARRAY(state->arena, struct cluster_blocks *, most);
    state->first_sm = 0;
    const enum status status = check_fit(state, report);
    return status ? status : create_nets(state, report);
}

void clusters_run(struct clusters *clusters, uint64_t from, uint64_t to) {
    for (unsigned i = 0; i < 2; i++)
        if (net_next(&clusters->nets[i], to - 1) < to)
            net_run(&clusters->nets[i], from, to);
}

void clusters_exchange(struct clusters *clusters) {
    net_exchange(&clusters->nets[0]);
    net_exchange(&clusters->nets[1]);
}

bool clusters_are_idle(const struct clusters *clusters) {
    return net_is_idle(&clusters->nets[0]) && net_is_idle(&clusters->nets[1]);
}

uint64_t clusters_next(const struct clusters *clusters) {
    const uint64_t there = net_next(&clusters->nets[0], 0), back = net_next(&clusters->nets[1], 0);
    return there < back ? there : back;
}

/* ---- dispatch ---- */

/* Blocks that each SM of the group has room for; all of them. */
static uint64_t find_room(const struct launch_state *state, uint32_t group) {
    uint64_t sum = 0;
    for (uint32_t i = group_start(state, group); i < group_start(state, group + 1); i++) {
        uint32_t room = i < state->made_count ? sm_free_places(state->sms[i]) : state->launch->places;
        room -= state->coming.blocks ? state->coming.to[i] : 0;
        state->clusters->room[i] = room;
        sum += room;
    }
    return sum;
}

/* The group with the most room, the first of those; group_count: a cluster fits on none. */
static uint32_t choose_group(const struct launch_state *state) {
    uint32_t best = state->clusters->group_count;
    uint64_t most = state->clusters->blocks - 1;
    for (uint32_t g = 0; g < state->clusters->group_count; g++) {
        const uint64_t room = find_room(state, g);
        if (room > most)
            most = room, best = g;
    }
    return best;
}

static struct cluster_blocks *begin_cluster(struct launch_state *state) {
    struct clusters *clusters = state->clusters;
    struct cluster_blocks *one =
        clusters->free_count ? clusters->free[--clusters->free_count] : ARENA_NEW(state->arena, struct cluster_blocks);
    *one = (struct cluster_blocks){.count = clusters->blocks};
    for (uint32_t i = 0; i < one->count; i++)
        one->met[i] = one->gone[i] = NO_CYCLE;
    return clusters->active[clusters->active_count++] = one;
}

/* Blocks of the next cluster go to SMs of the group, from `start` on where blocks take time. */
static void send_cluster(struct launch_state *state, uint32_t group, uint64_t number, uint64_t start) {
    const struct gpu_launch *launch = state->launch;
    struct clusters *clusters = state->clusters;
    struct cluster_blocks *cluster = begin_cluster(state);
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        uint32_t best = group_start(state, group);
        for (uint32_t i = best + 1; i < group_start(state, group + 1); i++)
            best = clusters->room[i] > clusters->room[best] ? i : best;
        const struct coming_block one = {.start = start,
                                         .block = launch->cluster_block(launch->cluster_of, number, rank),
                                         .cluster = cluster,
                                         .turn = best,
                                         .rank = rank};
        clusters->room[best]--;
        cluster->sm[rank] = best;
        if (state->coming.blocks)
            dispatch_send(state, &one);
        else
            dispatch_give(state, &one);
    }
}

enum status clusters_dispatch(struct launch_state *state, uint64_t cycle, struct report *report) {
    struct clusters *clusters = state->clusters;
    const bool delayed = state->coming.blocks != NULL;
    enum status status = STATUS_OK;
    while ((delayed ? state->coming.handed : state->next_block) < state->launch->blocks && status == STATUS_OK) {
        const uint32_t group = choose_group(state);
        uint64_t start = cycle;
        if (group == clusters->group_count || (delayed && !dispatch_turn(state, cycle, &start)))
            break;
        (void)find_room(state, group); /* of those that are chosen from */
        while (state->made_count < group_start(state, group + 1) && status == STATUS_OK)
            status = dispatch_make_sm(state, cycle, report);
        if (status == STATUS_OK)
            send_cluster(state, group, (delayed ? state->coming.handed : state->next_block) / clusters->blocks, start);
    }
    if (delayed)
        dispatch_deliver(state, cycle);
    return status;
}

/* ---- between rounds ---- */

/* The cycle in which the last block came to the barrier, or ended; NO_CYCLE: one is missing, or none came. */
static uint64_t find_meeting(const struct cluster_blocks *cluster) {
    uint64_t last = 0;
    bool any = false;
    for (uint32_t i = 0; i < cluster->count; i++) {
        const uint64_t at = cluster->met[i] < cluster->gone[i] ? cluster->met[i] : cluster->gone[i];
        if (at == NO_CYCLE)
            return NO_CYCLE;
        any |= cluster->met[i] != NO_CYCLE;
        last = at > last ? at : last;
    }
    return any ? last : NO_CYCLE;
}

static void open_barrier(const struct launch_state *state, struct cluster_blocks *cluster) {
    const uint64_t met = find_meeting(cluster), end = state->clusters->round_end;
    if (met == NO_CYCLE)
        return;
    const uint64_t at = met + state->gpu->config.gpu->dsm_barrier;
    for (uint32_t i = 0; i < cluster->count; i++) {
        cluster->met[i] = NO_CYCLE;
        sm_open_member(state->sms[cluster->sm[i]], cluster, i, at > end ? at : end);
    }
}

static bool has_ended(const struct cluster_blocks *cluster) {
    for (uint32_t i = 0; i < cluster->count; i++)
        if (!cluster->ended[i])
            return false;
    return true;
}

void clusters_end_round(struct launch_state *state) {
    struct clusters *clusters = state->clusters;
    const struct executor *executors = state->launch->executors;
    for (uint32_t i = 0; i < state->made_count; i++) {
        unsigned count;
        const struct sm_dsm_served *served = sm_served(state->sms[i], &count);
        for (unsigned k = 0; k < count; k++)
            executors[served[k].sm].perform(executors[served[k].sm].self, served[k].ticket, served[k].lanes);
        sm_forget_served(state->sms[i]);
    }
    for (uint32_t i = 0; i < state->made_count; i++) /* bulk copies to other blocks, beside stores to global memory */
        executors[i].publish(executors[i].self);
    uint32_t left = 0;
    for (uint32_t i = 0; i < clusters->active_count; i++) {
        struct cluster_blocks *cluster = clusters->active[i];
        open_barrier(state, cluster);
        if (has_ended(cluster))
            clusters->free[clusters->free_count++] = cluster;
        else
            clusters->active[left++] = cluster;
    }
    clusters->active_count = left;
}
