/* SPDX-License-Identifier: Apache-2.0 */
#include "result/guest_sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

const struct guest_sample *guest_sample_read(const char *value, struct arena *arena) {
    if (!value)
        return NULL;
    struct guest_sample *sample = ARENA_NEW(arena, struct guest_sample);
    char *text = NULL, *at;
    size_t length = 0;
    sample->is_profile = strcmp(value, GUEST_SAMPLE_PROFILE) == 0;
    if (sample->is_profile || file_read(value, SIZE_MAX >> 1, arena, &text, &length, NULL) != STATUS_OK)
        return sample;
    for (size_t i = 0; i < length; i++)
        sample->count += text[i] == '\n';
    uint64_t *numbers = ARENA_ARRAY(arena, uint64_t, sample->count);
    at = text;
    for (uint64_t i = 0; i < sample->count; i++)
        numbers[i] = strtoull(at, &at, 10);
    sample->numbers = numbers;
    return sample;
}

void guest_sample_choose(const struct guest_sample *sample, uint64_t number, struct launch *launch) {
    uint64_t low = 0, high = sample->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (sample->numbers[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    launch->in_time = low < sample->count && sample->numbers[low] == number;
    launch->footprint = sample->is_profile ? FOOTPRINT_COUNTED : low < sample->count ? FOOTPRINT_WARMS : FOOTPRINT_NONE;
}
