#include "gpu/partition.h"

#include <string.h>

#include "base/bits.h"

enum { WAITING_MAX = 1024, LINE_BYTES = 128, SECTOR_BYTES = 32, QUEUE = 4096 };
#define NOBODY UINT32_MAX

/* A request in the slice. */
struct waiting {
    struct packet packet;
    uint32_t next;      /* list of free ones */
    uint32_t atoms_left; /* asked for below */
    bool accepted;      /* every atom has been looked up */
    uint64_t arrived;
};

struct reply {
    uint64_t ready;
    uint32_t waiting;
};

struct ring {
    struct reply items[WAITING_MAX];
    uint32_t head, count;
};

struct slice {
    struct cache *l2;
    struct link *in, *out;
    struct waiting *waiting;
    uint32_t free, current; /* current: whose atoms are being looked up */
    uint32_t rest;          /* sectors of it left */
    bool blocked;
    struct cache_blocked reason;
    struct ring hits, fills; /* replies by two ways, each in order of time */
};

struct partition {
    const struct gpu_config *config;
    const struct address_map *map;
    uint32_t number, slice_count, chips, chip_bytes;
    struct slice *slices;
    struct dram *dram;
    struct {
        uint64_t ready;
        struct request request;
    } queue[QUEUE]; /* for the channel, in order */
    uint32_t queue_head, queue_count;
    uint64_t now, dram_now, dram_base;
    const struct executor *executors;
};

uint32_t partition_slice_of(const struct address_map *map, uint32_t slices, uint64_t address) {
    struct address_parts parts;
    address_map_decode(map, address, &parts);
    return (parts.bank ^ (parts.row & 1)) & (slices - 1);
}

/* ---- clocks: channel cycle d begins at machine cycle ceil(d * sm / dram) ---- */

static uint64_t to_dram(const struct partition *p, uint64_t cycle) {
    return p->dram_base + cycle * p->config->gpu->dram_khz / p->config->gpu->sm_khz;
}
static uint64_t from_dram(const struct partition *p, uint64_t cycle) {
    if (cycle == NO_CYCLE)
        return NO_CYCLE;
    const uint64_t since = cycle > p->dram_base ? cycle - p->dram_base : 0;
    return (since * p->config->gpu->sm_khz + p->config->gpu->dram_khz - 1) / p->config->gpu->dram_khz;
}

/* ---- towards the channel ---- */

static uint32_t queue_room(const struct partition *p) { return QUEUE - p->queue_count; }

static void queue_push(struct partition *p, uint32_t slice, const struct request *request) {
    const uint32_t at = (p->queue_head + p->queue_count++) % QUEUE;
    p->queue[at].request = *request;
    p->queue[at].request.source = slice;
    p->queue[at].ready = p->dram_now + p->config->gpu->dram_latency;
}

static void complete(struct partition *p, struct slice *slice, uint32_t number, bool from_fill) {
    struct waiting *waiting = &slice->waiting[number];
    if (waiting->packet.kind == PACKET_ATOMIC)
        p->executors[waiting->packet.sm].perform(p->executors[waiting->packet.sm].self, waiting->packet.ticket,
                                                 waiting->packet.lanes);
    struct ring *ring = from_fill ? &slice->fills : &slice->hits;
    ring->items[(ring->head + ring->count++) % WAITING_MAX] =
        (struct reply){from_fill ? p->now + 1 : p->now + p->config->gpu->l2_latency, number};
}

/* ---- a slice ---- */

static void accept(struct slice *slice, uint64_t now) {
    const struct packet *packet = slice->free != NOBODY ? link_arrived(slice->in, now) : NULL;
    if (!packet)
        return;
    const uint32_t number = slice->free;
    struct waiting *waiting = &slice->waiting[number];
    slice->free = waiting->next;
    *waiting = (struct waiting){.packet = *packet, .arrived = now};
    link_pop(slice->in, now);
    slice->current = number;
    slice->rest = packet->sectors ? packet->sectors : 1;
}

