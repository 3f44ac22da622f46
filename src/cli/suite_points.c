/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suite_points.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/points.h"
#include "cli/table.h"
#include "store/collect.h"

/* "[a, b]" of "a,b"; files by their whole path, for the sweep lies elsewhere. */
static const char *list_text(struct arena *arena, const char *values) {
    const char *out = "[";
    while (*values) {
        const size_t length = strcspn(values, ",");
        const char *one = arena_strndup(arena, values, length);
        char whole[PATH_MAX];
        if ((strchr(one, '/') || file_ends_in(one, ".yaml")) && realpath(one, whole))
            one = whole;
        out = arena_printf(arena, "%s%s\"%s\"", out, out[1] ? ", " : "", one);
        values += length + (values[length] == ',');
    }
    return arena_printf(arena, "%s]", out);
}

/* The sweep that the command line means. */
static enum status sweep_text(struct arguments *arguments, const char **out, struct report *report) {
    static const char *const refused[] = {"output", "max-cycles", "max-instructions", "lines"};
    struct arena *arena = &arguments->arena;
    const char *size, *gpu = arguments_value(arguments, "gpu"), *keys = "", *names = "";
    uint64_t seed;
    enum status status = points_size(arguments, &size, report);
    if (!status)
        status = arguments_number(arguments, "seed", 1, SUITE_SEED_MAX, &seed, report);
    if (status)
        return status;
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++)
        if (arguments_has(arguments, refused[i]))
            return report_add(report, STATUS_INVALID, "--%s does not go with --backend: results are in the store",
                              refused[i]);
    for (unsigned i = 1; i < arguments->operand_count; i++)
        names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", arguments->operands[i]);
    for (unsigned i = 0; i < arguments->given.count; i++) {
        const struct argument *given = &arguments->given.items[i];
        const char *equals = strchr(given->value, '=');
        if (strcmp(given->option->name, "divergence") == 0)
            keys = arena_printf(arena, "%s  divergence.mechanism: %s\n", keys, list_text(arena, given->value));
        if (strcmp(given->option->name, "set") == 0 && !equals)
            return report_add(report, STATUS_INVALID, "--set: '%s' is not KEY=VALUE", given->value);
        if (strcmp(given->option->name, "set") == 0)
            keys = arena_printf(arena, "%s  %.*s: %s\n", keys, (int)(equals - given->value), given->value,
                                list_text(arena, equals + 1));
    }
    *out = arena_printf(arena, "name: suite\nworkloads: [%s]\nsize: %s\nseed: %llu\nfunctional: %s\ngpu: %s\n%s%s",
                        names, size ? size : "test", (unsigned long long)seed,
                        arguments_has(arguments, "functional") ? "true" : "false",
                        list_text(arena, gpu ? gpu : MACHINE_DEFAULT), *keys ? "set:\n" : "", keys);
    return STATUS_OK;
}

static const char *cell(const struct collection *c, uint64_t row, const char *name, struct arena *arena) {
    for (unsigned i = 0; i < c->measures.count; i++) {
        const struct collect_value value = collect_value(c, row, i);
        if (strcmp(c->measures.items[i], name) == 0 && value.kind != COLLECT_NONE)
            return value.kind == COLLECT_WHOLE ? with_commas(arena, (uint64_t)value.whole)
                                               : arena_printf(arena, "%.4g", value.real);
    }
    return "";
}

static void print_points(const struct collection *c, struct arena *arena) {
    static const char *const measures[] = {"cycles", "ipc", "simd_efficiency"};
    struct table table = {.arena = arena, .columns = 5, .left = 3, .elastic = 0};
    table_add(&table, "workload");
    table_add(&table, "");
    for (unsigned k = 0; k < 3; k++)
        table_add(&table, measures[k]);
    for (uint64_t row = 0; row < c->plan->count; row++) {
        table_add(&table, sweep_label(c->sweep, c->plan->points[row].number, arena));
        table_add(&table, plan_state_name(&c->plan->points[row]));
        for (unsigned k = 0; k < 3; k++)
            table_add(&table, cell(c, row, measures[k], arena));
    }
    table_print(&table, stdout);
}

enum status suite_points(struct arguments *arguments, struct report *report) {
    struct arena *arena = &arguments->arena;
    struct store store;
    struct sweep sweep;
    struct plan plan = {0};
    struct collection collection = {0};
    struct sweep_source source = {0};
    const char *text = NULL;
    enum status status = sweep_text(arguments, &text, report);
    if (!status)
        status = store_open(&store, arguments_value(arguments, "store"), arena, report);
    if (!status)
        status = job_keep_sweep(&store, text, &source.path, report);
    if (!status)
        status = sweep_parse(arena, &source, text, strlen(text), &sweep, report);
    if (!status)
        status = sweep_find_programs(&sweep, &points_finder, report);
    if (!status)
        status = plan_make(&sweep, &store, &plan, report);
    if (!status)
        status = points_run(arguments, &store, "suite", &plan, 1, report);
    if (!status)
        status = collect_read(&plan, &store, &(struct collect_options){0}, &collection, report);
    if (!status && !arguments_has(arguments, "quiet"))
        print_points(&collection, arena);
    if (!status && plan.failed)
        status = report_add(report, STATUS_WRONG, "'heddle sweep status %s' says why points failed", source.path);
    collect_free(&collection);
    return status;
}
