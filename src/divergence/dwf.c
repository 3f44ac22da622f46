/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic warp formation [000 §4]: threads that leave the pipeline are grouped anew, by their next PC, with threads of
 * other warps of their block.
 *
 * A set of returning threads joins the youngest group of its PC as far as lanes are free there; the others begin a new
 * group, which is the youngest from then on, and the older one grows no more. Lane aware, a thread keeps the lane of its
 * home warp, so that a group holds at most one thread of each. The PC-warp table (LUT) finds the youngest; of the pool the
 * groups that come first by the policy stand in the issue slots, where they are fetched for.
 *
 * Every structure is unlimited when its key is 0. A full pool, heap or table of the heap, a heap that rebalances itself
 * and ports that are taken make arrivals wait, in order, as a stalled write-back; a full set of the LUT loses its least
 * recently used entry. Issue always goes on, so that room comes. */
#include <assert.h>
#include <string.h>

#include "base/heap.h"
#include "divergence/divergence.h"
#include "simt/formed.h"
#include "simt/threads.h"

enum policy { POLICY_TIME, POLICY_PC, POLICY_MAJORITY, POLICY_MINORITY, POLICY_PDOM };
enum register_file { REGISTERS_LANE_AWARE, REGISTERS_CROSSBAR, REGISTERS_IDEAL };

#define DWF_PARAMS(PARAM)                                                                                              \
    PARAM(policy, "dwf.policy", CHOICE, "time", "time|pc|majority|minority|pdom-priority", "", "",                     \
          "which group issues first: the oldest; of the smallest PC; of the PC with most threads, until none is left " \
          "there; with fewest; whose threads have passed the fewest post-dominators; then the oldest")                 \
    PARAM(register_file, "dwf.register_file", CHOICE, "lane-aware", "lane-aware|crossbar|ideal", "", "",               \
          "lane-aware: a thread keeps its lane; crossbar: it takes any, and threads of one home lane read their "      \
          "registers in turns; ideal: any lane, at once")                                                              \
    PARAM(swizzle, "dwf.swizzle", BOOL, "false", "", "", "",                                                           \
          "every second warp of a block has its even and odd home lanes swapped")                                      \
    PARAM(lut_entries, "dwf.lut_entries", U32, "0", "0", "65536", "entries", "PC-warp table; 0: no limit")             \
    PARAM(lut_ways, "dwf.lut_ways", U32, "0", "0", "65536", "ways", "of the PC-warp table; 0: one set")                \
    PARAM(pool_entries, "dwf.pool_entries", U32, "0", "0", "65536", "groups", "warp pool; 0: no limit")                \
    PARAM(heap_entries, "dwf.heap_entries", U32, "0", "0", "32768", "entries",                                         \
          "policy majority: PCs in its heap; 0: no limit")                                                             \
    PARAM(mheap_lut_entries, "dwf.mheap_lut_entries", U32, "0", "0", "65536", "entries",                               \
          "policy majority: table from a PC to its place in the heap; 0: no limit")                                    \
    PARAM(mheap_lut_ways, "dwf.mheap_lut_ways", U32, "0", "0", "65536", "ways", "of that table; 0: one set")           \
    PARAM(ports, "dwf.ports", U32, "0", "0", "64", "ports",                                                            \
          "PCs that the tables take in a cycle, and heap entries that move up a level in it; 0: no limit")

struct dwf_params {
    DWF_PARAMS(PARAM_FIELD)
};

static const struct param_description dwf_params_table[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct dwf_params, field, __VA_ARGS__)
    DWF_PARAMS(PARAM) PARAM_END
#undef PARAM
};

