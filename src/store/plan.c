/* SPDX-License-Identifier: Apache-2.0 */
#include "store/plan.h"

#include <stdlib.h>
#include <string.h>

#include "store/estimate.h"

/* The program's files, a mistake in them reported where the sweep file names it. */
static enum status load(struct sweep *sweep, const struct point_program *program, struct report *report) {
    for (unsigned i = 0; i < sweep->programs.count; i++) {
        struct sweep_program *one = &sweep->programs.items[i];
        if (&one->program != program)
            continue;
        struct report inner = {0};
        const enum status status = point_program_load(&one->program, sweep->arena, &inner);
        if (status)
            yaml_error(&sweep->yaml, one->at, report, "'%s' cannot be run: %s", program->label, report_text(&inner));
        report_free(&inner);
        return status;
    }
    return STATUS_OK;
}

struct planning {
    struct sweep *sweep;
    struct plan_point *points;
    struct machine machine; /* of the point before: the next differs only in keys that are set for every point */
    const char *gpu;        /* NULL: none is open */
    const char *variant;    /* of the open one: each sets keys of its own */
    unsigned uses;
    const char **values;                     /* of the open one, by setting of the point */
    const struct param_description **params; /* of the settings */
    struct point_lines lines;                /* of the open one */
    uint64_t stride;                         /* machines that are built to hear what they are refused for */
    const char *told;                        /* all messages so far, for each to be said once */
    struct report *report;
};

static enum status open_machine(struct planning *p, const struct point *point, uint64_t number, struct report *report) {
    enum { USES_MAX = 20000 }; /* a machine keeps every value it ever had */
    const char *variant = sweep_value(p->sweep, number, COLUMN_VARIANT);
    if (p->gpu && strcmp(p->gpu, point->gpu) == 0 && p->variant == variant && p->uses < USES_MAX) {
        p->uses++;
        return STATUS_OK;
    }
    if (p->gpu)
        machine_close(&p->machine);
    const enum status status = machine_open(&p->machine, point->gpu, report);
    p->gpu = arena_strdup(&p->machine.arena, status ? "" : point->gpu);
    p->variant = variant;
    p->uses = 0;
    p->values = ARENA_ARRAY(&p->machine.arena, const char *, p->sweep->columns.count);
    p->params = ARENA_ARRAY(&p->machine.arena, const struct param_description *, p->sweep->columns.count);
    for (unsigned i = 0; !status && i < point->setting_count; i++)
        p->params[i] = param_find(&p->machine.params, point->keys[i]);
    if (!status)
        point_lines_make(&p->lines, &p->machine, &p->machine.arena);
    return status;
}

/* What differs from the point before; values are told by their place in the sweep. */
static enum status set_machine(struct planning *p, const struct point *point, struct report *report) {
    enum status status = STATUS_OK;
    const struct own *before[OWN_PARTS];
    bool others = false; /* which keys count depends on the parts that the machine asks */
    for (unsigned part = 0; part < OWN_PARTS; part++)
        before[part] = machine_own(&p->machine, (enum own_part)part);
    for (unsigned i = 0; !status && i < point->setting_count; i++) {
        if (p->values[i] == point->values[i])
            continue;
        status = param_assign(&p->machine.params, point->keys[i], point->values[i], "--set", "--set", report);
        p->values[i] = status ? NULL : point->values[i];
        if (!status)
            point_lines_change(&p->lines, &p->machine, p->params[i]);
    }
    for (unsigned part = 0; !status && part < OWN_PARTS; part++)
        others |= machine_own(&p->machine, (enum own_part)part) != before[part];
    if (!status && others)
        point_lines_make(&p->lines, &p->machine, &p->machine.arena);
    if (!status)
        status = machine_check(&p->machine, report);
    if (!status && point->functional)
        status = machine_check_functional(&p->machine, report);
    return status;
}

