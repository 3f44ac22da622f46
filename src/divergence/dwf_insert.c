/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic warp formation: threads come back, wait for room, join a group or begin one. */
#include "divergence/dwf.h"

#include <assert.h>

/* Threads of one block and next PC that came back together: lane aware each at its home lane, else one after another. */
struct dwf_arrival {
    unsigned block;
    uint32_t pc, lanes;
    uint16_t place; /* of the pool, whose threads they are; FORMED_NONE: none */
    const uint16_t *threads;
    uint16_t own[LANES_MAX]; /* where nobody else has them so */
};

/* Marks the first thread of an arrival in the ring of those that wait. */
enum { BEGINS = 0x8000 };

/* ---- the heap of policy majority ---- */

static bool heap_takes(const struct dwf *dwf, uint32_t pc) {
    if (!dwf->has_heap || pc == dwf->majority)
        return true;
    if (dwf->params.ports && *dwf->now < dwf->heap_free && dwf->heap_growth != *dwf->now)
        return false;
    return heap_has_room(&dwf->heap, pc);
}

static void heap_grow(struct dwf *dwf, uint32_t pc, unsigned threads) {
    if (!dwf->has_heap || pc == dwf->majority)
        return;
    const uint64_t done = *dwf->now + 1 + heap_add(&dwf->heap, pc, threads);
    if (done > dwf->heap_free)
        dwf->heap_free = done;
    dwf->heap_growth = *dwf->now;
    assert(!dwf->params.heap_entries || dwf->heap.count <= dwf->params.heap_entries);
}

/* ---- formation ---- */

/* A thread takes a lane of the group; false: none that it may have is free. */
static bool take_lane(const struct dwf *dwf, struct formed *formed, uint16_t thread) {
    unsigned lane = dwf->home[thread];
    if (formed->lanes >> lane & 1) {
        const uint32_t free = bits_low(dwf->width) & ~formed->lanes;
        if (dwf->params.register_file == REGISTERS_LANE_AWARE || !free)
            return false;
        lane = bits_first(free);
    }
    formed->threads[lane] = thread;
    formed->lanes |= UINT32_C(1) << lane;
    if (dwf->passed && dwf->passed[thread] < formed->rank)
        formed->rank = dwf->passed[thread];
    return true;
}

/* The same for threads of an arrival; those that have found none. */
static uint32_t take_lanes(const struct dwf *dwf, struct formed *formed, const struct dwf_arrival *arrival,
                           uint32_t from) {
    uint32_t left = 0;
    if (!dwf->keeps_lanes) {
        for (BITS_EACH(i, from))
            left |= (uint32_t)!take_lane(dwf, formed, arrival->threads[i]) << i;
        return left;
    }
    left = from & formed->lanes;
    if (bits_is_power_of_two(from) && !left)
        formed->threads[bits_first(from)] = arrival->threads[bits_first(from)];
    else
        threads_put(formed->threads, arrival->threads, from & ~left);
    formed->lanes |= from;
    return left;
}

/* The group that an arrival would join; NULL: none. */
static struct formed *find_youngest(const struct dwf *dwf, const struct dwf_arrival *arrival) {
    const uint16_t found = assoc_find(&dwf->youngest, dwf_table_key(dwf, arrival->block, arrival->pc));
    return found == ASSOC_NONE ? NULL : &dwf->pool.items[found];
}

static bool needs_place(const struct dwf *dwf, const struct dwf_arrival *arrival) {
    const struct formed *formed = find_youngest(dwf, arrival);
    if (!formed)
        return true;
    if (dwf->params.register_file != REGISTERS_LANE_AWARE)
        return bits_count(formed->lanes) + bits_count(arrival->lanes) > dwf->width;
    return (arrival->lanes & formed->lanes) != 0;
}

static bool has_room(const struct dwf *dwf, const struct dwf_arrival *arrival) {
    const struct dwf_params *params = &dwf->params;
    if (params->ports && dwf->turn == *dwf->now && dwf->taken >= params->ports)
        return false;
    if (params->pool_entries && dwf_pool_count(dwf) >= params->pool_entries && needs_place(dwf, arrival))
        return false;
    return heap_takes(dwf, arrival->pc);
}

void dwf_go_out(struct dwf *dwf, uint16_t number) {
    struct formed *formed = &dwf->pool.items[number];
    dwf->place_of[formed->threads[bits_first(formed->lanes)]] = (uint16_t)(number + 1);
    dwf->out++;
    if (!dwf->apart)
        return;
    formed->next = dwf->first_out, formed->previous = FORMED_NONE;
    if (dwf->first_out != FORMED_NONE)
        dwf->pool.items[dwf->first_out].previous = number;
    dwf->first_out = number;
}

