/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/partition.h"

#include <stdalign.h>

#include "base/bits.h"
#include "gpu/channel.h"
#include "gpu/slice_map.h"

enum { WAITING_MAX = 1024, LINE_BYTES = SLICE_MAP_LINE_BYTES, SECTOR_BYTES = 32, SECTORS = 4 };
/* So many requests ahead are mapped to lines and their sets expected, and so many their lines. */
enum { EXPECT_SETS = 2, EXPECT_LINES = 1, EXPECT_RING = 4 };
#define NOBODY UINT32_MAX

/* A request in the slice. Of a size that is quickly counted in, as more below. */
struct waiting {
    alignas(64) struct packet packet;
    uint32_t next;       /* list of free ones */
    uint32_t atoms_left; /* asked for below */
    bool accepted;       /* every atom has been looked up */
};

struct reply {
    uint64_t ready;
    uint32_t waiting;
};

/* Replies in order of time. */
struct ring {
    uint64_t next; /* when the first is ready; NO_CYCLE: there is none */
    struct reply *items;
    uint32_t head, count;
};

struct slice {
    uint32_t number;
    uint64_t next; /* no later than the first cycle at which it has something to do, as far as it knows in this epoch */
    struct cache *l2;
    struct link *in, *out;
    struct waiting *waiting;
    uint32_t free, waiting_used; /* used: the first so many have been, once; behind the free list come the others */
    uint32_t current;            /* whose atoms are being looked up */
    uint32_t rest;               /* sectors of it left */
    bool blocked, early_write;
    bool one_by_one; /* the current request's sectors are looked up so */
    bool no_mshr;    /* why look_up_sectors did nothing */
    bool place_known;
    bool row_hint;           /* of the current request */
    struct dram_place place; /* of the current request's line, once known */
    uint64_t line;           /* of the current request, in the slice */
    uint64_t device_line;    /* the same in device memory */
    uint64_t lookup_free;    /* the first cycle at which it may look up again */
    struct cache_blocked reason;
    struct ring hits, fills; /* replies by two ways */
    bool far;                /* cache_is_far: requests to come are expected */
    /* far: lines in the slice of requests on the link, by number, up to before `mapped`. */
    uint64_t mapped, coming[EXPECT_RING];
    /* The last sectors that were looked up in one step, the first of them in cycle `early_cycle`. */
    uint64_t early_cycle;
    struct cache_sectors early;
};

/* An atomic that has been served and changes memory at the round's end. */
struct served {
    uint32_t sm, ticket, lanes;
};

struct partition {
    uint64_t now; /* the last cycle it was run for */
    struct channel *channel;
    struct slice *slices, *slices_end;
    uint32_t room_blocked; /* slices that wait for room in the channel's queue */
    bool by_sectors;       /* sectors of a request are looked up in one step, ahead of their cycles */
    bool l2_enabled;
    bool ideal_bandwidth; /* slices look up whatever has come at once */
    uint32_t l2_latency;
    const struct executor *executors;
    /* Of this round, in order of service. Room for those that waited when it began and those accepted in it, for each
     * slice: what is accepted was on its link by then, for no credit comes back within a round. */
    struct served *served;
    uint32_t served_count;
    struct slice_map map;
};

static const uint8_t sector_counts[1 << SECTORS] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/* ---- towards the channel ---- */

/* Most addresses are of the line that is looked up. */
static uint64_t device_address(const struct partition *p, const struct slice *slice, uint64_t inside) {
    const uint64_t offset = inside - slice->line;
    return offset < LINE_BYTES ? slice->device_line + offset : slice_map_outside(&p->map, slice->number, inside);
}

/* In a cycle, where lookups may be ahead of time, slices go in their order, else as they come. */
static inline uint32_t rank(const struct partition *p, const struct slice *slice) {
    return p->by_sectors ? slice->number : 0;
}

/* A request with an address in the slice, now. It comes back with that address; without an L2 with its own tag. */
static void send_down(struct partition *p, const struct slice *slice, const struct request *request) {
    const uint64_t address = device_address(p, slice, request->address);
    struct request *down = channel_send(p->channel, p->now, rank(p, slice), channel_place(p->channel, address));
    *down = (struct request){.address = address,
                             .tag = p->l2_enabled ? request->address : request->tag,
                             .bytes = request->bytes,
                             .source = slice->number,
                             .kind = request->kind,
                             .row_hint = request->row_hint};
}