static void tell(struct planning *p, uint64_t number, const struct report *inner) {
    struct sweep *sweep = p->sweep;
    if (strstr(p->told, report_text(inner)))
        return;
    p->told = arena_printf(sweep->arena, "%s%s", p->told, report_text(inner));
    report_add(p->report, STATUS_INVALID, "%s: point %s: %s", sweep->yaml.name,
               sweep_label(sweep, number, sweep->arena), report_text(inner));
}

/* What the point's machine adds to its key, once it is checked; NULL: something is wrong with it. */
static const char *machine_text(struct planning *p, const struct point *point, uint64_t number) {
    struct report inner = {0};
    enum status status = open_machine(p, point, number, &inner);
    if (!status)
        status = set_machine(p, point, &inner);
    if (!status && !point->functional && number % p->stride == 0)
        status = machine_check_timed(&p->machine, &inner);
    if (status)
        tell(p, number, &inner);
    report_free(&inner);
    return status ? NULL : p->lines.text;
}

/* All points of one machine and mode: those whose number has the remainder `first`. */
static enum status make_keys(struct planning *p, uint64_t first, struct arena *arena) {
    const struct sweep *sweep = p->sweep;
    const char *text = NULL;
    for (uint64_t number = first; number < sweep->numbers; number += sweep->machines) {
        struct point point;
        if (sweep_is_excluded(sweep, number))
            continue;
        sweep_point(sweep, number, arena, &point);
        text = text ? text : machine_text(p, &point, number);
        if (!text)
            return STATUS_INVALID;
        point_set_key(&point, text, arena);
        p->points[number].number = number + 1; /* 0: excluded, for now */
        memcpy(p->points[number].key, point.key, sizeof point.key);
    }
    return STATUS_OK;
}

/* A machine is built to hear all that it is refused for, which takes a millisecond. Of very many some are, evenly spread: by
 * a stride that has no factor in common with their number, so that every value of every key is among them. */
static uint64_t choose_stride(uint64_t machines) {
    enum { BUILT_MAX = 1000 };
    uint64_t stride = machines / BUILT_MAX + 1;
    for (uint64_t a = machines, b = stride; machines > BUILT_MAX; b = stride) {
        for (a = machines; b;) {
            const uint64_t rest = a % b;
            a = b, b = rest;
        }
        if (a == 1)
            return stride;
        stride++;
    }
    return 1;
}

static enum status make_all_keys(struct sweep *sweep, struct plan_point *points, struct report *report) {
    struct planning p = {.sweep = sweep, .points = points, .told = "", .report = report};
    p.stride = choose_stride(sweep->machines);
    struct arena scratch = {0};
    enum status status = STATUS_OK;
    for (uint64_t first = 0; first < sweep->machines && !report->truncated; first++) {
        const enum status one = make_keys(&p, first, &scratch);
        arena_reset(&scratch);
        status = status ? status : one;
    }
    if (p.gpu)
        machine_close(&p.machine);
    arena_free(&scratch);
    return status;
}

void plan_machines(struct sweep *sweep, void (*visit)(void *context, uint64_t first, const struct machine *machine),
                   void *context) {
    struct planning p = {.sweep = sweep};
    struct arena scratch = {0};
    for (uint64_t first = 0; first < sweep->machines; first++) {
        uint64_t number = first;
        while (number < sweep->numbers && sweep_is_excluded(sweep, number))
            number += sweep->machines;
        struct point point;
        if (number >= sweep->numbers)
            continue;
        sweep_point(sweep, number, &scratch, &point);
        if (open_machine(&p, &point, number, NULL) == STATUS_OK && set_machine(&p, &point, NULL) == STATUS_OK)
            visit(context, first, &p.machine);
        arena_reset(&scratch);
    }
    if (p.gpu)
        machine_close(&p.machine);
    arena_free(&scratch);
}

static int by_key(const void *a, const void *b) {
    const struct plan_point *one = *(struct plan_point *const *)a, *other = *(struct plan_point *const *)b;
    const int order = memcmp(one->key, other->key, sizeof one->key);
    return order ? order : ((uintptr_t)one > (uintptr_t)other) - ((uintptr_t)one < (uintptr_t)other);
}