#define DWF_STATS(STAT, LARGEST)                                                                                       \
    STAT(arrivals, "sets", "sets of threads with one next PC that came back")                                          \
    STAT(merges, "sets", "of these, sets of which threads joined a group that was there")                              \
    STAT(lane_conflicts, "threads", "lane-aware: threads whose lane was taken in the group they could have joined")    \
    STAT(register_turns, "turns", "crossbar: turns of reading registers beyond a group's first")                       \
    STAT(evictions, "entries", "entries that a full set of the PC-warp table lost")                                    \
    STAT(stalled_write_backs, "sets", "sets of threads that waited for room in the scheduler's structures")            \
    STAT(stalled_cycles, "cycles", "cycles in which such sets waited, summed over SMs")                                \
    LARGEST(pool_largest, "groups", "groups in an SM's pool at a time")                                                \
    LARGEST(lut_largest, "entries", "entries of its PC-warp table in use")                                             \
    LARGEST(heap_largest, "entries", "PCs in its heap, when the policy has one")                                       \
    LARGEST(mheap_lut_largest, "entries", "entries of its heap's table in use")

struct dwf_stats {
#define FIELD(field, unit, help) uint64_t field;
    DWF_STATS(FIELD, FIELD)
#undef FIELD
};

static const struct stat_description dwf_stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct dwf_stats, field, unit, help)
#define LARGEST(field, unit, help) LARGEST_ENTRY(struct dwf_stats, field, unit, help)
    DWF_STATS(STAT, LARGEST) STAT_END
#undef STAT
#undef LARGEST
};

#define NEVER UINT64_MAX

/* Threads of one block and next PC that came back together: lane aware each at its home lane, else one after another. */
struct arrival {
    unsigned block;
    uint32_t pc, lanes;
    uint16_t place; /* of the pool, whose threads they are; FORMED_NONE: none */
    const uint16_t *threads;
    uint16_t own[LANES_MAX]; /* where nobody else has them so */
};

/* Arrivals that wait for room: a ring of their threads, the first of each marked. */
enum { BEGINS = 0x8000 };
struct waiting {
    uint16_t *threads;
    unsigned first, count, capacity;
};

struct dwf {
    struct dwf_params params;
    struct threads threads;
    unsigned width;
    const uint8_t *home; /* [thread]: the lane where its registers are */
    struct formed_pool pool;
    /* A group that comes back as it went keeps its place while it is out, with the next PC. [thread], of its first: the place
     * plus 1; 0: it has none. */
    uint16_t *place_of;
    unsigned out;     /* such groups */
    bool keeps_lanes; /* threads take the same lanes in every group, and nothing of a group depends on more than them */
    struct assoc youngest; /* [block][pc]: a place of the pool */
    const struct inst *code;
    uint32_t code_count;
    const uint64_t *now;
    uint64_t *wake;
    struct waiting waiting;
    uint64_t turn; /* a cycle, and the arrivals taken in it */
    unsigned taken;
    uint32_t *counts; /* [pc]: threads in the pool */

    uint32_t majority;               /* the PC whose groups issue; NO_PC: none yet */
    bool has_heap;                   /* else PCs are counted */
    struct heap heap;                /* the other PCs */
    uint64_t heap_free, heap_growth; /* it rests from that cycle on; cycle in which it grew last, NEVER: a pop since */

    /* policy pdom-priority */
    uint16_t *point;  /* [pc]: number of a reconvergence point plus 1, 0: none */
    unsigned words;   /* of a set of points */
    uint64_t *ahead;  /* [thread][word]: those of branches it has executed */
    uint32_t *passed; /* [thread] */
    struct dwf_stats stats;
};

static void find_points(struct dwf *dwf, struct arena *arena, unsigned threads) {
    unsigned count = 0;
    dwf->point = ARENA_ARRAY(arena, uint16_t, dwf->code_count);
    for (uint32_t pc = 0; pc < dwf->code_count; pc++) {
        const uint32_t meet = dwf->code[pc].reconverge;
        if (inst_may_part(&dwf->code[pc]) && meet != NO_PC && !dwf->point[meet])
            dwf->point[meet] = (uint16_t)++count;
    }
    dwf->words = count / 64 + 1;
    dwf->ahead = ARENA_ARRAY(arena, uint64_t, (size_t)threads * dwf->words);
    dwf->passed = ARENA_ARRAY(arena, uint32_t, threads);
}

static const uint8_t *find_homes(struct arena *arena, const struct divergence_shape *shape, bool swizzle) {
    const unsigned threads = shape->warps * shape->warp_size;
    uint8_t *home = ARENA_ARRAY(arena, uint8_t, threads);
    for (unsigned i = 0; i < threads; i++) {
        const unsigned warp = i / shape->warp_size % shape->warps_per_block;
        home[i] = (uint8_t)(i % shape->warp_size ^ (swizzle ? warp & 1 : 0));
    }
    return home;
}

