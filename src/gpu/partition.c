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
    const struct request fetch = {.address = slice->device_line,
                                  .tag = slice->line,
                                  .bytes = SECTOR_BYTES,
                                  .source = slice->number,
                                  .kind = REQUEST_READ,
                                  .row_hint = slice->row_hint};
    channel_send_sectors(p->channel, p->now, looked, sectors, slice->place, &fetch);
}

/* ---- halves ---- */

/* A sector of the other half's SMs has a second address in the cache, where its copy in their half is. That copy lies in
 * the slice it is of, not in one of the other half: slices are alike, and what competes for room in one is as much as in
 * the other. */
#define FAR_COPY (UINT64_C(1) << 58)

/* Is the request that was accepted of an SM of the other half? */
static __attribute__((noinline)) void tell_half(const struct partition *p, struct slice *slice,
                                                struct slice_request *waiting) {
    waiting->is_far = (waiting->packet.sm >= p->half_sms) != (p->half != 0);
    waiting->goes_far = false;
    slice->one_by_one |= waiting->is_far || waiting->packet.kind != PACKET_READ;
}

/* The sector at this address of the slice gets a copy in the half of an SM that has read it, unless there is no room for it. */
static void make_copy(struct partition *p, struct slice *slice, uint64_t inside) {
    const struct request copy = {.address = inside | FAR_COPY, .bytes = SECTOR_BYTES, .kind = REQUEST_READ};
    struct cache_result result;
    struct cache_arrival arrival;
    if (channel_room(p->channel) < CHANNEL_SCARCE || cache_access(slice->l2, &copy, 2, &result) != CACHE_MISS)
        return;
    if (result.write_back_sectors)
        send_down(p, slice, &result.down[result.down_count - 1]);
    cache_fill(slice->l2, copy.address, &arrival);
}

/* Data that SMs of the other half waited for have come. */
static __attribute__((noinline)) void copy_arrived(struct partition *p, struct slice *slice, uint64_t inside,
                                                   const struct cache_arrival *arrival) {
    bool copies = false;
    for (uint32_t i = 0; i < arrival->count; i++) {
        const struct slice_request *waiting = &slice->waiting[arrival->tags[i]];
        copies |= waiting->is_far && waiting->packet.kind == PACKET_READ;
    }
    if (copies)
        make_copy(p, slice, inside);
}

/* What the halves have to do with an access to a sector: true, a copy serves it. */
static __attribute__((noinline)) bool ask_halves(struct slice *slice, struct slice_request *waiting,
                                                 const struct request *request) {
    const struct request copy = {.address = request->address | FAR_COPY, .bytes = SECTOR_BYTES, .kind = REQUEST_READ};
    struct cache_result result;
    if (request->kind != REQUEST_READ)
        cache_drop(slice->l2, copy.address);
    else if (waiting->is_far && cache_holds(slice->l2, copy.address))
        return cache_access(slice->l2, &copy, 0, &result) == CACHE_HIT;
    waiting->goes_far = waiting->is_far;
    return false;
}

/* Replies that were in the far half are later than some that follow them. When it is ready. */
static __attribute__((noinline)) uint64_t put_in_order(const struct partition *p, const struct slice_request *waiting,
                                                       uint32_t number, uint64_t ready, struct ring *ring) {
    uint32_t at = ring->head + ring->count++;
    ready += waiting->goes_far ? p->far_cycles : 0;
    for (; at != ring->head && ring->items[(at - 1) % WAITING_MAX].ready > ready; at--)
        ring->items[at % WAITING_MAX] = ring->items[(at - 1) % WAITING_MAX];
    ring->items[at % WAITING_MAX] = (struct reply){ready, number};
    ring->next = ring->items[ring->head].ready;
    return ready;
}

/* The reply to a request leaves from cycle `ready` on. `halves`: the L2 has them. */
static inline __attribute__((always_inline)) void complete(struct partition *p, struct slice *slice, uint32_t number,
                                                           uint64_t ready, struct ring *ring, bool halves) {
    struct slice_request *waiting = &slice->waiting[number];
    if (waiting->packet.kind == PACKET_ATOMIC)
        p->served[p->served_count++] =
            (struct served){waiting->packet.sm, waiting->packet.ticket, waiting->packet.lanes};
    if (halves) {
        ready = put_in_order(p, waiting, number, ready, ring);
    } else {
        ring->items[(ring->head + ring->count) % WAITING_MAX] = (struct reply){ready, number};
        if (!ring->count++)
            ring->next = ready;
    }
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
    slice->one_by_one = !p->by_sectors || packet->kind == PACKET_ATOMIC || packet->leaves_first;
    if (p->far_cycles)
        tell_half(p, slice, waiting);
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
    if (p->far_cycles && ask_halves(slice, waiting, &request)) {
        slice->rest &= slice->rest - 1;
        return true;
    }
    const enum cache_outcome outcome = cache_access(slice->l2, &request, channel_room(p->channel), &result);
    if (outcome == CACHE_BLOCKED) {
        slice->reason = result.blocked;
        return false;
    }
    for (uint32_t i = 0; i < result.down_count; i++)
        send_down(p, slice, &result.down[i]);
    if (waiting->packet.leaves_first)
        cache_offer(slice->l2, request.address);
    waiting->atoms_left += result.waits;
    if (waiting->is_far && outcome == CACHE_HIT && request.kind == REQUEST_READ)
        make_copy(p, slice, request.address);
    slice->rest = atom >= LINE_BYTES ? 0 : slice->rest & (slice->rest - 1);
    if (p->atomic_lanes && request.kind == REQUEST_ATOMIC)
        slice->lookup_free += (bits_count(waiting->packet.lanes | 1) - 1) / p->atomic_lanes;
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
        complete(p, slice, slice->current, slice->lookup_free - 1 + p->l2_latency, &slice->hits, p->far_cycles);
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

/* A sector has come; false: the L2 did not ask for it. */
static inline __attribute__((always_inline)) bool fill(struct partition *p, struct slice *slice, uint64_t inside,
                                                       bool halves) {
    struct cache_arrival arrival;
    if (!cache_fill(slice->l2, inside, &arrival))
        return false;
    for (uint32_t i = 0; i < arrival.count; i++) {
        const uint32_t number = (uint32_t)arrival.tags[i];
        struct slice_request *waiting = &slice->waiting[number];
        if (--waiting->atoms_left == 0 && waiting->accepted)
            complete(p, slice, number, p->now + 1, &slice->fills, halves);
    }
    if (arrival.writes_back)
        send_down(p, slice, &arrival.write_back);
    if (halves)
        copy_arrived(p, slice, inside, &arrival);
    return true;
}

/* With halves, or without an L2. */
static __attribute__((noinline)) bool fill_otherwise(struct partition *p, struct slice *slice, uint64_t tag) {
    if (p->l2_enabled)
        return fill(p, slice, tag, true);
    slice->waiting[tag].atoms_left = 0;
    complete(p, slice, (uint32_t)tag, p->now + 1, &slice->fills, false);
    return false;
}

static void channel_fill(struct partition *p, const struct request *done) {
    if (done->kind == REQUEST_WRITE)
        return;
    struct slice *slice = &p->slices[done->source];
    const bool filled = p->fills_plainly ? fill(p, slice, done->tag, false) : fill_otherwise(p, slice, done->tag);
    if (filled && slice->blocked && cache_unblocks(slice->l2, &slice->reason, done->tag))
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
