/* SPDX-License-Identifier: Apache-2.0 */
#include "device/replay.h"

#include <string.h>

#define KEPT_BYTES_MAX (UINT64_C(4) << 30)

/* What a warp did other than go on to the next instruction. In a warp's bytes the places of FLOW_MULTI, CALL and RETURN
 * follow, 4 bytes for each of them, then addresses, 8 for each lane of the access, of a packed one the first. */
struct kept_issue {
    uint32_t number; /* how many instructions the warp had issued before */
    uint32_t flow, taken, target;
    struct {
        uint8_t kind, space, bytes;
        bool packed;
        uint32_t lanes, ticket;
    } access;
};

/* A warp of the launch. */
struct track {
    uint8_t *items;
    unsigned count, capacity; /* bytes */
    uint32_t issued, lanes;
};

/* An SM, in the first run or the second. */
struct recorded_sm {
    struct recording *recording;
    struct executor inner;
    struct track **of; /* by warp of the SM: where its block's is */
    uint32_t *at;      /* replay: the next byte of it, by warp of the SM */
    uint32_t *issued;  /* replay: instructions issued, by warp of the SM */
};

struct recording {
    struct arena *arena;
    struct track *tracks;      /* [block][warp] */
    struct recorded_sm *sides; /* by SM */
    unsigned warps;
    uint64_t bytes, *progress;
};

static const unsigned nothing_unpublished = 0;

static bool has_places(uint32_t flow) { return flow == FLOW_MULTI || flow == FLOW_CALL || flow == FLOW_RETURN; }

/* ---- the first run ---- */

static void put(struct recording *recording, struct track *track, const void *data, unsigned bytes) {
    while (track->capacity - track->count < bytes)
        track->items = arena_grow(recording->arena, track->items, track->capacity, &track->capacity, 1);
    memcpy(track->items + track->count, data, bytes);
    track->count += bytes;
    recording->bytes += bytes;
}

static void keep(struct recording *recording, struct track *track, const struct executed *executed,
                 const struct access *access) {
    const uint32_t flow = executed->flow == FLOW_BARRIER ? FLOW_NEXT : executed->flow;
    const uint32_t number = track->issued++;
    if ((flow == FLOW_NEXT && access->kind == ACCESS_NONE) || recording->bytes > KEPT_BYTES_MAX)
        return;
    const bool accesses = access->kind != ACCESS_NONE && (access->kind <= ACCESS_ATOMIC || access->lanes);
    const uint8_t kind = access->kind == ACCESS_SNOOPED_LOAD    ? ACCESS_LOAD /* replayed without what was fetched */
                         : access->kind == ACCESS_SNOOPED_STORE ? ACCESS_STORE
                                                                : access->kind;
    const struct kept_issue kept = {.number = number,
                                    .flow = flow,
                                    .taken = executed->taken,
                                    .target = executed->target,
                                    .access = {.kind = accesses ? kind : ACCESS_NONE,
                                               .space = accesses ? access->space : 0,
                                               .bytes = accesses ? access->bytes : 0,
                                               .packed = accesses && access->packed,
                                               .lanes = accesses ? access->lanes : 0,
                                               .ticket = accesses ? access->ticket : NO_TICKET}};
    put(recording, track, &kept, sizeof kept);
    if (has_places(flow))
        for (BITS_EACH(lane, flow == FLOW_MULTI ? executed->lanes : executed->taken))
            put(recording, track, &executed->next[lane], sizeof executed->next[lane]);
    for (BITS_EACH(lane, kept.access.packed ? 1 : kept.access.lanes))
        put(recording, track, &access->address[lane], sizeof access->address[lane]);
}

static void record_start(void *self, unsigned place, uint64_t block) {
    struct recorded_sm *side = self;
    struct recording *recording = side->recording;
    side->inner.start(side->inner.self, place, block);
    for (unsigned i = 0; i < recording->warps; i++) {
        const unsigned warp = place * recording->warps + i;
        side->of[warp] = &recording->tracks[block * recording->warps + i];
        side->of[warp]->lanes = side->inner.lanes(side->inner.self, warp);
    }
}

static uint32_t inner_lanes(const void *self, unsigned warp) {
    const struct recorded_sm *side = self;
    return side->inner.lanes(side->inner.self, warp);
}

static void record_step(void *self, unsigned warp, const struct group *group, uint32_t alive, uint64_t cycle,
                        struct executed *out, struct access *access) {
    struct recorded_sm *side = self;
    access->kind = ACCESS_NONE;
    side->inner.step(side->inner.self, warp, group, alive, cycle, out, access);
    if (out->flow != FLOW_FAULT)
        keep(side->recording, side->of[warp], out, access);
}

static uint32_t inner_members(const void *self, unsigned thread, uint32_t pc) {
    const struct recorded_sm *side = self;
    return side->inner.members(side->inner.self, thread, pc);
}

static uint32_t inner_guard(const void *self, unsigned warp, uint32_t pc) {
    const struct recorded_sm *side = self;
    return side->inner.guard(side->inner.self, warp, pc);
}

static void inner_look(void *self, const void *near, bool (*holds)(const void *near, uint64_t address)) {
    const struct recorded_sm *side = self;
    side->inner.look(side->inner.self, near, holds);
}

static void inner_barrier_result(void *self, unsigned warp, uint32_t pc, uint32_t lanes,
                                 const struct barrier_result *result) {
    struct recorded_sm *side = self;
    side->inner.barrier_result(side->inner.self, warp, pc, lanes, result);
}

static void inner_perform(void *self, uint32_t ticket, uint32_t lanes) {
    struct recorded_sm *side = self;
    side->inner.perform(side->inner.self, ticket, lanes);
}

