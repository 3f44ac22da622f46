/* SPDX-License-Identifier: Apache-2.0 */
/* heddle oracle: what reconvergence could gain at most. */
#include "base/file.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "study/oracle.h"
#include <stdio.h>

static const struct option options[] = {
    {"threads", 0, "N", "how many threads of each launch to follow, beginning with the first; default 128"},
    OPTION_GPU,
    OPTION_SET,
    OPTION_END,
};

static const char *percent(struct arena *arena, double part, double whole) {
    return whole > 0 ? arena_printf(arena, "%.1f", 100 * part / whole) : "-";
}

static void add_row(struct table *table, const char *kernel, const struct oracle *row) {
    struct arena *arena = table->arena;
    const double lanes = (double)row->thread_instructions / (double)ORACLE_WARP;
    table_add(table, kernel);
    table_add(table, with_commas(arena, row->threads));
    table_add(table, with_commas(arena, row->thread_instructions));
    table_add(table, with_commas(arena, row->pdom_issues));
    table_add(table, percent(arena, lanes, (double)row->pdom_issues));
    table_add(table, with_commas(arena, row->oracle_issues));
    table_add(table, percent(arena, lanes, (double)row->oracle_issues));
    table_add(table,
              row->oracle_issues
                  ? arena_printf(arena, "%+.1f %%", 100 * ((double)row->pdom_issues / (double)row->oracle_issues - 1))
                  : "-");
}

static enum status print_launches(struct run *run, unsigned threads, struct arena *arena, struct report *report) {
    static const char *const heading[] = {"kernel", "threads", "thread instr.", "pdom",
                                          "SIMD %", "oracle",  "SIMD %",        "gain"};
    struct table table = {.arena = arena, .columns = 8, .left = 1, .elastic = 0};
    struct oracle sum = {0};
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    while (!status && run->done < run->file->launch_count) {
        struct oracle row;
        status = oracle_next(run, threads, &row, report);
        if (!status)
            add_row(&table, run->results[run->done - 1].kernel, &row);
        sum.threads += row.threads, sum.thread_instructions += row.thread_instructions;
        sum.pdom_issues += row.pdom_issues, sum.oracle_issues += row.oracle_issues;
    }
    if (status)
        return status;
    if (run->done > 1)
        add_row(&table, "all", &sum);
    print(stdout, "%s, warps of %u, every issue a cycle\n\n", run->file->name, (unsigned)ORACLE_WARP);
    table_print(&table, stdout);
    puts("\n  pdom: issues with reconvergence at immediate post-dominators; oracle: with the best that threads whose\n"
         "  paths are known could do; docs/oracle.md");
    return run_check(run, report);
}

static int oracle_main(struct arguments *arguments) {
    struct report report = {0};
    struct machine machine = {0};
    struct launch_file file = {0};
    struct run run = {0};
    const struct run_options run_options = {.seed = 1, .files = &file_access_host};
    uint64_t threads;
    enum status status = arguments_count(arguments, "threads", ORACLE_THREADS, 65536, &threads, &report);
    if (!status)
        status = arguments_launch_file(arguments, &file, &report);
    if (!status)
        status = arguments_machine(arguments, NULL, &machine, &report);
    if (!status)
        status = oracle_prepare(&machine, &report);
    if (!status)
        status = run_open(&run, &file, &machine, &run_options, &report);
    if (!status)
        status = print_launches(&run, (unsigned)threads, &arguments->arena, &report);
    run_close(&run);
    machine_close(&machine);
    return finish(status, &report);
}

const struct command command_oracle = {
    .name = "oracle",
    .operands = "LAUNCH",
    .summary = "Show what the best reconvergence could gain over immediate post-dominators",
    .text = "Runs a launch file functionally with warps of four threads, follows the first threads of each launch, "
            "and aligns the paths of each warp's threads so that they issue together wherever that helps: an upper "
            "bound for every mechanism that does not know the future. Memory takes no time. docs/oracle.md says "
            "more.",
    .examples = "heddle oracle examples/odd_even",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .main = oracle_main,
};
