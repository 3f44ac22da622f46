/* SPDX-License-Identifier: Apache-2.0 */
/* heddle check: what is wrong with the kernels of a launch file. */
#include "cli/findings.h"
#include "launch/run.h"
#include "result/checked_run.h"
#include "study/explore.h"
#include "study/paths.h"
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"only", 0, "KINDS", "check for these kinds only, separated by commas: memory, uninitialised, race, barrier"},
    {"limit", 0, "N", "findings to keep; a finding is an instruction or a pair of them; default 100"},
    {"output", 'o', "FILE", "write the findings as JSON; '-' is standard output, and nothing else goes there"},
    {"explore", 0, "N", "run the launches in N orders of their threads, and compare what they leave in memory"},
    {"explore-only", 0, "K", "run only order K of these"},
    OPTION_SARIF,
    {"html", 0, "FILE", "write a page for a browser: findings beside the source, with what their threads did before"},
    OPTION_SUPPRESS,
    {"explain", 0, "KIND", "explain a kind of finding with a short wrong kernel; no launch is run"},
    OPTION_GPU,
    OPTION_SET,
    OPTION_DIVERGENCE,
    {"max-instructions", 0, "N", "give a launch up after N warp instructions; 0: never"},
    {"seed", 0, "N", "seed of random fills that give none; default 1"},
    {"quiet", 'q', NULL, "print no findings; only set the exit status"},
    OPTION_END,
};

/* ---- other orders ---- */

static enum status open_machine(void *self, const char *mechanism, struct machine *out, struct report *report) {
    struct arguments *arguments = self;
    const enum status status = arguments_machine(arguments, NULL, out, report);
    if (status || !mechanism)
        return status;
    return machine_set(out, arena_printf(&arguments->arena, "divergence.mechanism=%s", mechanism), "--explore", report);
}

static enum status explore(struct arguments *arguments, const struct run *run, struct check *check,
                           struct report *report) {
    enum { RUNS_MAX = 1000000 };
    uint64_t runs = 0, only = 0;
    enum status status = arguments_number(arguments, "explore", 0, RUNS_MAX, &runs, report);
    if (!status)
        status = arguments_number(arguments, "explore-only", 0, RUNS_MAX, &only, report);
    if (status || (!runs && !only))
        return status;
    struct explore order = {.file = run->file,
                            .options = run->options,
                            .open = open_machine,
                            .self = arguments,
                            .shown = run,
                            .first = only ? only : 1,
                            .end = only ? only + 1 : runs,
                            .check = check};
    return explore_run(&order, report);
}

/* Everything before the first launch. */
static enum status open_all(struct arguments *arguments, struct launch_file *file, struct machine *machine,
                            struct run *run, struct report *report) {
    struct run_options run_options = {.files = &file_access_host};
    enum status status = arguments_number(arguments, "seed", 1, (UINT64_C(1) << 53) - 1, &run_options.seed, report);
    if (!status)
        status = arguments_launch_file(arguments, file, report);
    if (!status)
        status = arguments_machine(arguments, NULL, machine, report);
    const char *reason = status ? NULL : machine_needs_time(machine);
    if (reason)
        return report_add(report, STATUS_INVALID,
                          "heddle check runs without time, but divergence.mechanism needs time: %s", reason);
    if (!status)
        status = run_open(run, file, machine, &run_options, report);
    return status ? status : checked_run_can(run, report);
}

static enum status explain(struct arguments *arguments, struct report *report) {
    const char *name = arguments_value(arguments, "explain");
    const char *names = "";
    for (unsigned i = 0; i < FINDING_KINDS; i++) {
        const enum finding_kind kind = (enum finding_kind)i;
        names = arena_printf(&arguments->arena, "%s%s%s", names, i ? ", " : "", finding_name(kind));
        if (strcmp(name, finding_name(kind)) != 0)
            continue;
        print(stdout, "%s: %s\n\n", name, finding_help(kind));
        print_text(stdout, finding_lesson(kind));
        return STATUS_OK;
    }
    return report_add(report, STATUS_INVALID, "--explain: there is no kind '%s'; there are %s", name, names);
}

