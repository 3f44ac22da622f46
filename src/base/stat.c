/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stat.h"

#include <string.h>

static uint64_t counter_at(const void *stats, size_t offset) {
    uint64_t value;
    memcpy(&value, (const char *)stats + offset, sizeof value);
    return value;
}

uint64_t stat_counter(const void *stats, const struct stat_description *stat) {
    return counter_at(stats, stat->offset);
}

double stat_ratio(const void *stats, const struct stat_description *stat) {
    uint64_t denominator = 0;
    for (size_t at = stat->denominator; at <= stat->last; at += sizeof denominator)
        denominator += counter_at(stats, at);
    if (denominator == 0)
        return 0;
    return stat->scale * (double)counter_at(stats, stat->numerator) / (double)denominator;
}

void stat_merge(void *into, const void *from, const struct stat_description *table) {
    for (const struct stat_description *stat = table; stat->name; stat++) {
        if (stat->is_ratio)
            continue;
        const uint64_t a = counter_at(into, stat->offset), b = counter_at(from, stat->offset);
        const uint64_t merged = !stat->is_largest ? a + b : a > b ? a : b;
        memcpy((char *)into + stat->offset, &merged, sizeof merged);
    }
}

void stat_subtract(void *from, const void *before, const struct stat_description *table) {
    for (const struct stat_description *stat = table; stat->name; stat++)
        if (!stat->is_ratio && !stat->is_largest)
            *(uint64_t *)(void *)((char *)from + stat->offset) -= stat_counter(before, stat);
}
