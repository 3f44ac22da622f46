/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics declared once. A room lists its counters in <x>_stats.def:
 *   STAT(field, unit, help)                                  a uint64_t counter
 *   RATIO(name, numerator, denominator, scale, unit, help)   derived, 0 when the denominator is 0
 *   SHARE(name, numerator, first, last, unit, help)          over the sum of the counters from first to last
 *   LARGEST(field, unit, help)                               a uint64_t that holds the largest seen
 * and includes the list twice: for the fields of a struct (STAT as `uint64_t field;`, RATIO as nothing), and, with
 * STAT_ENTRY and RATIO_ENTRY, for the table that merging, the result file and the manual read. */
#ifndef HEDDLE_BASE_STAT_H
#define HEDDLE_BASE_STAT_H

#include <stddef.h>
#include <stdint.h>

struct stat_description {
    const char *name, *unit, *help;
    size_t offset;                       /* counter: byte offset in the struct */
    size_t numerator, denominator, last; /* ratio: offsets of its counters; from denominator to last they are added */
    double scale;                        /* ratio: value = scale * numerator / denominator */
    int is_ratio, is_largest;            /* largest: a counter of which the larger is kept when two are merged */
};

#define STAT_ENTRY(type, field, unit, help) {#field, unit, help, offsetof(type, field), 0, 0, 0, 0, 0, 0},
#define LARGEST_ENTRY(type, field, unit, help) {#field, unit, help, offsetof(type, field), 0, 0, 0, 0, 0, 1},
#define RATIO_ENTRY(type, name, numerator, denominator, scale, unit, help)                                             \
    {#name, unit, help, 0, offsetof(type, numerator), offsetof(type, denominator), offsetof(type, denominator),        \
     scale, 1,    0},
#define SHARE_ENTRY(type, name, numerator, first, last, unit, help)                                                    \
    {#name, unit, help, 0, offsetof(type, numerator), offsetof(type, first), offsetof(type, last), 1.0, 1, 0},
#define STAT_END                                                                                                       \
    { NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0 }

uint64_t stat_counter(const void *stats, const struct stat_description *stat);
double stat_ratio(const void *stats, const struct stat_description *stat);
/* into += from, or the larger of both, for every counter of the table (ends with a NULL name). */
void stat_merge(void *into, const void *from, const struct stat_description *table);
/* from -= before: what was counted since. The largest seen stays what it is. */
void stat_subtract(void *from, const void *before, const struct stat_description *table);

#endif
