/* SPDX-License-Identifier: Apache-2.0 */
/* heddle why: what holds a launch back. */
#include "base/team.h"
#include "cli/commands.h"
#include "cli/why_print.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option options[] = {
    OPTION_GPU,
    OPTION_SET,
    OPTION_DIVERGENCE,
    {"output", 'o', "FILE", "write the analysis as JSON; '-' is standard output, and nothing else goes there"},
    {"seed", 0, "N", "seed of random fills that give none; default 1"},
    {"threads", 0, "N", "runs at a time; default: as many as the computer has processors"},
    {"lines", 0, "N", "source lines to show for each part; default 3"},
    {"quiet", 'q', NULL, "no table, no progress"},
    OPTION_END,
};

static enum status write_analysis(struct why *why, const char *path, struct arena *arena, struct report *report) {
    size_t length;
    char *text = why_write(why, arena, &length);
    return write_output(path, text, length, "the analysis", report);
}

static int why_main(struct arguments *arguments) {
    struct report report = {0};
    struct launch_file file = {0};
    struct why why = {0};
    const char *output = arguments_value(arguments, "output");
    const bool quiet = arguments_has(arguments, "quiet") || (output && strcmp(output, "-") == 0);
    struct why_session session = {arguments, !quiet && isatty(STDERR_FILENO)};
    uint64_t threads, lines, seed;
    enum status status = arguments_count(arguments, "threads", team_processors(), 4096, &threads, &report);
    if (!status)
        status = arguments_number(arguments, "lines", 3, 1000000, &lines, &report);
    if (!status)
        status = arguments_number(arguments, "seed", 1, (UINT64_C(1) << 53) - 1, &seed, &report);
    if (!status)
        status = arguments_launch_file(arguments, &file, &report);
    if (!status && output)
        status = check_writable(&arguments->arena, "output", output, &report);
    if (!status) {
        const struct why_options why_options = {.seed = seed,
                                                .files = &file_access_host,
                                                .threads = (unsigned)threads,
                                                .open = why_open_machine,
                                                .done = why_show_progress,
                                                .self = &session};
        status = why_run(&why, &file, &why_options, &report);
    }
    const bool analysed = !status || status == STATUS_WRONG;
    if (analysed && !quiet)
        why_print(&why, (unsigned)lines, &arguments->arena, stdout);
    if (analysed && output) {
        const enum status written = write_analysis(&why, output, &arguments->arena, &report);
        status = written ? written : status;
    }
    why_close(&why);
    return finish(status, &report);
}

const struct command command_why = {
    .name = "why",
    .operands = "LAUNCH",
    .summary = "Show what holds a launch back: repeat it with one ideal part of the machine at a time",
    .text = "Runs a launch file as the machine is, and again with a perfect L1, a perfect L2, a perfect DRAM, "
            "infinite bandwidth, memory without latency, no divergence, unlimited MSHRs, barriers that cost nothing, "
            "registers and shared memory for all blocks, no spills, more warps, and shared memory without bank "
            "conflicts, on all "
            "processors. Shows what each would gain, in "
            "which order to act, and at which source lines. docs/why.md says what each part is.",
    .examples =
        "heddle why examples/matmul\n"
        "heddle why examples/matmul -o why.json && heddle run examples/matmul -o r.json && heddle report r.json "
        "why.json",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .main = why_main,
};
