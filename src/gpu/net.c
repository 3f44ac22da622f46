/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/net.h"

#include "base/bits.h"
#include "gpu/slice_map.h"
#include "gpu/state.h"

/* What both kinds have. */
static enum status create(struct net *net, struct arena *arena, const struct gpu_config *config,
                          struct report *report) {
    net->input_words = (net->inputs + 63) / 64, net->output_words = (net->outputs + 63) / 64;
    net->pending = arena_alloc_aligned(arena, net->input_words * sizeof *net->pending, 64);
    net->stuck = ARENA_ARRAY(arena, uint64_t, net->input_words);
    for (uint32_t i = 0; i < net->inputs; i++)
        link_reset(net->in[i]);
    for (uint32_t i = 0; i < net->outputs; i++)
        link_reset(net->out[i]);
    const struct crossbar_shape shape = {.inputs = net->inputs,
                                         .outputs = net->outputs,
                                         .item_bytes = sizeof(struct packet),
                                         .largest_message_bytes = NET_MESSAGE_BYTES,
                                         .stream = net->to_slices + 2u * net->between_sms};
    return crossbar_create(&net->crossbar, arena, config->crossbar, &shape, report);
}

enum status net_create(struct net *net, struct arena *arena, const struct gpu *gpu, bool to_slices,
                       struct report *report) {
    const struct gpu_config *config = &gpu->config;
    *net = (struct net){.inputs = to_slices ? config->sm_count : gpu->slice_total,
                        .in = to_slices ? gpu->sm_out : gpu->slice_out,
                        .outputs = to_slices ? gpu->slice_total : config->sm_count,
                        .out = to_slices ? gpu->slice_in : gpu->sm_in,
                        .to_slices = to_slices,
                        .map = &gpu->map,
                        .slices = config->gpu->slices};
    const struct clock_ratio sms = gpu_clock(config->gpu, config->gpu->sm_khz);
    const struct clock_ratio slices = gpu_clock(config->gpu, config->gpu->l2_khz);
    net->clock = gpu_clock(config->gpu, config->gpu->interconnect_khz);
    net->in_clock = to_slices ? sms : slices, net->out_clock = to_slices ? slices : sms;
    net->one_clock = clock_is_same(&net->clock) && clock_is_same(&slices);
    return create(net, arena, config, report);
}

enum status net_create_between_sms(struct net *net, struct arena *arena, const struct gpu *gpu,
                                   const struct net_ends *ends, struct report *report) {
    const struct gpu_config *config = &gpu->config;
    *net = (struct net){.inputs = config->sm_count,
                        .in = ends->in,
                        .outputs = config->sm_count,
                        .out = ends->out,
                        .to_slices = ends->requests,
                        .between_sms = true};
    net->clock = net->in_clock = net->out_clock = gpu_clock(config->gpu, config->gpu->sm_khz);
    net->one_clock = true;
    return create(net, arena, config, report);
}

static inline uint32_t slice_of(const struct net *net, const struct packet *packet) {
    return address_map_chip(net->map, packet->address) * net->slices +
           slice_map_slice(net->map, net->slices, packet->address);
}

static inline uint32_t destination(const struct net *net, const struct packet *packet) {
    if (!net->to_slices)
        return packet->sm;
    if (net->routed)
        return packet->slice;
    return net->between_sms ? (uint32_t)(packet->address >> 32) : slice_of(net, packet);
}

static void route(const struct net *net, uint32_t sm) {
    for (struct packet *packet; (packet = link_unseen(net->in[sm])) != NULL;)
        packet->slice = (uint16_t)slice_of(net, packet);
}

void net_route(const struct net *net, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (link_has_unseen(net->in[i]))
            route(net, i);
}

/* What a message counts for on the way: data go with stores and with replies to loads. */
static uint32_t message_bytes(const struct net *net, const struct packet *packet) {
    const bool carries = net->to_slices ? packet->kind != PACKET_READ : packet->kind != PACKET_WRITE;
    return carries ? packet->bytes : 0;
}

/* When an input has something to do; output links answer in output_next. */
static uint64_t input_next(const struct net *net, uint64_t enough) {
    uint64_t next = NO_CYCLE;
    for (uint32_t word = 0; word < net->input_words; word++)
        for (uint64_t rest = net->pending[word] & ~net->stuck[word]; rest; rest &= rest - 1) {
            const uint64_t at = link_next(net->in[64 * word + bits_first64(rest)]);
            next = at < next ? at : next;
            if (next <= enough)
                return next;
        }
    return next;
}

