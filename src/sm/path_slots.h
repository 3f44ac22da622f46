/* SPDX-License-Identifier: Apache-2.0 */
/* Issue slots of warps that have several paths in flight, and their scoreboard by lanes: path_slots.c. The struct is without sets of
 * slots, so that both copies of the stages (slot_set.h) share it. */
#ifndef HEDDLE_SM_PATH_SLOTS_H
#define HEDDLE_SM_PATH_SLOTS_H

#include "sm/lanes_pending.h"
#include "sm/state.h"

/* In queued.space, of accesses of a turn that are served as one: all of them, and those behind the first. */
enum { QUEUED_TOGETHER = 0x80, QUEUED_FOLLOWS = 0x40, QUEUED_SPACE = 0x3f };
/* The present turn's accesses, to global and local memory and to shared memory. */
struct path_turn {
    uint16_t number; /* counts turns */
    bool queued[2];
    enum access_kind kinds[2];
    struct access shared; /* of all their lanes */
    unsigned lead;        /* in the queue: the first of these */
};
/* Lines that those of a turn have looked up. */
struct path_lines {
    uint16_t turn;
    unsigned count;
    uint64_t address[TRANSACTIONS_MAX];
};

struct path_slots {
    const struct divergence_paths *ops;
    unsigned count; /* of each warp */
    unsigned
        stride; /* slot k * stride + w is path k of warp w: a multiple of the schedulers, so that w mod them is whose it is */
    bool by_lanes; /* several paths; one waits for all registers of its warp, as every warp does */
    uint32_t registers;
    struct lanes_pending *pending; /* [warp][register] */
    uint8_t home[WARPS_MAX];       /* of each slot: its warp */
    uint32_t told[WARPS_MAX];      /* of each slot: the PC that the mechanism knows of */
    uint8_t last[WARPS_MAX];       /* of each warp: the path that issued last */
    bool alive[WARPS_MAX];         /* warps */
    enum divergence_division divides;
    uint64_t partly[FLIGHTS_MAX /
                    64]; /* divides: flights that more of their lanes have their data of since they were looked at */
    bool any_partly;
    bool takes_turns; /* one path of a warp is active: path_turns.c */
    struct divergence_turns turns;
    uint8_t active[WARPS_MAX]; /* of each warp: its path */
    bool loaded[WARPS_MAX];    /* turns.yields: the active path has issued a load */
    bool has_seconds;          /* two instructions may issue in a scheduler's turn: path_beside.c */
    struct divergence_seconds seconds;
    unsigned sets;        /* seconds.ways: a warp's set is its number of its scheduler mod this */
    struct bundle bundle; /* those of the present turn */
    bool has_ranks;       /* the mechanism ranks slots: path_together.c */
    uint64_t turned[WARPS_MAX],
        last_turn[SCHEDULERS_MAX]; /* has_ranks: cycles in which slots issued, and schedulers had a turn */
    struct path_turn turn;
    struct path_lines lines;
};

/* The slots that an SM needs for so many warps. */
static inline unsigned path_slots_needed(unsigned paths, unsigned warps, unsigned schedulers) {
    return paths * ((warps + schedulers - 1) / schedulers * schedulers);
}
/* Of a warp with this mechanism; 0: it has no paths. */
static inline unsigned path_slots_of(const struct divergence_ops *mechanism, const void *params) {
    return mechanism->paths ? mechanism->paths->most(params) : 0;
}

/* What an SM gives it of these. */
static inline unsigned path_slots_given(const struct divergence_ops *mechanism, const void *params, unsigned warps,
                                        unsigned schedulers) {
    unsigned paths = path_slots_of(mechanism, params);
    while (paths > 1 && mechanism->paths->fewer && path_slots_needed(paths, warps, schedulers) > WARPS_MAX)
        paths--;
    return paths;
}

/* Of an SM whose warps and mechanism are known. */
SM_STAGE struct path_slots *sm_path_slots_create(struct sm *sm, unsigned paths);
/* The mechanism hears how far the paths of the warp have come. */
SM_STAGE void sm_tell_progress(struct sm *sm, unsigned warp);
/* Does the path in the slot wait while another of its warp is active? */
static inline bool path_is_parked(const struct path_slots *paths, unsigned slot) {
    return paths->takes_turns && paths->active[paths->home[slot]] * paths->stride + paths->home[slot] != slot;
}
/* It joins no set but those that wait for long. */
SM_STAGE void sm_park_path(struct sm *sm, unsigned slot);
/* The warp's active path is gone: another is. */
SM_STAGE void sm_activate_path(struct sm *sm, unsigned warp);
/* Before slots issue: paths that wait for memory give way, where nothing of their scheduler can issue. */
SM_STAGE void sm_give_way(struct sm *sm);
/* has_seconds: after this slot has issued these lanes at this PC: the slot of these that issues beside it; SCHEDULER_NONE: none does. */
SM_STAGE unsigned sm_find_second(const struct sm *sm, unsigned first, uint32_t pc, uint32_t lanes, slot_set possible);
/* has_ranks: those of these slots, of which there are some, that go first in a turn; none: none may. */
SM_STAGE slot_set sm_best_ranked(const struct sm *sm, slot_set possible);
/* The instruction in the slot issues. */
SM_STAGE void sm_issue_path(struct sm *sm, unsigned slot);
/* has_seconds: the instruction in the slot, and what issues beside it; the turn is counted by the lanes of all. */
SM_STAGE void sm_issue_two(struct sm *sm, unsigned scheduler, unsigned slot, slot_set possible);
SM_STAGE void sm_issue_many(struct sm *sm, unsigned scheduler, unsigned slot, slot_set possible);
/* Which units the lanes of the warp have. */
static inline uint32_t path_units(const struct sm *sm, unsigned warp, uint32_t lanes) {
    const struct divergence_beside *beside = sm->paths->ops->beside;
    return beside->units ? beside->units(sm->control, warp, lanes) : lanes;
}
/* seconds.together: the flight's access, if it has just queued one, is one with those of the turn before it. */
SM_STAGE void sm_join_access(struct sm *sm, uint32_t flight, const struct access *access);
/* The load/store unit has the first of a turn's accesses at the head of its queue. */
SM_STAGE void sm_access_together(struct sm *sm);
/* That access is as every other. */
SM_STAGE void sm_leave_turn(struct sm *sm, struct queued *entry);
/* Passes of an access to shared memory. */
SM_STAGE uint32_t sm_shared_passes(const struct sm *sm, const struct access *access);
/* has_seconds: the instruction of these lanes is on its way, as part of the turn's bundle. */
SM_STAGE void sm_launch_beside(struct sm *sm, unsigned warp, uint32_t pc, uint32_t lanes, const struct access *access);
/* The slots of these paths of the warp. */
SM_STAGE slot_set sm_slots_of(const struct sm *sm, unsigned warp, uint64_t paths);

#endif