static void *dwf_create(struct arena *arena, const struct divergence_shape *shape) {
    struct dwf *dwf = ARENA_NEW(arena, struct dwf);
    const struct dwf_params *params = shape->params;
    const unsigned threads = shape->warps * shape->warp_size, blocks = shape->warps / shape->warps_per_block;
    dwf->params = *params, dwf->width = shape->width;
    threads_create(&dwf->threads, arena, shape->warps, shape->warp_size, shape->warps_per_block);
    dwf->home = find_homes(arena, shape, params->swizzle);
    formed_create(&dwf->pool, arena, threads);
    dwf->place_of = ARENA_ARRAY(arena, uint16_t, threads);
    dwf->keeps_lanes = params->register_file == REGISTERS_LANE_AWARE && params->policy != POLICY_PDOM;
    assoc_create(&dwf->youngest, arena, (size_t)blocks * shape->code_count, params->lut_entries, params->lut_ways);
    dwf->code = shape->code, dwf->code_count = shape->code_count;
    dwf->now = shape->now, dwf->wake = shape->wake;
    dwf->waiting = (struct waiting){.threads = ARENA_ARRAY(arena, uint16_t, threads), .capacity = threads};
    dwf->turn = NEVER;
    dwf->counts = ARENA_ARRAY(arena, uint32_t, shape->code_count);
    dwf->majority = NO_PC;
    dwf->has_heap =
        params->policy == POLICY_MAJORITY && (params->heap_entries || params->mheap_lut_entries || params->ports);
    dwf->heap_growth = NEVER;
    if (dwf->has_heap)
        heap_create(&dwf->heap, arena, params->heap_entries ? params->heap_entries : threads, shape->code_count,
                    params->mheap_lut_entries, params->mheap_lut_ways);
    if (params->policy == POLICY_PDOM)
        find_points(dwf, arena, threads);
    return dwf;
}

/* Groups that wait to be issued. */
static unsigned pool_count(const struct dwf *dwf) { return dwf->pool.count - dwf->out; }

static void wake_at(struct dwf *dwf, uint64_t cycle) {
    if (cycle < *dwf->wake)
        *dwf->wake = cycle;
}

/* ---- policies ---- */

static bool comes_before(const struct dwf *dwf, const struct formed *a, const struct formed *b) {
    const uint32_t of_a = dwf->counts[a->pc], of_b = dwf->counts[b->pc];
    switch ((enum policy)dwf->params.policy) {
    case POLICY_TIME: break;
    case POLICY_PC:
        if (a->pc != b->pc)
            return a->pc < b->pc;
        break;
    case POLICY_MAJORITY:
        if ((a->pc == dwf->majority) != (b->pc == dwf->majority))
            return a->pc == dwf->majority;
        if (of_a != of_b)
            return of_a > of_b;
        break;
    case POLICY_MINORITY:
        if (of_a != of_b)
            return of_a < of_b;
        break;
    case POLICY_PDOM:
        if (a->rank != b->rank)
            return a->rank < b->rank;
        break;
    }
    return a->birth < b->birth;
}

/* The group that comes first, of those in these slots and, if so asked, of the queue; NULL: there is none. */
static struct formed *find_first(const struct dwf *dwf, uint64_t slots, bool queued) {
    struct formed *best = NULL;
    for (; slots; slots &= slots - 1) {
        struct formed *formed = formed_at(&dwf->pool, bits_first64(slots));
        if (!best || comes_before(dwf, formed, best))
            best = formed;
    }
    for (uint16_t i = queued ? dwf->pool.first : FORMED_NONE; i != FORMED_NONE; i = dwf->pool.items[i].next)
        if (!best || comes_before(dwf, &dwf->pool.items[i], best))
            best = &dwf->pool.items[i];
    return best;
}

