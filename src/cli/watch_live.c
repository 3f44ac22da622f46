/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/watch_live.h"

#include "base/team.h"
#include "result/parts.h"
#include "result/timed.h"

void watch_live_begin(struct watch *watch) { live_begin(&watch->live, watch->start); }

/* All launches that are done. */
static void add_done(const struct watch *watch, uint64_t *cycles, uint64_t *instructions) {
    for (unsigned i = 0; i < watch->run->done; i++) {
        const struct launch_result *result = &watch->run->results[i];
        *cycles += result->timed ? result->timed->cycles : 0;
        *instructions += result->stats.warp_instructions;
    }
}

static json_t *state(const struct watch *watch, const struct launch_progress *progress, double now) {
    const struct run *run = watch->run;
    struct arena arena = {0};
    uint64_t cycles = 0, instructions = 0;
    const double seconds = now - watch->start;
    json_t *out = live_state("run", run->file->name, seconds, watch_left(watch, progress, seconds));
    add_done(watch, &cycles, &instructions);
    json_object_set_new(out, "gpu", result_text(&arena, run->machine->name));
    json_object_set_new(out, "in_time", json_boolean(run->options.in_time));
    json_object_set_new(out, "launches_done", json_integer(run->done));
    json_object_set_new(out, "launches", json_integer(watch->launches));
    if (progress) {
        json_object_set_new(out, "kernel", result_text(&arena, run->launches[run->done].kernel->name));
        json_object_set_new(out, "blocks_done", result_count(progress->blocks_done));
        json_object_set_new(out, "blocks", result_count(progress->blocks));
        cycles += progress->cycles, instructions += progress->warp_instructions;
    }
    json_object_set_new(out, "cycles", result_count(cycles));
    json_object_set_new(out, "warp_instructions", result_count(instructions));
    arena_free(&arena);
    return out;
}

bool watch_live_look(struct watch *watch, const struct launch_progress *progress, double now) {
    if (watch->report_to >= 0 || !live_is_due(&watch->live, now))
        return watch->report_to < 0;
    if (live_look(&watch->live, now))
        live_tell(&watch->live, state(watch, progress, now));
    watch->report_to = live_report(&watch->live, now, watch->no_report);
    watch->interrupted |= watch->report_to >= 0;
    return watch->report_to < 0;
}

void watch_live_report(const struct watch *watch, const char *text, size_t length) {
    live_report_end(watch->report_to, text, length);
}

void watch_live_end(struct watch *watch) {
    live_end(&watch->live, live_is_open(&watch->live) ? state(watch, NULL, team_clock_seconds()) : NULL);
}
