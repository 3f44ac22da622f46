/* SPDX-License-Identifier: Apache-2.0 */
/* heddle compare --table: results of any programs, a row for each. */
#include "cli/compare_table.h"
#include "cli/commands.h"
#include "cli/energy.h"
#include "cli/table.h"
#include "result/read.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum column_kind { COLUMN_COUNT, COLUMN_RATE, COLUMN_SHARE, COLUMN_MICRO };

/* A counter of 'total', by its path. */
struct column {
    const char *heading, *path;
    enum column_kind kind;
};

static const struct column in_time[] = {
    {"launches", "launches", COLUMN_COUNT},
    {"cycles", "cycles", COLUMN_COUNT},
    {"IPC", "ipc", COLUMN_RATE},
    {"warp instr.", "warp_instructions", COLUMN_COUNT},
    {"SIMD %", "simd_efficiency", COLUMN_SHARE},
    {"divergent", "divergent_branches", COLUMN_COUNT},
    {"L1 hit %", "memory.l1.hit_rate", COLUMN_SHARE},
    {"L2 hit %", "memory.l2.hit_rate", COLUMN_SHARE},
    {"DRAM bytes", "memory.dram.bytes", COLUMN_COUNT},
    {"row hit %", "memory.dram.row_hit_rate", COLUMN_SHARE},
    {"bandwidth %", "memory.dram.bandwidth_utilisation", COLUMN_SHARE},
    {"µJ", "energy.total", COLUMN_MICRO}, /* these two where all have them */
    {"W", "energy.power", COLUMN_RATE},
};
enum { ENERGY_COLUMNS = 2 };
static const struct column functional[] = {
    {"launches", "launches", COLUMN_COUNT},
    {"warp instr.", "warp_instructions", COLUMN_COUNT},
    {"thread instr.", "thread_instructions", COLUMN_COUNT},
    {"SIMD %", "simd_efficiency", COLUMN_SHARE},
    {"branches", "branches", COLUMN_COUNT},
    {"divergent", "divergent_branches", COLUMN_COUNT},
    {"reads", "memory_reads", COLUMN_COUNT},
    {"writes", "memory_writes", COLUMN_COUNT},
};

/* What of a result file the table needs. */
struct result_row {
    const char *label, *machine;
    bool is_timed, is_complete;
    unsigned judged;                                   /* kernels of a card that its energies were held against */
    double error;                                      /* NAN: not known */
    double values[sizeof in_time / sizeof in_time[0]]; /* NAN: the file does not have it */
};

static double value_at(const json_t *object, const char *path) {
    char part[32];
    for (;;) {
        const size_t length = strcspn(path, ".");
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        object = json_object_get(object, part);
        if (!path[length])
            return json_is_number(object) ? json_number_value(object) : NAN;
        path += length + 1;
    }
}

static const char *cell(struct arena *arena, const struct column *column, double value) {
    if (isnan(value))
        return "-";
    if (column->kind == COLUMN_COUNT && value >= 0 && value < 0x1p63)
        return with_commas(arena, (uint64_t)value);
    if (column->kind == COLUMN_MICRO)
        return arena_printf(arena, "%.1f", value * 1e-3);
    return arena_printf(arena, "%.1f", column->kind == COLUMN_SHARE ? 100 * value : value);
}

/* How much of all paths is one folder, which every label would begin with. */
static size_t common_folder(const char *const *paths, unsigned count) {
    size_t length = strlen(paths[0]);
    for (unsigned i = 1; i < count; i++)
        for (size_t at = 0; at < length; at++)
            if (paths[i][at] != paths[0][at])
                length = at;
    while (length && paths[0][length - 1] != '/')
        length--;
    return length;
}

static const char *label_of(struct arena *arena, const char *name) {
    const size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0 ? arena_strndup(arena, name, length - 5) : name;
}

