/* SPDX-License-Identifier: Apache-2.0 */
/* Points handed to a cluster's scheduler: packed into tasks of about equal length, written to a file that every task reads,
 * and run by it one after another. Files of a sweep's jobs lie in the store's folder jobs/NAME-HASH:
 *   N.json    the N-th job: which points each task has, and how it was asked for
 *   N.arrays  a line for each array that was submitted: its number, its first task, how many tasks it has, and a hash of these
 *   N.sh      what the scheduler runs
 *   N.log/    what tasks said that did not end well */
#ifndef HEDDLE_STORE_JOB_H
#define HEDDLE_STORE_JOB_H

#include "store/execute.h"

/* Points of a plan whose numbers are from first to last, as far as there are such. */
struct job_range {
    unsigned plan;
    uint64_t first, last;
};

struct job_task {
    struct {
        struct job_range *items;
        unsigned count, capacity;
    } ranges;
    double seconds; /* by estimate, or points where nobody knows how long any takes */
};

struct job_options {
    double task_seconds; /* a task lasts so long by estimate, */
    unsigned processors; /* less where that leaves some of so many idle; */
    bool single;         /* or one point */
    uint64_t memory_bytes;
    const char *const *words; /* the scheduler's options, kept for who goes on later; NULL at their end */
};

struct job {
    struct arena *arena;
    const struct plan *plans;
    unsigned plan_count;
    const char *folder; /* jobs/NAME-HASH of these plans */
    unsigned number;    /* 0: none yet */
    struct {
        struct job_task *items;
        unsigned count, capacity;
    } tasks;
};

/* A sweep that no file has: kept as one, by its text, for points to read. */
enum status job_keep_sweep(const struct store *store, const char *text, const char **path, struct report *report);
/* Which folder it is; the newest job in it. */
void job_open(struct job *job, const struct store *store, const char *name, const struct plan *plans, unsigned count);
/* A file of the newest job: "json", "sh", "log". */
const char *job_path(const struct job *job, const char *ending);
/* What is missing, in tasks, the longest first. Points that another process is at are left out. */
void job_pack(struct job *job, const struct store *store, const struct job_options *options);
/* Writes the next job's files. */
enum status job_write(struct job *job, const struct job_options *options, struct report *report);

/* What is known of the newest job. */
struct job_record {
    double submitted; /* seconds since 1970 */
    uint64_t stored;  /* points that were, then */
    uint64_t memory_bytes;
    const char **words;
    unsigned word_count;
    const char *arrays; /* "17,18"; "": none was submitted */
};
const char *job_array_line(struct arena *arena, const char *number, unsigned first, unsigned count);
enum status job_read(const struct job *job, struct job_record *out, struct report *report);

/* The n-th task of the job in the file `path`. Sweeps that have changed, and other models, are refused. Points that others
 * are at come last, and are left to them when they take long. STATUS_STOPPED: interrupted. */
enum status job_run_task(const struct store *store, const char *path, uint64_t task, const struct point_finder *finder,
                         struct report *report);

#endif
