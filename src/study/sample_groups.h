/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in groups of those that are alike (study/sample.h). */
#ifndef HEDDLE_STUDY_SAMPLE_GROUPS_H
#define HEDDLE_STUDY_SAMPLE_GROUPS_H

#include "study/sample.h"

struct sample_group {
    uint32_t first, count; /* of sample_groups.order */
};

struct sample_groups {
    uint32_t *order; /* launches, group after group */
    struct sample_group *items;
    unsigned count, capacity;
};

/* A group of fewer launches is not split. */
enum { SAMPLE_SPLIT_LEAST = 24 };

void sample_groups_make(struct arena *arena, const struct sample_launch *launches, uint32_t count,
                        struct sample_groups *out);

#endif
