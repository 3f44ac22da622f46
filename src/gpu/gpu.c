#include "gpu/gpu.h"

#include <string.h>

#include "base/bits.h"
#include "gpu/partition.h"

struct gpu {
    struct gpu_config config;
    struct address_map map;
    uint32_t partition_count, slice_total;
    struct partition **partitions;
};

/* One way through the machine: links in, a crossbar, links out. */
struct net {
    struct crossbar *crossbar;
    struct link **in, **out;
    uint32_t inputs, outputs;
    uint64_t now;
    bool to_slices;
};

struct launch_state {
    struct gpu *gpu;
    const struct gpu_launch *launch;
    struct sm **sms;
    struct net requests, replies;
    uint64_t next_block;
    unsigned next_sm;
};

struct gpu *gpu_create(struct arena *arena, const struct gpu_config *config, struct report *report) {
    struct gpu *gpu = ARENA_NEW(arena, struct gpu);
    gpu->config = *config;
    if (dram_check(config->dram, report) != STATUS_OK)
        return NULL;
    const struct address_masks masks = dram_masks(config->dram);
    address_map_create(&gpu->map, &masks);
    gpu->partition_count = address_map_chips(&gpu->map);
    gpu->slice_total = gpu->partition_count * config->gpu->slices;
    gpu->partitions = ARENA_ARRAY(arena, struct partition *, gpu->partition_count);
    for (uint32_t i = 0; i < gpu->partition_count; i++)
        if (!(gpu->partitions[i] = partition_create(arena, &gpu->config, i, &gpu->map, report)))
            return NULL;
    return gpu;
}

void gpu_host_copied(struct gpu *gpu, uint64_t address, uint64_t bytes) {
    if (!gpu->config.gpu->host_copies)
        return;
    for (uint64_t at = address / 128 * 128; at < address + bytes; at += 128)
        partition_touch(gpu->partitions[address_map_chip(&gpu->map, at)], at);
}

/* ---- nets ---- */