void plan_mark_repeats(const struct plan *plans, unsigned count) {
    struct arena scratch = {0};
    uint64_t total = 0, at = 0;
    for (unsigned i = 0; i < count; i++)
        total += plans[i].count;
    struct plan_point **sorted = ARENA_ARRAY(&scratch, struct plan_point *, total);
    for (unsigned i = 0; i < count; i++)
        for (uint64_t k = 0; k < plans[i].count; k++)
            sorted[at++] = &plans[i].points[k];
    qsort(sorted, total, sizeof *sorted, by_key);
    for (uint64_t i = 0; i < total; i++)
        sorted[i]->repeats = i && strcmp(sorted[i]->key, sorted[i - 1]->key) == 0;
    arena_free(&scratch);
}

/* index: NULL, or all that the store has. Results never change: one that was whole is not read again. */
static void look_at(struct plan_point *point, const struct store *store, const struct store_index *index) {
    const bool was_done = point->state == STORE_DONE, absent = index && !store_index_has(index, point->key);
    if (was_done && !absent && (index || store_has(store, point->key)))
        return;
    point->state = (uint8_t)(absent ? STORE_MISSING : store_find(store, point->key));
    point->damaged = !absent && point->state == STORE_MISSING && store_is_damaged(store, point->key);
}

void plan_look(struct plan *plan, const struct store *store) {
    enum { MANY = 5000 }; /* points: then it is faster to see all that the store has */
    struct arena scratch = {0};
    const struct store_index index = plan->count > MANY ? store_index(store, &scratch) : (struct store_index){0};
    plan->distinct = plan->done = plan->failed = plan->damaged = 0;
    for (uint64_t i = 0; i < plan->count; i++) {
        struct plan_point *point = &plan->points[i];
        look_at(point, store, plan->count > MANY ? &index : NULL);
        plan->distinct += !point->repeats;
        plan->done += !point->repeats && point->state == STORE_DONE;
        plan->failed += !point->repeats && point->state == STORE_FAILED;
        plan->damaged += !point->repeats && point->damaged;
    }
    arena_free(&scratch);
}

const char *plan_state_name(const struct plan_point *point) {
    static const char *const names[] = {[STORE_MISSING] = "missing", [STORE_DONE] = "done", [STORE_FAILED] = "failed"};
    return point->damaged ? "damaged" : names[point->state];
}

/* ---- the whole ---- */

enum status plan_make(struct sweep *sweep, const struct store *store, struct plan *out, struct report *report) {
    *out = (struct plan){.sweep = sweep, .points = ARENA_ARRAY(sweep->arena, struct plan_point, sweep->numbers)};
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < sweep->programs.count; i++) {
        const enum status one = load(sweep, &sweep->programs.items[i].program, report);
        status = status ? status : one;
    }
    const enum status keys = make_all_keys(sweep, out->points, report);
    if (status || keys)
        return status ? status : keys;
    for (uint64_t i = 0; i < sweep->numbers; i++)
        if (out->points[i].number) {
            out->points[out->count] = out->points[i];
            out->points[out->count++].number--;
        }
    if (!out->count)
        return report_add(report, STATUS_INVALID, "%s: everything is excluded", sweep->yaml.name);
    plan_mark_repeats(out, 1);
    plan_look(out, store);
    estimate_make(out, store);
    return STATUS_OK;
}

enum status plan_one(struct sweep *sweep, uint64_t number, struct point *out, struct report *report) {
    if (number >= sweep->numbers || sweep_is_excluded(sweep, number))
        return report_add(report, STATUS_INVALID, "%s: there is no point %llu", sweep->yaml.name,
                          (unsigned long long)number);
    struct machine machine = {0};
    sweep_point(sweep, number, sweep->arena, out);
    enum status status = load(sweep, out->program, report);
    if (!status)
        status = point_machine(out, &machine, report);
    if (!status)
        point_set_key(out, point_machine_text(&machine, sweep->arena), sweep->arena);
    machine_close(&machine);
    return status;
}
