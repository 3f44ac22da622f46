/* SPDX-License-Identifier: Apache-2.0 */
/* An SM made of its parts. */
#include "sm/copies.h"
#include "sm/dsm.h"
#include "sm/path_slots.h"
#include "sm/state.h"
#include "sm/subcore.h"
#include "sm/warps.h"
#include "sm/texture.h"

static enum status create_schedulers(struct sm *sm, const struct cache_params *l1, struct report *report) {
    SETS(sm)->scheduler = scheduler_find(sm->params.scheduler, report);
    if (!SETS(sm)->scheduler)
        return STATUS_INVALID;
    sm->hears = SETS(sm)->scheduler->hears, sm->sees_memory = SETS(sm)->scheduler->sees_memory;
    sm->scheduler_own = &SETS(sm)->scheduler->own;
    SETS(sm)->view.older = SETS(sm)->older;
    if (sm->forming && !sm->forming->pick && sm_hears(sm, SCHEDULER_STARTED))
        return report_add(
            report, STATUS_INVALID,
            "sm.scheduler=%s follows warps from start to end, and divergence.mechanism=%s forms groups of "
            "several warps",
            SETS(sm)->scheduler->name, sm->mechanism->name);
    const unsigned warps = sm->paths ? sm->paths->stride : sm->slot_count; /* paths have the scheduler of their warp */
    for (unsigned s = 0; s < sm->params.schedulers; s++) {
        for (unsigned w = s; w < sm->slot_count; w += sm->params.schedulers)
            SETS(sm)->scheduler_warps[s] |= set_of(w);
        const struct scheduler_shape shape = {.warps = warps,
                                              .mine = SETS(sm)->scheduler_warps[s] & set_low(warps),
                                              .group = sm->params.fetch_group,
                                              .timeout = sm->params.group_timeout,
                                              .places = sm->slot_places,
                                              .near = &SETS(sm)->near,
                                              .progress = sm->progress,
                                              .params = sm->shape.own_params[OWN_SCHEDULER],
                                              .now = &sm->now,
                                              .memory = sm_scheduler_memory(sm),
                                              .bypass = &SETS(sm)->bypass,
                                              .blocks_most = &sm->blocks_most[s],
                                              .code = sm->module->code,
                                              .code_count = sm->module->code_count,
                                              .l1_lines = l1->perfect ? 0 : (uint32_t)(l1->size_bytes / l1->line_bytes),
                                              .l1_line_bytes = l1->line_bytes};
        sm->blocks_most[s] = sm->shape.places;
        if (shape.mine)
            sm->schedulers[s] = SETS(sm)->scheduler->create(sm->arena, &shape);
    }
    return STATUS_OK;
}

static enum status create_predictor(struct sm *sm, struct report *report) {
    const struct predictor_ops *ops;
    const struct predictor_shape keys = sm_predictor_keys(&sm->params, sm->shape.own_params[OWN_PREDICTOR]);
    sm->tells_all = sm->shape.observer || sm_hears(sm, SCHEDULER_ISSUED);
    sm->is_watched = sm->tells_all || sm_hears(sm, SCHEDULER_BRANCHED) || sm_predicts(&sm->params);
    if (!sm_predicts(&sm->params))
        return STATUS_OK;
    if (sm->params.branch_cycles)
        sm->kept = ARENA_ARRAY(sm->arena, struct sm_kept, sm->warp_count);
    const enum status status = predictor_find(sm->params.predictor, &ops, report);
    if (status)
        return status;
    const struct predictor_parts parts = {.ops = ops,
                                          .sharing = sm->params.predictor_sharing,
                                          .keys = &keys,
                                          .code = sm->module->code,
                                          .code_count = sm->module->code_count,
                                          .warps = sm->warp_count};
    return predictor_create(&sm->predictor, sm->arena, &parts, report);
}

