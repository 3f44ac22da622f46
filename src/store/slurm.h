/* SPDX-License-Identifier: Apache-2.0 */
/* Plans carried out by Slurm: array jobs are submitted, watched, and submitted again for what was lost. Heddle schedules
 * nothing itself: which task runs where and when is Slurm's. */
#ifndef HEDDLE_STORE_SLURM_H
#define HEDDLE_STORE_SLURM_H

#include "store/job.h"

struct slurm_options {
    const char *name;               /* of the job */
    struct execute_options execute; /* retry, memory_bytes, watch */
    const char *const *words;       /* for sbatch; NULL at their end */
    double task_seconds;
    bool detach; /* submit, and leave the rest to Slurm */
    void (*say)(void *watcher, const char *what);
};

/* Runs what the plans lack, all of it together, and waits for the end: also of what an earlier call left in the queue, which
 * is not submitted twice. Signals to stop (child.h) end the waiting only: STATUS_STOPPED. */
enum status slurm_execute(const struct store *store, struct plan *plans, unsigned count,
                          const struct slurm_options *options, struct execute_progress *progress,
                          struct report *report);

/* How a job stands in Slurm's queue. */
struct slurm_queue {
    unsigned running, waiting;
    const char *reason; /* why the first that waits does; NULL: none does */
};
/* `arrays` as job_record has them. STATUS_SYSTEM: Slurm does not answer, which may pass. */
enum status slurm_look(const char *arrays, struct arena *arena, struct slurm_queue *out, struct report *report);

#endif
