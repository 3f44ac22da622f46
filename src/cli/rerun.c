/* SPDX-License-Identifier: Apache-2.0 */
/* heddle rerun: a stored result run again from what it recorded. */
#include "store/rerun.h"

#include <stdio.h>

#include "cli/commands.h"

static const struct option options[] = {
    {"quiet", 'q', NULL, "print nothing when all is equal"},
    OPTION_END,
};

static int rerun_main(struct arguments *arguments) {
    struct report report = {0};
    struct rerun rerun;
    const char *path = arguments->operands[0];
    const enum status status = rerun_result(path, &arguments->arena, &rerun, &report);
    if (!status && !arguments_has(arguments, "quiet"))
        print(stdout, "%s: the same again, host apart\n", path);
    for (unsigned i = 0; i < rerun.count && i < RERUN_SHOWN; i++)
        print(stdout, "  %s: %s, now %s\n", rerun.shown[i].path, rerun.shown[i].before, rerun.shown[i].after);
    if (rerun.count)
        print(stdout, "%s: %u differences\n", path, rerun.count);
    return finish(status, &report);
}

const struct command command_rerun = {
    .name = "rerun",
    .operands = "RESULT.json",
    .summary = "Run again what a result file records, and compare",
    .text = "Takes a result of 'heddle run -o' or of a store (docs/sweeps.md). Everything but the member 'host' must "
            "be the same; otherwise the exit status is 1.",
    .examples = "heddle rerun result.json",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .main = rerun_main,
};
