#include "gpu/partition.h"

#include <string.h>

#include "base/bits.h"
#include "gpu/slice_map.h"

enum { WAITING_MAX = 1024, LINE_BYTES = SLICE_MAP_LINE_BYTES, SECTOR_BYTES = 32, SECTORS = 4, QUEUE = 4096 };
/* Beyond this the room in the queue may matter to a lookup: it is kept by the cycle. */
enum { QUEUE_NEARLY_FULL = QUEUE - 64 };
#define NOBODY UINT32_MAX

/* A request in the slice. */
struct waiting {
    struct packet packet;
    uint32_t next;       /* list of free ones */
    uint32_t atoms_left; /* asked for below */
    bool accepted;       /* every atom has been looked up */
};

struct reply {
    uint64_t ready;
    uint32_t waiting;
};

struct ring {
    struct reply items[WAITING_MAX];
    uint32_t head, count;
};

/* For the channel: one request, or sectors of a line, of which one was looked up a cycle. */
struct asked {
    uint64_t cycle;   /* of the first lookup */
    uint64_t address; /* in device memory */
    uint64_t inside;  /* in the slice; without an L2 the request that waits */
    struct dram_place place;
    uint32_t bytes; /* of each */
    uint8_t kind;   /* enum request_kind */
    uint8_t source; /* slice */
    uint8_t looked; /* sectors looked up, lowest first */
    uint8_t rest;   /* those of them to be asked for */
};

struct asked_ring {
    struct asked *items;
    uint32_t head, count;
};

struct slice {
    uint64_t next; /* the first cycle at which it has something to do, as far as it knows in this epoch */
    struct cache *l2;
    struct link *in, *out;
    struct waiting *waiting;
    uint32_t free, current; /* current: whose atoms are being looked up */
    uint32_t rest;          /* sectors of it left */
    bool blocked, early_write;
    bool one_by_one; /* the current request's sectors are looked up so */
    bool no_mshr;    /* why look_up_sectors did nothing */
    bool place_known;
    struct dram_place place; /* of the current request's line, once known */
    uint64_t line;           /* of the current request, in the slice */
    uint64_t device_line;    /* the same in device memory */
    uint64_t lookup_free;    /* the first cycle at which it may look up again */
    struct cache_blocked reason;
    struct ring hits, fills; /* replies by two ways, each in order of time */
    /* The last sectors that were looked up in one step, the first of them in cycle `early_cycle`. */
    uint64_t early_cycle;
    struct cache_sectors early;
};

/* An atomic that has been served and changes memory at the round's end. */
struct served {
    uint32_t sm, ticket, lanes;
};

struct partition {
    uint64_t now;          /* the last cycle it was run for */
    uint64_t channel_next; /* no request of the channel is complete before this cycle */
    uint64_t dram_now, dram_base;
    struct dram *dram;
    struct slice *slices;
    uint32_t slice_count, queue_count; /* queue_count: requests in all queues */
    uint32_t first_queue;              /* with the request that goes next */
    uint64_t first_cycle, first_ready; /* its lookup, and the channel's cycle from which it may go; NO_CYCLE: none */
    bool far;                          /* the way to the channel takes longer than a cycle of it */
    uint32_t room_blocked;             /* slices that wait for room there */
    bool by_sectors;                   /* sectors of a request are looked up in one step, and every slice has a queue */
    struct asked_ring *queues;         /* for the channel, in order of time; else the first holds all */
    const struct gpu_config *config;
    const struct executor *executors;
    /* Of this round, in order of service. Room for WAITING_MAX and one accepted a cycle, for each slice. */
    struct served *served;
    uint32_t served_count;
    struct slice_map map;
};

static const uint8_t sector_counts[1 << SECTORS] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

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

/* When a request looked up in that cycle can be pushed into the channel: not before the next cycle of its clock. */
static uint64_t queue_ready(const struct partition *p, uint64_t cycle) {
    const uint64_t there = to_dram(p, cycle + p->config->gpu->dram_latency);
    if (p->far)
        return there;
    const uint64_t next = to_dram(p, cycle) + 1;
    return there > next ? there : next;
}

static inline uint64_t asked_cycle(const struct asked *asked) {
    return asked->cycle + sector_counts[asked->looked & ((asked->rest & (~asked->rest + 1u)) - 1)];
}