/* The groups that come first take the slots. */
static uint64_t settle_by_policy(struct dwf *dwf) {
    struct formed_pool *pool = &dwf->pool;
    uint64_t changed = 0;
    while (pool->first != FORMED_NONE) {
        const struct formed *best = find_first(dwf, 0, true), *worst = NULL;
        for (uint64_t rest = pool->slots_free ? 0 : UINT64_MAX; rest; rest &= rest - 1) {
            const struct formed *formed = formed_at(pool, bits_first64(rest));
            if (!worst || comes_before(dwf, worst, formed))
                worst = formed;
        }
        if (worst && !comes_before(dwf, best, worst))
            break;
        const unsigned slot = worst ? worst->slot : bits_first64(pool->slots_free);
        if (worst)
            formed_requeue(pool, formed_leave(pool, slot));
        formed_enter(pool, (uint16_t)(best - pool->items), slot);
        changed |= UINT64_C(1) << slot;
    }
    return changed;
}

/* The groups that come first stand in the slots. A group leaves one only when there are more groups than slots. */
static inline uint64_t settle_slots(struct dwf *dwf) {
    if (dwf->pool.first == FORMED_NONE)
        return 0;
    /* time: the queue is in its order */
    return dwf->params.policy == POLICY_TIME ? formed_fill(&dwf->pool) : settle_by_policy(dwf);
}

/* ---- policy majority ---- */

/* The majority PC has no group left: the most common of the others follows, unless the heap is being put in order. */
static void choose_majority(struct dwf *dwf) {
    if (dwf->params.policy != POLICY_MAJORITY || (dwf->majority != NO_PC && dwf->counts[dwf->majority]))
        return;
    if (!pool_count(dwf))
        return; /* the entry keeps its PC */
    if (!dwf->has_heap) {
        dwf->majority = NO_PC;
        dwf->majority = find_first(dwf, ~dwf->pool.slots_free, true)->pc;
        return;
    }
    const uint64_t now = *dwf->now;
    if (dwf->params.ports && now < dwf->heap_free) {
        wake_at(dwf, dwf->heap_free);
        return;
    }
    struct heap_entry root;
    const unsigned levels = heap_pop(&dwf->heap, &root);
    assert(root.count == dwf->counts[root.key]);
    dwf->majority = root.key;
    const unsigned reads = dwf->params.ports == 1 ? 2 : 1; /* of both children: with one port one after the other */
    dwf->heap_free = now + 1 + reads * levels, dwf->heap_growth = NEVER;
}

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
static uint32_t take_lanes(const struct dwf *dwf, struct formed *formed, const struct arrival *arrival, uint32_t from) {
    uint32_t left = 0;
    if (!dwf->keeps_lanes) {
        for (BITS_EACH(i, from))
            left |= (uint32_t)!take_lane(dwf, formed, arrival->threads[i]) << i;
        return left;
    }
    left = from & formed->lanes;
    threads_put(formed->threads, arrival->threads, from & ~left);
    formed->lanes |= from;
    return left;
}

static uint32_t table_key(const struct dwf *dwf, unsigned block, uint32_t pc) { return block * dwf->code_count + pc; }

/* The group that an arrival would join; NULL: none. */
static struct formed *find_youngest(const struct dwf *dwf, const struct arrival *arrival) {
    const uint16_t found = assoc_find(&dwf->youngest, table_key(dwf, arrival->block, arrival->pc));
    return found == ASSOC_NONE ? NULL : &dwf->pool.items[found];
}

static bool needs_place(const struct dwf *dwf, const struct arrival *arrival) {
    const struct formed *formed = find_youngest(dwf, arrival);
    if (!formed)
        return true;
    if (dwf->params.register_file != REGISTERS_LANE_AWARE)
        return bits_count(formed->lanes) + bits_count(arrival->lanes) > dwf->width;
    return (arrival->lanes & formed->lanes) != 0;
}

static bool has_room(const struct dwf *dwf, const struct arrival *arrival) {
    const struct dwf_params *params = &dwf->params;
    if (params->ports && dwf->turn == *dwf->now && dwf->taken >= params->ports)
        return false;
    if (params->pool_entries && pool_count(dwf) >= params->pool_entries && needs_place(dwf, arrival))
        return false;
    return heap_takes(dwf, arrival->pc);
}

