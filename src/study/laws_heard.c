/* SPDX-License-Identifier: Apache-2.0 */
#include "study/laws_heard.h"

#include <inttypes.h>
#include <stdio.h>

#include "simt/threads.h"

/* A jump without a guard does the same for all threads that stand there, so that one issue may serve them all; and an
 * instruction whose guard does not hold may pass a thread by. Both count in the thread instructions of their PC. */
static bool names_its_threads(const struct inst *inst) { return inst->guard < 0 && inst->op != OP_BRA; }

void laws_hearer_create(struct laws_hearer *h, struct arena *arena, const struct module *module,
                        const struct launch *launch, uint32_t *counts) {
    *h = (struct laws_hearer){.module = module, .counts = counts, .first_pc = launch->kernel->first_pc};
    h->block_threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    h->threads = h->block_threads * launch->grid[0] * launch->grid[1] * launch->grid[2];
    h->counted = ARENA_ARRAY(arena, uint32_t, module->code_count + 1u);
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        h->counted[pc + 1] = h->counted[pc] + names_its_threads(&module->code[pc]);
    h->next = ARENA_ARRAY(arena, uint32_t, h->threads);
    h->last = ARENA_ARRAY(arena, uint32_t, h->threads);
    h->ended = ARENA_ARRAY(arena, bool, h->threads);
    for (uint64_t i = 0; i < h->threads; i++)
        h->next[i] = h->last[i] = NO_PC;
}

void laws_hear_run(void *self, const struct issue_run *run) {
    struct laws_hearer *h = self;
    for (BITS_EACH(lane, run->lanes))
        h->counts[run->block * h->block_threads + run->first_thread + lane] +=
            h->counted[run->pc + run->issues] - h->counted[run->pc];
}

/* Can a thread that was to go on at `from` be at `pc` without an issue that named it? */
static bool leads_to(const struct laws_hearer *h, uint32_t from, uint32_t pc) {
    for (uint32_t steps = 0; from != pc && from < h->module->code_count && steps < h->module->code_count; steps++) {
        const struct inst *inst = &h->module->code[from];
        if (names_its_threads(inst))
            return false;
        from = inst->guard < 0 ? inst->target : from + 1;
    }
    return from == pc;
}

/* An indirect branch may be executed anew by threads whose target has to wait. */
static bool is_anew(const struct laws_hearer *h, uint64_t thread, uint32_t pc) {
    return h->module->code[pc].op == OP_BRX && h->last[thread] == pc;
}

static void hear_thread(struct laws_hearer *h, uint64_t thread, unsigned lane, const struct sm_issue *issue) {
    const uint32_t pc = issue->group.pc;
    const struct executed *executed = issue->executed;
    const char *wrong = NULL;
    if (thread >= h->threads || h->ended[thread])
        wrong = "has ended or never was";
    else if (!is_anew(h, thread, pc) && !leads_to(h, h->next[thread] == NO_PC ? h->first_pc : h->next[thread], pc))
        wrong = "does not stand there";
    if (wrong && !h->broken[0])
        snprintf(h->broken, sizeof h->broken, "cycle %" PRIu64 ": the group at PC %u has thread %" PRIu64 ", which %s",
                 issue->cycle, (unsigned)pc, thread, wrong);
    if (wrong)
        return;
    h->counts[thread] += names_its_threads(&h->module->code[pc]);
    h->next[thread] = threads_next(executed, lane);
    h->last[thread] = pc;
    h->ended[thread] = executed->flow == FLOW_EXIT && executed->taken >> lane & 1;
}

void laws_hear_issue(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct laws_hearer *h = self;
    const struct group *group = &issue->group;
    for (BITS_EACH(lane, group->lanes)) {
        const unsigned thread = group->threads ? group->threads[lane] : sm_warp_of(sm, issue->slot) * LANES_MAX + lane;
        const uint64_t block = sm_block_of(sm, thread / LANES_MAX);
        hear_thread(h, block * h->block_threads + sm_thread_of_block(sm_shape_of(sm), thread), lane, issue);
    }
}

enum status laws_check_threads(const struct laws_hearer *h, struct report *report) {
    if (h->broken[0])
        return report_add(report, STATUS_WRONG, "%s", h->broken);
    for (uint64_t i = 0; i < h->threads; i++)
        if (!h->ended[i])
            return report_add(report, STATUS_WRONG, "thread %" PRIu64 " has not ended", i);
    return STATUS_OK;
}
