/* SPDX-License-Identifier: Apache-2.0 */
/* heddle why: what holds a launch back. */
#include "base/team.h"
#include "cli/commands.h"
#include "cli/summary.h"
#include "cli/watch.h"
#include "result/lines.h"
#include "study/why.h"
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

struct why_command {
    struct arguments *arguments;
    bool shows; /* progress */
};

static enum status open_machine(void *self, struct machine *machine, struct report *report) {
    return arguments_machine(((const struct why_command *)self)->arguments, NULL, machine, report);
}

static void show_progress(void *self, unsigned runs, unsigned of) {
    if (((const struct why_command *)self)->shows)
        print(stderr, runs < of ? "\r%u of %u runs" : "\r                \r", runs, of);
}

static const char *percent(struct arena *arena, double part) { return arena_printf(arena, "%.1f %%", 100 * part); }

static void add_row(struct table *table, const struct why *why, unsigned place) {
    const struct why_part *part = &why->parts[why->order[place]];
    struct arena *arena = table->arena;
    table_add(table, place < why->worth ? arena_printf(arena, "%u", place + 1) : "");
    table_add(table, part->ideal->title);
    table_add(table, part->status ? "-" : with_commas(arena, part->cycles));
    table_add(table, part->status ? "-" : percent(arena, part->gain));
    table_add(table, part->status ? "-" : percent(arena, part->own));
    table_add(table, part->status || !part->cycles
                         ? "-"
                         : arena_printf(arena, "%.2f x", (double)why->cycles / (double)part->cycles));
}

static void print_table(const struct why *why, struct arena *arena) {
    static const char *const heading[] = {"act", "if there were", "cycles", "time saved", "its own", "faster"};
    struct table table = {.arena = arena, .columns = 6, .left = 1u << 1, .elastic = -1};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < IDEAL_COUNT; i++)
        add_row(&table, why, i);
    print(stdout, "%s on %s: %s cycles; in %.0f %% of the schedulers' slots something issued\n\n",
          why->base->file->name, why->base->machine->name, with_commas(arena, why->cycles), 100 * why->issued);
    table_print(&table, stdout);
    puts("\n  its own: what no narrower part gains already. Gains overlap and do not add up.");
    for (unsigned i = 0; i < IDEAL_COUNT; i++) {
        const struct why_part *part = &why->parts[i];
        if (part->status)
            print(stdout, "  %s was not run: %s", part->ideal->title, part->message);
        else if (!part->same_memory)
            print(
                stdout,
                "  With %s the launch leaves other values in memory: its result depends on the order of its threads.\n",
                part->ideal->title);
    }
}

/* Lines with less of the gain are not shown. */
#define LEAST_SHARE 0.05

static void print_lines(const struct why *why, const struct why_part *part, unsigned most, struct arena *arena) {
    struct table table = {.arena = arena, .columns = 4, .left = 1u << 3 | 3, .elastic = 1};
    static const char *const heading[] = {"line", "source", "of the gain", "waits for"};
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < part->line_count && i < most && part->lines[i].share >= LEAST_SHARE; i++) {
        const struct why_line *line = &part->lines[i];
        const struct line_stats at = {.file = line->file, .line = line->line};
        summary_add_line(&table, why->base, &at);
        table_add(&table, percent(arena, line->share));
        table_add(&table, line->wait);
    }
    if (part->line_count && most)
        table_print(&table, stdout);
}

static void print_acts(const struct why *why, unsigned most, struct arena *arena) {
    for (unsigned i = 0; i < why->worth; i++) {
        const struct why_part *part = &why->parts[why->order[i]];
        fputc('\n', stdout);
        text_wrap(arena_printf(arena, "%u. %s would save %.0f %%: %s.", i + 1, part->ideal->title, 100 * part->gain,
                               part->ideal->act),
                  3, stdout);
        print_lines(why, part, most, arena);
    }
    if (!why->worth)
        text_wrap(arena_printf(arena,
                               "\nNone of these parts alone would save %.0f %%: the launch is held by the instructions "
                               "it issues, or by how they wait for each other.",
                               100 * WHY_LEAST_GAIN),
                  0, stdout);
}

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
    struct why_command session = {arguments, !quiet && isatty(STDERR_FILENO)};
    uint64_t threads, lines, seed;
    enum status status = arguments_number(arguments, "threads", team_processors(), 4096, &threads, &report);
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
                                                .open = open_machine,
                                                .done = show_progress,
                                                .self = &session};
        status = why_run(&why, &file, &why_options, &report);
    }
    const bool analysed = !status || status == STATUS_WRONG;
    if (analysed && !quiet) {
        print_table(&why, &arguments->arena);
        print_acts(&why, (unsigned)lines, &arguments->arena);
    }
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
            "more warps, and shared memory without bank conflicts, on all processors. Shows what each would gain, in "
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
