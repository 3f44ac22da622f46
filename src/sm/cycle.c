/* SPDX-License-Identifier: Apache-2.0 */
/* The loop over cycles: what happens in one, and which is the next in which anything does. */
#include <stdio.h>
#include <string.h>

#include "sm/book.h"
#include "sm/wheel.h"

/* ---- events ---- */

void sm_far_event(struct sm *sm, uint64_t cycle, enum event_kind kind, uint32_t value) {
    if (sm->far.count == sm->far.capacity)
        sm->far.items = arena_grow(sm->arena, sm->far.items, sm->far.count, &sm->far.capacity, sizeof *sm->far.items);
    sm->far.items[sm->far.count++] = (struct far_event){cycle, value, (uint8_t)kind};
    if (sm->far.count == 1 || cycle < sm->far_next)
        sm->far_next = cycle;
}

/* Events that the wheel reaches by now go into it. */
static void draw_near(struct sm *sm) {
    unsigned kept = 0;
    const unsigned count = sm->far.count;
    sm->far.count = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct far_event event = sm->far.items[i];
        if (event.cycle - sm->now < WHEEL_SLOTS)
            sm_event(sm, event.cycle, event.kind, event.value);
        else
            sm->far.items[kept++] = event;
    }
    sm->far.count = kept;
    for (unsigned i = 0; i < kept; i++)
        if (i == 0 || sm->far.items[i].cycle < sm->far_next)
            sm->far_next = sm->far.items[i].cycle;
}

static void run_events(struct sm *sm, unsigned at) {
    const struct wheel_slot slot = sm->wheel[at];
    sm->wheel[at] = (struct wheel_slot){0};
    sm->wheel_bits[at / 64] &= ~(UINT64_C(1) << at % 64);
    sm->collectors_used -= slot.collectors;
    for (uint32_t flight = slot.write_backs; flight;) {
        const uint32_t next = sm->flights[flight - 1].next;
        sm_write_back(sm, flight - 1);
        flight = next;
    }
    for (slot_set rest = slot.fetched; rest; rest &= rest - 1)
        sm_fetched(sm, set_first(rest));
}

/* Cycle of the first event from `from` on, NO_CYCLE: none. */
static uint64_t next_event(const struct sm *sm, uint64_t from) {
    const uint64_t far = sm->far.count ? sm->far_next : NO_CYCLE;
    const unsigned at = (unsigned)(from % WHEEL_SLOTS);
    const uint64_t here = sm->wheel_bits[at / 64] & UINT64_MAX << at % 64;
    if (here)
        return from + bits_first64(here) - at % 64;
    uint64_t any = 0;
    for (unsigned word = 0; word < WHEEL_SLOTS / 64; word++)
        any |= sm->wheel_bits[word];
    if (!any)
        return far;
    /* the words after this one, those before, at last what is left of this one */
    unsigned word = at / 64;
    do
        word = (word + 1) % (WHEEL_SLOTS / 64);
    while (!sm->wheel_bits[word]);
    return from + (word * 64 + bits_first64(sm->wheel_bits[word]) + WHEEL_SLOTS - at) % WHEEL_SLOTS;
}

/* ---- blocks ---- */

