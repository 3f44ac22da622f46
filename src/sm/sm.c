/* SPDX-License-Identifier: Apache-2.0 */
/* An SM as the others see it. What knows sets of slots is elsewhere, twice: sm/slot_set.h. */
#include "sm/sm.h"

#include <string.h>

#include "sm/dsm.h"
#include "sm/path_slots.h"

#define ENTRY(field, unit, help) STAT_ENTRY(struct sm_stats, field, unit, help)
const struct stat_description sm_stats_table[] = {
#define STAT ENTRY
#define MEMORY ENTRY
#define TEXTURE ENTRY
#define SLOT ENTRY
#define INNER ENTRY
#include "sm/sm_stats.def"
    STAT_END};
const struct stat_description sm_result_table[] = {
#define STAT ENTRY
#include "sm/sm_stats.def"
    STAT_END};
const struct stat_description sm_memory_table[] = {
#define MEMORY ENTRY
#include "sm/sm_stats.def"
    STAT_END};
const struct stat_description sm_texture_table[] = {
#define TEXTURE ENTRY
#include "sm/sm_stats.def"
    STAT_END};

_Static_assert(offsetof(struct sm_stats, in_slots) + (SLOT_COUNT - 1) * sizeof(uint64_t) ==
                       offsetof(struct sm_stats, stall_texture) &&
                   offsetof(struct sm_stats, memory) == SLOT_MEMORY * sizeof(uint64_t),
               "SLOT lines of sm_stats.def stand in the order of enum sm_slot");

const struct stat_description dsm_stats_table[] = {
#define STAT(field, unit, help) STAT_ENTRY(struct dsm_stats, field, unit, help)
#include "sm/dsm_stats.def"
#undef STAT
    STAT_END};

const char *const sm_wait_names[WAIT_COUNT] = {"fetch", "register", "memory", "barrier", "unit", "turn"};

/* ---- keys and mechanisms ---- */

/* Groups that form anew: one instruction of a thread in flight although the pipeline could have several? */
static bool forms_one_in_flight(const struct sm_params *params, const struct divergence_forming *forming,
                                const void *own) {
    return params->formed_in_flight == SM_FORMED_ONE || (forming->one_in_flight && forming->one_in_flight(own));
}

enum sm_pipeline sm_pipeline(const struct sm_params *params, const struct divergence_ops *mechanism, const void *own) {
    const bool one_in_flight =
        mechanism->slipping || (mechanism->forming && forms_one_in_flight(params, mechanism->forming, own));
    return one_in_flight && params->pipeline == SM_SCOREBOARD ? SM_BARREL : (enum sm_pipeline)params->pipeline;
}

bool sm_ignores(const struct divergence_ops *mechanism, const char *key) {
    const struct divergence_forming *forming = mechanism->forming;
    if (!forming)
        return false;
    const struct {
        const char *key;
        bool ignored;
    } keys[] = {
        {"sm.scheduler", forming->pick != NULL},
        {"sm.fetch_group", forming->pick != NULL},
        {"scheduler.group_timeout", forming->pick != NULL},
        {"sm.fetch_straight", true},         /* a group is fetched for where its threads have gone */
        {"sm.fetch_width", !forming->ahead}, /* once for every issue */
        {"sm.fetch_cycles", forming->fetches_alone},
        {"sm.fetches_per_cycle", forming->fetches_alone},
        {"instruction_cache.", forming->fetches_alone},
    };
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        const size_t length = strlen(keys[i].key);
        if (keys[i].ignored && strncmp(key, keys[i].key, length) == 0 && (!key[length] || key[length - 1] == '.'))
            return true;
    }
    return false;
}

const struct sm_params *sm_params_of(const struct sm *sm) { return &sm->params; }

/* ---- blocks ---- */

unsigned sm_free_places(const struct sm *sm) {
    const unsigned taken = sm->places_used + sm->given_count;
    if (taken >= sm->shape.places)
        return 0;
    unsigned most = sm->shape.places;
    for (unsigned s = 0; s < sm->params.schedulers; s++)
        most = sm->schedulers[s] && sm->blocks_most[s] < most ? sm->blocks_most[s] : most;
    return most > taken ? most - taken : 0;
}

void sm_give(struct sm *sm, uint64_t block, uint32_t first_pc) { sm_give_member(sm, block, first_pc, NULL, 0); }

void sm_give_member(struct sm *sm, uint64_t block, uint32_t first_pc, struct cluster_blocks *cluster, uint32_t rank) {
    struct given_block *given = &sm->given[sm->given_count++];
    sm->wake = sm->now;
    given->block = block, given->first_pc = first_pc;
    given->cluster = cluster, given->rank = rank;
}

