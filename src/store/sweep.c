/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sweep.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"

enum status sweep_find_programs(struct sweep *sweep, const struct point_finder *finder, struct report *report) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < sweep->programs.count; i++) {
        struct point_program *program = &sweep->programs.items[i].program;
        struct report inner = {0};
        const enum status one =
            program->is_launch
                ? finder->launch(sweep->arena, file_join(sweep->arena, sweep->folder, program->label), &program->path,
                                 &inner)
                : finder->workload(sweep->arena, program->label, &program->path, &program->kernel_path, &inner);
        if (!one && !program->is_launch)
            program->test_instructions = finder->test_instructions(program->label);
        if (one)
            yaml_error(&sweep->yaml, sweep->programs.items[i].at, report, "%s", report_text(&inner));
        report_free(&inner);
        status = status ? status : one;
    }
    return status;
}

/* The axis of a column, and which of its values a number takes. */
static const struct sweep_axis *locate(const struct sweep *sweep, uint64_t number, unsigned column, unsigned *value) {
    for (unsigned i = sweep->axes.count; i-- > 0;) {
        const struct sweep_axis *axis = &sweep->axes.items[i];
        if (column >= axis->first_column && column < axis->first_column + axis->column_count) {
            *value = (unsigned)(number % axis->value_count);
            return axis;
        }
        number /= axis->value_count;
    }
    return NULL;
}

const char *sweep_value(const struct sweep *sweep, uint64_t number, unsigned column) {
    unsigned value = 0;
    const struct sweep_axis *axis = locate(sweep, number, column, &value);
    return axis->values[(size_t)value * axis->column_count + column - axis->first_column];
}

bool sweep_varies(const struct sweep *sweep, unsigned column) {
    unsigned value = 0;
    return locate(sweep, 0, column, &value)->value_count > 1;
}

static bool matches(const struct sweep *sweep, uint64_t number, const struct sweep_match *match) {
    const char *value = sweep_value(sweep, number, match->column);
    for (unsigned i = 0; value && i < match->value_count; i++)
        if (strcmp(match->values[i], value) == 0)
            return true;
    return false;
}

bool sweep_is_excluded(const struct sweep *sweep, uint64_t number) {
    for (unsigned i = 0; i < sweep->exclusions.count; i++) {
        const struct sweep_exclusion *exclusion = &sweep->exclusions.items[i];
        unsigned k = 0;
        while (k < exclusion->count && matches(sweep, number, &exclusion->items[k]))
            k++;
        if (k == exclusion->count)
            return true;
    }
    return false;
}

const char *sweep_label(const struct sweep *sweep, uint64_t number, struct arena *arena) {
    const char *label = sweep_value(sweep, number, COLUMN_PROGRAM);
    const struct sweep_axis *variants = &sweep->axes.items[COLUMN_VARIANT]; /* their keys are told by their name */
    for (unsigned i = COLUMN_SIZE; i < sweep->columns.count; i++)
        if (sweep_varies(sweep, i) && (i < COLUMN_KEYS || i >= variants->first_column + variants->column_count))
            label = arena_printf(arena, "%s, %s=%s", label, sweep->columns.items[i], sweep_value(sweep, number, i));
    return label;
}

void sweep_point(const struct sweep *sweep, uint64_t number, struct arena *arena, struct point *out) {
    unsigned program = 0, count = 0;
    const char **keys = ARENA_ARRAY(arena, const char *, sweep->columns.count);
    const char **values = ARENA_ARRAY(arena, const char *, sweep->columns.count);
    const char *gpu = sweep_value(sweep, number, COLUMN_GPU);
    locate(sweep, number, COLUMN_PROGRAM, &program);
    for (unsigned i = COLUMN_KEYS; i < sweep->columns.count; i++) {
        keys[count] = sweep->columns.items[i];
        values[count] = sweep_value(sweep, number, i);
        count += values[count] != NULL;
    }
    *out = (struct point){.program = &sweep->programs.items[program].program,
                          .size = sweep_value(sweep, number, COLUMN_SIZE),
                          .functional = strcmp(sweep_value(sweep, number, COLUMN_FUNCTIONAL), "true") == 0,
                          .gpu = strchr(gpu, '/') || file_ends_in(gpu, ".yaml") ? file_join(arena, sweep->folder, gpu)
                                                                                : gpu,
                          .keys = keys,
                          .values = values,
                          .setting_count = count};
    text_to_u64(sweep_value(sweep, number, COLUMN_SEED), &out->seed);
}
