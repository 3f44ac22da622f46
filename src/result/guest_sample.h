/* SPDX-License-Identifier: Apache-2.0 */
/* heddle exec --sample in a process of the program: every launch without time, counted for its profile; or a round, of which the launches
 * to be timed are told by number. */
#ifndef HEDDLE_RESULT_GUEST_SAMPLE_H
#define HEDDLE_RESULT_GUEST_SAMPLE_H

#include "device/device.h"

/* HEDDLE_SAMPLE: this word, or a file of numbers, 0 the first launch of the process, each on a line and larger than the one before. */
#define GUEST_SAMPLE_PROFILE "profile"

struct guest_sample {
    bool is_profile;
    const uint64_t *numbers; /* of a round */
    uint64_t count;
};

/* NULL: nobody samples. */
const struct guest_sample *guest_sample_read(const char *value, struct arena *arena);
/* How the launch with this number runs. */
void guest_sample_choose(const struct guest_sample *sample, uint64_t number, struct launch *launch);

#endif
