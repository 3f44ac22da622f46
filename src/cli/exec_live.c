/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_live.h"

#include <poll.h>

#include "base/team.h"
#include "result/guest_live.h"
#include "result/parts.h"
#include "result/timed.h"

void exec_live_begin(struct exec_live *live) {
    live->start = team_clock_seconds();
    live_begin(&live->live, live->start);
}

static json_t *state(const struct exec_live *live, const char *folder) {
    struct guest_counts counts;
    struct arena arena = {0};
    /* what a program still will launch nobody knows */
    json_t *out = live_state("exec", live->name, team_clock_seconds() - live->start, -1);
    guest_live_sum(folder, &counts);
    json_object_set_new(out, "gpu", result_text(&arena, live->gpu));
    json_object_set_new(out, "in_time", json_boolean(live->in_time));
    json_object_set_new(out, "round", json_integer(live->round));
    json_object_set_new(out, "launches_done", result_count(counts.launches));
    json_object_set_new(out, "untimed_launches", result_count(counts.untimed));
    if (counts.under_way) {
        json_object_set_new(out, "kernel", result_text(&arena, counts.kernel));
        json_object_set_new(out, "blocks_done", result_count(counts.blocks_done));
        json_object_set_new(out, "blocks", result_count(counts.blocks));
    }
    json_object_set_new(out, "cycles", result_count(counts.cycles));
    json_object_set_new(out, "warp_instructions", result_count(counts.warp_instructions));
    arena_free(&arena);
    return out;
}

void exec_live_look(struct exec_live *live, const char *folder) {
    const double now = team_clock_seconds();
    if (!live_is_due(&live->live, now))
        return;
    if (live_look(&live->live, now))
        live_tell(&live->live, state(live, folder));
    const int to = live_report(&live->live, now, live->no_report);
    if (to >= 0) {
        size_t length = 0;
        const char *text = live->report(live->context, &length);
        live_report_end(to, text, length);
    }
}

void exec_live_end(struct exec_live *live, const char *folder) {
    live_end(&live->live, live_is_open(&live->live) ? state(live, folder) : NULL);
}

void exec_live_wait(struct exec_live *live, const char *folder, int process, bool is_shown) {
    struct pollfd watched[LIVE_CLIENTS + 2] = {{.fd = process, .events = POLLIN}};
    int descriptors[LIVE_CLIENTS + 1];
    const unsigned count = live_descriptors(&live->live, descriptors);
    /* who is here is looked after four times a second, whatever it sends; else the next one wakes us */
    const bool is_watched = live_is_watched(&live->live), is_new = !count && !live->live.refused;
    const unsigned ends = is_watched ? 0 : count;
    for (unsigned i = 0; i < ends; i++)
        watched[i + 1] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
    const int pause = is_shown ? 100 : is_watched || is_new ? 250 : -1;
    if (poll(watched, 1 + ends, pause) > 0 && !(watched[0].revents & POLLIN)) {
        const double early = live->live.next - team_clock_seconds();
        if (early > 0) /* many that come and go are taken as slowly */
            poll(watched, 1, 1 + (int)(early * 1000));
    }
    exec_live_look(live, folder);
}
