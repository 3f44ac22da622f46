/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/numbers.h"

#include <string.h>

#include "base/file.h"
#include "machine/model.h"

struct lines {
    struct arena *arena;
    char *items;
    unsigned count, capacity;
};

static void put(struct lines *lines, const char *text) {
    for (; *text; text++)
        *ARENA_PUSH(lines->arena, lines) = *text;
}

/* Quotes within are doubled; a line stays a line. */
static void put_quoted(struct lines *lines, const char *text) {
    put(lines, "\"");
    for (; *text; text++) {
        if (*text == '"')
            *ARENA_PUSH(lines->arena, lines) = '"';
        *ARENA_PUSH(lines->arena, lines) = *text == '\n' ? ' ' : *text;
    }
    put(lines, "\"");
}

static void put_line(struct lines *lines, const struct experiment *e, const char *kind, const char *item,
                     const char *rest) {
    put(lines, arena_printf(lines->arena, "%s,%s,%s,", e->id, e->size, kind));
    put_quoted(lines, item);
    put(lines, arena_printf(lines->arena, ",%s\n", rest));
}

static void put_experiment(struct lines *lines, const struct experiment *e) {
    const bool judged = e->state == EXPERIMENT_JUDGED;
    const char *state = e->state == EXPERIMENT_STUDY ? "study" : "incomplete";
    put_line(lines, e, "mark", "trend", arena_printf(lines->arena, ",,%s", judged ? experiment_trend(e) : state));
    put_line(lines, e, "mark", "magnitude",
             arena_printf(lines->arena, ",,%s", judged ? experiment_magnitude(e) : state));
    for (unsigned i = 0; e->state != EXPERIMENT_INCOMPLETE && i < e->check_count; i++)
        put_line(lines, e, "check", e->checks[i].name,
                 arena_printf(lines->arena, ",,%s", experiment_outcome(&e->checks[i])));
    for (unsigned i = 0; i < e->numbers.count; i++) {
        const struct experiment_value *number = &e->numbers.items[i];
        if (number->absent)
            put_line(lines, e, "number", number->name, ",,absent");
        else
            put_line(lines, e, "number", number->name,
                     arena_printf(lines->arena, "%.6g,%.3g,%s", number->ours.mean, number->ours.half,
                                  experiment_within(number)));
    }
}

enum status numbers_write(const struct experiment *experiments, unsigned count, const char *path, struct arena *arena,
                          struct report *report) {
    struct lines lines = {.arena = arena};
    put(&lines, arena_printf(arena, "# by model %s\nid,size,kind,item,ours,interval,outcome\n", model_hash()));
    for (unsigned i = 0; i < count; i++)
        put_experiment(&lines, &experiments[i]);
    return file_write(path, lines.items, lines.count, report);
}
