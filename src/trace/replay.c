/* SPDX-License-Identifier: Apache-2.0 */
/* Executors that do what a recording says. A recording may come from a file: what the SM would not expect of an executor is a
 * fault. */
#include "base/bits.h"
#include "isa/address.h"
#include "isa/intrinsic.h"
#include "simt/barrier.h"
#include "trace/recording.h"

/* What a warp was to issue where something else was recorded. */
struct differing {
    uint64_t block;
    unsigned warp;
    uint32_t pc, lanes;
    bool is_recorded; /* something was, which is: */
    uint32_t recorded_pc, recorded_lanes;
};

struct replayed_sm {
    struct replay *replay;
    struct replay_counts counts;
    struct replayed_warp *warps;
    struct differing differing;
};

struct replayed_warp {
    const struct track *track;
    struct track_place place;
    uint64_t block;
    uint32_t pc, lanes;       /* of the last issue */
    struct track_issue issue; /* the same */
    bool good;
};

struct replay {
    const struct recording *recording;
    const struct replay_counts *counts; /* by host thread */
    struct replayed_sm *sms;
};

static const unsigned nothing_unpublished = 0;

static void replay_start(void *self, unsigned place, uint64_t block) {
    struct replayed_sm *sm = self;
    const struct recording *recording = sm->replay->recording;
    const unsigned first = place * recording->warps, end = first + recording->warps;
    for (unsigned w = first; w < end; w++) {
        struct replayed_warp *warp = &sm->warps[w];
        warp->block = block;
        warp->track = &recording->tracks[block * recording->warps + (w - first)];
        warp->good = track_begin(warp->track, &warp->place);
    }
}

static uint32_t replay_lanes(const void *self, unsigned warp) {
    return ((const struct replayed_sm *)self)->warps[warp].track->lanes;
}

static void count(const struct replayed_sm *sm, const struct inst *inst, const struct executed *executed,
                  const struct track_issue *issue) {
    const struct replay_counts *counts = &sm->counts;
    const bool is_masked = sm->replay->recording->is_of_hardware && inst->guard >= 0;
    const int64_t width = bits_count(executed->lanes & (is_masked ? issue->guard : UINT32_MAX));
    const uint32_t pc = executed->pc;
    if (!counts->issues)
        return;
    counts->issues[pc]++, counts->issues[pc + 1]--;
    counts->lanes[pc] += width, counts->lanes[pc + 1] -= width;
    if (inst->guard >= 0)
        counts->threads[pc] += bits_count(issue->guard & executed->lanes);
}

/* It never goes on to the next instruction; a call of what the system does goes. */
static bool leaves(const struct inst *inst) { return inst_is_control(inst) && inst->op != OP_CALL; }

/* What the SM takes for granted of where lanes go. */
static bool flow_is_sound(const struct module *module, const struct inst *inst, const struct executed *executed) {
    const bool goes_on = executed->flow == FLOW_NEXT || executed->taken != executed->lanes;
    bool sound = !(executed->taken & ~executed->lanes) && !(executed->predicate & ~executed->taken) &&
                 (!goes_on || executed->pc + 1 < module->code_count);
    switch (executed->flow) {
    case FLOW_NEXT: return sound && (!inst_is_control(inst) || inst->guard >= 0);
    case FLOW_BRANCH: return sound && executed->target < module->code_count;
    case FLOW_MULTI:
    case FLOW_CALL:
    case FLOW_RETURN:
        sound &= executed->taken || executed->flow == FLOW_MULTI;
        for (BITS_EACH(lane, executed->flow == FLOW_MULTI ? executed->lanes : executed->taken))
            sound &= executed->next[lane] < module->code_count;
        return sound && inst_is_control(inst);
    case FLOW_EXIT: return sound && inst_is_control(inst);
    case FLOW_BARRIER: return sound && inst->op == OP_BAR && executed->taken && executed->barrier < BARRIERS;
    default: return false;
    }
}

/* The same of an access. */
static bool access_is_sound(const struct inst *inst, const struct executed *executed, const struct access *access) {
    if (access->kind == ACCESS_NONE)
        return true;
    const bool snoops = inst->op == OP_LD_SNOOP || inst->op == OP_ST_SNOOP;
    const bool snooped = access->kind == ACCESS_SNOOPED_LOAD || access->kind == ACCESS_SNOOPED_STORE;
    const enum op_class class = op_class((enum op)inst->op);
    const uint32_t lanes = access->lanes | access->missed;
    bool sound = access->kind < ACCESS_TEXELS && snoops == snooped &&
                 (class >= CLASS_MEMORY || intrinsic_is_of_heap(intrinsic_of(inst))) && !inst_is_of_images(inst) &&
                 lanes && !(lanes & ~executed->lanes) && access->bytes && access->bytes <= 16 &&
                 access->space >= SPACE_GLOBAL && access->space <= SPACE_CONST;
    if (access->packed)
        sound &= access->lanes == UINT32_MAX && !(access->bytes & (access->bytes - 1)) &&
                 access->address[0] % access->bytes == 0;
    for (BITS_EACH(lane, lanes))
        sound &= access->address[lane] < (access->space == SPACE_SHARED ? WINDOW_BYTES : UINT64_C(1) << 48);
    return sound;
}

