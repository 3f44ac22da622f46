#include "sm/sm.h"

#include <stdio.h>
#include <string.h>

#include "sm/state.h"

const struct stat_description sm_stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct sm_stats, field, unit, help)
#include "sm/sm_stats.def"
#undef STAT
    STAT_END};

const char *const sm_wait_names[WAIT_COUNT] = {"fetch", "register", "memory", "barrier", "unit", "turn"};

/* ---- events ---- */

void sm_event(struct sm *sm, uint64_t cycle, enum event_kind kind, uint32_t value) {
    const unsigned at = (unsigned)(cycle % WHEEL_SLOTS);
    struct slot *slot = &sm->wheel[at];
    if (slot->count == slot->capacity) /* grows to its high-water mark once */
        slot->items = arena_grow(sm->arena, slot->items, slot->count, &slot->capacity, sizeof *slot->items);
    slot->items[slot->count++] = (struct event){value, (uint8_t)kind};
    sm->wheel_bits[at / 64] |= UINT64_C(1) << at % 64;
}

static void run_events(struct sm *sm) {
    const unsigned at = (unsigned)(sm->now % WHEEL_SLOTS);
    if (!(sm->wheel_bits[at / 64] >> at % 64 & 1))
        return;
    struct slot *slot = &sm->wheel[at];
    for (unsigned i = 0; i < slot->count; i++) {
        const struct event event = slot->items[i];
        switch ((enum event_kind)event.kind) {
        case EVENT_WRITE_BACK: sm_write_back(sm, event.value); break;
        case EVENT_COLLECTOR: sm->collectors_used[event.value]--; break;
        case EVENT_FETCHED: sm_fetched(sm, event.value); break;
        }
    }
    slot->count = 0;
    sm->wheel_bits[at / 64] &= ~(UINT64_C(1) << at % 64);
}

/* Cycle of the next event after now, NO_CYCLE: none. */
static uint64_t next_event(const struct sm *sm) {
    const unsigned from = (unsigned)((sm->now + 1) % WHEEL_SLOTS);
    for (unsigned n = 0; n <= WHEEL_SLOTS / 64; n++) {
        const unsigned word = (from / 64 + n) % (WHEEL_SLOTS / 64);
        uint64_t bits = sm->wheel_bits[word];
        if (n == 0)
            bits &= UINT64_MAX << from % 64;
        else if (n == WHEEL_SLOTS / 64)
            bits &= ~(UINT64_MAX << from % 64);
        if (bits)
            return sm->now + 1 + (word * 64 + bits_first64(bits) + WHEEL_SLOTS - from) % WHEEL_SLOTS;
    }
    return NO_CYCLE;
}

/* ---- warps ---- */

static void set_wait(struct sm *sm, unsigned w, enum sm_wait wait) {
    struct sm_warp *warp = &sm->warps[w];
    if (warp->stage == wait)
        return;
    const uint64_t cycle = sm->now > warp->since ? sm->now : warp->since;
    sm->inst_stats[warp->pc].waits[warp->stage] += cycle - warp->since;
    warp->stage = (uint8_t)wait;
    warp->since = cycle;
}

/* Whether memory must be quiet before the instruction: fences wait for everything, accesses for the warp's own atomics. */
static bool waits_for_order(const struct sm *sm, unsigned w, const struct inst *inst) {
    const struct sm_warp *warp = &sm->warps[w];
    if (inst->op == OP_MEMBAR)
        return warp->memory_in_flight || sm->places[w / sm->shape.warps_per_place].stores;
    return warp->atomics_in_flight && (inst->op == OP_LD || inst->op == OP_ST) && inst->space != SPACE_SHARED &&
           inst->space != SPACE_LOCAL && inst->space != SPACE_PARAM;
}

static bool has_hazard(struct sm *sm, unsigned w, const struct timed *timed, bool *memory) {
    const uint64_t *words = sm_pending(sm, w), *slow = sm_pending_memory(sm, w);
    bool hazard = false;
    for (unsigned i = 0; i < (unsigned)timed->dst_count + timed->src_count; i++) {
        const uint32_t r = timed->registers[i];
        if (!(words[r / 64] >> r % 64 & 1))
            continue;
        hazard = true;
        *memory |= (slow[r / 64] >> r % 64 & 1) != 0;
    }
    return hazard;
}