/* ---- clusters ---- */

void sm_open_member(struct sm *sm, const struct cluster_blocks *cluster, uint32_t rank, uint64_t cycle) {
    for (unsigned i = 0; i < sm->shape.places; i++)
        if (sm->places[i].used && sm->places[i].cluster == cluster && sm->places[i].rank == rank) {
            sm->dsm->opens[i] = cycle;
            sm->dsm->open_next = cycle < sm->dsm->open_next ? cycle : sm->dsm->open_next;
        }
}

const struct sm_dsm_served *sm_served(const struct sm *sm, unsigned *count) {
    *count = sm->dsm->served_count;
    return sm->dsm->served;
}

void sm_forget_served(struct sm *sm) { sm->dsm->served_count = 0; }

const struct dsm_stats *sm_dsm_statistics(const struct sm *sm) { return sm->dsm ? &sm->dsm->stats : NULL; }

uint64_t sm_dsm_next(const struct sm *sm, uint64_t next) {
    const struct sm_dsm *dsm = sm->dsm;
    uint64_t serves = NO_CYCLE;
    if (dsm->count) {
        serves = dsm->queue[dsm->head].ready_cycle > sm->now ? dsm->queue[dsm->head].ready_cycle : sm->now;
        serves = dsm->port_free >= (double)serves + 1 ? (uint64_t)dsm->port_free : serves;
        if (!dsm->parts.back_out->credits) { /* until one has come back */
            const uint64_t credit = link_credit_next(dsm->parts.back_out);
            serves = credit > serves ? credit : serves;
        }
    }
    const uint64_t others[] = {serves, dsm->open_next, link_next(dsm->parts.back_in),
                               dsm->count < DSM_QUEUE ? link_next(dsm->parts.in) : NO_CYCLE};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        next = others[i] < next ? others[i] : next;
    return next;
}

/* ---- time ---- */

static __attribute__((noinline)) bool run_for_others(struct sm *sm, uint64_t from, uint64_t to) {
    return (sm->wake < to || sm_dsm_next(sm, sm_next_news(sm)) < to) && sm->run(sm, from, to);
}

bool sm_run(struct sm *sm, uint64_t from, uint64_t to) {
    if (sm->dsm)
        return run_for_others(sm, from, to);
    /* else it sleeps on, and its slots are counted when it wakes */
    return (sm->wake < to || sm_next_news(sm) < to) && sm->run(sm, from, to);
}

void sm_settle(struct sm *sm, uint64_t cycle) { sm->entries->settle(sm, cycle); }

bool sm_clean(struct sm *sm, bool l1, bool l2) { return sm->entries->clean(sm, l1, l2); }

void sm_count_in(struct sm *sm, unsigned thread, struct sm_inst_stats *instructions, struct sm_histograms *histograms) {
    if (sm->histograms == histograms)
        return;
    sm->inst_stats = instructions, sm->histograms = histograms;
    sm->executor.count_in(sm->executor.self, thread);
}

bool sm_is_idle(const struct sm *sm) { return !sm->places_used && !sm->given_count; }

uint64_t sm_next(const struct sm *sm) {
    const uint64_t own = sm->given_count ? sm->now : sm->wake, news = sm_next_news(sm);
    const uint64_t next = own < news ? own : news;
    return sm->dsm ? sm_dsm_next(sm, next) : next;
}

bool sm_is_stuck(const struct sm *sm) {
    if (sm_is_idle(sm) || sm_next(sm) != NO_CYCLE)
        return false;
    for (unsigned i = 0; i < sm->shape.places; i++)
        if (sm->places[i].used && (sm->places[i].stores || sm->places[i].in_flight))
            return false;
    return sm->entries->is_quiet(sm);
}

bool sm_faulted(const struct sm *sm, uint64_t *cycle, unsigned *warp) {
    *cycle = sm->fault_cycle, *warp = sm->fault_warp;
    return sm->faulted;
}

void sm_describe(const struct sm *sm, struct report *report) { sm->entries->describe(sm, report); }

/* ---- for watchers ---- */

unsigned sm_slot_count(const struct sm *sm) { return sm->slot_count; }
unsigned sm_warp_of(const struct sm *sm, unsigned slot) { return sm->paths ? sm->paths->home[slot] : slot; }
const struct sm_shape *sm_shape_of(const struct sm *sm) { return &sm->shape; }
uint64_t sm_block_of(const struct sm *sm, unsigned warp) { return sm->places[warp / sm->shape.warps_per_place].block; }

