/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

const uint64_t *histogram_counts(const void *histograms, const struct histogram_description *histogram) {
    return (const uint64_t *)(const void *)((const char *)histograms + histogram->offset);
}

void histogram_range(const struct histogram_description *histogram, unsigned i, uint64_t *first, uint64_t *last) {
    *first = *last = i;
    if (histogram->kind == HISTOGRAM_QUARTERS && i >= 4) {
        const unsigned shift = i / 4 - 1;
        *first = (UINT64_C(4) + i % 4) << shift;
        *last = *first + (UINT64_C(1) << shift) - 1;
    }
    if (i == histogram->buckets - 1)
        *last = UINT64_MAX;
}

void histogram_merge(void *into, const void *from, const struct histogram_description *table) {
    for (const struct histogram_description *histogram = table; histogram->name; histogram++) {
        const uint64_t *source = histogram_counts(from, histogram);
        uint64_t *sum = (uint64_t *)(void *)((char *)into + histogram->offset);
        for (unsigned i = 0; i < histogram->buckets; i++)
            sum[i] += source[i];
    }
}

void histogram_subtract(void *from, const void *before, const struct histogram_description *table) {
    for (const struct histogram_description *histogram = table; histogram->name; histogram++) {
        const uint64_t *source = histogram_counts(before, histogram);
        uint64_t *rest = (uint64_t *)(void *)((char *)from + histogram->offset);
        for (unsigned i = 0; i < histogram->buckets; i++)
            rest[i] -= source[i];
    }
}
