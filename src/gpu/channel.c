/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/channel.h"

#include <stdalign.h>

#include "base/bits.h"
#include "mem/dram_channel.h"

enum { RANK_BITS = 4 };

struct coming {
    alignas(64) uint64_t order; /* cycle of the lookup and rank */
    struct dram_place place;
    struct request request;
};

struct channel {
    uint64_t next;                /* channel_next */
    uint64_t dram_now, dram_base; /* in cycles of the DRAM: carried out so far; when the launch began */
    uint64_t first_ready;         /* the DRAM's cycle from which the first of the queue may go; NO_CYCLE: none */
    uint64_t latency;
    struct clock_ratio clock; /* of the DRAM, told by the partition's */
    bool far;                 /* the latency is longer than a cycle of the DRAM */
    bool any_number;          /* of requests enter it in a cycle: ideal.dram, ideal.bandwidth */
    uint32_t capacity;        /* requests that may be on the way */
    uint32_t scarce;          /* with more, no room is left that the next one might need */
    struct dram_channel dram;
    uint32_t head, count;
    struct coming *queue; /* sorted by `order` */
};

/* ---- clocks ---- */

static inline uint64_t to_dram(const struct channel *c, uint64_t cycle) {
    return c->dram_base + clock_last_tick(&c->clock, cycle);
}

static inline uint64_t from_dram(const struct channel *c, uint64_t cycle) {
    if (cycle == NO_CYCLE)
        return NO_CYCLE;
    return clock_cycle(&c->clock, cycle > c->dram_base ? cycle - c->dram_base : 0);
}

/* ---- the queue ---- */

static inline struct coming *queue_at(const struct channel *c, uint32_t n) {
    return &c->queue[(c->head + n) % CHANNEL_QUEUE];
}

/* When the first of the queue can be pushed into the DRAM: not before the next cycle of its clock. */
static inline uint64_t queue_ready(const struct channel *c) {
    if (!c->count)
        return NO_CYCLE;
    const uint64_t cycle = queue_at(c, 0)->order >> RANK_BITS, there = to_dram(c, cycle + c->latency);
    if (c->far)
        return there;
    const uint64_t next = to_dram(c, cycle) + 1;
    return there > next ? there : next;
}

uint32_t channel_room(const struct channel *c) { return c->capacity - c->count; }

struct dram_place channel_place(const struct channel *c, uint64_t address) {
    return dram_channel_place(c->dram, address);
}

/* The first of the queue has changed. */
static __attribute__((noinline)) void queue_begin(struct channel *c) {
    c->first_ready = queue_ready(c);
    const uint64_t complete = from_dram(c, c->first_ready + dram_channel_least_latency(c->dram));
    c->next = complete < c->next ? complete : c->next;
}

static inline __attribute__((always_inline)) struct request *put(struct channel *c, uint64_t cycle, uint32_t rank,
                                                                 struct dram_place place) {
    const uint64_t order = cycle << RANK_BITS | rank;
    if (!c->count)
        c->head = 0; /* so that few items are in the host's caches */
    uint32_t at = c->count++;
    for (; at && queue_at(c, at - 1)->order > order; at--)
        *queue_at(c, at) = *queue_at(c, at - 1);
    struct coming *item = queue_at(c, at);
    item->order = order;
    item->place = place;
    if (!at)
        queue_begin(c);
    if (c->count > c->scarce)
        c->next = 0;
    return &item->request;
}

struct request *channel_send(struct channel *c, uint64_t cycle, uint32_t rank, struct dram_place place) {
    return put(c, cycle, rank, place);
}

void channel_send_sectors(struct channel *c, uint64_t cycle, uint32_t looked, uint32_t sectors, struct dram_place place,
                          const struct request *line) {
    for (; looked; looked &= looked - 1, cycle++) {
        const uint32_t sector = bits_first(looked);
        if (!(sectors >> sector & 1))
            continue;
        struct request *request = put(c, cycle, line->source, place);
        *request = *line;
        request->address += line->bytes * sector, request->tag += line->bytes * sector;
    }
}

/* ---- time ---- */

/* The first of the queue enters the DRAM. The cycle after which the next may. */
static inline uint64_t push_first(struct channel *c, uint64_t at) {
    const struct coming *first = queue_at(c, 0);
    if (c->dram.dram) {
        dram_push_at(c->dram.dram, at, &first->request, first->place);
        return at;
    }
    latency_dram_push(c->dram.latency, at, &first->request);
    return at - c->any_number;
}

