/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "result/guest_sample.h"

enum status exec_sample_read(struct arguments *arguments, struct exec_sample *sample, struct report *report) {
    static const char *const others[] = {"functional", "kernels", "skip",   "launches", "energy",    "record",
                                         "why",        "launch",  "kernel", "check",    "check-only"};
    const char *text = arguments_value(arguments, "sample");
    sample->is_on = text != NULL;
    sample->request.seed = 1;
    const bool is_exec = strcmp(arguments->command->name, "exec") == 0; /* the suite has a --seed of its inputs */
    if (!text)
        return is_exec && arguments_has(arguments, "seed") ? report_add(report, STATUS_INVALID, "--seed needs --sample")
                                                           : STATUS_OK;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (arguments_has(arguments, others[i]))
            return report_add(report, STATUS_INVALID, "--sample and --%s: leave one out", others[i]);
    const enum status status =
        arguments_number(arguments, "seed", 1, (UINT64_C(1) << 53) - 1, &sample->request.seed, report);
    return status ? status : sample_read(text, &sample->request, report);
}

void exec_sample_give(const struct exec_sample *sample) {
    if (sample->is_on)
        setenv("HEDDLE_SAMPLE", GUEST_SAMPLE_PROFILE, 1);
    else
        unsetenv("HEDDLE_SAMPLE");
}

struct rounds {
    struct exec_sample *command;
    const struct session_logs *profile;
    struct arena *arena;
    struct sample *sample;
    struct session_list launches;
    unsigned number;
};

static enum status read_profile(struct rounds *r, struct report *report) {
    const enum status status = session_list(r->profile, sample_check_module, r->arena, &r->launches, report);
    const unsigned count = r->launches.count;
    if (status || !count)
        return status;
    if (r->launches.logs != 1)
        return report_add(report, STATUS_INVALID,
                          "--sample: %u devices or processes of the program launch kernels, and sampling needs one "
                          "order of launches; run it without --sample",
                          r->launches.logs);
    struct sample_launch *launches = ARENA_ARRAY(r->arena, struct sample_launch, count);
    for (unsigned i = 0; i < count; i++) {
        const struct session_done *one = &r->launches.items[i];
        launches[i] = (struct sample_launch){.kernel = one->kernel,
                                             .block = {one->block[0], one->block[1], one->block[2]},
                                             .shared_bytes = one->shared_bytes,
                                             .stats = one->stats,
                                             .footprint_bytes = one->footprint_bytes};
    }
    r->sample = sample_create(r->arena, launches, count, &r->command->request);
    return STATUS_OK;
}

/* The launches to time, in a file for the program. */
static enum status give_round(const struct rounds *r, const char *folder, unsigned *wanted, struct report *report) {
    struct arena scratch = {0};
    struct {
        char *items;
        unsigned count, capacity;
    } text = {0};
    *wanted = 0;
    for (uint32_t i = 0; i < sample_end(r->sample); i++) {
        if (!sample_wants(r->sample, i))
            continue;
        for (const char *digit = arena_printf(&scratch, "%u\n", i); *digit; digit++)
            *ARENA_PUSH(&scratch, &text) = *digit;
        ++*wanted;
    }
    const char *path = arena_printf(r->arena, "%s/sample", folder);
    const enum status status = file_write(path, text.items, text.count, report);
    setenv("HEDDLE_SAMPLE", path, 1);
    setenv("HEDDLE_RESULTS", folder, 1);
    unsetenv("HEDDLE_FUNCTIONAL");
    arena_free(&scratch);
    return status;
}

static enum status differs(const struct rounds *r, const char *what, struct report *report) {
    return report_add(report, STATUS_STOPPED,
                      "--sample: %s launches %s than when it ran before: a sampled program must launch the same "
                      "kernels each time; run it without --sample",
                      r->profile->program, what);
}

/* What the round measured. */
static enum status take_round(struct rounds *r, const char *folder, unsigned wanted, struct report *report) {
    struct session_logs logs = *r->profile;
    struct session_list timed;
    logs.folder = folder, logs.in_time = true;
    enum status status = session_list(&logs, sample_check_module, r->arena, &timed, report);
    if (!status && (timed.logs != 1 || timed.count != wanted || timed.count + timed.untimed != r->launches.count))
        return differs(r, "another number of kernels", report);
    for (uint32_t i = 0, at = 0; !status && i < sample_end(r->sample); i++) {
        if (!sample_wants(r->sample, i))
            continue;
        const struct session_done *one = &timed.items[at++], *before = &r->launches.items[i];
        if (strcmp(one->kernel, before->kernel) != 0 || one->stats.blocks != before->stats.blocks)
            return differs(r, "other kernels", report);
        status = sample_timed(r->sample, i, one->cycles, &one->stats, report);
    }
    return status;
}

static enum status run_round(struct rounds *r, exec_sample_run *run, void *context, struct report *report) {
    const char *folder = arena_printf(r->arena, "%s/round-%u", r->profile->folder, ++r->number);
    unsigned wanted;
    if (!folder_make(r->arena, folder))
        return report_add(report, STATUS_SYSTEM, "--sample: no folder for temporary files can be made");
    const enum status status = give_round(r, folder, &wanted, report);
    if (status)
        return status;
    const int code = run(context, folder, report);
    if (code < 0)
        return STATUS_INVALID;
    if (code > 0)
        return report_add(report, STATUS_STOPPED,
                          "--sample: %s ended with exit status %d in round %u, and with 0 before: there is no estimate",
                          r->profile->program, code, r->number);
    return take_round(r, folder, wanted, report);
}

enum status exec_sample_rounds(struct exec_sample *sample, const struct session_logs *profile, struct arena *arena,
                               exec_sample_run *run, void *context, struct report *report) {
    struct rounds r = {.command = sample, .profile = profile, .arena = arena};
    enum status status = read_profile(&r, report);
    while (!status && r.sample && sample_next(r.sample))
        status = run_round(&r, run, context, report);
    if (!status && r.sample)
        sample->result = sample_result(r.sample);
    return status;
}
