/* SPDX-License-Identifier: Apache-2.0 */
#include "store/estimate.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Points of one program, size and seed, in one mode: machines change a run's length less than those do. */
struct estimate {
    double seconds, instructions; /* of all samples */
    unsigned samples;
};

/* A number of a result's member "host", which stands at its end; results are long. */
static bool read_number(const char *tail, const char *name, double *out) {
    const char *at = strstr(tail, name);
    *out = at ? strtod(at + strlen(name), NULL) : 0;
    return at != NULL;
}

static bool read_sample(const char *path, double *seconds, double *instructions) {
    char tail[2049];
    double rate;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const off_t end = lseek(fd, 0, SEEK_END), from = end > 2048 ? end - 2048 : 0;
    const ssize_t got = pread(fd, tail, sizeof tail - 1, from);
    close(fd);
    if (got <= 0)
        return false;
    tail[got] = 0;
    const bool good = read_number(tail, "\"wall_seconds\": ", seconds) &&
                      read_number(tail, "\"warp_instructions_per_second\": ", &rate);
    *instructions = good ? rate * *seconds : 0;
    return good;
}

static bool is_functional(const struct sweep *sweep, uint64_t number) {
    return strcmp(sweep_value(sweep, number, COLUMN_FUNCTIONAL), "true") == 0;
}

/* Of a number: its program in time, and behind it functionally. */
static struct estimate *of(const struct plan *plan, uint64_t number) {
    return &plan->estimates[number / plan->sweep->machines * 2];
}

static void add_sample(struct plan *plan, const struct plan_point *point, const struct store *store,
                       struct arena *scratch) {
    enum { SAMPLES = 16 };
    struct estimate *estimate = of(plan, point->number) + is_functional(plan->sweep, point->number);
    double seconds, instructions;
    if (point->state != STORE_DONE || estimate->samples >= SAMPLES ||
        !read_sample(store_path(store, scratch, point->key, STORE_DONE), &seconds, &instructions))
        return;
    estimate->seconds += seconds;
    estimate->instructions += instructions;
    estimate->samples++;
}

/* Instructions of a program, which hardly depend on the machine: as counted in either mode, else as the suite's are known. */
static double instructions_of(const struct plan *plan, uint64_t number) {
    const struct estimate *estimate = of(plan, number);
    for (unsigned mode = 0; mode < 2; mode++)
        if (estimate[mode].samples)
            return estimate[mode].instructions / estimate[mode].samples;
    struct arena scratch = {0};
    struct point point;
    sweep_point(plan->sweep, number, &scratch, &point);
    const bool known = point.size && strcmp(point.size, "test") == 0;
    arena_free(&scratch);
    return known ? (double)point.program->test_instructions : 0;
}

double estimate_seconds(const struct plan *plan, uint64_t number) {
    const unsigned mode = is_functional(plan->sweep, number);
    const struct estimate *estimate = of(plan, number) + mode;
    if (estimate->samples)
        return estimate->seconds / estimate->samples;
    return plan->rates[mode] > 0 ? instructions_of(plan, number) / plan->rates[mode] : 0;
}

/* Instructions per second over all samples of a mode. */
static void measure_rates(struct plan *plan, uint64_t groups) {
    for (unsigned mode = 0; mode < 2; mode++) {
        double seconds = 0, instructions = 0;
        for (uint64_t i = 0; i < groups; i++) {
            seconds += plan->estimates[i * 2 + mode].seconds;
            instructions += plan->estimates[i * 2 + mode].instructions;
        }
        plan->rates[mode] = seconds > 0 ? instructions / seconds : 0;
    }
}

void estimate_make(struct plan *plan, const struct store *store) {
    struct sweep *sweep = plan->sweep;
    struct arena scratch = {0};
    const uint64_t groups = sweep->numbers / sweep->machines;
    plan->estimates = ARENA_ARRAY(sweep->arena, struct estimate, groups * 2);
    plan->seconds = 0, plan->unknown = 0;
    for (uint64_t i = 0; i < plan->count; i++)
        if (plan->points[i].state == STORE_DONE)
            add_sample(plan, &plan->points[i], store, &scratch);
    measure_rates(plan, groups);
    double last = 0;
    uint64_t group = UINT64_MAX;
    for (uint64_t i = 0; i < plan->count; i++) {
        const struct plan_point *point = &plan->points[i];
        if (point->state != STORE_MISSING || point->repeats)
            continue;
        const uint64_t now = point->number / sweep->machines * 2 + is_functional(sweep, point->number);
        last = now == group ? last : estimate_seconds(plan, point->number);
        group = now;
        plan->seconds += last;
        plan->unknown += last <= 0;
    }
    arena_free(&scratch);
}