/* One block begins per cycle, in the order they were given. */
static void start_given(struct sm *sm) {
    unsigned number = 0;
    while (sm->places[number].used)
        number++;
    struct sm_place *place = &sm->places[number];
    if (!sm->places_used && !sm->stats.blocks)
        sm_remember_code(sm, sm->given[0].first_pc);
    *place = (struct sm_place){.used = true,
                               .block = sm->given[0].block,
                               .waiting = {.first_warp = number * sm->shape.warps_per_place,
                                           .warp_count = sm->shape.warps_per_place,
                                           .waits = sm->waits}};
    sm->places_used++;
    sm->executor.start(sm->executor.self, number, place->block);
    const slot_set slots = set_low(sm->shape.warps_per_place) << number * sm->shape.warps_per_place;
    for (slot_set rest = sm->used; rest; rest &= rest - 1)
        sm->older[set_first(rest)] &= ~slots;
    for (unsigned i = 0; i < sm->shape.warps_per_place; i++) {
        const unsigned w = number * sm->shape.warps_per_place + i;
        const uint32_t lanes = sm->executor.lanes(sm->executor.self, w);
        place->waiting.alive += bits_count(lanes);
        if (sm->regroup) {
            sm_regroup_start(sm, w, sm->given[0].first_pc, lanes);
            continue;
        }
        const slot_set bit = set_of(w);
        sm->warps[w] = (struct sm_warp){.pc = sm->given[0].first_pc,
                                        .buffer_pc = sm->given[0].first_pc,
                                        .buffer_end = sm->given[0].first_pc,
                                        .since = sm->now,
                                        .stage = WAIT_FETCH,
                                        .ready_unit = SM_UNIT_COUNT,
                                        .bank = (uint8_t)(w % sm->params.register_banks)};
        sm->warps[w].pending = sm->pending + (size_t)w * sm->register_words;
        sm->slot_places[w] = (uint8_t)number;
        sm->progress[w] = 0;
        memset(sm->warps[w].pending, 0, sm->register_words * sizeof *sm->pending);
        sm->mechanism->start(sm->control, w, sm->given[0].first_pc, lanes);
        sm->older[w] = sm->used;
        sm->used |= bit;
        if (sm_hears(sm, SCHEDULER_STARTED))
            sm_tell(sm, &(struct scheduler_event){.kind = SCHEDULER_STARTED, .warp = w});
        sm_update_warp(sm, w);
    }
    sm->given_count--;
    memmove(&sm->given[0], &sm->given[1], sm->given_count * sizeof sm->given[0]);
}

/* ---- time ---- */

/* The first cycle from `from` on at which a scheduler may issue, all else unchanged. */
static uint64_t next_issue(const struct sm *sm, uint64_t from) {
    const slot_set possible = sm_issuable(sm);
    uint64_t next = NO_CYCLE;
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        if (possible & sm->scheduler_warps[s] && sm->scheduler_busy[s] < next)
            next = sm->scheduler_busy[s];
    return next > from ? next : from;
}

/* Whether this is such a cycle, as most are of a busy SM. */
static inline bool acts_now(const struct sm *sm) {
    return sm->wants_fetch || sm->given_count || (sm->wide == 1 && sm_issuable(sm));
}

/* If it does not act now, the first cycle at which it does anything without news from outside. A warp that is ready while
 * its unit is not waits for an event, and a blocked load/store unit for a reply or a credit: neither is tried again
 * before. */
static uint64_t next_own(const struct sm *sm) {
    uint64_t next = sm->wide == 1 ? NO_CYCLE : next_issue(sm, sm->now);
    const uint64_t event = next_event(sm, sm->now);
    next = event < next ? event : next;
    next = sm->mechanism_wake < next ? sm->mechanism_wake : next;
    if (sm->queue_count && !sm->lsu_blocked) {
        uint64_t access = sm->queue[sm->queue_head].ready_cycle;
        access = access > sm->lsu_busy ? access : sm->lsu_busy;
        next = access < next ? access : next;
    }
    return next > sm->now ? next : sm->now;
}

/* To cycle `next`: nothing can issue until then, and slots are empty but for those that a warp wider than the back end
 * still fills. */
static void pass(struct sm *sm, uint64_t next) {
    const slot_set ready = sm->ready;
    if (sm->books_later) {
        if (!sm->empty.open) /* else nothing has changed since */
            sm_begin_empty(sm);
        sm->now = next;
        return;
    }
    for (unsigned s = 0; s < sm->params.schedulers; s++) {
        uint64_t from = sm->scheduler_busy[s] > sm->now ? sm->scheduler_busy[s] : sm->now;
        from = from < next ? from : next;
        if (from > sm->now)
            sm_count_issued(sm, s, from - sm->now);
        if (next > from)
            sm_book(sm, sm_empty(sm, s, ready & sm->scheduler_warps[s]), next - from);
    }
    sm->now = next;
}

static void run_cycle(struct sm *sm) {
    if (sm->mechanism_wake <= sm->now)
        sm_regroup_advance(sm);
    if (sm->given_count)
        start_given(sm);
    if (sm->far.count)
        draw_near(sm);
    const unsigned at = (unsigned)(sm->now % WHEEL_SLOTS);
    if (sm->wheel_bits[at / 64] >> at % 64 & 1)
        run_events(sm, at);
    for (const struct packet *packet; (packet = link_arrived(sm->replies, sm->now)) != NULL;
         link_pop(sm->replies, sm->now)) {
        const struct packet *behind = sm->shape.l1_far ? link_behind(sm->replies, 1) : NULL;
        if (behind)
            cache_expect_line(sm->l1, behind->address);
        sm_reply(sm, packet);
    }
    if (sm->lsu_blocked && sm->blocked.cause == CACHE_NO_ROOM && link_room(sm->requests, sm->now) >= sm->blocked.room)
        sm->lsu_blocked = false;
    if (sm->queue_count && !sm->lsu_blocked && sm->lsu_busy <= sm->now)
        sm_memory(sm);
    sm_issue(sm);
    if (sm->wants_fetch)
        sm_fetch(sm);
}

