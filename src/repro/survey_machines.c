/* SPDX-License-Identifier: Apache-2.0 */
/* What each machine says of each mechanism before anything is run: whether it refuses it, what hardware it takes, and how large an L1 makes
 * areas equal; and the sweep that follows. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cost/cost.h"
#include "machine/machine.h"
#include "repro/survey.h"

struct weighing {
    struct survey *survey;
    struct arena *arena;
    struct cost_model model;
    double way_mm2; /* of a way of the L1 at hand */
    uint64_t way_bytes, l1_bytes, ways;
};

/* The last line of what was said: what goes before it names the place. */
static const char *reason_of(struct arena *arena, const struct report *report) {
    char *text = arena_strdup(arena, report_text(report));
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    while (*text && text[strlen(text) - 1] == ' ')
        text[strlen(text) - 1] = 0;
    return text;
}

static enum status set_key(const struct weighing *w, struct machine *machine, const char *key, const char *value,
                           struct report *report) {
    return machine_set(machine, arena_printf(w->arena, "%s=%s", key, value), "--set", report);
}

/* With the column's keys and, where ways is not 0, such an L1. */
static enum status set_machine(const struct weighing *w, const struct survey_column *column, const char *gpu,
                               uint64_t ways, struct machine *machine, struct report *report) {
    const char *bytes = arena_printf(w->arena, "%" PRIu64, ways * w->way_bytes);
    enum status status = machine_open(machine, gpu, report);
    if (!status && !column->set)
        status = set_key(w, machine, "divergence.mechanism", column->name, report);
    for (unsigned i = 0; !status && column->set && i < column->set->count; i++)
        status = set_key(w, machine, column->set->keys[i]->text, column->set->items[i]->text, report);
    if (!status && ways)
        status = set_key(w, machine, "l1.ways", arena_printf(w->arena, "%llu", (unsigned long long)ways), report);
    return status || !ways ? status : set_key(w, machine, "l1.size_bytes", bytes, report);
}

/* As a run in time would be. */
static enum status check_machine(const struct machine *machine, struct report *report) {
    const enum status status = machine_check(machine, report);
    return status ? status : machine_check_timed(machine, report);
}

/* A bank for each way, a line and its tag in each entry, ports as a stack has them. */
static void measure_l1(struct weighing *w, const struct machine *machine) {
    enum { TAG_BITS = 24 };
    const struct cache_params *l1 = &machine->l1;
    const uint64_t line = l1->line_bytes ? l1->line_bytes : 128;
    w->l1_bytes = l1->size_bytes, w->ways = l1->ways ? l1->ways : 1;
    w->way_bytes = w->l1_bytes / w->ways;
    const struct cost_structure way = {.name = "L1",
                                       .fields = "",
                                       .kind = COST_CACHE,
                                       .entries = w->way_bytes / line,
                                       .tag_bits = TAG_BITS,
                                       .arrays = {{1, TAG_BITS + 8 * (unsigned)line, 1, 1}}};
    w->way_mm2 = cost_area_mm2(&w->model, &way);
}

/* Keys that are none are a mistake; values that this machine cannot have together are its refusal. */
static enum status weigh(struct weighing *w, const struct survey_column *column, const struct survey_machine *on,
                         struct survey_cell *cell, struct report *report) {
    struct machine machine = {0};
    struct cost cost = {.arena = w->arena};
    struct report inner = {0};
    *cell = (struct survey_cell){0};
    enum status status = set_machine(w, column, on->gpu, 0, &machine, &inner);
    if (status) {
        report_add(report, status, "%s on %s: %s", column->name, on->name, report_text(&inner));
    } else if (check_machine(&machine, &inner) != STATUS_OK && !machine_own(&machine, OWN_MECHANISM)) {
        status = report_add(report, STATUS_INVALID, "%s'heddle survey --list' lists mechanisms", report_text(&inner));
    } else if (inner.messages) {
        cell->refused = reason_of(w->arena, &inner);
    } else if (machine_cost(&machine, &cost, NULL) == STATUS_OK) {
        cell->note = machine_note(&machine, w->arena);
        measure_l1(w, &machine);
        for (unsigned i = 0; i < cost.count; i++) {
            cell->bits += cost_bits(&cost.items[i]);
            cell->mm2 += cost_area_mm2(&w->model, &cost.items[i]);
        }
    }
    machine_close(&machine);
    report_free(&inner);
    return status;
}

/* Whether the machine with the larger L1 can be; what it says where not. */
static const char *try_equal(const struct weighing *w, const struct survey_column *grown, const char *gpu,
                             uint64_t ways) {
    struct machine machine = {0};
    struct report inner = {0};
    const char *out = NULL;
    enum status status = set_machine(w, grown, gpu, ways, &machine, &inner);
    if (!status)
        status = check_machine(&machine, &inner);
    if (status)
        out = reason_of(w->arena, &inner);
    machine_close(&machine);
    report_free(&inner);
    return out;
}

static void make_equal(struct weighing *w, const struct survey_column *column, const struct survey_column *base,
                       const struct survey_machine *on, const struct survey_cell *base_cell, struct survey_cell *cell) {
    const double difference = cell->mm2 - base_cell->mm2;
    const uint64_t more = w->way_mm2 > 0 ? (uint64_t)floor(fabs(difference) / w->way_mm2) : 0;
    if (cell->refused || base_cell->refused)
        return;
    if (!cell->bits || !base_cell->bits)
        cell->equal_none = "nobody has said what hardware it takes";
    else if (!more)
        cell->equal_none = "the difference is less than a way of the L1";
    else
        cell->equal_none = try_equal(w, difference > 0 ? base : column, on->gpu, w->ways + more);
    if (cell->equal_none)
        return;
    cell->grows_baseline = difference > 0;
    cell->equal_ways = w->ways + more;
    cell->equal_bytes = cell->equal_ways * w->way_bytes;
    cell->equal = arena_printf(w->arena, "%s, equal area on %s", column->name, on->name);
}

