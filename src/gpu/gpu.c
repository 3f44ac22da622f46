#include "gpu/gpu.h"

#include <string.h>

#include "base/bits.h"
#include "gpu/partition.h"

struct gpu {
    struct gpu_config config;
    struct address_map map;
    uint32_t partition_count, slice_total;
    struct partition **partitions;
    struct link **sm_out, **sm_in, **slice_in, **slice_out; /* used anew by every launch */
};

/* One way through the machine: links in, a crossbar, links out. */
struct net {
    struct crossbar *crossbar;
    struct link **in, **out;
    uint32_t inputs, outputs;
    uint64_t now;
    bool to_slices;
    uint64_t *pending; /* inputs with something on their link, as the last exchange told */
    uint64_t *stuck;   /* of these, those whose next message found no room in the crossbar */
};

struct launch_state {
    struct gpu *gpu;
    const struct gpu_launch *launch;
    struct arena *arena;
    const struct sm_code *code;
    struct sm **sms; /* the first made_count; the others have had no block yet and are made with their first */
    uint32_t made_count;
    struct net requests, replies;
    uint64_t next_block;
    uint64_t done_seen, done_cycle; /* gpu_launch's `done` when last looked at, and when it last moved */
    unsigned next_sm;
};

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
    struct link ***const links[] = {&gpu->sm_out, &gpu->sm_in, &gpu->slice_in, &gpu->slice_out};
    for (unsigned i = 0; i < 4; i++)
        if (create_links(links[i], arena, i < 2 ? config->sm_count : gpu->slice_total, config->gpu, report) !=
            STATUS_OK)
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

static void create_net(struct net *net, struct arena *arena, uint32_t inputs, struct link **in, uint32_t outputs,
                       struct link **out, bool to_slices) {
    *net = (struct net){.inputs = inputs, .in = in, .outputs = outputs, .out = out, .to_slices = to_slices};
    net->pending = ARENA_ARRAY(arena, uint64_t, (inputs + 63) / 64);
    net->stuck = ARENA_ARRAY(arena, uint64_t, (inputs + 63) / 64);
    for (uint32_t i = 0; i < inputs; i++)
        link_reset(in[i]);
    for (uint32_t i = 0; i < outputs; i++)
        link_reset(out[i]);
}

