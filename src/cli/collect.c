/* SPDX-License-Identifier: Apache-2.0 */
/* heddle collect: kernels of Heddle's own that were timed on a card, and the same simulated. */
#include "base/file.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "study/collect_rows.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_LIMIT_BYTES = 1 << 20 };

static const struct option options[] = {
    {"beside", 0, "FILE", "the same kernels on a simulated machine (heddle exec --gpu NAME -- ./calibrate collect)"},
    {"output", 'o', "FILE", "write the rows with cycles, in the format of docs/calibrate.md"},
    OPTION_END,
};

static enum status read_rows(struct arena *arena, const char *path, struct collected_rows *out, struct report *report) {
    char *text = NULL;
    size_t length = 0;
    const enum status status = file_read(path, ROWS_LIMIT_BYTES, arena, &text, &length, report);
    return status ? status : collected_parse(arena, path, text, length, out, report);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_errors(struct arena *arena, const double *errors, unsigned count) {
    double *sizes = ARENA_ARRAY(arena, double, count + 1), sum = 0, all = 0;
    for (unsigned i = 0; i < count; i++)
        sizes[i] = fabs(errors[i]), sum += errors[i], all += sizes[i];
    qsort(sizes, count, sizeof *sizes, by_size);
    if (count)
        print(stdout,
              "\n  %u kernels: mean absolute error %.1f %%, median %.1f %%, signed mean %+.1f %%, largest %.1f %%\n",
              count, 100 * all / count, 50 * (sizes[(count - 1) / 2] + sizes[count / 2]), 100 * sum / count,
              100 * sizes[count - 1]);
}

static void print_rows(struct arena *arena, const struct collected_rows *rows, const struct collected_rows *beside) {
    static const char *const heading[] = {"kernel", "arguments", "µs", "spread", "cycles", "simulated", "error"};
    struct table table = {.arena = arena, .columns = beside ? 7 : 5, .left = 3, .elastic = -1};
    double *errors = ARENA_ARRAY(arena, double, rows->count);
    unsigned count = 0;
    for (unsigned i = 0; i < table.columns; i++)
        table_add(&table, heading[i]);
    for (unsigned i = 0; i < rows->count; i++) {
        const struct collected_row *row = &rows->items[i], *other = beside ? collected_find(beside, row) : NULL;
        table_add(&table, row->kernel);
        table_add(&table, row->arguments);
        table_add(&table, arena_printf(arena, "%.3f", row->microseconds));
        table_add(&table, arena_printf(arena, "%.1f %%", 100 * row->spread));
        table_add(&table, arena_printf(arena, "%.0f", row->microseconds * row->clock_mhz));
        if (other)
            errors[count++] = other->microseconds / row->microseconds - 1;
        if (beside) {
            table_add(&table, other ? arena_printf(arena, "%.3f", other->microseconds) : "-");
            table_add(&table, other ? arena_printf(arena, "%+.1f %%", 100 * errors[count - 1]) : "");
        }
    }
    print(stdout, "%s\n\n", rows->items[0].gpu);
    table_print(&table, stdout);
    if (beside)
        print_errors(arena, errors, count);
}

static int collect_main(struct arguments *arguments) {
    struct report report = {0};
    struct arena *arena = &arguments->arena;
    struct collected_rows rows, other, *beside = arguments_has(arguments, "beside") ? &other : NULL;
    const char *output = arguments_value(arguments, "output");
    enum status status = read_rows(arena, arguments->operands[0], &rows, &report);
    if (!status && beside)
        status = read_rows(arena, arguments_value(arguments, "beside"), beside, &report);
    if (!status)
        print_rows(arena, &rows, beside);
    if (!status && output) {
        const char *text = collected_write(arena, &rows);
        status = write_output(output, text, strlen(text), "the rows", &report);
    }
    return finish(status, &report);
}

const struct command command_collect = {
    .name = "collect",
    .operands = "ROWS",
    .summary = "Compare the times of Heddle's own kernels on a card with those on a simulated machine",
    .text =
        "ROWS is the output of './calibrate collect' on the card; 'heddle calibrate --sources' writes that program. "
        "The same program under 'heddle exec' gives the simulated times. 'heddle calibrate' measures none of these "
        "kernels, so a machine is not judged by the kernels that it was fitted to. docs/calibrate.md says more.",
    .examples = "heddle collect card.csv\n"
                "heddle collect card.csv --beside simulated.csv -o rows.csv",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .main = collect_main,
};