/* A group for these threads of the arrival. */
static uint16_t begin(struct dwf *dwf, const struct arrival *arrival, uint32_t from) {
    const bool was_out = arrival->place != FORMED_NONE;
    const uint16_t number = was_out ? arrival->place : formed_take(&dwf->pool, arrival->block, arrival->pc);
    struct formed *formed = &dwf->pool.items[number];
    if (was_out) {
        formed->lanes = from, formed->home = FORMED_NONE;
        dwf->out--;
    } else {
        formed->rank = UINT32_MAX;
        take_lanes(dwf, formed, arrival, from);
    }
    formed_enqueue(&dwf->pool, number);
    if (pool_count(dwf) > dwf->stats.pool_largest)
        dwf->stats.pool_largest = pool_count(dwf);
    assert(!dwf->params.pool_entries || pool_count(dwf) <= dwf->params.pool_entries);
    return number;
}

/* Nobody is left in the place that the arrival had. */
static void leave_place(struct dwf *dwf, const struct arrival *arrival) {
    if (arrival->place == FORMED_NONE)
        return;
    formed_give(&dwf->pool, arrival->place);
    dwf->out--;
}

static uint64_t insert(struct dwf *dwf, const struct arrival *arrival) {
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
    dwf->stats.evictions += assoc_put(&dwf->youngest, table_key(dwf, arrival->block, arrival->pc), number);
    heap_grow(dwf, arrival->pc, count);
    dwf->stats.lut_largest = dwf->youngest.largest;
    dwf->stats.heap_largest = dwf->heap.largest;
    dwf->stats.mheap_lut_largest = dwf->heap.places.largest;
    choose_majority(dwf);
    return changed | settle_slots(dwf);
}

/* ---- arrivals ---- */