/* Fetches of sectors of the current line, of `looked` that are looked up one a cycle from now on. */
static void send_fetches(struct partition *p, struct slice *slice, uint32_t looked, uint32_t sectors) {
    if (!slice->place_known)
        slice->place = channel_place(p->channel, slice->device_line);
    slice->place_known = true;
    uint64_t cycle = p->now;
    for (; looked; looked &= looked - 1, cycle++) {
        const uint32_t sector = bits_first(looked), offset = SECTOR_BYTES * sector;
        if (sectors >> sector & 1)
            *channel_send(p->channel, cycle, slice->number, slice->place) =
                (struct request){.address = slice->device_line + offset,
                                 .tag = slice->line + offset,
                                 .bytes = SECTOR_BYTES,
                                 .source = slice->number,
                                 .kind = REQUEST_READ,
                                 .row_hint = slice->row_hint};
    }
}

/* The reply to a request leaves from cycle `ready` on. */
static void complete(struct partition *p, struct slice *slice, uint32_t number, uint64_t ready, struct ring *ring) {
    struct waiting *waiting = &slice->waiting[number];
    if (waiting->packet.kind == PACKET_ATOMIC)
        p->served[p->served_count++] =
            (struct served){waiting->packet.sm, waiting->packet.ticket, waiting->packet.lanes};
    ring->items[(ring->head + ring->count) % WAITING_MAX] = (struct reply){ready, number};
    if (!ring->count++)
        ring->next = ready;
    if (ready < slice->next)
        slice->next = ready;
}

/* ---- a slice ---- */

/* The line of the next request, in the slice. Those behind it are mapped too, and the host brings near what their look-ups
 * go through while this one is looked up. */
static __attribute__((noinline)) uint64_t line_of_next(struct partition *p, struct slice *slice) {
    const uint64_t first = slice->in->taken_slots;
    for (const struct packet *packet; slice->mapped <= first + EXPECT_SETS; slice->mapped++) {
        if (!(packet = link_behind(slice->in, slice->mapped - first)))
            break;
        const uint64_t line = slice_map_inside(&p->map, packet->address / LINE_BYTES * LINE_BYTES);
        slice->coming[slice->mapped % EXPECT_RING] = line;
        cache_expect_set(slice->l2, line);
    }
    if (slice->mapped > first + EXPECT_LINES)
        cache_expect_line(slice->l2, slice->coming[(first + EXPECT_LINES) % EXPECT_RING]);
    return slice->coming[first % EXPECT_RING];
}

static void accept(struct partition *p, struct slice *slice) {
    const struct packet *packet = slice->free != NOBODY ? link_arrived(slice->in, p->now) : NULL;
    if (!packet)
        return;
    const uint32_t number = slice->free;
    struct waiting *waiting = &slice->waiting[number];
    if (number < slice->waiting_used)
        slice->free = waiting->next;
    else
        slice->free = ++slice->waiting_used < WAITING_MAX ? number + 1 : NOBODY;
    waiting->packet = *packet;
    waiting->atoms_left = 0;
    waiting->accepted = false;
    slice->device_line = packet->address / LINE_BYTES * LINE_BYTES;
    slice->line = slice->far ? line_of_next(p, slice) : slice_map_inside(&p->map, slice->device_line);
    link_pop(slice->in, p->now);
    slice->current = number;
    slice->rest = packet->sectors ? packet->sectors : 1;
    slice->place_known = false;
    slice->row_hint = packet->row_hint;
    slice->one_by_one = !p->by_sectors || packet->kind == PACKET_ATOMIC;
}

/* A machine without an L2: the current request goes to the channel as it is, an atomic as a read and a write. */
static __attribute__((noinline)) bool pass_by(struct partition *p, struct slice *slice) {
    struct waiting *waiting = &slice->waiting[slice->current];
    const bool reads = waiting->packet.kind != PACKET_WRITE, writes = waiting->packet.kind != PACKET_READ;
    struct request request = {.address = slice_map_inside(&p->map, waiting->packet.address),
                              .tag = slice->current,
                              .bytes = waiting->packet.bytes,
                              .kind = REQUEST_READ,
                              .row_hint = slice->row_hint};
    if (channel_room(p->channel) < 2) {
        slice->reason = (struct cache_blocked){.cause = CACHE_NO_ROOM, .room = 2};
        return false;
    }
    if (reads)
        send_down(p, slice, &request);
    request.kind = REQUEST_WRITE, request.row_hint = false;
    if (writes)
        send_down(p, slice, &request);
    waiting->atoms_left = reads;
    slice->rest = 0;
    return true;
}