/* Slots, and whether warps keep them. */
static void create_slots(struct sm *sm, const struct sm_parts *parts) {
    const bool forms = sm->forming != NULL;
    sm->whole_warps = !forms && !sm->mechanism->waiting;
    sm->slips = sm->lane_tags = sm->mechanism->slipping != NULL;
    sm->loads_return_apart =
        forms && (sm->params.load_return == SM_RETURN_OWN ? !sm->forming->returns_together
                                                          : sm->params.load_return == SM_RETURN_THREAD);
    sm->formed_fetched =
        forms && (sm->forming->fetches_alone || (parts->caches->instruction_perfect && !sm->forming->ahead));
    sm->books_later = sm->wide == 1 && !forms && !sm->params.l1_conflicts_stall;
    sm->slot_count = forms ? ISSUE_SLOTS_MAX : sm->warp_count;
    SETS(sm)->stalled_long = ~(slot_set)0; /* whoever has not begun: a fetch group of nobody does not keep priority */
    sm->pending = ARENA_ARRAY(sm->arena, struct sm_pending, (size_t)sm->slot_count * sm->register_words);
    sm->guards.flights = ARENA_ARRAY(sm->arena, uint32_t, (size_t)sm->warp_count * sm->guards.count);
    memset(sm->guards.flights, 0xff, (size_t)sm->warp_count * sm->guards.count * sizeof *sm->guards.flights);
    SETS(sm)->front = forms ? &sm_formed_groups : sm->mechanism->waiting ? &sm_paths : &sm_whole_warps;
    const unsigned paths =
        path_slots_given(sm->mechanism, sm->shape.own_params[OWN_MECHANISM], sm->warp_count, sm->params.schedulers);
    if (paths) {
        sm->paths = sm_path_slots_create(sm, paths);
        sm->slot_count = paths * sm->paths->stride;
        sm->lane_tags = sm->paths->divides != DIVIDES_NEVER;
        SETS(sm)->front = &sm_path_slots;
    }
    if (sm->params.pipeline == SM_CONTROL_BITS)
        SETS(sm)->front = sm->mechanism->waiting ? &sm_subcore_paths : &sm_subcore_warps;
    sm->run = parts->dsm && SETS(sm)->front == &sm_whole_warps ? sm_run_whole_in_clusters : SETS(sm)->front->run;
    SETS(sm)->of_any_block = forms ? ~(slot_set)0 : paths ? ~set_low(sm->paths->stride) : 0;
    sm->regroup = forms ? sm_regroup_create(sm) : NULL;
    sm->waits = waits_create(sm->arena, sm->warp_count, sm->whole_warps ? 1 : LANES_MAX);
    for (unsigned w = 0; w < sm->slot_count; w++) {
        SETS(sm)->warps[w].pending = sm->pending + (size_t)w * sm->register_words;
        SETS(sm)->warps[w].ready_unit = SM_UNIT_COUNT;
    }
}

/* Units, collectors, and the queue of the load/store unit. */
static void create_units(struct sm *sm, const struct sm_code *code) {
    const struct sm_params *params = &sm->params;
    sm->unit_count[SM_UNIT_SP] = params->sp_units, sm->unit_count[SM_UNIT_INT] = params->int_units;
    sm->unit_count[SM_UNIT_DP] = params->dp_units, sm->unit_count[SM_UNIT_SFU] = params->sfu_units;
    sm->unit_count[SM_UNIT_TENSOR] = params->tensor_units;
    if (code->copies)
        sm->copies = ARENA_ARRAY(sm->arena, struct sm_copies, sm->warp_count);
    sm->holding = params->memory_holds ? UINT64_C(1) << (UNIT_BITS * SM_UNIT_MEMORY + UNIT_BITS - 1) : 0;
    for (unsigned unit = 0; unit < SM_UNIT_COUNT; unit++) {
        const uint64_t room = unit == SM_UNIT_MEMORY ? params->memory_queue : params->collectors;
        sm->collector_bias += ((UINT64_C(1) << (UNIT_BITS - 1)) - room) << UNIT_BITS * unit;
    }
    /* sm_takes; an instruction that snoops may take two places */
    const bool joins = sm->paths && sm->paths->seconds.together;
    const unsigned more = code->snoops || joins || (code->accumulates && !sm->whole_warps) ? QUEUE_MAX / 2 : 0;
    while (sm->queue_mask + 1 < params->memory_queue + more)
        sm->queue_mask = 2 * sm->queue_mask + 1;
}

static enum status create_mechanism(struct sm *sm, struct report *report) {
    sm->usage = (struct divergence_usage){.memory = &sm->stats.memory,
                                          .idle = &sm->stats.idle,
                                          .stall = &sm->stats.stall,
                                          .requests = &sm->stats.requests_sent,
                                          .schedulers = sm->params.schedulers,
                                          .share = sm->shape.share};
    const struct divergence_shape control = {.code = sm->module->code,
                                             .code_count = sm->module->code_count,
                                             .warps = sm->paths ? sm->paths->stride : sm->warp_count,
                                             .paths = sm->paths ? sm->paths->count : 0,
                                             .warp_size = LANES_MAX,
                                             .width = sm->shape.warp_size,
                                             .warps_per_block = sm->shape.warps_per_place,
                                             .schedulers = sm->params.schedulers,
                                             .params = sm->shape.own_params[OWN_MECHANISM],
                                             .now = &sm->now,
                                             .wake = &sm->mechanism_wake,
                                             .usage = &sm->usage,
                                             .executor = &sm->executor,
                                             .apart = sm->forming && sm->params.pipeline == SM_SCOREBOARD};
    const unsigned slots = sm->forming && sm->forming->slots ? sm->forming->slots(&control) : 0;
    if (slots > ISSUE_SLOTS_MAX)
        return report_add(report, STATUS_INVALID,
                          "divergence.mechanism=%s: %u warps of %u threads need %u issue slots, and an SM has %u for "
                          "groups that it forms",
                          sm->mechanism->name, sm->warp_count, sm->shape.warp_size, slots, (unsigned)ISSUE_SLOTS_MAX);
    sm->mechanism_wake = NO_CYCLE;
    sm->control = sm->mechanism->create(sm->arena, &control);
    return STATUS_OK;
}

