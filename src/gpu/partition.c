/* SPDX-License-Identifier: Apache-2.0 */
/* A partition in time: its slices take requests, ask their channel and reply. What it does between launches is in
 * partition_setup.c. */
#include "base/bits.h"
#include "gpu/partition_state.h"

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
    struct slice_request *waiting = &slice->waiting[number];
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
    struct slice_request *waiting = &slice->waiting[number];
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
    struct slice_request *waiting = &slice->waiting[slice->current];
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
    struct slice_request *waiting = &slice->waiting[slice->current];
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
    struct slice_request *waiting = &slice->waiting[slice->current];
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
        struct slice_request *waiting = &slice->waiting[number];
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
    struct slice_request *waiting = &slice->waiting[slice->current];
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
        struct slice_request *waiting = &slice->waiting[number];
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