struct sm_slot_view sm_view_slot(const struct sm *sm, unsigned slot) {
    return sm->entries->view_slot(sm, slot);
}

void sm_flights(const struct sm *sm, uint64_t used[SM_FLIGHTS / 64]) {
    memset(used, 0, SM_FLIGHTS / 8);
    for (uint32_t i = 0; i < sm->flights_used && i < SM_FLIGHTS; i++)
        used[i / 64] |= (uint64_t)(sm->flights[i].pc != NO_PC) << i % 64; /* no clock of a unit */
    for (uint32_t i = sm->free_flight; i < sm->flights_used; i = sm->flights[i].next)
        used[i / 64] &= ~(UINT64_C(1) << i % 64);
}

struct sm_flight_view sm_view_flight(const struct sm *sm, uint32_t number) {
    const struct flight *flight = &sm->flights[number];
    const bool is_memory = sm->timed[flight->pc].unit == SM_UNIT_MEMORY;
    return (struct sm_flight_view){.pc = flight->pc,
                                   .slot = flight->warp,
                                   .outstanding = is_memory ? flight->outstanding : 0,
                                   .is_memory = is_memory,
                                   .sent = is_memory && flight->sent};
}

void sm_count_waits(const struct sm *sm, uint64_t waits[WAIT_COUNT]) { sm->entries->count_waits(sm, waits); }

void sm_where(const struct sm *sm, unsigned warp, uint32_t pcs[LANES_MAX]) {
    sm->mechanism->where(sm->control, warp, pcs);
}

unsigned sm_show_mechanism(const struct sm *sm, unsigned warp, struct group_row *rows, unsigned most) {
    return sm->mechanism->show ? sm->mechanism->show(sm->control, warp, rows, most) : 0;
}

/* ---- counters ---- */

const struct sm_stats *sm_statistics(const struct sm *sm) { return &sm->stats; }
void sm_add_own_statistics(const struct sm *sm, enum own_part which, void *sum) {
    switch (which) {
    case OWN_MECHANISM: stat_merge(sum, sm->mechanism->own.statistics(sm->control), sm->mechanism->own.stats); break;
    case OWN_SCHEDULER:
        for (unsigned s = 0; s < sm->params.schedulers; s++)
            if (sm->schedulers[s])
                stat_merge(sum, sm->scheduler_own->statistics(sm->schedulers[s]), sm->scheduler_own->stats);
        break;
    case OWN_PREDICTOR: predictor_add_own_statistics(sm->predictor, sum); break;
    case OWN_L1_POLICY: cache_add_policy_statistics(sm->l1, sum); break;
    default: break;
    }
}
const struct predictor_stats *sm_predictor_statistics(const struct sm *sm) {
    return sm->predictor ? &sm->predictor->stats : NULL;
}
const struct cache_stats *sm_l1_statistics(const struct sm *sm) { return cache_stats(sm->l1); }
uint64_t sm_divergent_branches(const struct sm *sm, const uint64_t **per_pc) {
    *per_pc = sm->divergent;
    return sm->divergent_branches;
}
uint64_t sm_threads(const struct sm *sm) { return sm->threads; }
struct arena *sm_arena(const struct sm *sm) {
    return sm->arena;
}

/* ---- making one ---- */

bool sm_predicts(const struct sm_params *params) {
    return params->branch_cycles || strcmp(params->predictor, "none") != 0;
}

struct predictor_shape sm_predictor_keys(const struct sm_params *params, const void *own) {
    return (struct predictor_shape){.entries = params->predictor_entries,
                                    .histories = params->predictor_histories,
                                    .cache_entries = params->predictor_cache_entries,
                                    .history_bits = params->predictor_history_bits,
                                    .tag_bits = params->predictor_tag_bits,
                                    .filter_bits = params->predictor_filter_bits,
                                    .initial = params->predictor_initial,
                                    .params = own};
}

enum status sm_create(struct sm **out, struct arena *arena, const struct sm_parts *parts, struct report *report) {
    const unsigned warps = parts->shape->places * parts->shape->warps_per_place;
    const unsigned paths =
        path_slots_given(parts->mechanism, parts->shape->own_params[OWN_MECHANISM], warps, parts->params->schedulers);
    const bool many = warps > SET_SLOTS || path_slots_needed(paths, warps, parts->params->schedulers) > SET_SLOTS;
    return (many ? &sm_many : &sm_few)->create(out, arena, parts, report);
}