/* Finds the queue whose first request comes next. */
static void queue_sort(struct partition *p) {
    uint64_t first = NO_CYCLE;
    for (uint32_t i = 0; i < p->slice_count; i++) {
        const struct asked_ring *queue = &p->queues[i];
        if (!queue->count)
            continue;
        const uint64_t at = asked_cycle(&queue->items[queue->head]);
        if (at < first)
            first = at, p->first_queue = i;
    }
    p->first_cycle = first;
    p->first_ready = first == NO_CYCLE ? NO_CYCLE : queue_ready(p, first);
}

static struct asked *queue_add(struct partition *p, uint32_t slice, uint32_t requests) {
    struct asked_ring *queue = &p->queues[p->by_sectors ? slice : 0];
    if (!queue->count)
        queue->head = 0; /* so that few items are in the host's caches */
    p->queue_count += requests;
    return &queue->items[(queue->head + queue->count++) % QUEUE];
}

/* What was pushed may be the first to go, and to be complete. Between equals the lower slice comes first. */
static void queue_pushed(struct partition *p, uint32_t slice, uint64_t cycle) {
    const uint32_t queue = p->by_sectors ? slice : 0;
    if (cycle > p->first_cycle || (cycle == p->first_cycle && queue >= p->first_queue))
        return;
    p->first_queue = queue;
    p->first_cycle = cycle;
    p->first_ready = queue_ready(p, cycle);
    const uint64_t at = from_dram(p, p->first_ready + dram_least_latency(p->dram));
    if (at < p->channel_next)
        p->channel_next = at;
}

/* Most addresses are of the line that is looked up. */
static uint64_t device_address(const struct partition *p, uint32_t number, uint64_t inside) {
    const struct slice *slice = &p->slices[number];
    const uint64_t offset = inside - slice->line;
    return offset < LINE_BYTES ? slice->device_line + offset : slice_map_outside(&p->map, number, inside);
}

static void queue_push(struct partition *p, uint32_t slice, const struct request *request) {
    struct asked *asked = queue_add(p, slice, 1);
    asked->cycle = p->now;
    asked->address = device_address(p, slice, request->address);
    asked->inside = p->config->gpu->l2_enabled ? request->address : request->tag;
    asked->place = dram_place_of(p->dram, asked->address);
    asked->bytes = request->bytes;
    asked->kind = request->kind;
    asked->source = (uint8_t)slice;
    asked->looked = asked->rest = 1;
    queue_pushed(p, slice, p->now);
}

static struct dram_place line_place(const struct partition *p, struct slice *slice) {
    if (!slice->place_known)
        slice->place = dram_place_of(p->dram, slice->device_line);
    slice->place_known = true;
    return slice->place;
}

/* Fetches of sectors of the current line, of `looked` that are looked up one a cycle from `cycle` on. */
static void queue_push_sectors(struct partition *p, uint32_t slice, uint64_t cycle, uint32_t looked, uint32_t sectors) {
    struct asked *asked = queue_add(p, slice, sector_counts[sectors]);
    asked->cycle = cycle;
    asked->address = p->slices[slice].device_line;
    asked->inside = p->slices[slice].line;
    asked->place = line_place(p, &p->slices[slice]);
    asked->bytes = SECTOR_BYTES;
    asked->kind = REQUEST_READ;
    asked->source = (uint8_t)slice;
    asked->looked = (uint8_t)looked;
    asked->rest = (uint8_t)sectors;
    queue_pushed(p, slice, cycle);
}

/* Takes the first request of all; gives its place in the channel. */
static struct dram_place queue_take(struct partition *p, struct request *out) {
    struct asked_ring *queue = &p->queues[p->first_queue];
    struct asked *asked = &queue->items[queue->head];
    const uint64_t offset = (uint64_t)SECTOR_BYTES * bits_first(asked->rest);
    *out = (struct request){.address = asked->address + offset,
                            .tag = asked->inside + offset,
                            .bytes = asked->bytes,
                            .source = asked->source,
                            .kind = asked->kind};
    p->queue_count--;
    asked->rest &= (uint8_t)(asked->rest - 1);
    if (!asked->rest) {
        queue->head = (queue->head + 1) % QUEUE;
        queue->count--;
    }
    queue_sort(p);
    return asked->place;
}

