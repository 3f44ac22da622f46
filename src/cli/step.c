/* SPDX-License-Identifier: Apache-2.0 */
/* heddle step: a launch in time, issue by issue. */
#include "cli/step.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "launch/launch_file.h"

enum { LIMIT_DEFAULT = 2000, LIMIT_MAX = 1000000 };

static const struct option options[] = {
    {"block", 0, "N", "watch this block of the grid; default 0"},
    {"warp", 0, "N", "watch only issues with a thread of this warp of the block"},
    {"sm", 0, "N", "watch all blocks of this SM"},
    {"launch", 0, "N", "the launch of the file to watch, 1 the first; default 1"},
    {"from", 0, "CYCLE|divergence", "begin at this cycle, or where lanes diverge for the first time"},
    {"limit", 0, "N", "issues to keep; default 2000"},
    {"others", 0, NULL, "plain lines: what every warp that did not issue waits for, too"},
    {"html", 0, "FILE", "write one page with a slider, for a browser"},
    {"svg", 0, "FILE", "draw the issues as one picture: lanes across, issues downwards; '-' is standard output"},
    OPTION_GPU,
    OPTION_SET,
    OPTION_DIVERGENCE,
    OPTION_END,
};

static enum status read_filter(const struct arguments *arguments, struct steps_filter *filter, uint64_t *launch,
                               struct report *report) {
    const struct {
        const char *option;
        uint64_t fallback, max;
    } numbers[] = {{"block", 0, UINT64_MAX},
                   {"warp", 0, 1 << 16},
                   {"sm", 0, 1 << 16},
                   {"from", 0, UINT64_MAX},
                   {"limit", LIMIT_DEFAULT, LIMIT_MAX},
                   {"launch", 1, UINT32_MAX}};
    uint64_t values[sizeof numbers / sizeof numbers[0]] = {0};
    const char *from = arguments_value(arguments, "from");
    const bool from_divergence = from && strcmp(from, "divergence") == 0;
    if (from && !from_divergence && !text_to_u64(from, &values[3]))
        return report_add(report, STATUS_INVALID, "--from takes a cycle or the word divergence, not '%s'", from);
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (from_divergence && strcmp(numbers[i].option, "from") == 0)
            continue;
        const enum status status =
            arguments_number(arguments, numbers[i].option, numbers[i].fallback, numbers[i].max, &values[i], report);
        if (status)
            return status;
    }
    *filter = (struct steps_filter){.one_sm = arguments_has(arguments, "sm"),
                                    .one_warp = arguments_has(arguments, "warp"),
                                    .block = values[0],
                                    .warp = (unsigned)values[1],
                                    .sm = (uint32_t)values[2],
                                    .from_cycle = values[3],
                                    .from_divergence = from_divergence,
                                    .most = values[4] ? values[4] : 1};
    filter->one_block = !filter->one_sm || arguments_has(arguments, "block");
    *launch = values[5];
    return STATUS_OK;
}

/* The run need not go on when no more is kept. */
static bool goes_on(void *watcher, const struct launch_progress *progress) {
    (void)progress;
    return !((const struct steps *)watcher)->full;
}

static enum status run_launches(struct run *run, struct steps *steps, unsigned launch, struct report *report) {
    if (launch < 1 || launch > run->file->launch_count)
        return report_add(report, STATUS_INVALID, "--launch takes 1 to %u: %s has so many launches",
                          run->file->launch_count, run->file->name);
    enum status status = STATUS_OK;
    while (!status && run->done < launch) {
        struct report inner = {0};
        struct launch *next = &run->launches[run->done];
        const bool watched = run->done + 1 == launch;
        if (watched)
            next->issues = &steps->observer, next->watch = goes_on, next->watcher = steps;
        status = run_next(run, &inner);
        if (status && watched && steps->full) /* stopped because all that was wanted is here */
            status = STATUS_OK;
        else if (status)
            report_add(report, status, "%s", report_text(&inner));
        report_free(&inner);
    }
    return status;
}

static enum status open_run(struct arguments *arguments, struct launch_file *file, struct machine *machine,
                            struct run *run, struct report *report) {
    const struct run_options run_options = {.seed = 1, .files = &file_access_host, .in_time = true};
    enum status status = arguments_launch_file(arguments, file, report);
    if (!status)
        status = arguments_machine(arguments, NULL, machine, report);
    return status ? status : run_open(run, file, machine, &run_options, report);
}

static enum status show(struct arguments *arguments, struct run *run, struct steps *steps, struct report *report) {
    struct arena *arena = &arguments->arena;
    const char *page = arguments_value(arguments, "html"), *picture = arguments_value(arguments, "svg");
    if (!steps->count)
        return report_add(report, STATUS_INVALID,
                          "nothing was issued there; leave out --block, --warp, --sm or --from, one at a time");
    struct step_view view = {.run = run,
                             .steps = steps,
                             .arena = arena,
                             .sources = run->sources,
                             .others = arguments_has(arguments, "others"),
                             .title = arena_printf(arena, "%s: %s on %s, %s", run->file->name,
                                                   run->launches[run->done - 1].kernel->name, run->machine->name,
                                                   run->machine->divergence_mechanism)};
    if (page || picture) {
        const enum status status = page ? step_html(&view, page, report) : STATUS_OK;
        return status || !picture ? status : step_svg(&view, picture, report);
    }
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        step_print(&view, stdout);
        return STATUS_OK;
    }
    setlocale(LC_CTYPE, "");
    view.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    step_screen(&view);
    return STATUS_OK;
}

static int step_main(struct arguments *arguments) {
    struct report report = {0};
    struct steps_filter filter;
    struct steps steps;
    struct launch_file file;
    struct machine machine = {0};
    struct run run = {0};
    uint64_t launch = 1;
    enum status status = read_filter(arguments, &filter, &launch, &report);
    if (!status)
        status = open_run(arguments, &file, &machine, &run, &report);
    steps_create(&steps, &arguments->arena, &filter);
    if (!status)
        status = run_launches(&run, &steps, (unsigned)launch, &report);
    /* what a launch that stopped had issued before is what one wants to see */
    if (status == STATUS_OK || (status == STATUS_STOPPED && steps.count)) {
        const enum status shown = show(arguments, &run, &steps, &report);
        status = status ? status : shown;
    }
    run_close(&run);
    machine_close(&machine);
    return finish(status, &report);
}

const struct command command_step = {
    .name = "step",
    .operands = "LAUNCH",
    .summary = "Watch warps diverge and reconverge, issue by issue",
    .text = "On a terminal: one issue at a time, by keys; into a file or pipe: a line each. Each issue shows PC, "
            "source line and instruction, active lanes, where they go, the state of the divergence mechanism, and what "
            "the other warps wait for (into a pipe only with --others). In groups of several warps' threads, each lane "
            "shows its warp. docs/step.md says more.",
    .examples = "heddle step examples/collatz --warp 0\n"
                "heddle step examples/collatz --divergence dwf --html collatz.html\n"
                "heddle step examples/collatz --warp 0 --limit 40 --svg collatz.svg",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .main = step_main,
};