static enum status create_links(struct link ***out, struct arena *arena, uint32_t count, const struct gpu_params *params,
                                struct report *report) {
    const struct link_params shape = {.latency_cycles = params->link_latency, .capacity_units = params->link_capacity,
                                      .item_bytes = sizeof(struct packet)};
    *out = ARENA_ARRAY(arena, struct link *, count);
    for (uint32_t i = 0; i < count; i++) {
        const enum status status = link_create(&(*out)[i], arena, &shape, report);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status create_net(struct net *net, struct arena *arena, const struct gpu *gpu, uint32_t inputs, uint32_t outputs,
                              bool to_slices, struct report *report) {
    *net = (struct net){.inputs = inputs, .outputs = outputs, .to_slices = to_slices};
    const struct crossbar_shape shape = {.inputs = inputs, .outputs = outputs, .item_bytes = sizeof(struct packet),
                                         .largest_message_bytes = 128, .stream = to_slices};
    enum status status = crossbar_create(&net->crossbar, arena, gpu->config.crossbar, &shape, report);
    if (status == STATUS_OK)
        status = create_links(&net->in, arena, inputs, gpu->config.gpu, report);
    if (status == STATUS_OK)
        status = create_links(&net->out, arena, outputs, gpu->config.gpu, report);
    return status;
}

static uint32_t destination(const struct gpu *gpu, const struct net *net, const struct packet *packet) {
    if (!net->to_slices)
        return packet->sm;
    return address_map_chip(&gpu->map, packet->address) * gpu->config.gpu->slices +
           partition_slice_of(&gpu->map, gpu->config.gpu->slices, packet->address);
}

/* What a message counts for on the way: data go with stores and with replies to loads. */
static uint32_t message_bytes(const struct net *net, const struct packet *packet) {
    const bool carries = net->to_slices ? packet->kind != PACKET_READ : packet->kind != PACKET_WRITE;
    return carries ? packet->bytes : 0;
}

static uint64_t net_next(const struct net *net) {
    uint64_t next = crossbar_next(net->crossbar);
    for (uint32_t i = 0; i < net->inputs; i++) {
        const uint64_t at = link_next(net->in[i]);
        next = at < next ? at : next;
    }
    for (uint32_t word = 0; word < (net->outputs + 63) / 64; word++)
        if (crossbar_ready(net->crossbar, word))
            return net->now;
    return next;
}

static void net_cycle(const struct gpu *gpu, struct net *net) {
    for (uint32_t i = 0; i < net->inputs; i++)
        for (const struct packet *packet; (packet = link_arrived(net->in[i], net->now)) != NULL;) {
            const uint32_t bytes = message_bytes(net, packet);
            if (!crossbar_push(net->crossbar, i, destination(gpu, net, packet), bytes, packet))
                break;
            link_pop(net->in[i], net->now);
        }
    crossbar_advance(net->crossbar, net->now);
    for (uint32_t word = 0; word < (net->outputs + 63) / 64; word++)
        for (uint64_t rest = crossbar_ready(net->crossbar, word); rest; rest &= rest - 1) {
            const uint32_t output = 64 * word + bits_first64(rest);
            const struct packet *packet = crossbar_peek(net->crossbar, output, NULL);
            if (!packet || !link_room(net->out[output], net->now))
                continue;
            link_send(net->out[output], net->now, packet, 1, message_bytes(net, packet));
            crossbar_pop(net->crossbar, output);
        }
}

static void net_run(const struct gpu *gpu, struct net *net, uint64_t from, uint64_t to) {
    for (net->now = from; net->now < to;) {
        net_cycle(gpu, net);
        uint64_t next = net_next(net);
        next = next > net->now ? next : net->now + 1;
        net->now = next < to ? next : to;
    }
}

static void net_exchange(struct net *net) {
    for (uint32_t i = 0; i < net->inputs; i++)
        link_exchange(net->in[i]);
    for (uint32_t i = 0; i < net->outputs; i++)
        link_exchange(net->out[i]);
}

static bool net_is_idle(const struct net *net) {
    if (crossbar_busy(net->crossbar))
        return false;
    for (uint32_t i = 0; i < net->inputs; i++)
        if (link_in_flight(net->in[i]).items)
            return false;
    for (uint32_t i = 0; i < net->outputs; i++)
        if (link_in_flight(net->out[i]).items)
            return false;
    return true;
}

/* ---- blocks ---- */

/* SMs in turn, one block each, while one has a place. */
static void dispatch(struct launch_state *state) {
    const uint32_t count = state->gpu->config.sm_count;
    unsigned full = 0;
    while (state->next_block < state->launch->blocks && full < count) {
        struct sm *sm = state->sms[state->next_sm];
        state->next_sm = (state->next_sm + 1) % count;
        if (!sm_free_places(sm)) {
            full++;
            continue;
        }
        full = 0;
        sm_give(sm, state->next_block++, state->launch->first_pc);
    }
}

static enum status create_state(struct launch_state *state, struct arena *arena, struct gpu *gpu, const struct gpu_launch *launch,
                                struct report *report) {
    const struct gpu_config *config = &gpu->config;
    *state = (struct launch_state){.gpu = gpu, .launch = launch};
    enum status status = create_net(&state->requests, arena, gpu, config->sm_count, gpu->slice_total, true, report);
    if (status == STATUS_OK)
        status = create_net(&state->replies, arena, gpu, gpu->slice_total, config->sm_count, false, report);
    state->sms = ARENA_ARRAY(arena, struct sm *, config->sm_count);
    for (uint32_t i = 0; i < config->sm_count && status == STATUS_OK; i++) {
        const struct sm_shape shape = {launch->places, launch->warps_per_place, i, config->gpu->link_latency};
        status = sm_create(&state->sms[i], arena, config->sm, config->l1, config->instruction, launch->module,
                           &launch->executors[i], launch->mechanism, &shape, state->requests.in[i], state->replies.out[i], report);
    }
    for (uint32_t i = 0; i < gpu->partition_count && status == STATUS_OK; i++) {
        partition_connect(gpu->partitions[i], &state->requests.out[i * config->gpu->slices],
                          &state->replies.in[i * config->gpu->slices], launch->executors);
        partition_begin(gpu->partitions[i]);
    }
    return status;
}

static bool is_done(const struct launch_state *state) {
    if (state->next_block < state->launch->blocks)
        return false;
    for (uint32_t i = 0; i < state->gpu->config.sm_count; i++)
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

static void run_epoch(struct launch_state *state, uint64_t from, uint64_t to) {
    struct gpu *gpu = state->gpu;
    for (uint32_t i = 0; i < gpu->config.sm_count; i++)
        sm_run(state->sms[i], from, to);
    if (net_next(&state->requests) < to)
        net_run(gpu, &state->requests, from, to);
    for (uint32_t i = 0; i < gpu->partition_count; i++)
        if (partition_next(gpu->partitions[i]) < to)
            partition_run(gpu->partitions[i], from, to);
    if (net_next(&state->replies) < to)
        net_run(gpu, &state->replies, from, to);
    net_exchange(&state->requests);
    net_exchange(&state->replies);
    for (uint32_t i = 0; i < gpu->config.sm_count; i++)
        state->launch->executors[i].publish(state->launch->executors[i].self);
    dispatch(state);
}

/* The fault with the smallest (cycle, SM). */
static bool find_fault(const struct launch_state *state, struct gpu_fault *fault) {
    uint64_t best = NO_CYCLE;
    for (uint32_t i = 0; i < state->gpu->config.sm_count; i++) {
        uint64_t cycle;
        unsigned warp;
        if (!sm_faulted(state->sms[i], &cycle, &warp) || cycle >= best)
            continue;
        best = cycle;
        *fault = (struct gpu_fault){true, i, warp};
    }
    return best != NO_CYCLE;
}

static enum status report_stuck(const struct launch_state *state, uint64_t cycle, struct report *report) {
    report_add(report, STATUS_STOPPED, "the launch makes no progress after cycle %llu: every warp waits", (unsigned long long)cycle);
    for (uint32_t i = 0; i < state->gpu->config.sm_count; i++)
        if (!sm_is_idle(state->sms[i]))
            sm_describe(state->sms[i], report);
    return STATUS_STOPPED;
}

static bool all_stuck(const struct launch_state *state) {
    for (uint32_t i = 0; i < state->gpu->config.sm_count; i++)
        if (!sm_is_idle(state->sms[i]) && !sm_is_stuck(state->sms[i]))
            return false;
    return is_quiet(state);
}

/* The first cycle from `cycle` on at which some part has something to do. */
static uint64_t next_cycle(const struct launch_state *state) {
    uint64_t next = NO_CYCLE;
    for (uint32_t i = 0; i < state->gpu->config.sm_count; i++) {
        const uint64_t at = sm_next(state->sms[i]);
        next = at < next ? at : next;
    }
    for (uint32_t i = 0; i < state->gpu->partition_count; i++) {
        const uint64_t at = partition_next(state->gpu->partitions[i]);
        next = at < next ? at : next;
    }
    const uint64_t there = net_next(&state->requests), back = net_next(&state->replies);
    next = there < next ? there : next;
    return back < next ? back : next;
}

static void collect(const struct launch_state *state, uint64_t cycles, struct gpu_stats *stats) {
    const struct gpu *gpu = state->gpu;
    stats->cycles = cycles;
    for (uint32_t i = 0; i < gpu->config.sm_count; i++) {
        const struct sm *sm = state->sms[i];
        const uint64_t *divergent;
        stat_merge(&stats->sm, sm_statistics(sm), sm_stats_table);
        stat_merge(&stats->l1, sm_l1_statistics(sm), cache_stat_table);
        stats->divergent_branches += sm_divergent_branches(sm, &divergent);
        stats->threads += sm_threads(sm);
        for (uint32_t pc = 0; pc < state->launch->module->code_count; pc++) {
            const struct sm_inst_stats *from = &sm_instructions(sm)[pc];
            for (unsigned k = 0; k < WAIT_COUNT; k++)
                stats->instructions[pc].waits[k] += from->waits[k];
            stats->instructions[pc].transactions += from->transactions;
            stats->instructions[pc].misses += from->misses;
            stats->divergent[pc] += divergent[pc];
        }
    }
}

static void collect_memory(const struct gpu *gpu, struct gpu_stats *stats) {
    for (uint32_t i = 0; i < gpu->partition_count; i++) {
        for (unsigned k = 0; k < gpu->config.gpu->slices; k++)
            stat_merge(&stats->l2, partition_l2_statistics(gpu->partitions[i], k), cache_stat_table);
        const struct dram_stats dram = partition_dram_statistics(gpu->partitions[i]);
        stat_merge(&stats->dram, &dram, dram_stat_table);
    }
}

static void subtract(void *from, const void *before, const struct stat_description *table) {
    for (const struct stat_description *stat = table; stat->name; stat++)
        if (!stat->is_ratio)
            *(uint64_t *)(void *)((char *)from + stat->offset) -= stat_counter(before, stat);
}

enum status gpu_run(struct gpu *gpu, struct arena *arena, const struct gpu_launch *launch, struct gpu_stats *stats,
                    struct gpu_fault *fault, struct report *report) {
    struct launch_state state;
    struct gpu_stats before = {0};
    *fault = (struct gpu_fault){0};
    *stats = (struct gpu_stats){.instructions = ARENA_ARRAY(arena, struct sm_inst_stats, launch->module->code_count),
                                .divergent = ARENA_ARRAY(arena, uint64_t, launch->module->code_count)};
    collect_memory(gpu, &before);
    enum status status = create_state(&state, arena, gpu, launch, report);
    if (status != STATUS_OK)
        return status;
    const uint64_t epoch = gpu->config.gpu->link_latency;
    uint64_t cycle = gpu->config.gpu->launch_cycles / epoch * epoch;
    dispatch(&state);
    while (!is_done(&state) && status == STATUS_OK) {
        run_epoch(&state, cycle, cycle + epoch);
        cycle += epoch;
        if (find_fault(&state, fault))
            status = STATUS_STOPPED;
        else if (gpu->config.gpu->max_cycles && cycle >= gpu->config.gpu->max_cycles)
            status = report_add(report, STATUS_STOPPED, "the launch was stopped after %llu cycles (limits.max_cycles)", (unsigned long long)cycle);
        else if (!is_done(&state)) {
            const uint64_t next = next_cycle(&state);
            if (next == NO_CYCLE || next > cycle + (UINT64_C(1) << 40)) {
                if (all_stuck(&state))
                    status = report_stuck(&state, cycle, report);
            } else if (next > cycle + epoch) {
                const uint64_t to = next / epoch * epoch;
                for (uint32_t i = 0; i < gpu->config.sm_count; i++)
                    sm_run(state.sms[i], cycle, to);
                cycle = to;
            }
        }
    }
    collect(&state, cycle, stats);
    collect_memory(gpu, stats);
    subtract(&stats->l2, &before.l2, cache_stat_table);
    subtract(&stats->dram, &before.dram, dram_stat_table);
    stats->dram_cycles = cycle * gpu->config.gpu->dram_khz / gpu->config.gpu->sm_khz * gpu->partition_count;
    /* what is still on its way (stores' acknowledgements are in) drains before the next launch */
    for (unsigned n = 0; n < 100000 && !is_quiet(&state) && status == STATUS_OK; n++, cycle += epoch)
        run_epoch(&state, cycle, cycle + epoch);
    if (gpu->config.gpu->l2_flush)
        for (uint32_t i = 0; i < gpu->partition_count; i++)
            partition_flush(gpu->partitions[i]);
    return status;
}