void sm_update_warp(struct sm *sm, unsigned w) {
    struct sm_warp *warp = &sm->warps[w];
    const uint64_t bit = UINT64_C(1) << w;
    for (unsigned u = 0; u < SM_UNIT_COUNT; u++)
        sm->ready[u] &= ~bit;
    sm->wants_fetch &= ~bit;
    sm->stalled_long |= bit;
    if (!(sm->used & bit))
        return;
    if (warp->waits) {
        set_wait(sm, w, WAIT_BARRIER);
        return;
    }
    struct group group;
    if (!sm->mechanism->offer(sm->control, w, &group))
        return;
    if (group.pc != warp->pc) {
        const uint8_t stage = warp->stage;
        set_wait(sm, w, stage == WAIT_FETCH ? WAIT_TURN : WAIT_FETCH); /* close the books of the instruction before */
        warp->pc = group.pc;
    }
    const struct timed *timed = &sm->timed[group.pc];
    if (group.pc < warp->buffer_pc || group.pc >= warp->buffer_pc + warp->buffer_count) {
        warp->buffer_count = 0;
        sm->stalled_long &= ~bit;
        if (!warp->fetching)
            sm->wants_fetch |= bit;
        set_wait(sm, w, WAIT_FETCH);
        return;
    }
    if (warp->buffer_pc != group.pc) {
        warp->buffer_count -= group.pc - warp->buffer_pc;
        warp->buffer_pc = group.pc;
    }
    bool memory = false;
    if (sm->params.pipeline == SM_BARREL && warp->in_flight) {
        memory = warp->memory_in_flight != 0;
    } else if (waits_for_order(sm, w, &sm->module->code[group.pc])) {
        memory = true;
    } else if (!has_hazard(sm, w, timed, &memory)) {
        enum sm_unit unit = timed->unit;
        if (unit == SM_UNIT_INT && !sm->unit_count[SM_UNIT_INT])
            unit = SM_UNIT_SP;
        if (unit == SM_UNIT_DP && !sm->unit_count[SM_UNIT_DP])
            unit = SM_UNIT_SFU;
        sm->ready[unit] |= bit;
        sm->stalled_long &= ~bit;
        set_wait(sm, w, WAIT_TURN);
        return;
    }
    if (!memory)
        sm->stalled_long &= ~bit;
    set_wait(sm, w, memory ? WAIT_MEMORY : WAIT_REGISTER);
}

/* ---- blocks ---- */

unsigned sm_free_places(const struct sm *sm) { return sm->shape.places - sm->places_used - sm->given_count; }

void sm_give(struct sm *sm, uint64_t block, uint32_t first_pc) {
    sm->given[sm->given_count].block = block;
    sm->given[sm->given_count++].first_pc = first_pc;
}

/* One block begins per cycle, in the order they were given. */
static void start_given(struct sm *sm) {
    if (!sm->given_count)
        return;
    unsigned number = 0;
    while (sm->places[number].used)
        number++;
    struct place *place = &sm->places[number];
    *place = (struct place){.used = true, .block = sm->given[0].block};
    sm->places_used++;
    sm->executor.start(sm->executor.self, number, place->block);
    for (unsigned i = 0; i < sm->shape.warps_per_place; i++) {
        const unsigned w = number * sm->shape.warps_per_place + i;
        const uint32_t lanes = sm->executor.lanes(sm->executor.self, w);
        const uint64_t bit = UINT64_C(1) << w;
        sm->warps[w] = (struct sm_warp){.pc = sm->given[0].first_pc, .since = sm->now, .stage = WAIT_FETCH};
        memset(sm_pending(sm, w), 0, sm->register_words * sizeof(uint64_t));
        memset(sm_pending_memory(sm, w), 0, sm->register_words * sizeof(uint64_t));
        sm->mechanism->start(sm->control, w, sm->given[0].first_pc, lanes);
        place->alive += bits_count(lanes);
        place->warps_left++;
        for (uint64_t rest = sm->used; rest; rest &= rest - 1)
            sm->older[bits_first64(rest)] &= ~bit;
        sm->older[w] = sm->used;
        sm->used |= bit;
        sm_update_warp(sm, w);
    }
    sm->given_count--;
    memmove(&sm->given[0], &sm->given[1], sm->given_count * sizeof sm->given[0]);
}

/* ---- time ---- */

static bool has_work(const struct sm *sm) {
    uint64_t ready = 0;
    for (unsigned u = 0; u < SM_UNIT_COUNT; u++)
        ready |= sm->ready[u];
    return ready || sm->wants_fetch || sm->given_count;
}

