/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody who hears of every issue of a launch: counts the instructions of each thread, and follows it to its end. */
#ifndef HEDDLE_STUDY_LAWS_HEARD_H
#define HEDDLE_STUDY_LAWS_HEARD_H

#include "device/device.h"
#include "emulate/emulate.h"
#include "sm/sm.h"

enum { LAWS_MESSAGE_BYTES = 400 };

struct laws_hearer {
    const struct module *module;
    uint32_t *counted; /* instructions before this PC, but for those that may issue for threads that they do not name */
    uint32_t *counts;  /* of each thread of the launch: its instructions, of those counted */
    uint32_t *next;    /* where it goes on; NO_PC: it has not begun */
    uint32_t *last;    /* what it executed last; NO_PC: nothing */
    bool *ended;
    uint64_t threads, block_threads;
    uint32_t first_pc;
    char broken[LAWS_MESSAGE_BYTES]; /* the first law that was */
};

/* `counts` has a zero for each thread of the launch, and is the caller's. */
void laws_hearer_create(struct laws_hearer *h, struct arena *arena, const struct module *module,
                        const struct launch *launch, uint32_t *counts);
/* For struct issue_listener, of a functional run, which only counts; and for struct sm_observer. */
void laws_hear_run(void *self, const struct issue_run *run);
void laws_hear_issue(void *self, const struct sm *sm, const struct sm_issue *issue);
/* STATUS_WRONG: a thread did not go its own way, or has not ended. */
enum status laws_check_threads(const struct laws_hearer *h, struct report *report);

#endif
