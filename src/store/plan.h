/* SPDX-License-Identifier: Apache-2.0 */
/* The points of a sweep beside what a store has of them. */
#ifndef HEDDLE_STORE_PLAN_H
#define HEDDLE_STORE_PLAN_H

#include "store/sweep.h"

struct plan_point {
    uint64_t number;
    char key[STORE_KEY_BYTES];
    uint8_t state; /* enum store_state */
    bool damaged;  /* missing, because a file of it in the store is not what was written */
    bool repeats;  /* the same run as a point before it: keys that its mechanism has no use for differ, or the plan */
};

struct estimate;

struct plan {
    struct sweep *sweep;
    struct plan_point *points; /* by number */
    uint64_t count;
    uint64_t distinct, done, failed; /* repeats left out */
    uint64_t damaged;                /* of those that are missing */
    double seconds;                  /* what is missing would take; estimate.h */
    uint64_t unknown;                /* missing points for which nobody knows */
    struct estimate *estimates;      /* by program, size and seed: in time, functionally */
    double rates[2];                 /* warp instructions per second in either mode; 0: nothing was measured */
};

/* Checks every configuration and makes every key; all that is wrong is reported, one message for each kind of it. */
enum status plan_make(struct sweep *sweep, const struct store *store, struct plan *out, struct report *report);
/* Among all these plans: each run that several points mean is left to one of them. */
void plan_mark_repeats(const struct plan *plans, unsigned count);
/* How the points stand now. What is stored is read, once, and its checksum compared. */
void plan_look(struct plan *plan, const struct store *store);
/* "missing", "done", "failed", "damaged". */
const char *plan_state_name(const struct plan_point *point);
/* One point with its key, for whoever runs it; its machine is checked too. */
enum status plan_one(struct sweep *sweep, uint64_t number, struct point *out, struct report *report);

/* Every machine of the sweep, with the first number that has it; machines that cannot be are left out. */
void plan_machines(struct sweep *sweep, void (*visit)(void *context, uint64_t first, const struct machine *machine),
                   void *context);

#endif