static uint64_t earliest(const struct sm *sm) {
    if (has_work(sm))
        return sm->now + 1;
    uint64_t next = next_event(sm);
    const uint64_t reply = link_next(sm->replies);
    if (reply < next)
        next = reply > sm->now ? reply : sm->now + 1;
    if (sm->queue_count && !sm->lsu_blocked) {
        uint64_t at = sm->queue[sm->queue_head].ready_cycle;
        at = at > sm->lsu_busy ? at : sm->lsu_busy;
        at = at > sm->now ? at : sm->now + 1;
        next = at < next ? at : next;
    }
    if (sm->lsu_blocked && sm->blocked.cause == CACHE_NO_ROOM)
        next = sm->now + 1 < next ? sm->now + 1 : next;
    return next;
}

/* Slots of cycles in which nothing can issue, all in one class. */
static void skip(struct sm *sm, uint64_t cycles) {
    const uint64_t slots = cycles * sm->params.schedulers;
    if (sm->used && (sm->stalled_long & sm->used) == sm->used)
        sm->stats.memory += slots;
    else
        sm->stats.idle += slots;
}

static void run_cycle(struct sm *sm) {
    start_given(sm);
    run_events(sm);
    for (const struct packet *packet; (packet = link_arrived(sm->replies, sm->now)) != NULL; link_pop(sm->replies, sm->now))
        sm_reply(sm, packet);
    if (sm->lsu_blocked && sm->blocked.cause == CACHE_NO_ROOM && link_room(sm->requests, sm->now) >= sm->blocked.room)
        sm->lsu_blocked = false;
    sm_memory(sm);
    sm_issue(sm);
    sm_fetch(sm);
}

void sm_run(struct sm *sm, uint64_t from, uint64_t to) {
    sm->now = from;
    while (sm->now < to && !sm->faulted) {
        run_cycle(sm);
        uint64_t next = earliest(sm);
        next = next < to ? next : to;
        if (next > sm->now + 1)
            skip(sm, next - sm->now - 1);
        sm->now = next;
    }
    sm->stats.slots += (to - from) * sm->params.schedulers;
}

bool sm_is_idle(const struct sm *sm) { return !sm->places_used && !sm->given_count; }

uint64_t sm_next(const struct sm *sm) {
    if (has_work(sm) || (sm->queue_count && !sm->lsu_blocked))
        return sm->now;
    const uint64_t event = next_event(sm), here = sm->now % WHEEL_SLOTS;
    const bool due = (sm->wheel_bits[here / 64] >> here % 64 & 1) != 0;
    const uint64_t reply = link_next(sm->replies);
    return due ? sm->now : reply < event ? reply : event;
}

bool sm_is_stuck(const struct sm *sm) {
    if (sm_is_idle(sm) || sm_next(sm) != NO_CYCLE)
        return false;
    for (unsigned i = 0; i < sm->shape.places; i++)
        if (sm->places[i].used && sm->places[i].stores)
            return false;
    for (unsigned w = 0; w < sm->warp_count; w++)
        if (sm->warps[w].in_flight || sm->warps[w].fetching)
            return false;
    return true;
}

bool sm_faulted(const struct sm *sm, uint64_t *cycle, unsigned *warp) {
    *cycle = sm->fault_cycle, *warp = sm->fault_warp;
    return sm->faulted;
}

void sm_describe(const struct sm *sm, struct report *report) {
    enum { SHOWN = 8 };
    unsigned shown = 0;
    char where[256];
    for (unsigned w = 0; w < sm->warp_count; w++) {
        const struct sm_warp *warp = &sm->warps[w];
        if (!(sm->used >> w & 1) || shown++ >= SHOWN)
            continue;
        const struct place *place = &sm->places[w / sm->shape.warps_per_place];
        if (warp->waits)
            report_add(report, STATUS_STOPPED, "  SM %u, block %llu, warp %u: lanes 0x%08x wait at barrier %u (%s): %u of %u threads have come",
                       (unsigned)sm->shape.id, (unsigned long long)place->block, w % sm->shape.warps_per_place,
                       (unsigned)warp->barrier_lanes, (unsigned)warp->barrier,
                       module_where(sm->module, warp->barrier_pc, where, sizeof where),
                       (unsigned)place->barriers[warp->barrier].arrived, (unsigned)place->alive);
        else
            report_add(report, STATUS_STOPPED, "  SM %u, block %llu, warp %u: at %s, waiting for %s", (unsigned)sm->shape.id,
                       (unsigned long long)place->block, w % sm->shape.warps_per_place,
                       module_where(sm->module, warp->pc, where, sizeof where), sm_wait_names[warp->stage]);
    }
    if (shown > SHOWN)
        report_add(report, STATUS_STOPPED, "  and %u more warps of SM %u", shown - SHOWN, (unsigned)sm->shape.id);
}