/* Everything that was found, to where it is wanted. For the page the launches run once more: what threads did before. */
static enum status show(struct arguments *arguments, const struct run *run, const struct check_options *kinds,
                        const struct check *check, struct report *report) {
    const char *output = arguments_value(arguments, "output");
    const bool is_quiet = arguments_has(arguments, "quiet") || (output && strcmp(output, "-") == 0);
    struct suppressions known = {0};
    const struct paths_order paths = {run->file, run->machine, &run->options, kinds, check};
    enum status status = findings_files(arguments, &known, report);
    if (status)
        return status;
    json_t *document = document_create(check, "launch", run->file->name);
    if (arguments_has(arguments, "html"))
        status = paths_add(&paths, document, report);
    const struct findings_order order = {.to = is_quiet ? NULL : stdout,
                                         .output = output,
                                         .sarif = arguments_value(arguments, "sarif"),
                                         .html = arguments_value(arguments, "html"),
                                         .folder = *run->file->folder ? run->file->folder : NULL,
                                         .known = &known};
    const enum status shown = findings_show(arguments, document, &order, report);
    json_decref(document);
    return status ? status : shown;
}

static int check_main(struct arguments *arguments) {
    struct report report = {0};
    struct launch_file file = {0};
    struct machine machine = {0};
    struct run run = {0};
    struct check *check = NULL;
    struct check_options check_options = {0};
    const char *output = arguments_value(arguments, "output");
    struct suppressions known = {0};
    if (arguments_has(arguments, "explain"))
        return finish(explain(arguments, &report), &report);
    if (!arguments->operand_count) {
        report_add(&report, STATUS_INVALID,
                   "name a launch file, or a kind with --explain; 'heddle check --help' says more");
        return finish(STATUS_INVALID, &report);
    }
    enum status status = findings_options(arguments, "only", "limit", &check_options, &report);
    if (!status && output)
        status = check_writable(&arguments->arena, "output", output, &report);
    if (!status)
        status = findings_files(arguments, &known, &report);
    if (!status)
        status = open_all(arguments, &file, &machine, &run, &report);
    if (!status) {
        check = checked_run_create(&file, &check_options);
        status = checked_run(&run, check, &report);
        if (!status)
            status = explore(arguments, &run, check, &report);
    }
    if (check) {
        const enum status shown = show(arguments, &run, &check_options, check, &report);
        status = status ? status : shown;
    }
    run_close(&run);
    machine_close(&machine);
    if (check)
        check_free(check);
    fflush(stdout);
    return finish(status, &report);
}

const struct command command_check = {
    .name = "check",
    .operands = "[LAUNCH]",
    .summary = "Find races, bad accesses and missing barriers in the kernels of a launch file",
    .text = "Runs a launch file functionally and watches every access. Finds accesses outside allocations; misaligned "
            "accesses; loads of shared memory that was never written; branches, addresses and stored values that "
            "depend on an unwritten register or local variable; data races in shared and global memory; barriers that "
            "not all threads reach; and warp-level operations that name absent lanes. Accesses are ordered by block "
            "barriers, by warp-level operations with their member masks, by fences and atomics with their scopes as in "
            "PTX's memory model, and by launches; lanes of a warp are not in lockstep. A write of the value already "
            "there is only a note. docs/check.md explains each kind, and lists what is not checked yet, such as native "
            "code. --explore compares other orders of the same threads.\n"
            "Expected results of the launch file are not compared: that is 'heddle run'.",
    .manual = "The exit status is 1 when an error is found, 0 when there are none or only notes. One host thread runs, "
              "so reports are the same each time. A launch that stops is a finding, and later launches do not run.",
    .examples = "heddle check examples/reduction\n"
                "heddle check examples/matmul --only memory\n"
                "heddle check examples/histogram -o findings.json --sarif findings.sarif\n"
                "heddle check examples/reduction --explore 64\n"
                "heddle check --explain race",
    .options = options,
    .operands_min = 0,
    .operands_max = 1,
    .main = check_main,
};
