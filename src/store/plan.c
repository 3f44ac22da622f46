#include "store/plan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    const char *told; /* all messages so far, for each to be said once */
    struct report *report;
};

static enum status open_machine(struct planning *p, const struct point *point, uint64_t number, struct report *report) {
    enum { USES_MAX = 1000 }; /* a machine keeps every value it ever had */
    const char *variant = sweep_value(p->sweep, number, COLUMN_VARIANT);
    if (p->gpu && strcmp(p->gpu, point->gpu) == 0 && p->variant == variant && p->uses++ < USES_MAX)
        return STATUS_OK;
    if (p->gpu)
        machine_close(&p->machine);
    const enum status status = machine_open(&p->machine, point->gpu, report);
    p->gpu = arena_strdup(&p->machine.arena, status ? "" : point->gpu);
    p->variant = variant;
    p->uses = 0;
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
static const char *machine_text(struct planning *p, const struct point *point, uint64_t number, struct arena *arena) {
    struct report inner = {0};
    enum status status = open_machine(p, point, number, &inner);
    if (!status)
        status = point_set_machine(point, &p->machine, &inner);
    if (!status && !point->functional)
        status = machine_check_timed(&p->machine, &inner);
    if (status)
        tell(p, number, &inner);
    report_free(&inner);
    return status ? NULL : point_machine_text(&p->machine, arena);
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
        text = text ? text : machine_text(p, &point, number, arena);
        if (!text)
            return STATUS_INVALID;
        point_set_key(&point, text);
        p->points[number].number = number + 1; /* 0: excluded, for now */
        memcpy(p->points[number].key, point.key, sizeof point.key);
    }
    return STATUS_OK;
}

static enum status make_all_keys(struct sweep *sweep, struct plan_point *points, struct report *report) {
    struct planning p = {.sweep = sweep, .points = points, .told = "", .report = report};
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

void plan_look(struct plan *plan, const struct store *store) {
    plan->distinct = plan->done = plan->failed = 0;
    for (uint64_t i = 0; i < plan->count; i++) {
        struct plan_point *point = &plan->points[i];
        point->state = (uint8_t)store_find(store, point->key);
        plan->distinct += !point->repeats;
        plan->done += !point->repeats && point->state == STORE_DONE;
        plan->failed += !point->repeats && point->state == STORE_FAILED;
    }
}

/* ---- estimates ---- */

/* Wall seconds of a stored result. They stand at its end, and results are long. */
static bool read_seconds(const char *path, double *seconds) {
    static const char name[] = "\"wall_seconds\": ";
    char tail[2049];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const off_t end = lseek(fd, 0, SEEK_END), from = end > 2048 ? end - 2048 : 0;
    const ssize_t got = pread(fd, tail, sizeof tail - 1, from);
    close(fd);
    if (got <= 0)
        return false;
    tail[got] = 0;
    const char *at = strstr(tail, name);
    *seconds = at ? strtod(at + strlen(name), NULL) : 0;
    return at != NULL;
}

struct timing {
    double seconds;
    uint64_t count;
};

/* Points of one program, size, seed and mode: machines change a run's length less than those do. */
static struct timing *timing_of(const struct sweep *sweep, struct timing *timings, uint64_t number) {
    const bool functional = strcmp(sweep_value(sweep, number, COLUMN_FUNCTIONAL), "true") == 0;
    return &timings[number / sweep->machines * 2 + functional];
}

static void estimate(const struct sweep *sweep, const struct store *store, struct plan *plan) {
    enum { SAMPLES = 16 };
    struct arena scratch = {0};
    struct timing *timings = ARENA_ARRAY(&scratch, struct timing, sweep->numbers / sweep->machines * 2);
    for (uint64_t i = 0; i < plan->count; i++) {
        const struct plan_point *point = &plan->points[i];
        struct timing *timing = timing_of(sweep, timings, point->number);
        double seconds;
        if (point->state == STORE_DONE && timing->count < SAMPLES &&
            read_seconds(store_path(store, &scratch, point->key, STORE_DONE), &seconds)) {
            timing->seconds += seconds;
            timing->count++;
        }
    }
    for (uint64_t i = 0; i < plan->count; i++) {
        const struct plan_point *point = &plan->points[i];
        const struct timing *timing = timing_of(sweep, timings, point->number);
        if (point->state != STORE_MISSING || point->repeats)
            continue;
        if (timing->count)
            plan->seconds += timing->seconds / (double)timing->count;
        else
            plan->unknown++;
    }
    arena_free(&scratch);
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
    estimate(sweep, store, out);
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
        point_set_key(out, point_machine_text(&machine, sweep->arena));
    machine_close(&machine);
    return status;
}