static void inner_finish(void *self, uint32_t ticket) {
    struct recorded_sm *side = self;
    side->inner.finish(side->inner.self, ticket);
}

static void inner_publish(void *self) {
    struct recorded_sm *side = self;
    side->inner.publish(side->inner.self);
}

struct recording *recording_create(struct arena *arena, const struct executor *executors, uint32_t sms, uint64_t blocks,
                                   unsigned warps, uint64_t *progress) {
    struct recording *recording = ARENA_NEW(arena, struct recording);
    *recording = (struct recording){.arena = arena, .warps = warps, .progress = progress};
    recording->tracks = ARENA_ARRAY(arena, struct track, blocks * warps);
    recording->sides = ARENA_ARRAY(arena, struct recorded_sm, sms);
    for (uint32_t i = 0; i < sms; i++)
        recording->sides[i] = (struct recorded_sm){.recording = recording,
                                                   .inner = executors[i],
                                                   .of = ARENA_ARRAY(arena, struct track *, WARPS_MAX),
                                                   .at = ARENA_ARRAY(arena, uint32_t, WARPS_MAX),
                                                   .issued = ARENA_ARRAY(arena, uint32_t, WARPS_MAX)};
    return recording;
}

struct executor recording_executor(struct recording *recording, uint32_t sm) {
    struct recorded_sm *side = &recording->sides[sm];
    return (struct executor){.self = side,
                             .start = record_start,
                             .lanes = inner_lanes,
                             .step = record_step,
                             .look = inner_look,
                             .members = inner_members,
                             .guard = inner_guard,
                             .barrier_result = inner_barrier_result,
                             .perform = inner_perform,
                             .finish = inner_finish,
                             .publish = inner_publish,
                             .unpublished = side->inner.unpublished};
}

enum status recording_check(const struct recording *recording, struct report *report) {
    if (recording->bytes <= KEPT_BYTES_MAX)
        return STATUS_OK;
    return report_add(report, STATUS_SYSTEM,
                      "ideal.barriers: what the launch does takes more than %llu GiB to remember; use a smaller one",
                      (unsigned long long)(KEPT_BYTES_MAX >> 30));
}

/* ---- the second ---- */

static void replay_start(void *self, unsigned place, uint64_t block) {
    struct recorded_sm *side = self;
    const struct recording *recording = side->recording;
    for (unsigned i = 0; i < recording->warps; i++) {
        const unsigned warp = place * recording->warps + i;
        side->of[warp] = &recording->tracks[block * recording->warps + i];
        side->at[warp] = side->issued[warp] = 0;
    }
}

static uint32_t replay_lanes(const void *self, unsigned warp) {
    return ((const struct recorded_sm *)self)->of[warp]->lanes;
}

static void take(struct recorded_sm *side, unsigned warp, void *data, unsigned bytes) {
    memcpy(data, side->of[warp]->items + side->at[warp], bytes);
    side->at[warp] += bytes;
}

static void replay_step(void *self, unsigned warp, const struct group *group, uint32_t alive, uint64_t cycle,
                        struct executed *out, struct access *access) {
    struct recorded_sm *side = self;
    struct kept_issue kept = {.number = UINT32_MAX};
    (void)alive, (void)cycle;
    if (side->at[warp] < side->of[warp]->count)
        memcpy(&kept, side->of[warp]->items + side->at[warp], sizeof kept);
    *out = (struct executed){.flow = FLOW_NEXT, .pc = group->pc, .issues = 1, .lanes = group->lanes};
    access->kind = ACCESS_NONE;
    if (kept.number != side->issued[warp]++)
        return;
    side->at[warp] += (uint32_t)sizeof kept;
    out->flow = (enum flow)kept.flow, out->taken = kept.taken, out->target = kept.target;
    if (has_places(kept.flow))
        for (BITS_EACH(lane, kept.flow == FLOW_MULTI ? group->lanes : kept.taken))
            take(side, warp, &out->next[lane], sizeof out->next[lane]);
    access->kind = kept.access.kind, access->space = kept.access.space, access->bytes = kept.access.bytes;
    access->packed = kept.access.packed, access->lanes = kept.access.lanes, access->ticket = kept.access.ticket;
    for (BITS_EACH(lane, kept.access.packed ? 1 : kept.access.lanes))
        take(side, warp, &access->address[lane], sizeof access->address[lane]);
    for (unsigned lane = 1; kept.access.packed && lane < LANES_MAX; lane++)
        access->address[lane] = access->address[0] + (uint64_t)lane * kept.access.bytes;
    *side->recording->progress += access->kind == ACCESS_STORE || access->kind == ACCESS_ATOMIC;
}

static uint32_t replay_all(const void *self, unsigned warp, uint32_t pc) {
    (void)self, (void)warp, (void)pc;
    return UINT32_MAX;
}

/* Function has had its turn. */
static void replay_barrier_result(void *self, unsigned warp, uint32_t pc, uint32_t lanes,
                                  const struct barrier_result *result) {
    (void)self, (void)warp, (void)pc, (void)lanes, (void)result;
}

static void replay_perform(void *self, uint32_t ticket, uint32_t lanes) { (void)self, (void)ticket, (void)lanes; }

static void replay_finish(void *self, uint32_t ticket) { (void)self, (void)ticket; }

static void replay_publish(void *self) { (void)self; }

struct executor replay_executor(struct recording *recording, uint32_t sm) {
    return (struct executor){.self = &recording->sides[sm],
                             .start = replay_start,
                             .lanes = replay_lanes,
                             .step = replay_step,
                             .members = replay_all,
                             .guard = replay_all,
                             .barrier_result = replay_barrier_result,
                             .perform = replay_perform,
                             .finish = replay_finish,
                             .publish = replay_publish,
                             .unpublished = &nothing_unpublished};
}