/* It is out no longer. */
static void come_in(struct dwf *dwf, uint16_t number) {
    const struct formed *formed = &dwf->pool.items[number];
    dwf->place_of[formed->threads[bits_first(formed->lanes)]] = 0;
    dwf->out--;
    if (!dwf->apart)
        return;
    if (formed->previous == FORMED_NONE)
        dwf->first_out = formed->next;
    else
        dwf->pool.items[formed->previous].next = formed->next;
    if (formed->next != FORMED_NONE)
        dwf->pool.items[formed->next].previous = formed->previous;
}

/* A group for these threads of the arrival. */
static uint16_t begin(struct dwf *dwf, const struct dwf_arrival *arrival, uint32_t from) {
    const bool was_out = arrival->place != FORMED_NONE;
    const uint16_t number = was_out ? arrival->place : formed_take(&dwf->pool, arrival->block, arrival->pc);
    struct formed *formed = &dwf->pool.items[number];
    if (was_out) {
        come_in(dwf, number);
        formed->lanes = from, formed->home = FORMED_NONE;
    } else {
        formed->rank = UINT32_MAX;
        take_lanes(dwf, formed, arrival, from);
    }
    formed_enqueue(&dwf->pool, number);
    if (dwf_pool_count(dwf) > dwf->stats.pool_largest)
        dwf->stats.pool_largest = dwf_pool_count(dwf);
    assert(!dwf->params.pool_entries || dwf_pool_count(dwf) <= dwf->params.pool_entries);
    return number;
}

/* Nobody is left in the place that the arrival had. */
static void leave_place(struct dwf *dwf, const struct dwf_arrival *arrival) {
    if (arrival->place == FORMED_NONE)
        return;
    come_in(dwf, arrival->place);
    formed_give(&dwf->pool, arrival->place);
}

static uint64_t insert(struct dwf *dwf, const struct dwf_arrival *arrival) {
    struct formed *formed = find_youngest(dwf, arrival);
    uint16_t number = formed ? (uint16_t)(formed - dwf->pool.items) : FORMED_NONE;
    const unsigned count = bits_count(arrival->lanes);
    uint32_t left = arrival->lanes;
    uint64_t changed = 0;
    if (dwf->turn != *dwf->now)
        dwf->turn = *dwf->now, dwf->taken = 0;
    dwf->taken++;
    if (formed) {
        left = take_lanes(dwf, formed, arrival, left);
        changed = formed->slot == FORMED_NONE ? 0 : UINT64_C(1) << formed->slot;
        dwf->stats.merges += left != arrival->lanes;
        if (left && dwf->params.register_file == REGISTERS_LANE_AWARE)
            dwf->stats.lane_conflicts += bits_count(left);
    }
    dwf->stats.arrivals++;
    dwf->counts[arrival->pc] += count;
    if (left)
        number = begin(dwf, arrival, left);
    else
        leave_place(dwf, arrival);
    dwf->stats.evictions += assoc_put(&dwf->youngest, dwf_table_key(dwf, arrival->block, arrival->pc), number);
    heap_grow(dwf, arrival->pc, count);
    dwf->stats.lut_largest = dwf->youngest.largest;
    dwf->stats.heap_largest = dwf->heap.largest;
    dwf->stats.mheap_lut_largest = dwf->heap.places.largest;
    dwf_choose_majority(dwf);
    return changed | dwf_settle_slots(dwf);
}

/* ---- arrivals ---- */

/* A thread of the arrival, which has so many; false: lane aware, another has its lane. */
static bool add_thread(const struct dwf *dwf, struct dwf_arrival *arrival, uint16_t thread, unsigned count) {
    const unsigned at = dwf->params.register_file == REGISTERS_LANE_AWARE ? dwf->home[thread] : count;
    if (arrival->lanes >> at & 1)
        return false;
    arrival->lanes |= UINT32_C(1) << at;
    arrival->own[at] = thread;
    return true;
}

/* Of these lanes, whose threads are in place, those that stand at the PC. */
static uint32_t find_at(const struct dwf *dwf, const uint16_t *threads, uint32_t lanes, uint32_t pc) {
    uint32_t found = 0;
    for (uint32_t rest = lanes, here; rest; rest &= ~here) {
        const unsigned warp = threads[bits_first(rest)] / dwf->threads.warp_size;
        here = rest & threads_of(threads, warp, dwf->threads.warp_size);
        found |= here & threads_at(&dwf->threads, warp, pc);
    }
    return found;
}

/* The first threads of the lanes that go on together leave `lanes`. */
static void next_arrival(const struct dwf *dwf, const uint16_t *threads, uint32_t *lanes, struct dwf_arrival *out) {
    const unsigned first = threads[bits_first(*lanes)];
    const uint32_t pc = dwf->threads.pcs[first], all = *lanes;
    out->block = first / dwf->threads.per_block, out->pc = pc, out->lanes = 0, out->place = FORMED_NONE;
    if (bits_is_power_of_two(all) && dwf->params.register_file == REGISTERS_LANE_AWARE &&
        dwf->home[first] == bits_first(all)) {
        out->lanes = all, *lanes = 0;
        out->threads = threads;
        return;
    }
    if (dwf->params.register_file == REGISTERS_LANE_AWARE && !dwf->params.swizzle &&
        !(all & ~threads_in_place(threads, dwf->threads.warp_size))) { /* most often: what threads have now they keep */
        out->lanes = find_at(dwf, threads, all, pc);
        out->threads = threads;
        *lanes = all & ~out->lanes;
        return;
    }
    unsigned count = 0;
    out->threads = out->own;
    for (BITS_EACH(lane, all))
        if (dwf->threads.pcs[threads[lane]] == pc && add_thread(dwf, out, threads[lane], count)) {
            *lanes &= ~(UINT32_C(1) << lane);
            count++;
        }
}

