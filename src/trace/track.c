/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/track.h"

#include "base/bits.h"
#include "trace/bytes.h"

/* The first byte of an entry: its flow below, and what follows. */
enum {
    ENTRY_FLOW = 7,
    ENTRY_LANES = 1 << 3,
    ENTRY_GUARD = 1 << 4,
    ENTRY_MEMBERS = 1 << 5,
    ENTRY_ACCESS = 1 << 6,
};

/* The same of an access: its kind below. */
enum { ACCESS_KIND = 7, ACCESS_PACKED = 1 << 3, ACCESS_LANES = 1 << 4, ACCESS_MISSED = 1 << 5, ACCESS_TICKET = 1 << 6 };

static uint32_t lanes_with_places(const struct executed *executed) {
    if (executed->flow == FLOW_MULTI)
        return executed->lanes;
    return executed->flow == FLOW_CALL || executed->flow == FLOW_RETURN ? executed->taken : 0;
}

/* ---- writing ---- */

static void put_flow(struct bytes_writer *out, const struct executed *executed) {
    if (executed->flow == FLOW_NEXT)
        return;
    number_put(out, executed->taken);
    if (executed->flow == FLOW_BRANCH)
        number_put(out, step_of(executed->pc, executed->target));
    for (BITS_EACH(lane, lanes_with_places(executed)))
        number_put(out, step_of(executed->pc, executed->next[lane]));
    if (executed->flow == FLOW_BARRIER) {
        number_put(out, executed->barrier);
        number_put(out, executed->expected);
        number_put(out, executed->predicate);
    }
}

static void put_access(struct bytes_writer *out, struct track_place *place, const struct access *access) {
    const bool snoops = access->kind == ACCESS_SNOOPED_LOAD || access->kind == ACCESS_SNOOPED_STORE;
    const uint32_t missed = snoops ? access->missed : 0;
    byte_put(out, access->kind | (access->packed ? ACCESS_PACKED : 0) |
                      (access->lanes != place->lanes ? ACCESS_LANES : 0) | (missed ? ACCESS_MISSED : 0) |
                      (access->ticket != NO_TICKET ? ACCESS_TICKET : 0u));
    byte_put(out, access->space);
    byte_put(out, access->bytes);
    if (access->lanes != place->lanes)
        number_put(out, access->lanes);
    if (missed)
        number_put(out, missed);
    for (BITS_EACH(lane, access->packed ? 1 : access->lanes | missed)) {
        number_put(out, step_of(place->address, access->address[lane]));
        place->address = access->address[lane];
    }
}

void track_put(struct arena *arena, struct track *track, struct track_place *place, const struct track_issue *issue,
               const struct executed *executed, const struct access *access) {
    enum { ENTRY_BYTES_MAX = 1 + 9 * NUMBER_BYTES_MAX + 3 + 2 * LANES_MAX * NUMBER_BYTES_MAX };
    const bool guarded = issue->guard != UINT32_MAX;
    if (!place->keeps_all && executed->flow == FLOW_NEXT && access->kind == ACCESS_NONE && !guarded &&
        !issue->members) {
        place->gap++;
        return;
    }
    while (track->capacity - track->count < ENTRY_BYTES_MAX)
        track->items = arena_grow(arena, track->items, track->capacity, &track->capacity, 1);
    struct bytes_writer out = {.to = track->items + track->count};
    number_put(&out, place->gap);
    byte_put(&out, executed->flow | (executed->lanes != place->lanes ? ENTRY_LANES : 0) | (guarded ? ENTRY_GUARD : 0) |
                       (issue->members ? ENTRY_MEMBERS : 0) | (access->kind != ACCESS_NONE ? ENTRY_ACCESS : 0));
    number_put(&out, step_of(place->pc, executed->pc));
    if (executed->lanes != place->lanes)
        number_put(&out, executed->lanes);
    if (guarded)
        number_put(&out, issue->guard & executed->lanes);
    if (issue->members)
        number_put(&out, issue->members);
    place->gap = 0, place->pc = executed->pc, place->lanes = executed->lanes;
    put_flow(&out, executed);
    if (access->kind != ACCESS_NONE)
        put_access(&out, place, access);
    track->count += (unsigned)out.at;
}

/* ---- reading ---- */

static void take_flow(struct bytes_reader *from, struct executed *out) {
    if (out->flow == FLOW_NEXT)
        return;
    out->taken = word_take(from);
    if (out->flow == FLOW_BRANCH)
        out->target = (uint32_t)step_from(out->pc, number_take(from));
    for (BITS_EACH(lane, lanes_with_places(out)))
        out->next[lane] = (uint32_t)step_from(out->pc, number_take(from));
    if (out->flow == FLOW_BARRIER) {
        out->barrier = word_take(from);
        out->expected = word_take(from);
        out->predicate = word_take(from);
    }
}

static void take_access(struct bytes_reader *from, struct track_place *place, struct access *access) {
    const uint8_t what = byte_take(from);
    access->kind = what & ACCESS_KIND;
    access->packed = what & ACCESS_PACKED;
    access->space = byte_take(from);
    access->bytes = byte_take(from);
    access->lanes = what & ACCESS_LANES ? word_take(from) : place->lanes;
    access->missed = what & ACCESS_MISSED ? word_take(from) : 0;
    access->ticket = what & ACCESS_TICKET ? 0 : NO_TICKET;
    for (BITS_EACH(lane, access->packed ? 1 : access->lanes | access->missed))
        place->address = access->address[lane] = step_from(place->address, number_take(from));
    for (unsigned lane = 1; access->packed && lane < LANES_MAX; lane++)
        access->address[lane] = access->address[0] + (uint64_t)lane * access->bytes;
}

/* How many issues come before the next entry. */
static void take_gap(struct bytes_reader *from, struct track_place *place) {
    place->gap = from->at < from->end ? word_take(from) : UINT32_MAX;
    place->at = (uint32_t)from->at;
}

bool track_begin(const struct track *track, struct track_place *place) {
    struct bytes_reader from = {.data = track->items, .end = track->count, .good = true};
    *place = (struct track_place){0};
    take_gap(&from, place);
    return from.good;
}

bool track_take(const struct track *track, struct track_place *place, struct track_issue *issue,
                struct executed *executed, struct access *access) {
    struct bytes_reader from = {.data = track->items, .at = place->at, .end = track->count, .good = true};
    const uint8_t what = byte_take(&from);
    place->pc = (uint32_t)step_from(place->pc, number_take(&from));
    if (what & ENTRY_LANES)
        place->lanes = word_take(&from);
    issue->guard = what & ENTRY_GUARD ? word_take(&from) : UINT32_MAX;
    issue->members = what & ENTRY_MEMBERS ? word_take(&from) : 0;
    executed->flow = (enum flow)(what & ENTRY_FLOW);
    executed->pc = place->pc, executed->lanes = place->lanes, executed->issues = 1;
    executed->taken = executed->target = executed->barrier = executed->expected = executed->predicate = 0;
    take_flow(&from, executed);
    access->kind = ACCESS_NONE;
    if (what & ENTRY_ACCESS)
        take_access(&from, place, access);
    take_gap(&from, place);
    return from.good;
}

uint32_t track_members(const struct track *track, const struct track_place *place, uint32_t pc, unsigned lane) {
    struct track_place ahead = *place;
    struct track_issue issue;
    struct executed executed;
    struct access access;
    while (ahead.gap != UINT32_MAX && track_take(track, &ahead, &issue, &executed, &access))
        if (executed.pc == pc && executed.lanes >> lane & 1)
            return issue.members;
    return 0;
}