/* The reply to a request leaves from cycle `ready` on. */
static void complete(struct partition *p, struct slice *slice, uint32_t number, uint64_t ready, struct ring *ring) {
    struct waiting *waiting = &slice->waiting[number];
    if (waiting->packet.kind == PACKET_ATOMIC)
        p->served[p->served_count++] =
            (struct served){waiting->packet.sm, waiting->packet.ticket, waiting->packet.lanes};
    ring->items[(ring->head + ring->count++) % WAITING_MAX] = (struct reply){ready, number};
    if (ready < slice->next)
        slice->next = ready;
}

/* ---- a slice ---- */

static void accept(struct partition *p, struct slice *slice) {
    const struct packet *packet = slice->free != NOBODY ? link_arrived(slice->in, p->now) : NULL;
    if (!packet)
        return;
    const uint32_t number = slice->free;
    struct waiting *waiting = &slice->waiting[number];
    slice->free = waiting->next;
    waiting->packet = *packet;
    waiting->atoms_left = 0;
    waiting->accepted = false;
    link_pop(slice->in, p->now);
    slice->current = number;
    slice->rest = packet->sectors ? packet->sectors : 1;
    slice->device_line = packet->address / LINE_BYTES * LINE_BYTES;
    slice->line = slice_map_inside(&p->map, slice->device_line);
    slice->place_known = false;
    slice->one_by_one = !p->by_sectors || packet->kind == PACKET_ATOMIC;
}

/* A machine without an L2: the current request goes to the channel as it is, an atomic as a read and a write. */
static bool pass_by(struct partition *p, uint32_t index) {
    struct slice *slice = &p->slices[index];
    struct waiting *waiting = &slice->waiting[slice->current];
    const bool reads = waiting->packet.kind != PACKET_WRITE, writes = waiting->packet.kind != PACKET_READ;
    struct request request = {.address = slice_map_inside(&p->map, waiting->packet.address),
                              .tag = slice->current,
                              .bytes = waiting->packet.bytes,
                              .kind = REQUEST_READ};
    if (queue_room(p) < 2) {
        slice->reason = (struct cache_blocked){.cause = CACHE_NO_ROOM, .room = 2};
        return false;
    }
    if (reads)
        queue_push(p, index, &request);
    request.kind = REQUEST_WRITE;
    if (writes)
        queue_push(p, index, &request);
    waiting->atoms_left = reads;
    slice->rest = 0;
    return true;
}