const struct sm_stats *sm_statistics(const struct sm *sm) { return &sm->stats; }
const struct cache_stats *sm_l1_statistics(const struct sm *sm) { return cache_stats(sm->l1); }
const struct sm_inst_stats *sm_instructions(const struct sm *sm) { return sm->inst_stats; }
uint64_t sm_divergent_branches(const struct sm *sm, const uint64_t **per_pc) {
    *per_pc = sm->divergent;
    return sm->divergent_branches;
}
uint64_t sm_threads(const struct sm *sm) { return sm->threads; }

/* ---- making one ---- */

static enum status create_schedulers(struct sm *sm, struct report *report) {
    sm->scheduler = scheduler_find(sm->params.scheduler);
    if (!sm->scheduler) {
        report_add(report, STATUS_INVALID, "sm.scheduler=%s: no such scheduler; there are:", sm->params.scheduler);
        for (const struct scheduler_ops *const *known = scheduler_all(); *known; known++)
            report_add(report, STATUS_INVALID, "  %s: %s", (*known)->name, (*known)->help);
        return STATUS_INVALID;
    }
    for (unsigned s = 0; s < sm->params.schedulers; s++) {
        for (unsigned w = s; w < sm->warp_count; w += sm->params.schedulers)
            sm->scheduler_warps[s] |= UINT64_C(1) << w;
        if (sm->scheduler_warps[s])
            sm->schedulers[s] =
                sm->scheduler->create(sm->arena, sm->warp_count, sm->scheduler_warps[s], sm->params.fetch_group);
    }
    return STATUS_OK;
}

enum status sm_create(struct sm **out, struct arena *arena, const struct sm_params *params, const struct cache_params *l1,
                      const struct cache_params *instruction, const struct module *module, const struct executor *executor,
                      const struct divergence_ops *mechanism, const struct sm_shape *shape, struct link *requests,
                      struct link *replies, struct report *report) {
    struct sm *sm = arena_alloc_aligned(arena, sizeof *sm, 64);
    sm->params = *params, sm->module = module, sm->executor = *executor, sm->mechanism = mechanism, sm->shape = *shape;
    sm->requests = requests, sm->replies = replies, sm->arena = arena;
    sm->warp_count = shape->places * shape->warps_per_place;
    if (sm->warp_count > SM_WARPS_MAX)
        return report_add(report, STATUS_INVALID, "an SM of this model holds at most %u warps, not %u", (unsigned)SM_WARPS_MAX, sm->warp_count);
    sm->unit_count[SM_UNIT_SP] = params->sp_units, sm->unit_count[SM_UNIT_INT] = params->int_units;
    sm->unit_count[SM_UNIT_DP] = params->dp_units, sm->unit_count[SM_UNIT_SFU] = params->sfu_units;
    uint32_t registers;
    sm->timed = sm_decode(arena, module, params, &registers);
    sm->register_words = registers / 64 + 1;
    sm->pending = ARENA_ARRAY(arena, uint64_t, (size_t)sm->warp_count * sm->register_words);
    sm->pending_memory = ARENA_ARRAY(arena, uint64_t, (size_t)sm->warp_count * sm->register_words);
    sm->places = ARENA_ARRAY(arena, struct place, shape->places);
    sm->inst_stats = ARENA_ARRAY(arena, struct sm_inst_stats, module->code_count);
    sm->divergent = ARENA_ARRAY(arena, uint64_t, module->code_count);
    sm->control = mechanism->create(arena, module->code, sm->warp_count, LANES_MAX);
    for (uint32_t i = 0; i < FLIGHTS_MAX; i++)
        sm->flights[i].next = i + 1 < FLIGHTS_MAX ? i + 1 : NO_FLIGHT;
    enum status status = banks_create(&sm->banks, params->shared_banks, 4, "sm.shared", report);
    if (status == STATUS_OK)
        status = cache_create(&sm->l1, arena, l1, "l1", shape->id, report);
    if (status == STATUS_OK)
        status = cache_create(&sm->instruction, arena, instruction, "instruction", shape->id, report);
    if (status == STATUS_OK)
        status = create_schedulers(sm, report);
    *out = sm;
    return status;
}

void sm_flush(struct sm *sm) { cache_invalidate(sm->l1); }