static void differ(struct replayed_sm *sm, const struct replayed_warp *warp, const struct group *group,
                   struct executed *out) {
    sm->differing = (struct differing){.block = warp->block,
                                       .warp = (unsigned)(warp - sm->warps) % sm->replay->recording->warps,
                                       .pc = group->pc,
                                       .lanes = group->lanes,
                                       .is_recorded = out->flow != FLOW_NEXT || out->pc != group->pc,
                                       .recorded_pc = out->pc,
                                       .recorded_lanes = out->lanes};
    out->flow = FLOW_FAULT, out->pc = group->pc, out->lanes = group->lanes;
}

static void replay_step(void *self, unsigned number, const struct group *group, uint32_t alive, uint64_t cycle,
                        struct executed *out, struct access *access) {
    struct replayed_sm *sm = self;
    struct replayed_warp *warp = &sm->warps[number];
    const struct module *module = sm->replay->recording->module;
    const struct inst *inst = &module->code[group->pc];
    struct track_issue issue = {.guard = UINT32_MAX};
    (void)alive, (void)cycle;
    access->kind = ACCESS_NONE;
    if (warp->place.gap && warp->good) {
        warp->place.gap -= warp->place.gap != UINT32_MAX;
        out->flow = FLOW_NEXT, out->pc = group->pc, out->lanes = group->lanes, out->issues = 1;
        warp->good = !leaves(inst) && group->pc + 1 < module->code_count;
    } else if (warp->good)
        warp->good = track_take(warp->track, &warp->place, &issue, out, access) && out->pc == group->pc &&
                     out->lanes == group->lanes && flow_is_sound(module, inst, out) &&
                     access_is_sound(inst, out, access);
    if (!warp->good) {
        differ(sm, warp, group, out);
        return;
    }
    warp->pc = group->pc, warp->lanes = group->lanes, warp->issue = issue;
    count(sm, inst, out, &issue);
    *sm->counts.progress += access->kind == ACCESS_STORE || access->kind == ACCESS_ATOMIC || out->flow == FLOW_EXIT;
}

/* Asked before the issue by who waits, and behind it by mechanisms. */
static uint32_t replay_members(const void *self, unsigned thread, uint32_t pc) {
    const struct replayed_warp *warp = &((const struct replayed_sm *)self)->warps[thread / LANES_MAX];
    if (warp->pc == pc && warp->lanes >> thread % LANES_MAX & 1)
        return warp->issue.members;
    return track_members(warp->track, &warp->place, pc, thread % LANES_MAX);
}

/* Those of the lanes that issued: mechanisms ask behind that. */
static uint32_t replay_guard(const void *self, unsigned number, uint32_t pc) {
    const struct replayed_warp *warp = &((const struct replayed_sm *)self)->warps[number];
    return warp->pc == pc ? warp->issue.guard : UINT32_MAX;
}

/* What is computed was, when it was recorded. */
static void replay_barrier_result(void *self, unsigned warp, uint32_t pc, uint32_t lanes,
                                  const struct barrier_result *result) {
    (void)self, (void)warp, (void)pc, (void)lanes, (void)result;
}

static void replay_give(void *self, unsigned warp, uint32_t pc, uint32_t lanes, uint32_t value) {
    (void)self, (void)warp, (void)pc, (void)lanes, (void)value;
}

static void replay_perform(void *self, uint32_t ticket, uint32_t lanes) { (void)self, (void)ticket, (void)lanes; }

static void replay_finish(void *self, uint32_t ticket) { (void)self, (void)ticket; }

static void replay_publish(void *self) { (void)self; }

static void replay_count_in(void *self, unsigned thread) {
    struct replayed_sm *sm = self;
    sm->counts = sm->replay->counts[thread];
}

struct replay *replay_create(const struct recording *recording, struct arena *arena, uint32_t sms, unsigned places,
                             const struct replay_counts *counts) {
    struct replay *replay = ARENA_NEW(arena, struct replay);
    *replay = (struct replay){.recording = recording, .counts = counts};
    replay->sms = ARENA_ARRAY(arena, struct replayed_sm, sms);
    for (uint32_t i = 0; i < sms; i++)
        replay->sms[i] =
            (struct replayed_sm){.replay = replay,
                                 .counts = counts[0],
                                 .warps = ARENA_ARRAY(arena, struct replayed_warp, (size_t)places * recording->warps)};
    return replay;
}

struct executor replay_executor(struct replay *replay, uint32_t sm) {
    return (struct executor){.self = &replay->sms[sm],
                             .start = replay_start,
                             .lanes = replay_lanes,
                             .step = replay_step,
                             .members = replay_members,
                             .guard = replay_guard,
                             .give = replay_give,
                             .barrier_result = replay_barrier_result,
                             .perform = replay_perform,
                             .finish = replay_finish,
                             .publish = replay_publish,
                             .unpublished = &nothing_unpublished,
                             .count_in = replay_count_in};
}

enum status replay_report(const struct replay *replay, uint32_t sm, struct report *report) {
    const struct differing *differing = &replay->sms[sm].differing;
    const struct module *module = replay->recording->module;
    char where[256], recorded[256] = "nothing more";
    module_where(module, differing->pc, where, sizeof where);
    if (differing->is_recorded && differing->recorded_pc < module->code_count)
        module_where(module, differing->recorded_pc, recorded, sizeof recorded);
    return report_add(
        report, STATUS_STOPPED,
        "the trace does not fit: block %llu, warp %u comes to %s (PC %u, lanes 0x%08x), where the trace has "
        "%s (PC %u, lanes 0x%08x); the way of its warps depends on time, or the file is damaged",
        (unsigned long long)differing->block, differing->warp, where, (unsigned)differing->pc,
        (unsigned)differing->lanes, recorded, (unsigned)differing->recorded_pc, (unsigned)differing->recorded_lanes);
}