/* All mechanisms on one machine; the baseline first, for areas are compared with its. */
static enum status weigh_machine(struct weighing *w, unsigned base, unsigned m, struct report *report) {
    const struct survey *survey = w->survey;
    const struct survey_column *columns = survey->columns.items;
    const struct survey_machine *on = &survey->machines.items[m];
    struct survey_cell *base_cell = &survey->cells[base * survey->machines.count + m];
    enum status status = weigh(w, &columns[base], on, base_cell, report);
    if (!status && base_cell->refused)
        status = report_add(report, STATUS_INVALID, "%s, beside which all others are set, cannot run on %s: %s",
                            survey->baseline, on->name, base_cell->refused);
    for (unsigned c = 0; !status && c < survey->columns.count; c++) {
        struct survey_cell *cell = &survey->cells[c * survey->machines.count + m];
        if (c == base)
            continue;
        status = weigh(w, &columns[c], on, cell, report);
        make_equal(w, &columns[c], &columns[base], on, base_cell, cell);
    }
    return status;
}

enum status survey_weigh(struct survey *survey, struct report *report) {
    struct weighing w = {.survey = survey, .arena = survey->asks.arena};
    struct cost_point points[COST_POINTS];
    unsigned base = 0;
    cost_fit(&w.model, points);
    while (strcmp(survey->columns.items[base].name, survey->baseline) != 0)
        base++;
    survey->cells = ARENA_ARRAY(w.arena, struct survey_cell, (size_t)survey->columns.count * survey->machines.count);
    enum status status = STATUS_OK;
    for (unsigned m = 0; !status && m < survey->machines.count; m++)
        status = weigh_machine(&w, base, m, report);
    return status;
}

/* ---- the sweep ---- */

static const char *keys_text(const struct survey *survey, const struct survey_column *column) {
    struct arena *arena = survey->asks.arena;
    const char *out = "";
    if (!column->set)
        return arena_printf(arena, "divergence.mechanism: %s", yaml_word(arena, column->name));
    for (unsigned i = 0; i < column->set->count; i++)
        out = arena_printf(arena, "%s%s%s: %s", out, i ? ", " : "", column->set->keys[i]->text,
                           yaml_word(arena, column->set->items[i]->text));
    return out;
}

static const char *variants_text(const struct survey *survey, const struct survey_column *base) {
    struct arena *arena = survey->asks.arena;
    const unsigned machines = survey->machines.count;
    const char *out = "variants:\n";
    for (unsigned c = 0; c < survey->columns.count; c++) {
        const struct survey_column *column = &survey->columns.items[c];
        out = arena_printf(arena, "%s  %s: {%s}\n", out, yaml_word(arena, column->name), keys_text(survey, column));
        for (unsigned m = 0; m < machines; m++) {
            const struct survey_cell *cell = &survey->cells[c * machines + m];
            if (cell->equal)
                out =
                    arena_printf(arena, "%s  %s: {%s, l1.size_bytes: %llu, l1.ways: %llu}\n", out,
                                 yaml_word(arena, cell->equal), keys_text(survey, cell->grows_baseline ? base : column),
                                 (unsigned long long)cell->equal_bytes, (unsigned long long)cell->equal_ways);
        }
    }
    return out;
}

static const char *exclude(struct arena *arena, const char *before, const char *variant, const char *gpu) {
    return arena_printf(arena, "%s  - {variant: %s, gpu: %s}\n", before, yaml_word(arena, variant),
                        yaml_word(arena, gpu));
}

/* Refused ones, and sizes of one machine on the others. */
static const char *exclusions_text(const struct survey *survey) {
    struct arena *arena = survey->asks.arena;
    const unsigned machines = survey->machines.count;
    const char *out = "";
    for (unsigned c = 0; c < survey->columns.count; c++)
        for (unsigned m = 0; m < machines; m++) {
            const struct survey_cell *cell = &survey->cells[c * machines + m];
            if (cell->refused)
                out = exclude(arena, out, survey->columns.items[c].name, survey->machines.items[m].gpu);
            for (unsigned other = 0; cell->equal && other < machines; other++)
                if (other != m)
                    out = exclude(arena, out, cell->equal, survey->machines.items[other].gpu);
        }
    return *out ? arena_printf(arena, "exclude:\n%s", out) : "";
}

const char *survey_sweep(const struct survey *survey) {
    struct arena *arena = survey->asks.arena;
    const struct survey_column *base = survey->columns.items;
    const char *workloads = "", *machines = "";
    while (strcmp(base->name, survey->baseline) != 0)
        base++;
    for (unsigned i = 0; i < survey->workloads.count; i++)
        workloads =
            arena_printf(arena, "%s%s%s", workloads, i ? ", " : "", yaml_word(arena, survey->workloads.items[i]));
    for (unsigned i = 0; i < survey->machines.count; i++)
        machines =
            arena_printf(arena, "%s%s%s", machines, i ? ", " : "", yaml_word(arena, survey->machines.items[i].gpu));
    return arena_printf(arena, "name: survey\nworkloads: [%s]\nsize: %s\ngpu: [%s]\n%s%s", workloads, survey->size,
                        machines, variants_text(survey, base), exclusions_text(survey));
}