static bool l1_holds(const void *l1, uint64_t address) { return cache_holds(l1, address); }

static enum status create_caches(struct sm *sm, const struct sm_parts *parts, struct report *report) {
    const struct cache_params *l1 = parts->l1;
    const struct sm_caches *caches = parts->caches;
    sm->l1_keeps_writes = l1->perfect || l1->write == CACHE_BACK;
    sm->l1_fills_back =
        !l1->perfect && l1->allocate == CACHE_ON_FILL && (l1->write == CACHE_BACK || l1->write == CACHE_LOCAL_BACK);
    sm->instruction = caches->instruction, sm->constant = caches->constant;
    sm->instruction_ways = caches->instruction_ways;
    sm->line_mask = cache_atom_bytes(sm->instruction) / SM_INSTRUCTION_BYTES - 1;
    enum status status = banks_create(&sm->banks, sm->params.shared_banks, 4, "sm.shared", report);
    sm->l1_data = (struct banks){.count = 32, .word_shift = 2};
    sm->l1 = caches->l1;
    if (status == STATUS_OK && parts->code->snoops && sm->executor.look)
        sm->executor.look(sm->executor.self, sm->l1, l1_holds);
    if (caches->l2)
        sm_l2_create(sm, caches);
    if (parts->code->samples)
        sm_texture_create(sm, caches);
    return status;
}

enum status sm_make(struct sm **out, struct arena *arena, const struct sm_parts *parts, struct report *report) {
    struct sm_sets *sets = arena_alloc_aligned(arena, sizeof *sets, 64);
    struct sm *sm = &sets->sm;
    const struct sm_shape *shape = parts->shape;
    sm->arena = arena, sm->shape = *shape, sm->entries = &SM_ENTRIES;
    sm->params = *parts->params,
    sm->params.pipeline = sm_pipeline(parts->params, parts->mechanism, shape->own_params[OWN_MECHANISM]);
    sm->module = parts->module, sm->timed = parts->code->timed, sm->register_words = parts->code->register_words;
    sm->operators = parts->code->operators, sm->fences = parts->code->fences;
    sm->guards.of = parts->code->guards, sm->guards.count = parts->code->guard_count;
    sm->executor = *parts->executor, sm->requests = parts->requests, sm->replies = parts->replies;
    sm->mechanism = parts->mechanism, sm->forming = parts->mechanism->forming;
    sm->warp_count = shape->places * shape->warps_per_place;
    if (sm->warp_count > SET_SLOTS)
        return report_add(report, STATUS_INVALID, "an SM of this model holds at most %u warps, not %u",
                          (unsigned)SET_SLOTS, sm->warp_count);
    const unsigned paths =
        path_slots_given(parts->mechanism, shape->own_params[OWN_MECHANISM], sm->warp_count, sm->params.schedulers);
    if (path_slots_needed(paths, sm->warp_count, sm->params.schedulers) > SET_SLOTS)
        return report_add(
            report, STATUS_INVALID,
            "divergence.mechanism=%s: %u paths of each of %u warps need more issue slots than the %u of an "
            "SM of this model; set fewer paths, or fewer warps (sm.max_warps)",
            parts->mechanism->name, paths, sm->warp_count, (unsigned)SET_SLOTS);
    sm->wide = sm_issue_cycles(&sm->params, shape->warp_size);
    sm->shared_least = sm->wide > sm->params.memory_interval ? sm->wide : sm->params.memory_interval;
    for (unsigned lanes = 1; lanes <= shape->warp_size; lanes++)
        sm->width_classes[lanes] = (uint8_t)((8 * lanes - 1) / shape->warp_size);
    sm->places = ARENA_ARRAY(arena, struct sm_place, shape->places);
    sm->inst_stats = shape->instructions, sm->histograms = shape->histograms;
    sm->divergent = ARENA_ARRAY(arena, uint64_t, sm->module->code_count);
    create_slots(sm, parts);
    create_units(sm, parts->code);
    enum status status = create_mechanism(sm, report);
    if (status == STATUS_OK)
        status = create_caches(sm, parts, report);
    if (status == STATUS_OK && sm->params.pipeline == SM_CONTROL_BITS)
        status = subcore_create(sm, parts, report);
    if (status == STATUS_OK)
        status = create_schedulers(sm, parts->l1, report);
    if (parts->dsm)
        sm_dsm_create(sm, parts->dsm);
    sm->unusual = sm->l2 || sm->params.l1_wavefronts || sm->hears || sm->texture || sm->dsm ||
                  (sm->paths && sm->paths->seconds.together);
    if (status == STATUS_OK)
        sm_watch_l1(sm);
    if (status == STATUS_OK)
        status = create_predictor(sm, report);
    *out = sm;
    return status;
}