/* Pushes what comes, one request in a cycle of the DRAM, as long as there is room. */
static void advance(struct channel *c, uint64_t until) {
    while (c->dram_now < until) {
        const uint64_t at = c->first_ready > c->dram_now ? c->first_ready : c->dram_now + 1;
        if (at > until)
            break;
        dram_channel_advance(c->dram, at - 1);
        if (!dram_channel_room(c->dram, at)) { /* until a command makes some, or what is complete is taken */
            c->dram_now = dram_channel_next(c->dram);
            continue;
        }
        const uint64_t last = push_first(c, at);
        c->head = (c->head + 1) % CHANNEL_QUEUE;
        c->count--;
        c->first_ready = queue_ready(c);
        c->dram_now = last;
    }
    c->dram_now = until;
    dram_channel_advance(c->dram, until);
}

uint64_t channel_next(const struct channel *c) { return c->next; }

void channel_run(struct channel *c, uint64_t cycle) { advance(c, to_dram(c, cycle)); }

static void plan(struct channel *c) {
    uint64_t at = dram_channel_ready(c->dram);
    if (at == NO_CYCLE) {
        const uint64_t command = dram_channel_next(c->dram);
        at = command < c->first_ready ? command : c->first_ready;
        at = at == NO_CYCLE ? at : at + dram_channel_least_latency(c->dram);
    }
    c->next = c->count > c->scarce ? 0 : from_dram(c, at);
}

bool channel_pop(struct channel *c, struct request *done) {
    if (dram_channel_pop(c->dram, c->dram_now, done))
        return true;
    plan(c);
    return false;
}

void channel_settle(struct channel *c, uint64_t cycle) {
    const uint64_t until = to_dram(c, cycle);
    if (until > c->dram_now)
        advance(c, until);
}

void channel_begin(struct channel *c) {
    c->dram_base = c->dram_now;
    plan(c);
}

bool channel_is_idle(const struct channel *c) { return !c->count && !dram_channel_held(c->dram); }

struct dram_stats channel_statistics(const struct channel *c) {
    return dram_channel_statistics(c->dram);
}

void channel_add_banks(const struct channel *c, uint64_t into[]) {
    if (c->dram.dram)
        dram_add_banks(c->dram.dram, into);
}

const struct dram_histograms *channel_histograms(const struct channel *c) { return dram_channel_histograms(c->dram); }

/* The memory of a machine with ideal.dram or ideal.bandwidth: one latency, any number of requests at a time. */
static struct dram_params ideal_dram(const struct gpu_config *config) {
    enum { BYTES_PER_CLOCK = 1 << 20 };
    struct dram_params dram = *config->dram;
    const uint32_t row_hit = dram.model == DRAM_BANKS         ? dram.cl + dram.burst_clocks
                             : dram.model == DRAM_ROW_LATENCY ? dram.row_hit_latency
                                                              : dram.flat_latency;
    dram.model = DRAM_FLAT;
    dram.flat_latency = config->gpu->ideal_dram ? 1 : row_hit;
    dram.bytes_per_clock = BYTES_PER_CLOCK;
    dram.queue_limit = 0;
    return dram;
}

/* Where requests that wait before the DRAM's window have a limit, the way there stands still while that many wait: it holds
 * what the DRAM takes in at most during the latency of the way, and as many again as may wait. The L2 waits with the rest, so that
 * stores that miss it go no faster than the DRAM takes what they drive out. */
static uint32_t way_capacity(const struct channel *c, uint32_t queue_limit) {
    if (!queue_limit)
        return CHANNEL_QUEUE;
    const uint64_t taken = (uint64_t)clock_last_tick(&c->clock, c->latency),
                   most = taken + queue_limit + CHANNEL_SCARCE;
    return most < CHANNEL_QUEUE ? (uint32_t)most : CHANNEL_QUEUE;
}

struct channel *channel_create(struct arena *arena, const struct gpu_config *config) {
    struct channel *c = ARENA_NEW(arena, struct channel);
    const struct gpu_params *gpu = config->gpu;
    const bool ideal = gpu->ideal_dram || gpu->ideal_bandwidth;
    const struct dram_params dram = ideal ? ideal_dram(config) : *config->dram;
    c->clock = clock_ratio(gpu->dram_khz, gpu_khz(gpu, gpu->l2_khz));
    c->latency = channel_latency(gpu);
    c->capacity = way_capacity(c, dram.queue_limit);
    c->scarce = c->capacity - CHANNEL_SCARCE;
    c->far = c->latency * c->clock.ticks >= c->clock.cycles;
    c->any_number = ideal;
    c->dram = dram_channel_create(arena, &dram);
    c->queue = arena_alloc_aligned(arena, CHANNEL_QUEUE * sizeof *c->queue, alignof(struct coming));
    c->first_ready = NO_CYCLE;
    return c;
}

void channel_keep(struct channel *c, struct keep *keep) {
    if (keep->writes && !channel_is_idle(c))
        keep_refuse(keep, "a memory partition with requests on their way to the DRAM");
    keep_u64(keep, &c->dram_now, UINT64_MAX >> 8);
    dram_channel_keep(c->dram, c->dram_now, keep);
}
