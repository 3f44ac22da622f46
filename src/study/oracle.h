/* SPDX-License-Identifier: Apache-2.0 */
/* What reconvergence could gain at most [000 §3.3]: the threads of a warp, their paths known from beginning to end, are
 * aligned so that they issue together wherever that helps, and this is set beside reconvergence at immediate
 * post-dominators. Perfect memory: every issue takes a cycle. */
#ifndef HEDDLE_STUDY_ORACLE_H
#define HEDDLE_STUDY_ORACLE_H

#include "launch/run.h"

enum { ORACLE_WARP = 4, ORACLE_THREADS = 128 };

struct oracle {
    uint64_t threads, warps, thread_instructions;
    uint64_t pdom_issues, oracle_issues;
};

/* The machine becomes one of warps of ORACLE_WARP under pdom. Before run_open. */
enum status oracle_prepare(struct machine *machine, struct report *report);
/* Runs the next launch, functionally; about its first `threads` threads. */
enum status oracle_next(struct run *run, unsigned threads, struct oracle *out, struct report *report);

#endif