/* One atom of the current request; false: blocked. */
static bool look_up(struct partition *p, uint32_t index) {
    struct slice *slice = &p->slices[index];
    struct waiting *waiting = &slice->waiting[slice->current];
    const uint32_t atom = cache_atom_bytes(slice->l2);
    const uint64_t line = waiting->packet.address / LINE_BYTES * LINE_BYTES;
    const struct request request = {.address = atom >= LINE_BYTES ? line : line + SECTOR_BYTES * bits_first(slice->rest),
                                    .tag = slice->current,
                                    .bytes = atom >= LINE_BYTES ? LINE_BYTES : SECTOR_BYTES,
                                    .kind = waiting->packet.kind == PACKET_READ    ? REQUEST_READ
                                            : waiting->packet.kind == PACKET_WRITE ? REQUEST_WRITE
                                                                                   : REQUEST_ATOMIC};
    struct cache_result result;
    result.down_count = 0, result.waits = false;
    if (cache_access(slice->l2, &request, queue_room(p), &result) == CACHE_BLOCKED) {
        slice->reason = result.blocked;
        return false;
    }
    for (uint32_t i = 0; i < result.down_count; i++)
        queue_push(p, index, &result.down[i]);
    waiting->atoms_left += result.waits;
    slice->rest = atom >= LINE_BYTES ? 0 : slice->rest & (slice->rest - 1);
    return true;
}

static void send_replies(struct slice *slice, struct ring *ring, uint64_t now) {
    while (ring->count && ring->items[ring->head].ready <= now && link_room(slice->out, now)) {
        const uint32_t number = ring->items[ring->head].waiting;
        struct waiting *waiting = &slice->waiting[number];
        struct packet reply = waiting->packet;
        link_send(slice->out, now, &reply, 1, reply.kind == PACKET_READ ? reply.bytes : 8);
        waiting->next = slice->free;
        slice->free = number;
        ring->head = (ring->head + 1) % WAITING_MAX;
        ring->count--;
    }
}

static void run_slice(struct partition *p, uint32_t index) {
    struct slice *slice = &p->slices[index];
    send_replies(slice, &slice->fills, p->now);
    send_replies(slice, &slice->hits, p->now);
    if (slice->current == NOBODY)
        accept(slice, p->now);
    if (slice->current == NOBODY || slice->blocked)
        return;
    if (!look_up(p, index)) {
        slice->blocked = true;
        return;
    }
    if (slice->rest)
        return;
    struct waiting *waiting = &slice->waiting[slice->current];
    waiting->accepted = true;
    if (!waiting->atoms_left)
        complete(p, slice, slice->current, false);
    slice->current = NOBODY;
}

/* ---- the channel ---- */

static void channel_fill(struct partition *p, const struct request *done) {
    if (done->kind == REQUEST_WRITE)
        return;
    struct slice *slice = &p->slices[done->source];
    struct cache_arrival arrival;
    if (!cache_fill(slice->l2, done->address, &arrival))
        return;
    for (uint32_t i = 0; i < arrival.count; i++) {
        const uint32_t number = (uint32_t)arrival.tags[i];
        struct waiting *waiting = &slice->waiting[number];
        if (--waiting->atoms_left == 0 && waiting->accepted)
            complete(p, slice, number, true);
    }
    if (arrival.writes_back)
        queue_push(p, done->source, &arrival.write_back);
    if (slice->blocked && cache_unblocks(slice->l2, &slice->reason, done->address))
        slice->blocked = false;
}

static void run_channel(struct partition *p) {
    const uint64_t until = to_dram(p, p->now);
    while (p->dram_now < until) {
        const bool waiting = p->queue_count != 0;
        uint64_t next = waiting && p->queue[p->queue_head].ready > p->dram_now + 1 ? p->queue[p->queue_head].ready : p->dram_now + 1;
        if (!waiting || next > until)
            next = until;
        p->dram_now = next;
        if (waiting && p->queue[p->queue_head].ready <= p->dram_now && dram_room(p->dram, p->dram_now)) {
            dram_push(p->dram, p->dram_now, &p->queue[p->queue_head].request);
            p->queue_head = (p->queue_head + 1) % QUEUE;
            p->queue_count--;
        }
        dram_advance(p->dram, p->dram_now);
    }
    struct request done;
    while (dram_pop(p->dram, p->dram_now, &done))
        channel_fill(p, &done);
    for (uint32_t i = 0; i < p->slice_count; i++)
        if (p->slices[i].blocked && p->slices[i].reason.cause == CACHE_NO_ROOM && queue_room(p) >= p->slices[i].reason.room)
            p->slices[i].blocked = false;
}

/* ---- time ---- */