/* One atom of the current request; false: blocked. Rare where sectors go in one step, and apart from that. */
static __attribute__((noinline)) bool look_up(struct partition *p, struct slice *slice) {
    struct waiting *waiting = &slice->waiting[slice->current];
    const uint32_t atom = cache_atom_bytes(slice->l2);
    const struct request request = {.address = atom >= LINE_BYTES
                                                   ? slice->line
                                                   : slice->line + SECTOR_BYTES * bits_first(slice->rest),
                                    .tag = slice->current,
                                    .bytes = atom >= LINE_BYTES ? LINE_BYTES : SECTOR_BYTES,
                                    .kind = waiting->packet.kind == PACKET_READ    ? REQUEST_READ
                                            : waiting->packet.kind == PACKET_WRITE ? REQUEST_WRITE
                                                                                   : REQUEST_ATOMIC,
                                    .row_hint = slice->row_hint};
    struct cache_result result;
    if (cache_access(slice->l2, &request, channel_room(p->channel), &result) == CACHE_BLOCKED) {
        slice->reason = result.blocked;
        return false;
    }
    for (uint32_t i = 0; i < result.down_count; i++)
        send_down(p, slice, &result.down[i]);
    waiting->atoms_left += result.waits;
    slice->rest = atom >= LINE_BYTES ? 0 : slice->rest & (slice->rest - 1);
    return true;
}

/* Sectors of the current request in one step, each as of its own cycle: those done. Nothing can change a lookup before
 * its cycle: only fills come in between, of other sectors, and none of these before the last of the lookups
 * (dram.latency). */
static uint32_t look_up_sectors(struct partition *p, struct slice *slice) {
    struct waiting *waiting = &slice->waiting[slice->current];
    const bool write = waiting->packet.kind == PACKET_WRITE;
    struct cache_sectors found;
    const uint32_t done =
        write
            ? cache_write_sectors(slice->l2, slice->line, slice->rest, channel_room(p->channel), &found)
            : cache_read_sectors(slice->l2, slice->line, slice->rest, slice->current, channel_room(p->channel), &found);
    if (!done) {
        slice->no_mshr = found.no_mshr;
        return 0;
    }
    /* read as it was written: the host cannot hand on bytes that are read as one word before they are stored */
    slice->early.misses = found.misses, slice->early.hits = (uint8_t)(done & ~(uint32_t)found.misses);
    slice->early_cycle = p->now;
    slice->early_write = write;
    slice->lookup_free = p->now + sector_counts[done];
    if (!write && found.misses) {
        waiting->atoms_left += sector_counts[found.misses];
        send_fetches(p, slice, done, found.misses);
    }
    if (found.write_back_sectors) /* goes behind the first fetch */
        send_down(p, slice, &found.write_back);
    return done;
}

static void send_replies(struct slice *slice, struct ring *ring, uint64_t now) {
    while (ring->next <= now && link_open(slice->out, now)) {
        const uint32_t number = ring->items[ring->head].waiting;
        struct waiting *waiting = &slice->waiting[number];
        if (slice->far) /* one that was sent long ago where there is none */
            __builtin_prefetch(&slice->waiting[ring->items[(ring->head + 1) % WAITING_MAX].waiting]);
        link_send(slice->out, now, &waiting->packet, 1,
                  waiting->packet.kind == PACKET_READ ? waiting->packet.bytes : 8);
        waiting->next = slice->free;
        slice->free = number;
        ring->head = (ring->head + 1) % WAITING_MAX;
        ring->next = --ring->count ? ring->items[ring->head].ready : NO_CYCLE;
    }
}

static void block(struct partition *p, struct slice *slice) {
    slice->blocked = true;
    p->room_blocked += slice->reason.cause == CACHE_NO_ROOM;
}

/* Lookups of the current request; false: blocked. */
static bool look_up_next(struct partition *p, struct slice *slice) {
    if (!slice->one_by_one && channel_room(p->channel) >= CHANNEL_SCARCE) {
        const uint32_t done = look_up_sectors(p, slice);
        slice->rest &= ~done;
        if (done)
            return true;
        if (slice->no_mshr) {
            slice->reason = (struct cache_blocked){.cause = CACHE_NO_MSHR, .address = slice->line};
            return false;
        }
    }
    slice->lookup_free = p->now + 1;
    return p->l2_enabled ? look_up(p, slice) : pass_by(p, slice);
}