static uint64_t counted_slots(const struct sm_stats *stats) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < SLOT_COUNT; i++)
        sum += stats->in_slots[i];
    return sum;
}

static inline void count_passed(struct sm *sm, uint64_t since) {
    sm->stats.slots += (sm->now - since) * sm->params.schedulers;
}

static bool run_awake(struct sm *sm, uint64_t from, uint64_t to) {
    const uint64_t since = sm->now;
    if (from > sm->now)
        pass(sm, from);
    while (!sm->faulted) {
        uint64_t next = sm->wake = acts_now(sm) ? sm->now : next_own(sm);
        if (next > sm->now) {
            const uint64_t news = sm_next_news(sm);
            next = news > next ? next : news > sm->now ? news : sm->now;
        }
        if (next >= to)
            break;
        if (next > sm->now)
            pass(sm, next);
        run_cycle(sm);
        sm->now++;
    }
    sm->now = sm->faulted ? to : sm->now;
    count_passed(sm, since);
    if (sm->faulted) { /* what is left of the epoch */
        const uint64_t left = sm->stats.slots - counted_slots(&sm->stats);
        sm->stats.idle += left;
        sm->inst_stats[sm->module->code_count].slots[SLOT_IDLE] += left;
    }
    return sm->faulted;
}

static void settle(struct sm *sm, uint64_t cycle) {
    const uint64_t since = sm->now;
    if (cycle > since)
        pass(sm, cycle);
    sm_end_empty(sm);
    count_passed(sm, since);
}

static bool clean(struct sm *sm, bool l1, bool l2) {
    sm->wake = sm->now; /* for what goes to an L2 of its own */
    bool left = l1 && sm_clean_l1(sm);
    if (!left && l2 && !sm->l2->count)
        left = sm_l2_clean(sm);
    return left || sm->places[0].stores;
}

/* ---- for those who look on ---- */

static void describe(const struct sm *sm, struct report *report) {
    enum { SHOWN = 8 };
    unsigned shown = 0;
    char where[256];
    for (unsigned w = 0; w < sm->warp_count; w++) {
        const struct sm_warp *warp = &sm->warps[w];
        const bool here = sm->regroup ? sm->mechanism->alive(sm->control, w) != 0 : set_has(sm->used, w);
        if (!here || shown++ >= SHOWN)
            continue;
        if (!sm->whole_warps || warp->waits)
            sm_describe_waits(sm, w, report);
        else
            report_add(report, STATUS_STOPPED, "  SM %u, block %llu, warp %u: at %s, waiting for %s",
                       (unsigned)sm->shape.id, (unsigned long long)sm->places[w / sm->shape.warps_per_place].block,
                       w % sm->shape.warps_per_place, module_where(sm->module, warp->pc, where, sizeof where),
                       sm_wait_names[warp->stage]);
    }
    if (shown > SHOWN)
        report_add(report, STATUS_STOPPED, "  and %u more warps of SM %u", shown - SHOWN, (unsigned)sm->shape.id);
}

static struct sm_slot_view view_slot(const struct sm *sm, unsigned slot) {
    const struct sm_warp *warp = &sm->warps[slot];
    return (struct sm_slot_view){.used = set_has(sm->used, slot),
                                 .pc = warp->pc,
                                 .lanes = warp->group.lanes,
                                 .threads = warp->group.threads,
                                 .wait = warp->stage};
}

static void count_waits(const struct sm *sm, uint64_t waits[WAIT_COUNT]) {
    for (slot_set rest = sm->used; rest; rest &= rest - 1)
        waits[sm->warps[set_first(rest)].stage]++;
}

const struct sm_entries SM_ENTRIES = {.create = sm_make,
                                      .run = run_awake,
                                      .settle = settle,
                                      .clean = clean,
                                      .describe = describe,
                                      .view_slot = view_slot,
                                      .count_waits = count_waits};
