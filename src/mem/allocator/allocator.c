/* SPDX-License-Identifier: Apache-2.0 */
#include "mem/allocator/allocator.h"

#include <string.h>

#define ALLOCATOR(id) extern const struct allocator_ops allocator_##id;
#include "mem/allocator/allocators.def"
#undef ALLOCATOR

static const struct allocator_ops *const allocators[] = {
#define ALLOCATOR(id) &allocator_##id,
#include "mem/allocator/allocators.def"
#undef ALLOCATOR
};

enum { ALLOCATORS = sizeof allocators / sizeof allocators[0] };

const struct allocator_ops *allocator_find(const char *name, struct report *report) {
    for (unsigned i = 0; i < ALLOCATORS; i++)
        if (strcmp(allocators[i]->name, name) == 0)
            return allocators[i];
    report_add(report, STATUS_INVALID, "crossbar.allocator=%s: no such allocator; there are:", name);
    for (unsigned i = 0; i < ALLOCATORS; i++)
        report_add(report, STATUS_INVALID, "  %s: %s", allocators[i]->name, allocators[i]->help);
    return NULL;
}

void matching_create(struct matching *m, struct arena *arena, const struct allocator_ops *allocator) {
    const uint32_t input_words = m->input_words = (m->inputs + 63) / 64;
    const uint32_t output_words = m->output_words = (m->outputs + 63) / 64;
    m->active = ARENA_ARRAY(arena, uint64_t, input_words);
    m->room = ARENA_ARRAY(arena, uint64_t, output_words);
    m->partial = ARENA_ARRAY(arena, uint64_t, output_words);
    for (uint32_t i = 0; i < m->outputs; i++)
        mask_set(m->room, i);
    if (allocator->by_output) {
        m->asking = ARENA_ARRAY(arena, uint64_t, (size_t)m->outputs * input_words);
        m->begun = ARENA_ARRAY(arena, uint64_t, (size_t)m->outputs * input_words);
        m->asked = ARENA_ARRAY(arena, uint64_t, output_words);
    } else {
        m->requests = ARENA_ARRAY(arena, uint64_t, (size_t)m->inputs * output_words);
        m->started = ARENA_ARRAY(arena, uint64_t, (size_t)m->inputs * output_words);
    }
    m->grants = ARENA_ARRAY(arena, struct grant, m->outputs);
    m->matched_outputs = ARENA_ARRAY(arena, uint64_t, output_words);
    m->matched_inputs = ARENA_ARRAY(arena, uint64_t, (size_t)m->ports * input_words);
}