static void step(struct partition *p, struct slice *slice) {
    if (!look_up_next(p, slice)) {
        block(p, slice);
        return;
    }
    if (slice->rest)
        return;
    struct waiting *waiting = &slice->waiting[slice->current];
    waiting->accepted = true;
    if (!waiting->atoms_left)
        complete(p, slice, slice->current, slice->lookup_free - 1 + p->l2_latency, &slice->hits);
    slice->current = NOBODY;
}

static inline uint64_t slice_next(const struct slice *slice) {
    uint64_t next = slice->fills.next < slice->hits.next ? slice->fills.next : slice->hits.next, at;
    if (!slice->out->credits) { /* replies that are ready wait for one */
        at = link_credit_next(slice->out);
        next = next > at ? next : at;
    }
    if (slice->current == NOBODY)
        at = slice->free != NOBODY ? link_next(slice->in) : NO_CYCLE;
    else
        at = slice->blocked ? NO_CYCLE : 0;
    at = at > slice->lookup_free ? at : slice->lookup_free;
    return at < next ? at : next;
}

/* Apart from the loop over cycles, so that each has the host's registers for itself. */
static __attribute__((noinline)) void run_slice(struct partition *p, struct slice *slice) {
    if (slice->fills.next <= p->now)
        send_replies(slice, &slice->fills, p->now);
    if (slice->hits.next <= p->now)
        send_replies(slice, &slice->hits, p->now);
    if (slice->lookup_free <= p->now) {
        if (slice->current == NOBODY)
            accept(p, slice);
        if (slice->current != NOBODY && !slice->blocked)
            step(p, slice);
    }
    slice->next = slice_next(slice);
}

