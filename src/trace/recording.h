/* SPDX-License-Identifier: Apache-2.0 */
/* What the warps of a launch did: kept while its executors run, and done again by executors that compute nothing. */
#ifndef HEDDLE_TRACE_RECORDING_H
#define HEDDLE_TRACE_RECORDING_H

#include "base/status.h"
#include "isa/module.h"
#include "trace/track.h"

struct recording {
    struct arena *arena;
    const struct module *module;
    uint64_t blocks;
    unsigned warps;        /* of a block */
    struct track *tracks;  /* [block][warp] */
    uint64_t bytes;        /* of all tracks */
    bool without_barriers; /* barriers are kept as instructions that wait for nobody */
    bool keeps_all;        /* every issue stands in its track: where warps are, without the code */
    bool is_of_replay;     /* what is recorded is itself replayed */
    bool is_of_hardware;   /* its warps go as one, and active lanes are those of the guard */
};

/* Of a launch of code of `module`; nothing is in it yet. */
struct recording *recording_create(struct arena *arena, const struct module *module, uint64_t blocks, unsigned warps);

/* Executors that do what these do and keep it take the place of `executors`, of SMs that hold `places` blocks at a time: on one host
 * thread, for they share the recording. */
void recording_start(struct recording *recording, struct executor *executors, uint32_t sms, unsigned places);
/* STATUS_SYSTEM with a report that begins with `what`: there was more to keep than a host holds. */
enum status recording_check(const struct recording *recording, const char *what, struct report *report);

/* What replayed instructions count, for one host thread, as struct exec_counts does: `issues` and `lanes` are differences along the
 * code; NULL: they were counted when they were recorded. `progress` grows with stores, atomics and threads that end. */
struct replay_counts {
    int64_t *issues, *lanes;
    uint64_t *threads;
    uint64_t *progress;
};

/* Executors that do what was recorded, with what each of the host threads counts. */
struct replay;
struct replay *replay_create(const struct recording *recording, struct arena *arena, uint32_t sms, unsigned places,
                             const struct replay_counts *counts);
struct executor replay_executor(struct replay *replay, uint32_t sm);
/* After FLOW_FAULT: STATUS_STOPPED with what the warp of that SM was to issue and what was recorded. */
enum status replay_report(const struct replay *replay, uint32_t sm, struct report *report);

#endif
