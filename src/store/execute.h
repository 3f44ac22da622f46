/* SPDX-License-Identifier: Apache-2.0 */
/* Points run: one in this process's care, or many side by side on this computer. */
#ifndef HEDDLE_STORE_EXECUTE_H
#define HEDDLE_STORE_EXECUTE_H

#include "store/plan.h"

/* The cause that the store keeps of a point that cannot be run as it is: a kernel or a machine that the model refuses. */
#define EXECUTE_REFUSED "the run was refused"

enum execute_outcome {
    EXECUTE_KEPT,       /* the result is in the store, by us or by somebody else */
    EXECUTE_FAILED,     /* wrong or stopped; the store says so */
    EXECUTE_INTERRUPTED /* nothing is kept */
};

struct execute_progress {
    uint64_t total, kept, failed, lost, running;
};

struct execute_options {
    unsigned jobs;
    bool retry;            /* failures are tried again */
    uint64_t memory_bytes; /* that a point may have; 0: as much as there is */
    void (*watch)(void *watcher, const struct execute_progress *progress); /* after every point, and every second */
    void *watcher;
};

/* Runs `heddle run` or `heddle suite run` for the point, unless the store has it, and keeps its result or its failure.
 * STATUS_SYSTEM: the store cannot be written, or the host refused the run what it needs: nothing is kept. */
enum status execute_point(const struct store *store, const struct point *point, const struct execute_options *options,
                          enum execute_outcome *outcome, struct report *report);

/* Runs what the plans lack in processes of this program, `heddle sweep point FILE NUMBER`, so many at a time. Signals to
 * stop (child.h) end them and give STATUS_STOPPED. Points that ended without leaving a result or a failure are `lost`;
 * where the host refused one of them what it needs, no further ones are begun. */
enum status execute_plans(const struct store *store, const struct plan *plans, unsigned count,
                          const struct execute_options *options, struct execute_progress *progress,
                          struct report *report);

#endif