/* ideal.bandwidth: lookups until there is nothing left to look up. */
static __attribute__((noinline)) void run_slice_ideal(struct partition *p, struct slice *slice) {
    do {
        slice->lookup_free = p->now;
        run_slice(p, slice);
    } while (slice->lookup_free > p->now && !slice->blocked);
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
    if (!p->l2_enabled) {
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
        send_down(p, slice, &arrival.write_back);
    if (slice->blocked && cache_unblocks(slice->l2, &slice->reason, done->tag))
        unblock(p, slice);
}

static void run_channel(struct partition *p) {
    struct request done;
    channel_run(p->channel, p->now);
    while (channel_pop(p->channel, &done))
        channel_fill(p, &done);
    if (!p->room_blocked)
        return;
    for (struct slice *slice = p->slices; slice < p->slices_end; slice++)
        if (slice->blocked && slice->reason.cause == CACHE_NO_ROOM && channel_room(p->channel) >= slice->reason.room)
            unblock(p, slice);
}

/* ---- time ---- */

uint64_t partition_next(const struct partition *p) {
    uint64_t next = channel_next(p->channel);
    for (const struct slice *slice = p->slices; slice < p->slices_end; slice++) {
        const uint64_t at = slice_next(slice);
        next = at < next ? at : next;
    }
    return next == NO_CYCLE ? next : next > p->now ? next : p->now + 1;
}

static inline void run(struct partition *p, uint64_t from, uint64_t to) {
    uint64_t next = channel_next(p->channel);
    for (struct slice *slice = p->slices; slice < p->slices_end; slice++) {
        if (link_next(slice->in) < slice->next || !slice->out->credits) /* links have been exchanged */
            slice->next = slice_next(slice);
        next = slice->next < next ? slice->next : next;
    }
    for (uint64_t now = next > from ? next : from; now<to; now = next> now ? next : now + 1) {
        p->now = now;
        if (channel_next(p->channel) <= now)
            run_channel(p);
        next = NO_CYCLE;
        for (struct slice *slice = p->slices; slice < p->slices_end; slice++) {
            if (slice->next <= now) {
                if (p->ideal_bandwidth)
                    run_slice_ideal(p, slice);
                else
                    run_slice(p, slice);
            }
            next = slice->next < next ? slice->next : next;
        }
        next = channel_next(p->channel) < next ? channel_next(p->channel) : next;
    }
}

void partition_run(struct partition *const *partitions, uint32_t count, uint64_t from, uint64_t to) {
    for (uint32_t i = 0; i < count; i++)
        run(partitions[i], from, to);
}

void partition_settle(struct partition *p, uint64_t cycle) { channel_settle(p->channel, cycle); }

void partition_perform(struct partition *p) {
    for (uint32_t i = 0; i < p->served_count; i++) {
        const struct executor *executor = &p->executors[p->served[i].sm];
        executor->perform(executor->self, p->served[i].ticket, p->served[i].lanes);
    }
    p->served_count = 0;
}

void partition_begin(struct partition *p) {
    p->now = 0;
    channel_begin(p->channel);
    for (struct slice *slice = p->slices; slice < p->slices_end; slice++)
        slice->next = slice->lookup_free = slice->mapped = slice->early_cycle = 0,
        slice->early = (struct cache_sectors){0};
}

bool partition_is_idle(const struct partition *p) {
    if (!channel_is_idle(p->channel))
        return false;
    for (const struct slice *slice = p->slices; slice < p->slices_end; slice++)
        if (slice->current != NOBODY || slice->hits.count || slice->fills.count || cache_outstanding(slice->l2))
            return false;
    return true;
}

void partition_connect(struct partition *p, struct link **in, struct link **out, const struct executor *executors) {
    for (struct slice *slice = p->slices; slice < p->slices_end; slice++)
        slice->in = in[slice->number], slice->out = out[slice->number];
    p->executors = executors;
}

static uint32_t slice_count(const struct partition *p) { return (uint32_t)(p->slices_end - p->slices); }

/* Data that the host put there is read through the cache once, without time. */
void partition_touch(struct partition *p, uint64_t address) {
    if (!p->l2_enabled)
        return;
    struct slice *slice = &p->slices[slice_map_slice(p->map.map, slice_count(p), address)];
    cache_load(slice->l2, slice_map_inside(&p->map, address), LINE_BYTES);
}

void partition_flush(struct partition *p) {
    for (struct slice *slice = p->slices; slice < p->slices_end; slice++)
        cache_invalidate(slice->l2);
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
    return channel_statistics(p->channel);
}

void partition_add_banks(const struct partition *p, uint64_t into[]) { channel_add_banks(p->channel, into); }

const struct dram_histograms *partition_dram_histograms(const struct partition *p) {
    return channel_histograms(p->channel);
}

static struct ring ring_create(struct arena *arena) {
    return (struct ring){.next = NO_CYCLE, .items = ARENA_ARRAY(arena, struct reply, WAITING_MAX)};
}

struct partition *partition_create(struct arena *arena, const struct gpu_config *config, uint32_t number,
                                   const struct address_map *map, struct report *report) {
    struct partition *p = ARENA_NEW(arena, struct partition);
    const struct gpu_params *gpu = config->gpu;
    p->ideal_bandwidth = gpu->ideal_bandwidth;
    p->l2_enabled = gpu->l2_enabled && !gpu->l2_private, p->l2_latency = gpu->l2_latency;
    if (slice_map_create(&p->map, map, config->dram, number, gpu->slices, report) != STATUS_OK)
        return NULL;
    p->slices = ARENA_ARRAY(arena, struct slice, gpu->slices);
    p->slices_end = p->slices + gpu->slices;
    p->served = ARENA_ARRAY(arena, struct served, (size_t)gpu->slices * (WAITING_MAX + gpu->link_capacity));
    p->channel = channel_create(arena, config);
    for (uint32_t i = 0; i < gpu->slices; i++) {
        struct slice *slice = &p->slices[i];
        slice->number = i;
        slice->far = cache_is_far(config->l2, (uint64_t)gpu->slices * address_map_chips(map));
        if (cache_create(&slice->l2, arena, config->l2, "l2", number * gpu->slices + i, report) != STATUS_OK)
            return NULL;
        slice->hits = ring_create(arena), slice->fills = ring_create(arena);
        slice->waiting = arena_alloc_aligned(arena, WAITING_MAX * sizeof *slice->waiting, alignof(struct waiting));
        slice->current = NOBODY;
    }
    p->by_sectors = p->l2_enabled && cache_takes_sectors(p->slices[0].l2) && channel_latency(gpu) >= SECTORS &&
                    !((config->dram->row_mask | config->dram->bank_mask) & (LINE_BYTES - 1));
    return p;
}
