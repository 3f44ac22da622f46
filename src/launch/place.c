/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/place.h"

#include <string.h>

struct fill_source place_source(const struct run *run, unsigned buffer) {
    return (struct fill_source){&run->file->yaml, run->file->folder, run->options.files, run->options.seed + buffer,
                                run->machine->memory_capacity_bytes};
}

void *place_data(const struct run *run, unsigned buffer) {
    return device_memory(run->device, run->buffers[buffer].address,
                         run->buffers[buffer].count * element_bytes(run->file->buffers[buffer].element));
}

static enum status start_buffer(struct run *run, unsigned i, struct fill_cursor *cursor, struct report *report) {
    const struct launch_buffer *buffer = &run->file->buffers[i];
    const struct fill_source source = place_source(run, i);
    *cursor = (struct fill_cursor){.fill = &buffer->fill, .element = buffer->element, .count = buffer->count};
    const enum status status = fill_start(cursor, &source, &run->arena, report);
    if (status)
        return status;
    run->buffers[i].count = cursor->count;
    return cursor->count ? STATUS_OK
                         : yaml_error(&run->file->yaml, buffer->at, report, "'%s' has no elements", buffer->name);
}

static enum status place_buffer(struct run *run, unsigned i, struct report *report) {
    const struct launch_buffer *buffer = &run->file->buffers[i];
    struct bind_buffer *placed = &run->buffers[i];
    struct report inner = {0};
    const uint64_t bytes = placed->count * element_bytes(buffer->element);
    placed->address = buffer->address;
    const enum status status = buffer->address
                                   ? device_alloc_at(run->device, buffer->name, bytes, buffer->address, &inner)
                                   : device_alloc(run->device, buffer->name, bytes, &placed->address, &inner);
    if (status)
        yaml_error(&run->file->yaml, buffer->at, report, "'%s' cannot be placed: %s", buffer->name,
                   report_text(&inner));
    report_free(&inner);
    return status;
}

/* ---- variables ---- */

static const struct symbol *find_variable(const struct module *module, const char *name, unsigned *matches) {
    const struct symbol *found = NULL;
    *matches = 0;
    for (unsigned i = 0; i < module->variable_count; i++)
        if (symbol_is_placed(module->variables[i]) && strcmp(module->variables[i]->name, name) == 0) {
            found = module->variables[i];
            ++*matches;
        }
    return found;
}

static enum status place_variable(struct run *run, unsigned i, struct place_fills *fills, struct report *report) {
    const struct launch_variable *variable = &run->file->variables[i];
    const struct module *module = program_source(run->program);
    const unsigned size = element_bytes(variable->element);
    unsigned matches;
    const struct symbol *symbol = find_variable(module, variable->name, &matches);
    if (matches != 1)
        return yaml_error(&run->file->yaml, variable->at, report,
                          "%s has %s variable '%.200s' in global or constant memory", module->name,
                          matches ? "more than one" : "no", variable->name);
    if (!symbol->bytes || symbol->bytes % size)
        return yaml_error(&run->file->yaml, variable->at, report,
                          "'%.200s' has %llu bytes, which is no whole number of %s elements", variable->name,
                          (unsigned long long)symbol->bytes, element_names[variable->element]);
    const struct fill_source source = place_source(run, run->file->buffer_count + i);
    fills->variables[i] =
        (struct fill_cursor){.fill = &variable->fill, .element = variable->element, .count = symbol->bytes / size};
    fills->places[i] = device_memory(run->device, program_image(run->program) + symbol->offset, symbol->bytes);
    return fill_start(&fills->variables[i], &source, &run->arena, report);
}

enum status place_all(struct run *run, struct place_fills *fills, struct report *report) {
    const struct launch_file *file = run->file;
    enum status status = STATUS_OK;
    fills->buffers = ARENA_ARRAY(&run->arena, struct fill_cursor, file->buffer_count);
    fills->variables = ARENA_ARRAY(&run->arena, struct fill_cursor, file->variable_count);
    fills->places = ARENA_ARRAY(&run->arena, void *, file->variable_count);
    for (unsigned i = 0; i < file->buffer_count && !status; i++)
        status = start_buffer(run, i, &fills->buffers[i], report);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < file->buffer_count && !status; i++)
            if ((file->buffers[i].address == 0) == (pass == 1))
                status = place_buffer(run, i, report);
    for (unsigned i = 0; i < file->variable_count && !status; i++)
        status = place_variable(run, i, fills, report);
    return status;
}

void place_fill(struct run *run, struct place_fills *fills) {
    for (unsigned i = 0; i < run->file->buffer_count; i++)
        if (run->file->buffers[i].fill.kind != FILL_ZERO) /* device memory starts at zero, untouched */
            fill_next(&fills->buffers[i], place_data(run, i), run->buffers[i].count);
    for (unsigned i = 0; i < run->file->variable_count; i++)
        fill_next(&fills->variables[i], fills->places[i], fills->variables[i].count);
}
