/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/recording.h"

#include "base/bits.h"

#define KEPT_BYTES_MAX (UINT64_C(4) << 30)

/* An SM whose executor is listened to. */
struct recorded_sm {
    struct recording *recording;
    struct executor inner;
    struct track **of;          /* by warp of the SM: where its block's is */
    struct track_place *places; /* the same: where that ends */
};

struct recording *recording_create(struct arena *arena, const struct module *module, uint64_t blocks, unsigned warps) {
    struct recording *recording = ARENA_NEW(arena, struct recording);
    *recording = (struct recording){.arena = arena, .module = module, .blocks = blocks, .warps = warps};
    recording->tracks = ARENA_ARRAY(arena, struct track, blocks * warps);
    return recording;
}

static void record_start(void *self, unsigned place, uint64_t block) {
    struct recorded_sm *sm = self;
    struct recording *recording = sm->recording;
    sm->inner.start(sm->inner.self, place, block);
    for (unsigned i = 0; i < recording->warps; i++) {
        const unsigned warp = place * recording->warps + i;
        struct track *track = &recording->tracks[block * recording->warps + i];
        sm->of[warp] = track, sm->places[warp] = (struct track_place){.keeps_all = recording->keeps_all};
        track->lanes = sm->inner.lanes(sm->inner.self, warp);
    }
}

static void record_step(void *self, unsigned warp, const struct group *group, uint32_t alive, uint64_t cycle,
                        struct executed *out, struct access *access) {
    struct recorded_sm *sm = self;
    struct recording *recording = sm->recording;
    const struct executor *inner = &sm->inner;
    const struct inst *inst = &recording->module->code[group->pc];
    struct track_issue issue = {.guard = UINT32_MAX};
    if (inst->guard >= 0)
        issue.guard = inner->guard(inner->self, warp, group->pc) & group->lanes;
    if (inst_meets(inst) || inst->op == OP_BMOV_BACK)
        issue.members = inner->members(inner->self, warp * LANES_MAX + bits_first(group->lanes), group->pc);
    access->kind = ACCESS_NONE;
    inner->step(inner->self, warp, group, alive, cycle, out, access);
    if (inst->guard >= 0 && recording->is_of_replay) /* which knows no guard of what it has not come to */
        issue.guard = inner->guard(inner->self, warp, group->pc) & group->lanes;
    if (out->flow == FLOW_FAULT || recording->bytes > KEPT_BYTES_MAX)
        return;
    struct track *track = sm->of[warp];
    const unsigned before = track->count;
    const enum flow flow = out->flow;
    if (flow == FLOW_BARRIER && recording->without_barriers)
        out->flow = FLOW_NEXT;
    track_put(recording->arena, track, &sm->places[warp], &issue, out, access);
    out->flow = flow;
    recording->bytes += track->count - before;
}

/* ---- what goes on to the executor ---- */

static uint32_t inner_lanes(const void *self, unsigned warp) {
    const struct executor *inner = &((const struct recorded_sm *)self)->inner;
    return inner->lanes(inner->self, warp);
}

static void inner_look(void *self, const void *near, bool (*holds)(const void *near, uint64_t address)) {
    const struct executor *inner = &((const struct recorded_sm *)self)->inner;
    inner->look(inner->self, near, holds);
}

static uint32_t inner_members(const void *self, unsigned thread, uint32_t pc) {
    const struct executor *inner = &((const struct recorded_sm *)self)->inner;
    return inner->members(inner->self, thread, pc);
}

static uint32_t inner_guard(const void *self, unsigned warp, uint32_t pc) {
    const struct executor *inner = &((const struct recorded_sm *)self)->inner;
    return inner->guard(inner->self, warp, pc);
}

static void inner_give(void *self, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t value) {
    const struct executor *inner = &((const struct recorded_sm *)self)->inner;
    inner->give(inner->self, warp, pc, lanes, value);
}

static void inner_barrier_result(void *self, unsigned warp, uint32_t pc, uint32_t lanes,
                                 const struct barrier_result *result) {
    const struct executor *inner = &((const struct recorded_sm *)self)->inner;
    inner->barrier_result(inner->self, warp, pc, lanes, result);
}

static void inner_perform(void *self, uint32_t ticket, uint32_t lanes) {
    const struct executor *inner = &((const struct recorded_sm *)self)->inner;
    inner->perform(inner->self, ticket, lanes);
}

static void inner_finish(void *self, uint32_t ticket) {
    const struct executor *inner = &((const struct recorded_sm *)self)->inner;
    inner->finish(inner->self, ticket);
}

static void inner_publish(void *self) {
    const struct executor *inner = &((const struct recorded_sm *)self)->inner;
    inner->publish(inner->self);
}

static void inner_count_in(void *self, unsigned thread) {
    const struct executor *inner = &((const struct recorded_sm *)self)->inner;
    inner->count_in(inner->self, thread);
}

void recording_start(struct recording *recording, struct executor *executors, uint32_t sms, unsigned places) {
    const unsigned warps = places * recording->warps;
    struct recorded_sm *recorded = ARENA_ARRAY(recording->arena, struct recorded_sm, sms);
    for (uint32_t i = 0; i < sms; i++) {
        struct recorded_sm *sm = &recorded[i];
        *sm = (struct recorded_sm){.recording = recording,
                                   .inner = executors[i],
                                   .of = ARENA_ARRAY(recording->arena, struct track *, warps),
                                   .places = ARENA_ARRAY(recording->arena, struct track_place, warps)};
        executors[i] = (struct executor){.self = sm,
                                         .start = record_start,
                                         .lanes = inner_lanes,
                                         .step = record_step,
                                         .look = inner_look,
                                         .members = inner_members,
                                         .guard = inner_guard,
                                         .give = inner_give,
                                         .barrier_result = inner_barrier_result,
                                         .perform = inner_perform,
                                         .finish = inner_finish,
                                         .publish = inner_publish,
                                         .unpublished = sm->inner.unpublished,
                                         .count_in = inner_count_in};
    }
}

enum status recording_check(const struct recording *recording, const char *what, struct report *report) {
    if (recording->bytes <= KEPT_BYTES_MAX)
        return STATUS_OK;
    return report_add(report, STATUS_SYSTEM,
                      "%s: what the launch does takes more than %llu GiB to remember; use a smaller one", what,
                      (unsigned long long)(KEPT_BYTES_MAX >> 30));
}