static enum status create_crossbar(struct net *net, struct arena *arena, const struct gpu *gpu, struct report *report) {
    const struct crossbar_shape shape = {.inputs = net->inputs,
                                         .outputs = net->outputs,
                                         .item_bytes = sizeof(struct packet),
                                         .largest_message_bytes = 128,
                                         .stream = net->to_slices};
    return crossbar_create(&net->crossbar, arena, gpu->config.crossbar, &shape, report);
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

static uint32_t words(uint32_t bits) { return (bits + 63) / 64; }

/* The first cycle at which an input or the crossbar has something to do; output links answer in output_next. */
static uint64_t input_next(const struct net *net) {
    uint64_t next = crossbar_next(net->crossbar);
    for (uint32_t word = 0; word < words(net->inputs); word++)
        for (uint64_t rest = net->pending[word] & ~net->stuck[word]; rest; rest &= rest - 1) {
            const uint64_t at = link_next(net->in[64 * word + bits_first64(rest)]);
            next = at < next ? at : next;
        }
    return next;
}

/* The first cycle from `from` on at which a message that is across can leave. */
static uint64_t output_next(const struct net *net, uint64_t from) {
    uint64_t next = NO_CYCLE;
    for (uint32_t word = 0; word < words(net->outputs); word++)
        for (uint64_t rest = crossbar_ready(net->crossbar, word); rest; rest &= rest - 1) {
            const struct link *link = net->out[64 * word + bits_first64(rest)];
            if (link->credits)
                return from;
            const uint64_t at = link_credit_next(link);
            next = at < next ? at : next;
        }
    return next;
}

static uint64_t net_next(const struct net *net) {
    const uint64_t input = input_next(net), output = output_next(net, net->now);
    return input < output ? input : output;
}

/* Inputs whose crossbar buffer has given up room may push again. */
static void unstick(struct net *net) {
    for (uint32_t word = 0; word < words(net->inputs); word++)
        net->stuck[word] &= ~crossbar_freed(net->crossbar, word);
}

static void push_input(const struct gpu *gpu, struct net *net, uint32_t input) {
    struct link *link = net->in[input];
    for (const struct packet *packet; (packet = link_arrived(link, net->now)) != NULL; link_pop(link, net->now))
        if (!crossbar_push(net->crossbar, input, destination(gpu, net, packet), message_bytes(net, packet), packet)) {
            net->stuck[input / 64] |= UINT64_C(1) << input % 64;
            return;
        }
    if (link_next(link) == NO_CYCLE)
        net->pending[input / 64] &= ~(UINT64_C(1) << input % 64);
}

static void net_cycle(const struct gpu *gpu, struct net *net) {
    for (uint32_t word = 0; word < words(net->inputs); word++)
        for (uint64_t rest = net->pending[word] & ~net->stuck[word]; rest; rest &= rest - 1)
            push_input(gpu, net, 64 * word + bits_first64(rest));
    crossbar_advance(net->crossbar, net->now);
    unstick(net);
    for (uint32_t word = 0; word < words(net->outputs); word++)
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
    for (uint32_t i = 0; i < net->inputs; i++) {
        link_exchange(net->in[i]);
        if (link_next(net->in[i]) != NO_CYCLE)
            net->pending[i / 64] |= UINT64_C(1) << i % 64;
    }
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

/* An SM is made with its first block: before, all it does is pass idle slots. SMs get theirs in order. */
static enum status make_sm(struct launch_state *state, uint64_t cycle, struct report *report) {
    const struct gpu *gpu = state->gpu;
    const struct gpu_config *config = &gpu->config;
    const struct gpu_launch *launch = state->launch;
    const uint32_t i = state->made_count;
    const struct sm_shape shape = {launch->places, launch->warps_per_place, i, config->gpu->link_latency};
    const enum status status =
        sm_create(&state->sms[i], state->arena, config->sm, config->l1, config->instruction, launch->module,
                  state->code, &launch->executors[i], launch->mechanism, &shape, gpu->sm_out[i], gpu->sm_in[i], report);
    if (status != STATUS_OK)
        return status;
    state->made_count++;
    sm_run(state->sms[i], 0, cycle);
    return STATUS_OK;
}

/* SMs in turn, one block each, while one has a place. Before the cycle. */
static enum status dispatch(struct launch_state *state, uint64_t cycle, struct report *report) {
    const uint32_t count = state->gpu->config.sm_count;
    unsigned full = 0;
    while (state->next_block < state->launch->blocks && full < count) {
        if (state->next_sm == state->made_count) {
            const enum status status = make_sm(state, cycle, report);
            if (status != STATUS_OK)
                return status;
        }
        struct sm *sm = state->sms[state->next_sm];
        state->next_sm = (state->next_sm + 1) % count;
        if (!sm_free_places(sm)) {
            full++;
            continue;
        }
        full = 0;
        sm_give(sm, state->next_block++, state->launch->first_pc);
    }
    return STATUS_OK;
}

static enum status create_state(struct launch_state *state, struct arena *arena, struct gpu *gpu,
                                const struct gpu_launch *launch, struct report *report) {
    const struct gpu_config *config = &gpu->config;
    *state = (struct launch_state){.gpu = gpu, .launch = launch, .arena = arena};
    create_net(&state->requests, arena, config->sm_count, gpu->sm_out, gpu->slice_total, gpu->slice_in, true);
    create_net(&state->replies, arena, gpu->slice_total, gpu->slice_out, config->sm_count, gpu->sm_in, false);
    enum status status = create_crossbar(&state->requests, arena, gpu, report);
    if (status == STATUS_OK)
        status = create_crossbar(&state->replies, arena, gpu, report);
    state->sms = ARENA_ARRAY(arena, struct sm *, config->sm_count);
    state->code = sm_decode(arena, launch->module, config->sm);
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

static enum status run_epoch(struct launch_state *state, uint64_t from, uint64_t to, struct report *report) {
    struct gpu *gpu = state->gpu;
    for (uint32_t i = 0; i < state->made_count; i++)
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
    for (uint32_t i = 0; i < state->made_count; i++)
        state->launch->executors[i].publish(state->launch->executors[i].self);
    return dispatch(state, to, report);
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
        *fault = (struct gpu_fault){true, i, warp};
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
    if (*state->launch->done != state->done_seen) {
        state->done_seen = *state->launch->done;
        state->done_cycle = cycle;
    }
    return cycle - state->done_cycle < state->gpu->config.gpu->livelock_cycles;
}

static enum status report_livelock(const struct launch_state *state, uint64_t cycle, struct report *report) {
    report_add(report, STATUS_STOPPED,
               "kernel '%s' makes no progress: %llu cycles without a store to global memory, an atomic that changed "
               "memory or the end of a thread (limits.livelock_cycles)",
               kernel_name(state->launch), (unsigned long long)(cycle - state->done_cycle));
    describe_first(state, report);
    return STATUS_STOPPED;
}

static bool all_stuck(const struct launch_state *state) {
    for (uint32_t i = 0; i < state->made_count; i++)
        if (!sm_is_idle(state->sms[i]) && !sm_is_stuck(state->sms[i]))
            return false;
    return is_quiet(state);
}

/* The first cycle from `cycle` on at which some part has something to do. */
static uint64_t next_cycle(const struct launch_state *state) {
    uint64_t next = NO_CYCLE;
    for (uint32_t i = 0; i < state->made_count; i++) {
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

enum { WATCH_EPOCHS = 64 };

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

static void collect(const struct launch_state *state, uint64_t cycles, struct gpu_stats *stats) {
    const struct gpu *gpu = state->gpu;
    stats->cycles = cycles;
    stat_merge(&stats->request_crossbar, crossbar_stats(state->requests.crossbar), crossbar_stat_table);
    stat_merge(&stats->reply_crossbar, crossbar_stats(state->replies.crossbar), crossbar_stat_table);
    const uint64_t untouched =
        (uint64_t)(gpu->config.sm_count - state->made_count) * cycles * gpu->config.sm->schedulers;
    stats->sm.slots = stats->sm.idle = untouched;
    for (uint32_t i = 0; i < state->made_count; i++) {
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

enum status gpu_run(struct gpu *gpu, struct arena *arena, struct arena *kept, const struct gpu_launch *launch,
                    struct gpu_stats *stats, struct gpu_fault *fault, struct report *report) {
    struct launch_state state;
    struct gpu_stats before = {0};
    *fault = (struct gpu_fault){0};
    *stats = (struct gpu_stats){.instructions = ARENA_ARRAY(kept, struct sm_inst_stats, launch->module->code_count),
                                .divergent = ARENA_ARRAY(kept, uint64_t, launch->module->code_count)};
    collect_memory(gpu, &before);
    enum status status = create_state(&state, arena, gpu, launch, report);
    if (status != STATUS_OK)
        return status;
    const uint64_t epoch = gpu->config.gpu->link_latency;
    uint64_t cycle = gpu->config.gpu->launch_cycles / epoch * epoch;
    status = dispatch(&state, cycle, report);
    for (uint64_t epochs = 1; !is_done(&state) && status == STATUS_OK; epochs++) {
        status = run_epoch(&state, cycle, cycle + epoch, report);
        cycle += epoch;
        if (status != STATUS_OK)
            break;
        if (find_fault(&state, fault))
            status = STATUS_STOPPED;
        else if (gpu->config.gpu->max_cycles && cycle >= gpu->config.gpu->max_cycles)
            status = report_limit(&state, cycle, report);
        else if (epochs % WATCH_EPOCHS == 0 && !makes_progress(&state, cycle))
            status = report_livelock(&state, cycle, report);
        else if (epochs % WATCH_EPOCHS == 0 && !go_on(&state, cycle))
            status = report_add(report, STATUS_STOPPED, "kernel '%s' was interrupted after %llu cycles",
                                kernel_name(launch), (unsigned long long)cycle);
        else if (!is_done(&state)) {
            const uint64_t next = next_cycle(&state);
            if (next == NO_CYCLE || next > cycle + (UINT64_C(1) << 40)) {
                if (all_stuck(&state))
                    status = report_stuck(&state, cycle, report);
            } else if (next > cycle + epoch) {
                const uint64_t to = next / epoch * epoch;
                for (uint32_t i = 0; i < state.made_count; i++)
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
        status = run_epoch(&state, cycle, cycle + epoch, report);
    if (gpu->config.gpu->l2_flush)
        for (uint32_t i = 0; i < gpu->partition_count; i++)
            partition_flush(gpu->partitions[i]);
    return status;
}
