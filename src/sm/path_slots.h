/* SPDX-License-Identifier: Apache-2.0 */
/* Issue slots of warps that have several paths in flight, and their scoreboard by lanes: path_slots.c. The struct is without sets of
 * slots, so that both copies of the stages (slot_set.h) share it. */
#ifndef HEDDLE_SM_PATH_SLOTS_H
#define HEDDLE_SM_PATH_SLOTS_H

#include "sm/lanes_pending.h"
#include "sm/state.h"

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
};

/* The slots that an SM needs for so many warps. */
static inline unsigned path_slots_needed(unsigned paths, unsigned warps, unsigned schedulers) {
    return paths * ((warps + schedulers - 1) / schedulers * schedulers);
}
/* Of a warp with this mechanism; 0: it has no paths. */
static inline unsigned path_slots_of(const struct divergence_ops *mechanism, const void *params) {
    return mechanism->paths ? mechanism->paths->most(params) : 0;
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
/* has_seconds: the instruction of these lanes is on its way, as part of the turn's bundle. */
SM_STAGE void sm_launch_beside(struct sm *sm, unsigned warp, uint32_t pc, uint32_t lanes, const struct access *access);
/* The slots of these paths of the warp. */
SM_STAGE slot_set sm_slots_of(const struct sm *sm, unsigned warp, uint64_t paths);

#endif
