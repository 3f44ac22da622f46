/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/aggregate.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "repro/interval.h"

/* SQLite gives it zeroed. */
struct aggregate_values {
    struct arena arena;
    double *items;
    unsigned count, capacity;
};

static void step(sqlite3_context *context, int count, sqlite3_value **arguments) {
    (void)count;
    struct aggregate_values *group = sqlite3_aggregate_context(context, sizeof *group);
    if (!group)
        sqlite3_result_error_nomem(context);
    else if (sqlite3_value_numeric_type(arguments[0]) != SQLITE_NULL)
        *ARENA_PUSH(&group->arena, group) = sqlite3_value_double(arguments[0]);
}

static int by_value(const void *a, const void *b) {
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static double median(struct aggregate_values *group) {
    const unsigned half = group->count / 2;
    qsort(group->items, group->count, sizeof *group->items, by_value);
    return group->count % 2 ? group->items[half] : (group->items[half - 1] + group->items[half]) / 2;
}

static double harmonic(struct aggregate_values *group) {
    double sum = 0;
    for (unsigned i = 0; i < group->count; i++)
        sum += 1 / group->items[i];
    return group->count / sum;
}

/* Whether the values' mean is above a guess: the product of their ratios to it is above 1. */
static bool is_above(const struct aggregate_values *group, double guess) {
    double fraction = 0.5;
    int exponent = 1, shift;
    for (unsigned i = 0; i < group->count; i++) {
        fraction = frexp(fraction * (group->items[i] / guess), &shift);
        exponent += shift;
    }
    return exponent > 1 || (exponent == 1 && fraction > 0.5);
}

/* By halving, without the host's logarithm: the same bits everywhere. */
static double geometric(struct aggregate_values *group) {
    double low = group->items[0], high = low;
    for (unsigned i = 1; i < group->count; i++) {
        low = fmin(low, group->items[i]);
        high = fmax(high, group->items[i]);
    }
    for (double middle = low + (high - low) / 2; middle > low && middle < high; middle = low + (high - low) / 2)
        *(is_above(group, middle) ? &low : &high) = middle;
    return high;
}

/* Half of the interval of the mean. */
static double half_width(struct aggregate_values *group) { return interval_of(group->items, group->count).half; }

static const struct aggregate {
    const char *name;
    double (*mean)(struct aggregate_values *group);
    bool positive; /* defined for values above 0 only */
} aggregates[] = {{"hmean", harmonic, true},
                  {"gmean", geometric, true},
                  {"median", median, false},
                  {"half_width", half_width, false}};

static void finish(sqlite3_context *context) {
    const struct aggregate *aggregate = sqlite3_user_data(context);
    struct aggregate_values *group = sqlite3_aggregate_context(context, 0);
    if (!group || !group->count)
        return; /* NULL */
    unsigned good = 0;
    while (good < group->count && (group->items[good] > 0 || !aggregate->positive))
        good++;
    if (good == group->count)
        sqlite3_result_double(context, aggregate->mean(group));
    else
        sqlite3_result_error(context, "hmean and gmean need values above 0", -1);
    arena_free(&group->arena);
}

int aggregate_add(sqlite3 *database) {
    int code = SQLITE_OK;
    for (unsigned i = 0; code == SQLITE_OK && i < sizeof aggregates / sizeof *aggregates; i++)
        code = sqlite3_create_function(database, aggregates[i].name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                       (void *)(uintptr_t)&aggregates[i], NULL, step, finish);
    return code;
}
