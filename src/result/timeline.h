/* SPDX-License-Identifier: Apache-2.0 */
/* What happened when in a run in time, within a window: instructions from issue to write-back and what warps waited for
 * between them; written as Perfetto's trace or as Konata's pipeline. It is gathered by looking at SMs after each of their
 * cycles, so that a run nobody looks at pays nothing. */
#ifndef HEDDLE_RESULT_TIMELINE_H
#define HEDDLE_RESULT_TIMELINE_H

#include "launch/run.h"
#include "sm/sm.h"

struct timeline_window {
    uint64_t from, to; /* cycles of the whole run, launch after launch: [from, to) */
    bool one_sm, one_block;
    uint32_t sm;
    uint64_t block;
};

/* An instruction that issued. Cycles are those of the run. */
struct timeline_issue {
    uint64_t since;      /* the slot had nothing to do but wait for this from here on */
    uint64_t cycle, end; /* issue; write-back */
    uint64_t asked;      /* data were first waited for; TIMELINE_NO_ASK: never */
    uint64_t block;
    uint32_t pc, lanes;
    uint32_t slot;
    uint32_t launch;
    bool is_memory;
};
#define TIMELINE_NO_ASK UINT64_MAX

struct timeline_wait {
    uint64_t begin, end;
    uint32_t slot;
    enum sm_wait wait;
};

struct timeline_sm {
    struct {
        struct timeline_issue *items;
        unsigned count, capacity;
    } issues;
    struct {
        struct timeline_wait *items;
        unsigned count, capacity;
    } waits;
    /* under way */
    struct timeline_slot *slots; /* slot_count of them; NULL: it has had no block in this launch */
    unsigned slot_count;
    uint32_t open[SM_FLIGHTS];        /* index of the issue plus 1; 0: none that is kept */
    uint64_t opened[SM_FLIGHTS / 64]; /* a bit for each that is not 0 */
};

struct timeline {
    struct arena *arena;
    struct timeline_window window;
    struct sm_observer observer; /* for struct launch */
    struct timeline_sm *sms;
    uint32_t sm_count, launch;
    unsigned issue_cycles; /* that a warp takes to issue */
    uint64_t begin;        /* of the launch under way, in cycles of the run */
    unsigned kept;
    bool full; /* no more is kept */
};

enum { TIMELINE_MOST = 4000000 };

void timeline_create(struct timeline *timeline, struct arena *arena, const struct machine *machine,
                     const struct timeline_window *window);
/* The launch under way is over, after so many cycles. */
void timeline_launch_ended(struct timeline *timeline, uint64_t cycles);

/* The files, in the arena. The same run gives the same bytes, on any number of host threads. A cycle is a nanosecond in
 * Perfetto's. */
char *timeline_perfetto(const struct timeline *timeline, const struct run *run, struct arena *arena, size_t *length);
char *timeline_konata(const struct timeline *timeline, const struct run *run, struct arena *arena, size_t *length);

#endif
