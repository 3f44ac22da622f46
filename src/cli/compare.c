/* SPDX-License-Identifier: Apache-2.0 */
/* heddle compare: result files side by side. */
#include "result/compare.h"
#include "cli/commands.h"
#include "cli/compare_table.h"
#include "cli/energy.h"
#include "cli/table.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"fail-above", 0, "PERCENT",
     "exit with status 1 when cycles (functional: warp instructions) grew by more than this, such as 2%, or a run was "
     "not complete"},
    {"all", 'a', NULL, "show every counter, changed or not"},
    {"lines", 0, "N", "source lines to show; default 5"},
    {"table", 0, NULL, "one row for each of any number of results, of any programs; no changes are shown"},
    OPTION_END,
};

/* What is shown without --all. Counters of slots and stalls are shown as they are: their sum says what a share is. */
static bool is_main(const char *name) {
    static const char *const names[] = {"cycles",
                                        "ipc",
                                        "warp_instructions",
                                        "thread_instructions",
                                        "simd_efficiency",
                                        "divergent_branches",
                                        "memory.transactions",
                                        "memory.l1.hit_rate",
                                        "memory.l1.misses",
                                        "memory.l2.hit_rate",
                                        "memory.l2.misses",
                                        "memory.dram.requests",
                                        "memory.dram.row_hit_rate",
                                        "memory.dram.bandwidth_utilisation",
                                        "energy.total",
                                        "energy.power"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "cycle_classes.", 14) == 0 || strncmp(name, "stalls.", 7) == 0;
}

static const char *change_text(struct arena *arena, double from, double to) {
    if (from == to)
        return "=";
    return from != 0 ? arena_printf(arena, "%+.1f %%", 100 * (to - from) / from) : "new";
}

static void add_value(struct table *table, const struct compare_counter *counter, unsigned file) {
    struct arena *arena = table->arena;
    if (!(counter->present >> file & 1))
        table_add(table, "-");
    else if (counter->is_whole)
        table_add(table, with_commas(arena, (uint64_t)counter->values[file]));
    else
        table_add(table, arena_printf(arena, "%.4g", counter->values[file]));
}

/* "A", "B", "change", "C", "change" … */
static struct table start(struct arena *arena, const struct comparison *comparison, const char *what, bool text) {
    struct table table = {
        .arena = arena, .columns = 2 * comparison->count + text, .left = text ? 3 : 1, .elastic = text ? 1 : 0};
    table_add(&table, what);
    if (text)
        table_add(&table, "source");
    for (unsigned i = 0; i < comparison->count; i++) {
        table_add(&table, arena_printf(arena, "%c", 'A' + (int)i));
        if (i)
            table_add(&table, "change");
    }
    return table;
}

/* Beside energies stands how far they may be from a card's. */
static void print_energy_errors(const struct comparison *comparison) {
    const struct compare_counter *energy = compare_find(comparison, "energy.total");
    const struct compare_counter *error = compare_find(comparison, "energy.error");
    const struct compare_counter *judged = compare_find(comparison, "energy.judged");
    for (unsigned i = 0; energy && i < comparison->count; i++) {
        bool before = false;
        for (unsigned k = 0; k < i; k++)
            before |= strcmp(comparison->machines[k], comparison->machines[i]) == 0;
        if (before || !(energy->present >> i & 1))
            continue;
        const bool known = error && judged && error->present >> i & 1;
        energy_print_error(comparison->machines[i], known ? (unsigned)judged->values[i] : 0,
                           known ? error->values[i] : 0, stdout);
    }
}

static void print_counters(const struct comparison *comparison, bool all, struct arena *arena) {
    struct table table = start(arena, comparison, "counter", false);
    unsigned shown = 0, hidden = 0;
    for (unsigned i = 0; i < comparison->counters.count; i++) {
        const struct compare_counter *counter = &comparison->counters.items[i];
        const bool head = strcmp(counter->name, "cycles") == 0 || strcmp(counter->name, "warp_instructions") == 0;
        if (!all && !head && (!is_main(counter->name) || !counter->changed)) {
            hidden += counter->changed;
            continue;
        }
        shown++;
        table_add(&table, counter->name);
        for (unsigned k = 0; k < comparison->count; k++) {
            add_value(&table, counter, k);
            if (k)
                table_add(&table, change_text(arena, counter->values[0], counter->values[k]));
        }
    }
    putchar('\n');
    if (shown)
        table_print(&table, stdout);
    if (hidden)
        print(stdout, "  and %u more counters that changed; --all shows every one\n", hidden);
    print_energy_errors(comparison);
}

static void print_settings(const struct comparison *comparison, struct arena *arena) {
    if (!comparison->settings.count)
        return;
    struct table table = {.arena = arena, .columns = comparison->count + 1, .left = 1, .elastic = -1};
    table_add(&table, "key of the machine");
    for (unsigned i = 0; i < comparison->count; i++)
        table_add(&table, arena_printf(arena, "%c", 'A' + (int)i));
    for (unsigned i = 0; i < comparison->settings.count; i++) {
        table_add(&table, comparison->settings.items[i].key);
        for (unsigned k = 0; k < comparison->count; k++)
            table_add(&table, comparison->settings.items[i].values[k]);
    }
    putchar('\n');
    table_print(&table, stdout);
}