static void wait_in_line(struct dwf *dwf, const struct dwf_arrival *arrival) {
    struct dwf_waiting *waiting = &dwf->waiting;
    for (BITS_EACH(i, arrival->lanes)) {
        waiting->threads[(waiting->first + waiting->count++) % waiting->capacity] =
            (uint16_t)(arrival->threads[i] | (i == bits_first(arrival->lanes) ? BEGINS : 0));
        dwf->threads.pcs[arrival->threads[i]] = arrival->pc;
    }
    leave_place(dwf, arrival);
    dwf->stats.stalled_write_backs++;
    dwf_wake_at(dwf, *dwf->now + 1);
}

static void first_in_line(const struct dwf *dwf, struct dwf_arrival *out) {
    const struct dwf_waiting *waiting = &dwf->waiting;
    const unsigned first = waiting->threads[waiting->first] & ~(unsigned)BEGINS;
    out->block = first / dwf->threads.per_block, out->pc = dwf->threads.pcs[first], out->lanes = 0;
    out->place = FORMED_NONE, out->threads = out->own;
    for (unsigned count = 0; count < waiting->count; count++) {
        const uint16_t thread = waiting->threads[(waiting->first + count) % waiting->capacity];
        if (thread & BEGINS && count)
            break;
        add_thread(dwf, out, (uint16_t)(thread & ~BEGINS), count);
    }
}

uint64_t dwf_advance(void *self) {
    struct dwf *dwf = self;
    dwf_choose_majority(dwf);
    uint64_t changed = dwf_settle_slots(dwf);
    dwf->stats.stalled_cycles += dwf->waiting.count != 0;
    while (dwf->waiting.count) {
        struct dwf_arrival arrival;
        first_in_line(dwf, &arrival);
        if (!has_room(dwf, &arrival)) {
            dwf_wake_at(dwf, *dwf->now + 1);
            break;
        }
        const unsigned count = bits_count(arrival.lanes);
        dwf->waiting.first = (dwf->waiting.first + count) % dwf->waiting.capacity;
        dwf->waiting.count -= count;
        changed |= insert(dwf, &arrival);
    }
    return changed;
}

/* Are these all threads of the group that kept the place? They are, unless threads of one issue come back each in its own time. */
static bool whole_arrival(const struct dwf *dwf, uint16_t place, const uint16_t *threads, uint32_t lanes,
                          struct dwf_arrival *out) {
    const struct formed *formed = &dwf->pool.items[place];
    if (dwf->apart && (formed->lanes != lanes || lanes & ~threads_equal(threads, formed->threads)))
        return false;
    assert(formed->lanes == lanes && !(lanes & ~threads_equal(threads, formed->threads)));
    out->block = formed->block, out->pc = formed->pc, out->lanes = lanes;
    out->place = place, out->threads = formed->threads;
    return true;
}

/* Groups that are out and of which some of these threads are do not come back as they went. */
static void leave_places(struct dwf *dwf, const uint16_t *threads, uint32_t lanes) {
    for (uint16_t number = dwf->first_out, next; number != FORMED_NONE; number = next) {
        const struct formed *formed = &dwf->pool.items[number];
        next = formed->next;
        if (!(lanes & formed->lanes & threads_equal(threads, formed->threads)))
            continue;
        for (BITS_EACH(lane, formed->lanes))
            dwf->threads.pcs[formed->threads[lane]] = formed->pc;
        come_in(dwf, number);
        formed_give(&dwf->pool, number);
    }
}

static uint64_t arrive(struct dwf *dwf, const struct dwf_arrival *arrival) {
    if (!dwf->waiting.count && has_room(dwf, arrival))
        return insert(dwf, arrival);
    wait_in_line(dwf, arrival);
    return 0;
}

uint64_t dwf_returned(void *self, const uint16_t *threads, uint32_t lanes) {
    struct dwf *dwf = self;
    struct dwf_arrival arrival;
    uint64_t changed = 0;
    const uint16_t place = dwf->place_of[threads[bits_first(lanes)]];
    if (place && whole_arrival(dwf, (uint16_t)(place - 1), threads, lanes, &arrival))
        return arrive(dwf, &arrival);
    if (dwf->apart)
        leave_places(dwf, threads, lanes);
    while (lanes) {
        next_arrival(dwf, threads, &lanes, &arrival);
        changed |= arrive(dwf, &arrival);
    }
    return changed;
}
