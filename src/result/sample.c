/* SPDX-License-Identifier: Apache-2.0 */
#include "result/sample.h"

#include "result/layout.h"
#include "result/timed.h"

static json_t *interval_json(double cycles, double half_width) {
    json_t *out = json_object();
    json_object_set_new(out, "estimate", json_real(cycles));
    json_object_set_new(out, "low", json_real(cycles - half_width));
    json_object_set_new(out, "high", json_real(cycles + half_width));
    return out;
}

static json_t *group_json(const struct result_sample_group *group) {
    json_t *out = json_object(), *block = json_array(), *timed = json_array();
    json_object_set_new(out, "kernel", json_string(group->kernel));
    for (unsigned i = 0; i < 3; i++)
        json_array_append_new(block, result_count(group->block[i]));
    json_object_set_new(out, "block", block);
    json_object_set_new(out, "blocks_least", result_count(group->blocks_least));
    json_object_set_new(out, "blocks_most", result_count(group->blocks_most));
    json_object_set_new(out, "warp_instructions", result_count(group->warp_instructions));
    json_object_set_new(out, "launches", result_count(group->launches));
    json_object_set_new(out, "cycles", interval_json(group->cycles, group->half_width));
    for (uint32_t i = 0; i < group->timed_count; i++) {
        json_t *launch = json_object();
        json_object_set_new(launch, "launch", result_count(group->timed[i].number));
        json_object_set_new(launch, "cycles", result_count(group->timed[i].cycles));
        json_array_append_new(timed, launch);
    }
    json_object_set_new(out, "timed", timed);
    return out;
}

json_t *result_sample_json(const struct result_sample *sample) {
    json_t *out = json_object(), *groups = json_array();
    json_object_set_new(out, "error", json_real(sample->error));
    json_object_set_new(out, "confidence", json_real(sample->confidence));
    json_object_set_new(out, "seed", result_count(sample->seed));
    json_object_set_new(out, "cycles", interval_json(sample->cycles, sample->half_width));
    json_object_set_new(out, "launches", result_count(sample->launches));
    json_object_set_new(out, "timed_launches", result_count(sample->timed_launches));
    json_object_set_new(out, "warp_instructions", result_count(sample->warp_instructions));
    json_object_set_new(out, "timed_warp_instructions", result_count(sample->timed_warp_instructions));
    json_object_set_new(out, "rounds", result_count(sample->rounds));
    for (uint32_t i = 0; i < sample->group_count; i++)
        json_array_append_new(groups, group_json(&sample->groups[i]));
    json_object_set_new(out, "groups", groups);
    return out;
}