/* One atom of the current request; false: blocked. */
static bool look_up(struct partition *p, uint32_t index) {
    struct slice *slice = &p->slices[index];
    struct waiting *waiting = &slice->waiting[slice->current];
    const uint32_t atom = cache_atom_bytes(slice->l2);
    const struct request request = {.address = atom >= LINE_BYTES
                                                   ? slice->line
                                                   : slice->line + SECTOR_BYTES * bits_first(slice->rest),
                                    .tag = slice->current,
                                    .bytes = atom >= LINE_BYTES ? LINE_BYTES : SECTOR_BYTES,
                                    .kind = waiting->packet.kind == PACKET_READ    ? REQUEST_READ
                                            : waiting->packet.kind == PACKET_WRITE ? REQUEST_WRITE
                                                                                   : REQUEST_ATOMIC};
    struct cache_result result;
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

/* Sectors of the current request in one step, each as of its own cycle: those done. Nothing can change a lookup before
 * its cycle: only fills come in between, of other sectors, and none of these before the last of the lookups
 * (dram.latency). */
static uint32_t look_up_sectors(struct partition *p, uint32_t index) {
    struct slice *slice = &p->slices[index];
    struct waiting *waiting = &slice->waiting[slice->current];
    const bool write = waiting->packet.kind == PACKET_WRITE;
    struct cache_sectors found;
    const uint32_t done =
        write ? cache_write_sectors(slice->l2, slice->line, slice->rest, queue_room(p), &found)
              : cache_read_sectors(slice->l2, slice->line, slice->rest, slice->current, queue_room(p), &found);
    if (!done) {
        slice->no_mshr = found.no_mshr;
        return 0;
    }
    slice->early = found;
    slice->early_cycle = p->now;
    slice->early_write = write;
    slice->lookup_free = p->now + sector_counts[done];
    uint32_t fetches = write ? 0 : found.misses, looked = done;
    uint64_t cycle = p->now;
    waiting->atoms_left += sector_counts[fetches];
    if (found.write_back_sectors) { /* it comes behind the first fetch */
        if (fetches)
            queue_push_sectors(p, index, cycle, 1, fetches & (~fetches + 1));
        queue_push(p, index, &found.write_back);
        fetches &= fetches - 1, looked &= looked - 1;
        cycle++;
    }
    if (fetches)
        queue_push_sectors(p, index, cycle, looked, fetches);
    return done;
}

static void send_replies(struct slice *slice, struct ring *ring, uint64_t now) {
    while (ring->count && ring->items[ring->head].ready <= now && link_room(slice->out, now)) {
        const uint32_t number = ring->items[ring->head].waiting;
        struct waiting *waiting = &slice->waiting[number];
        link_send(slice->out, now, &waiting->packet, 1,
                  waiting->packet.kind == PACKET_READ ? waiting->packet.bytes : 8);
        waiting->next = slice->free;
        slice->free = number;
        ring->head = (ring->head + 1) % WAITING_MAX;
        ring->count--;
    }
}

static void block(struct partition *p, struct slice *slice) {
    slice->blocked = true;
    if (slice->reason.cause != CACHE_NO_ROOM)
        return;
    p->room_blocked++;
    p->channel_next = p->now + 1;
}

/* Lookups of the current request; false: blocked. */
static bool look_up_next(struct partition *p, uint32_t index) {
    struct slice *slice = &p->slices[index];
    if (!slice->one_by_one && p->queue_count <= QUEUE_NEARLY_FULL) {
        const uint32_t done = look_up_sectors(p, index);
        slice->rest &= ~done;
        if (done)
            return true;
        if (slice->no_mshr) {
            slice->reason = (struct cache_blocked){.cause = CACHE_NO_MSHR, .address = slice->line};
            return false;
        }
    }
    slice->lookup_free = p->now + 1;
    return p->config->gpu->l2_enabled ? look_up(p, index) : pass_by(p, index);
}

static void step(struct partition *p, uint32_t index) {
    struct slice *slice = &p->slices[index];
    if (!look_up_next(p, index)) {
        block(p, slice);
        return;
    }
    if (slice->rest)
        return;
    struct waiting *waiting = &slice->waiting[slice->current];
    waiting->accepted = true;
    if (!waiting->atoms_left)
        complete(p, slice, slice->current, slice->lookup_free - 1 + p->config->gpu->l2_latency, &slice->hits);
    slice->current = NOBODY;
}

/* When replies can leave next: those that are ready wait for credits. */
static inline uint64_t ring_next(const struct slice *slice, const struct ring *ring) {
    if (!ring->count)
        return NO_CYCLE;
    const uint64_t ready = ring->items[ring->head].ready;
    const uint64_t credit = slice->out->credits ? 0 : link_credit_next(slice->out);
    return ready > credit ? ready : credit;
}

static inline uint64_t slice_next(const struct slice *slice) {
    uint64_t next = ring_next(slice, &slice->hits), at = ring_next(slice, &slice->fills);
    next = at < next ? at : next;
    if (slice->current == NOBODY)
        at = slice->free != NOBODY ? link_next(slice->in) : NO_CYCLE;
    else
        at = slice->blocked ? NO_CYCLE : 0;
    at = at > slice->lookup_free ? at : slice->lookup_free;
    return at < next ? at : next;
}

static void run_slice(struct partition *p, uint32_t index) {
    struct slice *slice = &p->slices[index];
    if (slice->fills.count)
        send_replies(slice, &slice->fills, p->now);
    if (slice->hits.count)
        send_replies(slice, &slice->hits, p->now);
    if (slice->lookup_free <= p->now) {
        if (slice->current == NOBODY)
            accept(p, slice);
        if (slice->current != NOBODY && !slice->blocked)
            step(p, index);
    }
    slice->next = slice_next(slice);
}

/* ---- the channel ---- */

static void unblock(struct partition *p, struct slice *slice) {
    p->room_blocked -= slice->reason.cause == CACHE_NO_ROOM;
    slice->blocked = false;
    slice->next = p->now;
}

static void channel_fill(struct partition *p, const struct request *done) {
    if (done->kind == REQUEST_WRITE)
        return;
    struct slice *slice = &p->slices[done->source];
    if (!p->config->gpu->l2_enabled) {
        slice->waiting[done->tag].atoms_left = 0;
        complete(p, slice, (uint32_t)done->tag, p->now + 1, &slice->fills);
        return;
    }
    struct cache_arrival arrival;
    if (!cache_fill(slice->l2, done->tag, &arrival))
        return;
    for (uint32_t i = 0; i < arrival.count; i++) {
        const uint32_t number = (uint32_t)arrival.tags[i];
        struct waiting *waiting = &slice->waiting[number];
        if (--waiting->atoms_left == 0 && waiting->accepted)
            complete(p, slice, number, p->now + 1, &slice->fills);
    }
    if (arrival.writes_back)
        queue_push(p, done->source, &arrival.write_back);
    if (slice->blocked && cache_unblocks(slice->l2, &slice->reason, done->tag))
        unblock(p, slice);
}

/* The first machine cycle at which a request may be complete. What happens before needs no visit: every command and
 * every push is carried out at its own cycle when somebody comes by. */
static uint64_t channel_next(const struct partition *p) {
    if (p->room_blocked)
        return p->now + 1;
    uint64_t at = dram_ready(p->dram);
    if (at == NO_CYCLE) {
        const uint64_t command = dram_next(p->dram);
        at = command < p->first_ready ? command : p->first_ready;
        if (at == NO_CYCLE)
            return NO_CYCLE;
        at += dram_least_latency(p->dram);
    }
    const uint64_t next = from_dram(p, at);
    return next > p->now ? next : p->now + 1;
}

/* Pushes what comes from the slices, one request in a cycle of the channel, as long as there is room. */
static void channel_push(struct partition *p, uint64_t until) {
    while (p->dram_now < until) {
        const uint64_t at = p->first_ready > p->dram_now ? p->first_ready : p->dram_now + 1;
        if (at > until)
            return;
        dram_advance(p->dram, at - 1);
        if (!dram_room(p->dram, at)) { /* until a command makes some, or what is complete is taken */
            p->dram_now = dram_next(p->dram);
            continue;
        }
        struct request request;
        const struct dram_place place = queue_take(p, &request);
        dram_push_at(p->dram, at, &request, place);
        p->dram_now = at;
    }
}

static void advance_channel(struct partition *p, uint64_t until) {
    channel_push(p, until);
    p->dram_now = until;
    dram_advance(p->dram, until);
}

static void run_channel(struct partition *p) {
    advance_channel(p, to_dram(p, p->now));
    struct request done;
    while (dram_pop(p->dram, p->dram_now, &done))
        channel_fill(p, &done);
    for (uint32_t i = 0; p->room_blocked && i < p->slice_count; i++)
        if (p->slices[i].blocked && p->slices[i].reason.cause == CACHE_NO_ROOM &&
            queue_room(p) >= p->slices[i].reason.room)
            unblock(p, &p->slices[i]);
    p->channel_next = channel_next(p);
}

/* ---- time ---- */

uint64_t partition_next(const struct partition *p) {
    uint64_t next = p->channel_next;
    for (uint32_t i = 0; i < p->slice_count; i++) {
        const uint64_t at = slice_next(&p->slices[i]);
        next = at < next ? at : next;
    }
    return next == NO_CYCLE ? next : next > p->now ? next : p->now + 1;
}

/* One cycle; gives the next at which there is something to do. */
static uint64_t run_cycle(struct partition *p) {
    if (p->channel_next <= p->now || p->queue_count > QUEUE_NEARLY_FULL)
        run_channel(p);
    for (uint32_t i = 0; i < p->slice_count; i++)
        if (p->slices[i].next <= p->now)
            run_slice(p, i);
    uint64_t next = p->queue_count > QUEUE_NEARLY_FULL ? p->now + 1 : p->channel_next;
    for (uint32_t i = 0; i < p->slice_count; i++)
        next = p->slices[i].next < next ? p->slices[i].next : next;
    return next > p->now ? next : p->now + 1;
}

void partition_run(struct partition *p, uint64_t from, uint64_t to) {
    uint64_t next = p->channel_next;
    for (uint32_t i = 0; i < p->slice_count; i++) {
        struct slice *slice = &p->slices[i];
        slice->next = slice_next(slice); /* links have been exchanged */
        next = slice->next < next ? slice->next : next;
    }
    next = next > p->now ? next : p->now + 1;
    for (uint64_t at = next > from ? next : from; at < to; at = run_cycle(p))
        p->now = at;
}

void partition_settle(struct partition *p, uint64_t cycle) {
    const uint64_t until = to_dram(p, cycle);
    if (until > p->dram_now)
        advance_channel(p, until);
}

void partition_perform(struct partition *p) {
    for (uint32_t i = 0; i < p->served_count; i++) {
        const struct executor *executor = &p->executors[p->served[i].sm];
        executor->perform(executor->self, p->served[i].ticket, p->served[i].lanes);
    }
    p->served_count = 0;
}

void partition_begin(struct partition *p) {
    p->now = 0;
    p->dram_base = p->dram_now;
    p->channel_next = channel_next(p);
    for (uint32_t i = 0; i < p->slice_count; i++)
        p->slices[i].lookup_free = p->slices[i].early_cycle = 0, p->slices[i].early = (struct cache_sectors){0};
}

bool partition_is_idle(const struct partition *p) {
    if (p->queue_count || dram_held(p->dram))
        return false;
    for (uint32_t i = 0; i < p->slice_count; i++)
        if (p->slices[i].current != NOBODY || p->slices[i].hits.count || p->slices[i].fills.count ||
            cache_outstanding(p->slices[i].l2))
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
    if (!p->config->gpu->l2_enabled)
        return;
    struct slice *slice = &p->slices[slice_map_slice(p->map.map, p->slice_count, address)];
    cache_load(slice->l2, slice_map_inside(&p->map, address), LINE_BYTES);
}

void partition_flush(struct partition *p) {
    for (uint32_t i = 0; i < p->slice_count; i++)
        cache_invalidate(p->slices[i].l2);
}

struct cache_stats partition_l2_statistics(const struct partition *p, unsigned number, uint64_t end) {
    const struct slice *slice = &p->slices[number];
    struct cache_stats stats = *cache_stats(slice->l2);
    uint32_t late = slice->early.hits | slice->early.misses;
    for (uint64_t cycle = slice->early_cycle; cycle < end && late; cycle++)
        late &= late - 1;
    cache_sectors_uncount(&stats, &slice->early, late, slice->early_write);
    return stats;
}
struct dram_stats partition_dram_statistics(const struct partition *p) {
    return dram_statistics(p->dram);
}

const struct dram_histograms *partition_dram_histograms(const struct partition *p) { return dram_histograms(p->dram); }

struct partition *partition_create(struct arena *arena, const struct gpu_config *config, uint32_t number,
                                   const struct address_map *map, struct report *report) {
    struct partition *p = ARENA_NEW(arena, struct partition);
    p->config = config, p->slice_count = config->gpu->slices;
    if (slice_map_create(&p->map, map, config->dram, number, p->slice_count, report) != STATUS_OK)
        return NULL;
    p->slices = ARENA_ARRAY(arena, struct slice, p->slice_count);
    p->served = ARENA_ARRAY(arena, struct served, (size_t)p->slice_count * (WAITING_MAX + config->gpu->link_latency));
    p->queues = ARENA_ARRAY(arena, struct asked_ring, p->slice_count);
    p->dram = dram_create(arena, config->dram);
    for (uint32_t i = 0; i < p->slice_count; i++) {
        struct slice *slice = &p->slices[i];
        if (cache_create(&slice->l2, arena, config->l2, "l2", number * p->slice_count + i, report) != STATUS_OK)
            return NULL;
        p->queues[i].items = ARENA_ARRAY(arena, struct asked, QUEUE);
        slice->waiting = ARENA_ARRAY(arena, struct waiting, WAITING_MAX);
        for (uint32_t k = 0; k < WAITING_MAX; k++)
            slice->waiting[k].next = k + 1 < WAITING_MAX ? k + 1 : NOBODY;
        slice->current = NOBODY;
    }
    p->first_cycle = p->first_ready = NO_CYCLE;
    p->far = config->gpu->dram_latency * config->gpu->dram_khz >= config->gpu->sm_khz;
    p->by_sectors = config->gpu->l2_enabled && cache_takes_sectors(p->slices[0].l2) &&
                    config->gpu->dram_latency >= SECTORS &&
                    !((config->dram->row_mask | config->dram->bank_mask) & (LINE_BYTES - 1));
    return p;
}
