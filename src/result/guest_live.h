/* SPDX-License-Identifier: Apache-2.0 */
/* How far the launches of a program have come, for the program that started it: counters in a file of each device that both have in their
 * memory. Who counts makes no call for it. */
#ifndef HEDDLE_RESULT_GUEST_LIVE_H
#define HEDDLE_RESULT_GUEST_LIVE_H

#include "device/device.h"
#include "gpu/gpu.h"

#define GUEST_LIVE ".live"

/* Of one device, or of all of them together. */
struct guest_counts {
    uint64_t launches, untimed, cycles,
        warp_instructions;        /* of launches that have ended; untimed ones are only counted */
    uint64_t under_way;           /* those that have not */
    uint64_t blocks_done, blocks; /* of the last of these */
    char kernel[80];              /* of the same */
};

struct guest_live; /* NULL: nothing is kept */
/* A new file; NULL: the host refused, and nobody is told. */
struct guest_live *guest_live_create(const char *path, struct arena *arena);
void guest_live_destroy(struct guest_live *live);
void guest_live_begin(struct guest_live *live, const char *kernel);
void guest_live_progress(struct guest_live *live, const struct launch_progress *progress);
/* `in_time`: of the whole run; then a launch without time is only counted. */
void guest_live_end(struct guest_live *live, const struct launch_result *result, bool in_time);

/* All files of a folder together; cycles and warp instructions with those of launches under way. */
void guest_live_sum(const char *folder, struct guest_counts *sum);

#endif
