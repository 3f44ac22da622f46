/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions declared once, as statistics are (base/stat.h). A room lists its histograms in <x>_histograms.def:
 *   HISTOGRAM(field, KIND, buckets, unit, help)
 * VALUES: bucket i counts the value i. QUARTERS: four buckets of equal width from each power of two to the next, from 4
 * on. In both the last bucket also counts everything above. The list is included twice: for the fields of a struct
 * (`uint64_t field[buckets];`) and, with HISTOGRAM_ENTRY, for the table that merging and the result file read. */
#ifndef HEDDLE_BASE_HISTOGRAM_H
#define HEDDLE_BASE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum histogram_kind { HISTOGRAM_VALUES, HISTOGRAM_QUARTERS };

struct histogram_description {
    const char *name, *unit, *help; /* unit: of the values counted */
    enum histogram_kind kind;
    unsigned buckets;
    size_t offset; /* byte offset of the counters in the struct */
};

#define HISTOGRAM_FIELD(field, kind, buckets, unit, help) uint64_t field[buckets];
#define HISTOGRAM_ENTRY(type, field, kind, buckets, unit, help)                                                        \
    {#field, unit, help, HISTOGRAM_##kind, buckets, offsetof(type, field)},
#define HISTOGRAM_END                                                                                                  \
    { NULL, NULL, NULL, HISTOGRAM_VALUES, 0, 0 }

static inline unsigned histogram_quarter(uint64_t value, unsigned buckets) {
    if (value < 4)
        return (unsigned)value;
    const unsigned power = 63 - (unsigned)__builtin_clzll(value);
    const unsigned bucket = 4 * (power - 1) + (unsigned)(value >> (power - 2) & 3);
    return bucket < buckets ? bucket : buckets - 1;
}

/* Counts a value in a field of its kind. */
#define HISTOGRAM_COUNT_QUARTER(field, value) ((field)[histogram_quarter(value, sizeof(field) / sizeof(field)[0])]++)
#define HISTOGRAM_COUNT_VALUE(field, value)                                                                            \
    ((field)[(value) < sizeof(field) / sizeof(field)[0] ? (value) : sizeof(field) / sizeof(field)[0] - 1]++)

/* The counters of one histogram of the struct. */
const uint64_t *histogram_counts(const void *histograms, const struct histogram_description *histogram);
/* The values that bucket i counts, both ends included; the last has no upper end: *last is UINT64_MAX. */
void histogram_range(const struct histogram_description *histogram, unsigned i, uint64_t *first, uint64_t *last);
/* into += from, for every histogram of the table (ends with a NULL name). */
void histogram_merge(void *into, const void *from, const struct histogram_description *table);
/* from -= before, in the same way. */
void histogram_subtract(void *from, const void *before, const struct histogram_description *table);

#endif