uint64_t partition_next(const struct partition *p) {
    uint64_t next = NO_CYCLE;
    for (uint32_t i = 0; i < p->slice_count; i++) {
        const struct slice *slice = &p->slices[i];
        if (slice->current != NOBODY && !slice->blocked)
            return p->now + 1;
        const struct ring *rings[2] = {&slice->hits, &slice->fills};
        for (unsigned k = 0; k < 2; k++)
            if (rings[k]->count && rings[k]->items[rings[k]->head].ready < next)
                next = rings[k]->items[rings[k]->head].ready;
        if (slice->current == NOBODY && slice->free != NOBODY && link_next(slice->in) < next)
            next = link_next(slice->in);
    }
    uint64_t channel = dram_ready(p->dram);
    const uint64_t command = dram_next(p->dram);
    channel = command < channel ? command : channel;
    if (p->queue_count) {
        const uint64_t ready = p->queue[p->queue_head].ready;
        channel = ready < channel ? ready : channel;
    }
    const uint64_t at = from_dram(p, channel);
    next = at < next ? at : next;
    return next == NO_CYCLE ? next : next > p->now ? next : p->now + 1;
}

void partition_run(struct partition *p, uint64_t from, uint64_t to) {
    for (p->now = from; p->now < to;) {
        run_channel(p);
        for (uint32_t i = 0; i < p->slice_count; i++)
            run_slice(p, i);
        const uint64_t next = partition_next(p);
        p->now = next < to ? next : to;
    }
}

void partition_begin(struct partition *p) {
    p->now = 0;
    p->dram_base = p->dram_now;
}

bool partition_is_idle(const struct partition *p) {
    if (p->queue_count || dram_held(p->dram))
        return false;
    for (uint32_t i = 0; i < p->slice_count; i++)
        if (p->slices[i].current != NOBODY || p->slices[i].hits.count || p->slices[i].fills.count || cache_outstanding(p->slices[i].l2))
            return false;
    return true;
}

void partition_connect(struct partition *p, struct link **in, struct link **out, const struct executor *executors) {
    for (uint32_t i = 0; i < p->slice_count; i++)
        p->slices[i].in = in[i], p->slices[i].out = out[i];
    p->executors = executors;
}

/* Data that the host put there is read through the cache once, without time. */
void partition_touch(struct partition *p, uint64_t address) {
    struct slice *slice = &p->slices[partition_slice_of(p->map, p->slice_count, address)];
    const uint32_t atom = cache_atom_bytes(slice->l2);
    for (uint32_t offset = 0; offset < LINE_BYTES; offset += atom < LINE_BYTES ? SECTOR_BYTES : LINE_BYTES) {
        const struct request request = {.address = address + offset, .bytes = atom < LINE_BYTES ? SECTOR_BYTES : LINE_BYTES};
        struct cache_result result;
        struct cache_arrival arrival;
        if (cache_access(slice->l2, &request, 8, &result) == CACHE_MISS)
            cache_fill(slice->l2, request.address, &arrival);
    }
}

void partition_flush(struct partition *p) {
    for (uint32_t i = 0; i < p->slice_count; i++)
        cache_invalidate(p->slices[i].l2);
}

const struct cache_stats *partition_l2_statistics(const struct partition *p, unsigned slice) { return cache_stats(p->slices[slice].l2); }
struct dram_stats partition_dram_statistics(const struct partition *p) { return dram_statistics(p->dram); }

struct partition *partition_create(struct arena *arena, const struct gpu_config *config, uint32_t number,
                                   const struct address_map *map, struct report *report) {
    struct partition *p = ARENA_NEW(arena, struct partition);
    p->config = config, p->map = map, p->number = number, p->slice_count = config->gpu->slices;
    p->slices = ARENA_ARRAY(arena, struct slice, p->slice_count);
    p->dram = dram_create(arena, config->dram);
    for (uint32_t i = 0; i < p->slice_count; i++) {
        struct slice *slice = &p->slices[i];
        if (cache_create(&slice->l2, arena, config->l2, "l2", number * p->slice_count + i, report) != STATUS_OK)
            return NULL;
        slice->waiting = ARENA_ARRAY(arena, struct waiting, WAITING_MAX);
        for (uint32_t k = 0; k < WAITING_MAX; k++)
            slice->waiting[k].next = k + 1 < WAITING_MAX ? k + 1 : NOBODY;
        slice->current = NOBODY;
    }
    return p;
}