/* The first cycle from `from` on at which a message that is across can leave. */
static uint64_t output_next(const struct net *net, uint64_t from) {
    uint64_t next = NO_CYCLE;
    for (uint32_t word = 0; word < net->output_words; word++)
        for (uint64_t rest = crossbar_ready(net->crossbar, word); rest; rest &= rest - 1) {
            const struct link *link = net->out[64 * word + bits_first64(rest)];
            if (link->credits)
                return from;
            const uint64_t at = link_credit_next(link);
            next = at < next ? at : next;
        }
    return next;
}

/* Apart from net_next, which then needs no stack. */
static __attribute__((noinline)) uint64_t links_next(const struct net *net, uint64_t enough) {
    const uint64_t output = output_next(net, net->now);
    if (output <= enough)
        return output;
    const uint64_t input = input_next(net, enough);
    return input < output ? input : output;
}

uint64_t net_next(const struct net *net, uint64_t enough) {
    const uint64_t next = crossbar_next(net->crossbar);
    if (next <= enough)
        return next;
    const uint64_t links = links_next(net, enough);
    return links < next ? links : next;
}

/* What has arrived at an input goes into the crossbar as far as there is room. */
static inline void push_input(struct net *net, uint32_t word, uint32_t bit) {
    const uint32_t input = 64 * word + bit;
    struct link *link = net->in[input];
    if (link_next(link) > net->now)
        return;
    for (const struct packet *packet; (packet = link_arrived(link, net->now)) != NULL; link_pop(link, net->now))
        if (!crossbar_push(net->crossbar, input, destination(net, packet), message_bytes(net, packet), packet)) {
            net->stuck[word] |= UINT64_C(1) << bit;
            return;
        }
    if (link_next(link) == NO_CYCLE)
        net->pending[word] &= ~(UINT64_C(1) << bit);
}

static void send_output(struct net *net, uint32_t output) {
    struct link *link = net->out[output];
    if (!link_open(link, net->now))
        return;
    const struct packet *packet = crossbar_peek(net->crossbar, output, NULL);
    link_send(link, net->now, packet, 1, message_bytes(net, packet));
    crossbar_pop(net->crossbar, output);
}

static void run_cycle(struct net *net) {
    for (uint32_t word = 0; word < net->input_words; word++)
        for (uint64_t rest = net->pending[word] & ~net->stuck[word]; rest; rest &= rest - 1)
            push_input(net, word, bits_first64(rest));
    crossbar_advance(net->crossbar, net->now);
    for (uint32_t word = 0; word < net->input_words; word++) /* who gave up room may push again */
        net->stuck[word] &= ~crossbar_freed(net->crossbar, word);
    for (uint32_t word = 0; word < net->output_words; word++)
        for (uint64_t rest = crossbar_ready(net->crossbar, word); rest; rest &= rest - 1)
            send_output(net, 64 * word + bits_first64(rest));
}

void net_run(struct net *net, uint64_t from, uint64_t to) {
    for (net->now = from; net->now < to;) {
        run_cycle(net);
        uint64_t next = net_next(net, net->now + 1);
        next = next > net->now ? next : net->now + 1;
        net->now = next < to ? next : to;
    }
}

/* Links in, and links out, from one number to before the other. */
struct links {
    uint32_t in, in_end, out, out_end;
};

static __attribute__((noinline)) void exchange_clocks(struct net *net, struct links links) {
    for (uint32_t i = links.in; i < links.in_end; i++) {
        if (link_exchange_clocks(net->in[i], &net->in_clock, &net->clock))
            net->pending[i / 64] |= UINT64_C(1) << i % 64;
    }
    for (uint32_t i = links.out; i < links.out_end; i++)
        link_exchange_clocks(net->out[i], &net->clock, &net->out_clock);
}

static inline void exchange(struct net *net, struct links links) {
    if (!net->one_clock) {
        exchange_clocks(net, links);
        return;
    }
    for (uint32_t i = links.in; i < links.in_end; i++) {
        if (link_exchange(net->in[i]))
            net->pending[i / 64] |= UINT64_C(1) << i % 64;
    }
    for (uint32_t i = links.out; i < links.out_end; i++)
        link_exchange(net->out[i]);
}

void net_exchange(struct net *net) { exchange(net, (struct links){0, net->inputs, 0, net->outputs}); }

uint32_t net_words(const struct net *net) { return net->input_words + net->output_words; }

static uint32_t word_end(uint32_t word, uint32_t count) { return 64 * word + 64 < count ? 64 * word + 64 : count; }

void net_exchange_word(struct net *net, uint32_t word) {
    if (word < net->input_words) {
        exchange(net, (struct links){.in = 64 * word, .in_end = word_end(word, net->inputs)});
        return;
    }
    word -= net->input_words;
    exchange(net, (struct links){.out = 64 * word, .out_end = word_end(word, net->outputs)});
}

bool net_is_idle(const struct net *net) {
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
