/* SPDX-License-Identifier: Apache-2.0 */
/* Result files side by side. */
#ifndef HEDDLE_RESULT_COMPARE_H
#define HEDDLE_RESULT_COMPARE_H

#include "base/arena.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

enum { COMPARE_MAX = 8 };

/* A counter of `total`, by its path in the file ("memory.l1.hits"). */
struct compare_counter {
    const char *name;
    double values[COMPARE_MAX];
    bool is_whole, changed;
    uint8_t present; /* bit i: file i has it */
};

/* A key of the machine whose value is not the same in all. */
struct compare_setting {
    const char *key, *values[COMPARE_MAX];
};

/* A source line: its share of the run's cycles (its slots over those of one cycle, so that lines add up to the cycles),
 * of functional results warp instructions. */
struct compare_line {
    const char *place, *text;
    uint64_t counts[COMPARE_MAX];
};

struct comparison {
    unsigned count;
    bool in_time;
    const char *names[COMPARE_MAX], *machines[COMPARE_MAX];
    bool complete[COMPARE_MAX];
    bool same_module, same_memory; /* the same PTX ran; the buffers ended the same */
    struct {
        struct compare_counter *items;
        unsigned count, capacity;
    } counters;
    struct {
        struct compare_setting *items;
        unsigned count, capacity;
    } settings;
    struct {
        struct compare_line *items;
        unsigned count, capacity;
    } lines; /* those that changed, the largest change first */
};

/* Reads 1 to COMPARE_MAX result files of one mode; all lives in the arena. */
enum status compare_read(struct arena *arena, const char *const *paths, unsigned count, struct comparison *out,
                         struct report *report);
/* The counter of that path, or NULL. */
const struct compare_counter *compare_find(const struct comparison *comparison, const char *name);

#endif
