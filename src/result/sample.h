/* SPDX-License-Identifier: Apache-2.0 */
/* What a sampled run says of the run in time that nobody made: `sample` of a result file. */
#ifndef HEDDLE_RESULT_SAMPLE_H
#define HEDDLE_RESULT_SAMPLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct result_sample_launch {
    uint32_t number; /* from 0, as in `launches` */
    uint64_t cycles;
};

/* Launches that are alike. */
struct result_sample_group {
    const char *kernel;
    uint32_t block[3];
    uint64_t blocks_least, blocks_most, warp_instructions;
    uint32_t launches, timed_count;
    const struct result_sample_launch *timed; /* by number */
    double cycles, half_width;
};

struct result_sample {
    double error, confidence; /* that were asked for */
    double cycles, half_width;
    uint64_t seed, warp_instructions, timed_warp_instructions;
    uint32_t launches, timed_launches, rounds;
    const struct result_sample_group *groups;
    uint32_t group_count;
};

json_t *result_sample_json(const struct result_sample *sample);

#endif
