/* SPDX-License-Identifier: Apache-2.0 */
/* The loop over cycles: what happens in one, and which is the next in which anything does. */
#include <stdio.h>
#include <string.h>

#include "sm/state.h"

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
    const struct slot slot = sm->wheel[at];
    sm->wheel[at] = (struct slot){0};
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
    struct place *place = &sm->places[number];
    if (!sm->places_used && !sm->stats.blocks)
        sm_remember_code(sm, sm->given[0].first_pc);
    *place = (struct place){.used = true, .block = sm->given[0].block};
    sm->places_used++;
    sm->executor.start(sm->executor.self, number, place->block);
    const slot_set slots = set_low(sm->shape.warps_per_place) << number * sm->shape.warps_per_place;
    for (slot_set rest = sm->used; rest; rest &= rest - 1)
        sm->older[set_first(rest)] &= ~slots;
    for (unsigned i = 0; i < sm->shape.warps_per_place; i++) {
        const unsigned w = number * sm->shape.warps_per_place + i;
        const uint32_t lanes = sm->executor.lanes(sm->executor.self, w);
        place->alive += bits_count(lanes);
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

/* ---- making one ---- */

static enum status create_schedulers(struct sm *sm, struct report *report) {
    sm->scheduler = scheduler_find(sm->params.scheduler, report);
    if (!sm->scheduler)
        return STATUS_INVALID;
    for (unsigned s = 0; s < sm->params.schedulers; s++) {
        for (unsigned w = s; w < sm->slot_count; w += sm->params.schedulers)
            sm->scheduler_warps[s] |= set_of(w);
        const struct scheduler_shape shape = {.warps = sm->slot_count,
                                              .mine = sm->scheduler_warps[s],
                                              .group = sm->params.fetch_group,
                                              .timeout = sm->params.group_timeout,
                                              .places = sm->slot_places,
                                              .near = &sm->near,
                                              .progress = sm->progress};
        if (shape.mine)
            sm->schedulers[s] = sm->scheduler->create(sm->arena, &shape);
    }
    return STATUS_OK;
}

static bool l1_holds(const void *l1, uint64_t address) { return cache_holds(l1, address); }

static enum status create_predictor(struct sm *sm, struct report *report) {
    const struct predictor_ops *ops;
    const struct predictor_shape keys = sm_predictor_keys(&sm->params);
    sm->is_watched = sm->shape.watcher != NULL || sm_predicts(&sm->params);
    if (!sm_predicts(&sm->params))
        return STATUS_OK;
    if (sm->params.branch_cycles)
        sm->kept = ARENA_ARRAY(sm->arena, struct kept, sm->warp_count);
    const enum status status = predictor_find(sm->params.predictor, &ops, report);
    return status ? status
                  : predictor_create(&sm->predictor, sm->arena, ops, sm->params.predictor_sharing, &keys,
                                     sm->module->code, sm->module->code_count, sm->warp_count, report);
}

static enum status create(struct sm **out, struct arena *arena, const struct sm_params *params,
                          const struct cache_params *l1, const struct sm_caches *caches, const struct module *module,
                          const struct sm_code *code, const struct executor *executor,
                          const struct divergence_ops *mechanism, const struct sm_shape *shape, struct link *requests,
                          struct link *replies, struct report *report) {
    struct sm *sm = arena_alloc_aligned(arena, sizeof *sm, 64);
    sm->params = *params, sm->module = module, sm->executor = *executor, sm->mechanism = mechanism, sm->shape = *shape;
    sm->requests = requests, sm->replies = replies, sm->arena = arena;
    sm->l1_keeps_writes = l1->perfect || l1->write == CACHE_BACK;
    sm->l1_fills_back =
        !l1->perfect && l1->allocate == CACHE_ON_FILL && (l1->write == CACHE_BACK || l1->write == CACHE_LOCAL_BACK);
    sm->warp_count = shape->places * shape->warps_per_place;
    sm->entries = &SM_ENTRIES, sm->run = run_awake;
    if (sm->warp_count > SET_SLOTS)
        return report_add(report, STATUS_INVALID, "an SM of this model holds at most %u warps, not %u",
                          (unsigned)SET_SLOTS, sm->warp_count);
    sm->unit_count[SM_UNIT_SP] = params->sp_units, sm->unit_count[SM_UNIT_INT] = params->int_units;
    sm->unit_count[SM_UNIT_DP] = params->dp_units, sm->unit_count[SM_UNIT_SFU] = params->sfu_units;
    sm->whole_warps = !mechanism->regroups && !mechanism->wait;
    /* sm_takes; an instruction that snoops may take two places */
    const unsigned more = code->snoops || (code->accumulates && !sm->whole_warps) ? QUEUE_MAX / 2 : 0;
    while (sm->queue_mask + 1 < params->memory_queue + more)
        sm->queue_mask = 2 * sm->queue_mask + 1;
    sm->timed = code->timed;
    sm->register_words = code->register_words;
    sm->wide = sm_issue_cycles(params, shape->warp_size);
    for (unsigned lanes = 1; lanes <= shape->warp_size; lanes++)
        sm->width_classes[lanes] = (uint8_t)((8 * lanes - 1) / shape->warp_size);
    sm->books_later = sm->wide == 1 && !mechanism->regroups;
    sm->slot_count = mechanism->regroups ? ISSUE_SLOTS_MAX : sm->warp_count;
    sm->stalled_long = ~(slot_set)0; /* whoever has not begun: a fetch group of nobody does not keep priority */
    sm->pending = ARENA_ARRAY(arena, struct pending, (size_t)sm->slot_count * sm->register_words);
    sm->regroup = mechanism->regroups ? sm_regroup_create(arena, sm->warp_count) : NULL;
    sm->waits = waits_create(arena, sm->warp_count, sm->whole_warps ? 1 : LANES_MAX);
    for (unsigned w = 0; w < sm->slot_count; w++) {
        sm->warps[w].pending = sm->pending + (size_t)w * sm->register_words;
        sm->warps[w].ready_unit = SM_UNIT_COUNT;
    }
    sm->instruction = caches->instruction, sm->constant = caches->constant;
    sm->instruction_ways = caches->instruction_ways;
    sm->holding = params->memory_holds ? UINT64_C(1) << (UNIT_BITS * SM_UNIT_MEMORY + UNIT_BITS - 1) : 0;
    sm->formed_fetched = mechanism->fetches_alone || (caches->instruction_perfect && !mechanism->ahead);
    sm->line_mask = cache_atom_bytes(sm->instruction) / SM_INSTRUCTION_BYTES - 1;
    for (unsigned unit = 0; unit < SM_UNIT_COUNT; unit++) {
        const uint64_t room = unit == SM_UNIT_MEMORY ? params->memory_queue : params->collectors;
        sm->collector_bias += ((UINT64_C(1) << (UNIT_BITS - 1)) - room) << UNIT_BITS * unit;
    }
    sm->places = ARENA_ARRAY(arena, struct place, shape->places);
    sm->inst_stats = shape->instructions, sm->histograms = shape->histograms;
    sm->divergent = ARENA_ARRAY(arena, uint64_t, module->code_count);
    sm->slips = mechanism->looked_up != NULL;
    sm->params.pipeline = sm_pipeline(params, mechanism);
    sm->usage = (struct divergence_usage){.memory = &sm->stats.memory,
                                          .idle = &sm->stats.idle,
                                          .stall = &sm->stats.stall,
                                          .requests = &sm->stats.requests_sent,
                                          .schedulers = params->schedulers,
                                          .share = shape->share};
    const struct divergence_shape control = {.code = module->code,
                                             .code_count = module->code_count,
                                             .warps = sm->warp_count,
                                             .warp_size = LANES_MAX,
                                             .width = shape->warp_size,
                                             .warps_per_block = shape->warps_per_place,
                                             .schedulers = params->schedulers,
                                             .params = shape->mechanism_params,
                                             .now = &sm->now,
                                             .wake = &sm->mechanism_wake,
                                             .usage = &sm->usage,
                                             .executor = &sm->executor};
    if (mechanism->slots && mechanism->slots(&control) > ISSUE_SLOTS_MAX)
        return report_add(report, STATUS_INVALID,
                          "divergence.mechanism=%s: %u warps of %u threads need %u issue slots, and an SM has %u for "
                          "groups that it forms",
                          mechanism->name, sm->warp_count, shape->warp_size, mechanism->slots(&control),
                          (unsigned)ISSUE_SLOTS_MAX);
    sm->mechanism_wake = NO_CYCLE;
    sm->loads_part =
        mechanism->regroups &&
        (params->load_return == SM_RETURN_OWN ? !mechanism->returns_together : params->load_return == SM_RETURN_THREAD);
    sm->control = mechanism->create(arena, &control);
    enum status status = banks_create(&sm->banks, params->shared_banks, 4, "sm.shared", report);
    sm->l1 = caches->l1;
    if (status == STATUS_OK && !sm->l1)
        status = cache_create(&sm->l1, arena, l1, "l1", shape->id, report);
    if (status == STATUS_OK && code->snoops && sm->executor.look)
        sm->executor.look(sm->executor.self, sm->l1, l1_holds);
    if (caches->l2)
        sm_l2_create(sm, caches);
    if (status == STATUS_OK)
        status = create_schedulers(sm, report);
    if (status == STATUS_OK)
        status = create_predictor(sm, report);
    *out = sm;
    return status;
}

const struct sm_entries SM_ENTRIES = {.create = create,
                                      .run = run_awake,
                                      .settle = settle,
                                      .clean = clean,
                                      .describe = describe,
                                      .view_slot = view_slot,
                                      .count_waits = count_waits};
