/* SPDX-License-Identifier: Apache-2.0 */
/* heddle plot: result files drawn as SVG. */
#include "base/file.h"
#include "cli/commands.h"
#include "result/compare.h"
#include "result/plot_results.h"
#include <string.h>

static const struct option options[] = {
    {"values", 0, "NAMES", "what to draw, a panel each, separated by commas; default active_lanes,threads_unfinished"},
    {"output", 'o', "FILE", "where to write the SVG; default plot.svg"},
    {"title", 0, "TEXT", "the heading"},
    {"names", 0, "NAMES", "names of the files, separated by commas; default: values of the keys in which they differ"},
    OPTION_END,
};

/* The parts of "a,b,c", the last NULL. */
static const char **split(struct arena *arena, const char *text) {
    unsigned count = 2;
    for (const char *at = text; *at; at++)
        count += *at == ',';
    const char **parts = ARENA_ARRAY(arena, const char *, count);
    for (unsigned i = 0; *text; i++) {
        const size_t length = strcspn(text, ",");
        parts[i] = arena_strndup(arena, text, length);
        text += length + (text[length] == ',');
    }
    return parts;
}

static enum status rename_files(struct arena *arena, const char *text, struct plot *plot, struct report *report) {
    const char **names = split(arena, text);
    unsigned count = 0;
    for (; names[count]; count++)
        if (count < plot->series_count)
            plot->names[count] = names[count];
    return count == plot->series_count
               ? STATUS_OK
               : report_add(report, STATUS_INVALID, "--names: %u names for %u files", count, plot->series_count);
}

static int plot_main(struct arguments *arguments) {
    struct report report = {0};
    struct arena *arena = &arguments->arena;
    struct plot plot;
    const char *values = arguments_value(arguments, "values"), *path = arguments_value(arguments, "output");
    const char *title = arguments_value(arguments, "title"), *names = arguments_value(arguments, "names");
    enum status status =
        plot_results(arena, arguments->operands, arguments->operand_count,
                     split(arena, values ? values : "active_lanes,threads_unfinished"), &plot, &report);
    if (!status && names)
        status = rename_files(arena, names, &plot, &report);
    if (!status) {
        size_t length;
        plot.title = title ? title : "";
        const char *text = plot_svg(&plot, arena, &length);
        status = file_write(path ? path : "plot.svg", text, length, &report);
    }
    return finish(status, &report);
}

const struct command command_plot = {
    .name = "plot",
    .operands = "A.json ...",
    .summary = "Draw results: series over cycles as lines, counters as bars, in one SVG file",
    .text = "Takes one to eight results of 'heddle run -o'. A series (docs/result-files.md) is drawn over the cycles "
            "of the run, counts as counts per cycle. Any other name is a counter of the total, such as ipc or "
            "memory.l1.hit_rate, and is drawn as bars.",
    .manual = "The file needs nothing else, and follows the viewer's light or dark mode.",
    .examples = "heddle plot r-1.json r-2.json --values threads_unfinished,dram_bytes,cycles -o r.svg",
    .options = options,
    .operands_min = 1,
    .operands_max = COMPARE_MAX,
    .main = plot_main,
};
