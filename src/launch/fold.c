/* SPDX-License-Identifier: Apache-2.0 */
/* The counters per instruction of repeated launches of one kernel, kept once. */
#include "launch/run.h"

/* What is left of a launch without its tables per instruction, in an arena that holds nothing else. */
static void keep_rest(struct launch_result *result) {
    struct arena kept = {0};
    if (result->timed) {
        struct gpu_stats *timed = arena_copy(&kept, result->timed, sizeof *timed);
        timed->instructions = NULL, timed->divergent = NULL;
        for (unsigned part = 0; part < OWN_PARTS; part++)
            if (timed->own_stats[part])
                timed->own_stats[part] = arena_copy(&kept, timed->own_stats[part], timed->own[part]->stats_bytes);
        series_copy(&timed->series, &kept);
        series_copy(&timed->sms, &kept);
        result->timed = timed;
    }
    if (result->output)
        result->output = arena_copy(&kept, result->output, result->output_bytes + 1);
    if (result->remarks)
        result->remarks = arena_strdup(&kept, result->remarks);
    result->instructions = NULL;
    arena_free(&result->arena);
    result->arena = kept;
}

void run_fold(struct run *run) {
    const unsigned last = run->done - 1;
    struct launch_result *result = &run->results[last];
    unsigned first = 0;
    while (run->launches[first].kernel != run->launches[last].kernel)
        first++;
    struct launch_result *sum = &run->results[first];
    /* one that was refused has no tables */
    if (first == last || !result->instructions || !sum->instructions || (result->timed && !sum->timed))
        return;
    for (uint32_t pc = 0; pc < run->module->code_count; pc++) {
        inst_stats_add(&sum->instructions[pc], &result->instructions[pc]);
        if (result->timed)
            sm_inst_stats_add(&sum->timed->instructions[pc], &result->timed->instructions[pc]);
    }
    keep_rest(result);
}