static enum status read_row(struct arena *arena, const char *path, struct result_row *row, struct report *report) {
    json_t *root = NULL;
    const enum status status = result_read(arena, path, &root, report);
    if (status)
        return status;
    const json_t *total = json_object_get(root, "total");
    const char *mode = json_string_value(json_object_get(root, "mode"));
    const char *machine = json_string_value(json_object_get(json_object_get(root, "machine"), "name"));
    row->is_timed = mode && strcmp(mode, "timed") == 0;
    row->is_complete = json_is_true(json_object_get(root, "complete"));
    row->error = value_at(total, "energy.error");
    row->judged = isnan(row->error) ? 0 : (unsigned)value_at(total, "energy.judged");
    row->machine = arena_strdup(arena, machine ? machine : "");
    const struct column *columns = row->is_timed ? in_time : functional;
    const size_t count = row->is_timed ? sizeof in_time / sizeof *in_time : sizeof functional / sizeof *functional;
    for (size_t i = 0; i < count; i++)
        row->values[i] = value_at(total, columns[i].path);
    json_decref(root);
    return STATUS_OK;
}

static bool have_energy(const struct result_row *rows, unsigned count) {
    bool all = true;
    for (unsigned i = 0; i < count; i++)
        all &= rows[i].is_timed && !isnan(rows[i].values[sizeof in_time / sizeof *in_time - ENERGY_COLUMNS]);
    return all;
}

/* How far they may be from a card's: said once where it is the same of all. */
static void print_errors(const struct result_row *rows, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        bool before = false;
        for (unsigned k = 0; k < i; k++)
            before |= strcmp(rows[k].machine, rows[i].machine) == 0;
        if (!before)
            energy_print_error(rows[i].machine, rows[i].judged, rows[i].error, stdout);
    }
}

static void print_table(struct arena *arena, const struct result_row *rows, unsigned count, bool show_machines) {
    const struct column *columns = rows[0].is_timed ? in_time : functional;
    const unsigned all =
        (unsigned)(rows[0].is_timed ? sizeof in_time / sizeof *in_time : sizeof functional / sizeof *functional);
    const bool with_energy = have_energy(rows, count);
    const unsigned figures = rows[0].is_timed && !with_energy ? all - ENERGY_COLUMNS : all;
    struct table table = {
        .arena = arena, .columns = figures + 1 + show_machines, .left = show_machines ? 3 : 1, .elastic = 0};
    table_add(&table, "result");
    if (show_machines)
        table_add(&table, "machine");
    for (unsigned i = 0; i < figures; i++)
        table_add(&table, columns[i].heading);
    for (unsigned k = 0; k < count; k++) {
        table_add(&table,
                  rows[k].is_complete ? rows[k].label : arena_printf(arena, "%s (not complete)", rows[k].label));
        if (show_machines)
            table_add(&table, rows[k].machine);
        for (unsigned i = 0; i < figures; i++)
            table_add(&table, cell(arena, &columns[i], rows[k].values[i]));
    }
    table_print(&table, stdout);
    if (with_energy)
        print_errors(rows, count);
}

enum status compare_table(struct arena *arena, const char *const *paths, unsigned count, struct report *report) {
    struct result_row *rows = ARENA_ARRAY(arena, struct result_row, count);
    const size_t folder = common_folder(paths, count);
    bool one_machine = true;
    for (unsigned i = 0; i < count; i++) {
        const enum status status = read_row(arena, paths[i], &rows[i], report);
        if (status)
            return status;
        rows[i].label = label_of(arena, paths[i] + folder);
        one_machine &= strcmp(rows[i].machine, rows[0].machine) == 0;
        if (rows[i].is_timed != rows[0].is_timed)
            return report_add(report, STATUS_INVALID, "%s is a run in time and %s is not; one table cannot hold both",
                              paths[rows[i].is_timed ? i : 0], paths[rows[i].is_timed ? 0 : i]);
    }
    print(stdout, "%u result%s%s%s, %s\n\n", count, count == 1 ? "" : "s", one_machine ? " on " : "",
          one_machine ? rows[0].machine : "", rows[0].is_timed ? "in time" : "functional");
    print_table(arena, rows, count, !one_machine);
    return STATUS_OK;
}