/* A thread of the arrival, which has so many; false: lane aware, another has its lane. */
static bool add_thread(const struct dwf *dwf, struct arrival *arrival, uint16_t thread, unsigned count) {
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
static void next_arrival(const struct dwf *dwf, const uint16_t *threads, uint32_t *lanes, struct arrival *out) {
    const unsigned first = threads[bits_first(*lanes)];
    const uint32_t pc = dwf->threads.pcs[first], all = *lanes;
    out->block = first / dwf->threads.per_block, out->pc = pc, out->lanes = 0, out->place = FORMED_NONE;
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

static void wait_in_line(struct dwf *dwf, const struct arrival *arrival) {
    struct waiting *waiting = &dwf->waiting;
    for (BITS_EACH(i, arrival->lanes)) {
        waiting->threads[(waiting->first + waiting->count++) % waiting->capacity] =
            (uint16_t)(arrival->threads[i] | (i == bits_first(arrival->lanes) ? BEGINS : 0));
        dwf->threads.pcs[arrival->threads[i]] = arrival->pc;
    }
    leave_place(dwf, arrival);
    dwf->stats.stalled_write_backs++;
    wake_at(dwf, *dwf->now + 1);
}

static void first_in_line(const struct dwf *dwf, struct arrival *out) {
    const struct waiting *waiting = &dwf->waiting;
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

static uint64_t dwf_advance(void *self) {
    struct dwf *dwf = self;
    choose_majority(dwf);
    uint64_t changed = settle_slots(dwf);
    dwf->stats.stalled_cycles += dwf->waiting.count != 0;
    while (dwf->waiting.count) {
        struct arrival arrival;
        first_in_line(dwf, &arrival);
        if (!has_room(dwf, &arrival)) {
            wake_at(dwf, *dwf->now + 1);
            break;
        }
        const unsigned count = bits_count(arrival.lanes);
        dwf->waiting.first = (dwf->waiting.first + count) % dwf->waiting.capacity;
        dwf->waiting.count -= count;
        changed |= insert(dwf, &arrival);
    }
    return changed;
}

/* All threads of a group that kept its place. */
static void whole_arrival(struct dwf *dwf, uint16_t place, struct arrival *out) {
    const struct formed *formed = &dwf->pool.items[place];
    out->block = formed->block, out->pc = formed->pc, out->lanes = formed->lanes;
    out->place = place, out->threads = formed->threads;
}

static uint64_t dwf_returned(void *self, const uint16_t *threads, uint32_t lanes) {
    struct dwf *dwf = self;
    uint64_t changed = 0;
    while (lanes) {
        struct arrival arrival;
        uint16_t *place = &dwf->place_of[threads[bits_first(lanes)]];
        if (*place) {
            whole_arrival(dwf, (uint16_t)(*place - 1), &arrival);
            assert(!(arrival.lanes & ~lanes));
            lanes &= ~arrival.lanes;
            *place = 0;
        } else
            next_arrival(dwf, threads, &lanes, &arrival);
        if (!dwf->waiting.count && has_room(dwf, &arrival))
            changed |= insert(dwf, &arrival);
        else
            wait_in_line(dwf, &arrival);
    }
    return changed;
}

static uint64_t dwf_start(void *self, unsigned warp, uint32_t pc, uint32_t lanes) {
    struct dwf *dwf = self;
    const unsigned first = warp * dwf->threads.warp_size;
    uint16_t threads[LANES_MAX] = {0};
    threads_start(&dwf->threads, warp, pc, lanes);
    threads_of_warp(threads, warp, dwf->threads.warp_size);
    for (BITS_EACH(lane, dwf->passed ? lanes : 0)) {
        dwf->passed[first + lane] = 0;
        for (unsigned i = 0; i < dwf->words; i++)
            dwf->ahead[(size_t)(first + lane) * dwf->words + i] = 0;
    }
    return dwf_returned(dwf, threads, lanes);
}

/* ---- issue ---- */

static bool dwf_offer(void *self, unsigned slot, struct group *out) {
    return formed_offer(&((struct dwf *)self)->pool, slot, out);
}

/* What threads of the group have passed when they go on from this instruction. */
static void pass_points(struct dwf *dwf, const struct group *group, uint32_t pc) {
    const uint32_t meet = inst_may_part(&dwf->code[pc]) ? dwf->code[pc].reconverge : NO_PC;
    for (BITS_EACH(lane, group->lanes)) {
        const unsigned thread = group->threads[lane];
        uint64_t *ahead = dwf->ahead + (size_t)thread * dwf->words;
        if (meet != NO_PC)
            ahead[dwf->point[meet] / 64] |= UINT64_C(1) << dwf->point[meet] % 64;
        const uint32_t next = dwf->threads.pcs[thread];
        const unsigned point = next < dwf->code_count ? dwf->point[next] : 0;
        dwf->passed[thread] += point && ahead[point / 64] >> point % 64 & 1;
    }
}

static unsigned count_turns(const struct dwf *dwf, const struct formed *formed) {
    unsigned most = 1, of_lane[LANES_MAX] = {0};
    for (BITS_EACH(lane, formed->lanes)) {
        const unsigned count = ++of_lane[dwf->home[formed->threads[lane]]];
        most = count > most ? count : most;
    }
    return most;
}

static unsigned dwf_turns(const void *self, unsigned slot) {
    const struct dwf *dwf = self;
    return dwf->params.register_file == REGISTERS_CROSSBAR ? count_turns(dwf, formed_at(&dwf->pool, slot)) : 1;
}

/* The group is out: its threads will come back with it, in its place, or have their next PCs each. */
static void send(struct dwf *dwf, uint16_t number, const struct group *group, const struct executed *executed) {
    struct formed *formed = &dwf->pool.items[number];
    const uint32_t next = threads_next_of_all(executed);
    if (dwf->keeps_lanes && next != NO_PC && executed->flow != FLOW_EXIT &&
        divergence_returns_whole(&dwf->code[group->pc])) {
        formed->pc = next;
        dwf->place_of[formed->threads[bits_first(formed->lanes)]] = (uint16_t)(number + 1);
        dwf->out++;
        return;
    }
    threads_issued(&dwf->threads, group, executed);
    if (dwf->passed)
        pass_points(dwf, group, executed->pc);
    formed_give(&dwf->pool, number);
}

static uint64_t dwf_issued(void *self, unsigned slot, const struct group *group, const struct executed *executed) {
    struct dwf *dwf = self;
    dwf->stats.register_turns += dwf_turns(dwf, slot) - 1;
    const uint16_t number = formed_leave(&dwf->pool, slot);
    const struct formed *formed = &dwf->pool.items[number];
    const uint32_t key = table_key(dwf, formed->block, formed->pc);
    if (assoc_find(&dwf->youngest, key) == number)
        assoc_remove(&dwf->youngest, key);
    dwf->counts[formed->pc] -= bits_count(formed->lanes);
    send(dwf, number, group, executed);
    choose_majority(dwf);
    return UINT64_C(1) << slot | settle_slots(dwf);
}

static unsigned dwf_pick(void *self, uint64_t ready) {
    const struct dwf *dwf = self;
    const struct formed *best = find_first(dwf, ready, false);
    if (dwf->params.policy == POLICY_MAJORITY && best->pc != dwf->majority)
        return ISSUE_SLOTS_MAX; /* all groups at the majority PC come before any other */
    return best->slot;
}

static uint32_t dwf_alive(const void *self, unsigned warp) { return ((const struct dwf *)self)->threads.alive[warp]; }

static void dwf_where(const void *self, unsigned warp, uint32_t pcs[LANES_MAX]) {
    const struct dwf *dwf = self;
    const unsigned places = dwf->waiting.capacity, warp_size = dwf->threads.warp_size;
    threads_where(&dwf->threads, warp, pcs);
    for (const struct formed *formed = dwf->pool.items; formed < dwf->pool.items + places; formed++)
        for (BITS_EACH(lane, formed->lanes & threads_of(formed->threads, warp, warp_size)))
            pcs[formed->threads[lane] % warp_size] = formed->pc;
}

static unsigned dwf_show(const void *self, unsigned warp, struct group_row *rows, unsigned most) {
    const struct dwf *dwf = self;
    return formed_show(&dwf->pool, warp * dwf->threads.warp_size / dwf->threads.per_block, rows, most);
}

static const void *dwf_statistics(const void *self) { return &((const struct dwf *)self)->stats; }

static enum status dwf_check(const void *values, struct report *report) {
    const struct dwf_params *params = values;
    enum status status = STATUS_OK;
    if (params->lut_ways && params->lut_entries % params->lut_ways)
        status = report_add(report, STATUS_INVALID, "dwf.lut_entries=%u is no multiple of dwf.lut_ways=%u",
                            (unsigned)params->lut_entries, (unsigned)params->lut_ways);
    if (params->mheap_lut_ways && params->mheap_lut_entries % params->mheap_lut_ways)
        status = report_add(report, STATUS_INVALID, "dwf.mheap_lut_entries=%u is no multiple of dwf.mheap_lut_ways=%u",
                            (unsigned)params->mheap_lut_entries, (unsigned)params->mheap_lut_ways);
    return status;
}

/* What is not limited here is as large as in table 7.1. */
static void dwf_cost(const void *values, const struct cost_shape *shape, struct cost *out) {
    const struct dwf_params *params = values;
    cost_formation(shape,
                   &(struct cost_formation){.lut_entries = params->lut_entries,
                                            .pool_entries = params->pool_entries,
                                            .heap_entries = params->heap_entries,
                                            .mheap_lut_entries = params->mheap_lut_entries,
                                            .sorts = params->policy == POLICY_MAJORITY},
                   out);
}

const struct divergence_ops divergence_dwf = {
    .name = "dwf",
    .help = "dynamic warp formation: threads regroup by PC after every instruction, with others of their block",
    .regroups = true,
    .params = dwf_params_table,
    .params_bytes = sizeof(struct dwf_params),
    .stats = dwf_stats_table,
    .stats_bytes = sizeof(struct dwf_stats),
    .statistics = dwf_statistics,
    .check = dwf_check,
    .cost = dwf_cost,
    .create = dwf_create,
    .start = dwf_start,
    .offer = dwf_offer,
    .issued = dwf_issued,
    .returned = dwf_returned,
    .advance = dwf_advance,
    .turns = dwf_turns,
    .pick = dwf_pick,
    .alive = dwf_alive,
    .where = dwf_where,
    .show = dwf_show,
};
