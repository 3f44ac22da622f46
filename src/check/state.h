/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a check, shared by the files of check/. */
#ifndef HEDDLE_CHECK_STATE_H
#define HEDDLE_CHECK_STATE_H

#include "check/check.h"
#include "check/holdings.h"
#include "check/order.h"
#include "check/shadow.h"
#include "exec/memory.h"

struct check {
    struct check_options options;
    struct exec_watch watch;
    struct arena arena;  /* findings */
    struct arena launch; /* places and what their threads know */
    struct shadow shadow;
    struct causality order;
    struct holdings holdings;
    struct memory_listener listener;
    uint64_t launches; /* that have begun */
    uint64_t met;
    struct {
        struct finding *items;
        unsigned count, capacity;
    } findings;
    uint64_t dropped;
    bool is_wrong;                   /* an error was found, kept or not */
    bool knows_writes;               /* of the present launch: every store of its kernel is told */
    bool stopped_here;               /* a fault of the present launch is among the findings */
    const struct block_watch *waits; /* the last place at which lanes came to a barrier */
    unsigned waits_barrier;
};

/* An issue, and which of its lanes. */
struct check_site {
    const struct watch_issue *issue;
    unsigned lane;
    unsigned again; /* what is found there was met so many times more: in other words of the same cell */
};

/* Of FINDING_UNINITIALISED; from the last on with enum watch_use. */
enum unwritten_sort { UNWRITTEN_SHARED, UNWRITTEN_GLOBAL, UNWRITTEN_VALUE };

/* What makes two findings at an instruction the same. */
struct finding_key {
    enum finding_kind kind;
    unsigned sort;     /* of the kind's own */
    uint32_t other_pc; /* of the other access; NO_PC: there is none */
    bool is_note;
};

/* The allocation of the program that has the address, in words; NULL: none has. */
const char *allocation_of(struct check *check, uint64_t address);

/* Such a finding at the instruction: the first of them is made (is_new), of others the count goes up. NULL: there is no room. */
struct finding *finding_of(struct check *check, const struct finding_key *key, const struct check_site *at,
                           bool *is_new);

#endif