static void print_lines(const struct comparison *comparison, unsigned limit, struct arena *arena) {
    if (!comparison->lines.count || !limit)
        return;
    struct table table = start(arena, comparison, comparison->in_time ? "cycles by line" : "warp instructions", true);
    for (unsigned i = 0; i < comparison->lines.count && i < limit; i++) {
        const struct compare_line *line = &comparison->lines.items[i];
        table_add(&table, line->place);
        table_add(&table, line->text + strspn(line->text, " \t"));
        for (unsigned k = 0; k < comparison->count; k++) {
            table_add(&table, with_commas(arena, line->counts[k]));
            if (k)
                table_add(&table, change_text(arena, (double)line->counts[0], (double)line->counts[k]));
        }
    }
    putchar('\n');
    table_print(&table, stdout);
}

static enum status read_percent(const char *text, double *out, struct report *report) {
    char *end;
    *out = strtod(text, &end);
    if (*end == '%')
        end++;
    if (end == text || *end || !isfinite(*out) || *out < 0)
        return report_add(report, STATUS_INVALID, "--fail-above takes a percentage such as 2%%, not '%s'", text);
    return STATUS_OK;
}

static enum status judge(const struct comparison *comparison, double limit, struct report *report) {
    const char *name = comparison->in_time ? "cycles" : "warp_instructions";
    const struct compare_counter *counter = compare_find(comparison, name);
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < comparison->count; i++)
        if (!comparison->complete[i])
            status = report_add(report, STATUS_WRONG, "%s: the run was not complete", comparison->names[i]);
    if (!counter)
        return report_add(report, STATUS_INVALID, "the results have no '%s'", name);
    for (unsigned i = 1; i < comparison->count; i++) {
        const double from = counter->values[0], to = counter->values[i];
        if (to > from * (1 + limit / 100))
            status =
                report_add(report, STATUS_WRONG, "%s: %s grew from %.0f to %.0f, %+.2f %%: more than %g %%",
                           comparison->names[i], name, from, to, from > 0 ? 100 * (to - from) / from : INFINITY, limit);
    }
    return status;
}

static int compare_main(struct arguments *arguments) {
    struct report report = {0};
    struct comparison comparison;
    struct arena *arena = &arguments->arena;
    const char *fail = arguments_value(arguments, "fail-above");
    uint64_t lines = 5;
    double limit = 0;
    enum status status = arguments_number(arguments, "lines", 5, 1000000, &lines, &report);
    if (!status && arguments_has(arguments, "table")) {
        status = fail ? report_add(&report, STATUS_INVALID,
                                   "--table shows no changes for --fail-above to judge; leave one out")
                      : compare_table(arena, arguments->operands, arguments->operand_count, &report);
        return finish(status, &report);
    }
    if (!status && (arguments->operand_count < 2 || arguments->operand_count > COMPARE_MAX))
        status = report_add(&report, STATUS_INVALID,
                            "heddle compare takes 2 to %d results, not %u; --table takes any number", COMPARE_MAX,
                            arguments->operand_count);
    if (!status && fail)
        status = read_percent(fail, &limit, &report);
    if (!status)
        status = compare_read(arena, arguments->operands, arguments->operand_count, &comparison, &report);
    if (status)
        return finish(status, &report);
    for (unsigned i = 0; i < comparison.count; i++)
        print(stdout, "%c: %s on %s%s\n", 'A' + (int)i, comparison.names[i], comparison.machines[i],
              comparison.complete[i] ? "" : ", NOT complete");
    if (!comparison.same_module)
        puts("the kernels are not the same");
    if (!comparison.same_memory)
        puts("the buffers do not end with the same contents");
    print_counters(&comparison, arguments_has(arguments, "all"), arena);
    print_settings(&comparison, arena);
    print_lines(&comparison, (unsigned)lines, arena);
    if (fail)
        status = judge(&comparison, limit, &report);
    fflush(stdout);
    return finish(status, &report);
}

const struct command command_compare = {
    .name = "compare",
    .operands = "A.json B.json ...",
    .summary = "Show results side by side: what changed, by how much, in which lines",
    .text = "Takes two to eight results of 'heddle run -o' or 'heddle exec -o'; changes are relative to the first. "
            "--table takes any number of results and shows one row for each.",
    .manual = "Shows counters that changed and by how much, keys of the machine that differ, and the source lines that "
              "changed most.",
    .examples = "heddle compare before.json after.json --fail-above 2%\n"
                "heddle compare --table bfs.json hotspot.json lud.json",
    .options = options,
    .operands_min = 1,
    .operands_max = UINT_MAX,
    .main = compare_main,
};
