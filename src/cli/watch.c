/* SPDX-License-Identifier: Apache-2.0 */
#include "base/team.h"
#include "cli/watch.h"
#include "cli/commands.h"
#include "store/child.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void watch_begin(struct watch *watch, const struct run *run, unsigned launches, bool quiet) {
    *watch = (struct watch){.run = run, .launches = launches, .shows = !quiet && isatty(STDERR_FILENO)};
    watch->start = watch->last = team_clock_seconds();
    sigemptyset(&watch->signals);
    child_add_stops(&watch->signals);
    sigprocmask(SIG_BLOCK, &watch->signals, &watch->before);
}

void watch_end(struct watch *watch) {
    if (watch->shown)
        fputs("\r\033[K", stderr);
    sigprocmask(SIG_SETMASK, &watch->before, NULL);
}

static void show(struct watch *watch, const struct launch_progress *progress, double now) {
    struct arena arena = {0};
    const double seconds = now - watch->last, elapsed = now - watch->start;
    const uint64_t done = progress->blocks_done;
    /* a launch after another starts from nothing again */
    const uint64_t before = progress->warp_instructions >= watch->instructions ? watch->instructions : 0;
    fputs("\r\033[K", stderr);
    if (watch->launches > 1)
        print(stderr, "launch %u of %u: ", watch->run->done + 1, watch->launches);
    print(stderr, "%s cycles, %s of %s blocks, %.2f million warp instructions/s", with_commas(&arena, progress->cycles),
          with_commas(&arena, done), with_commas(&arena, progress->blocks),
          (double)(progress->warp_instructions - before) / seconds * 1e-6);
    if (done && watch->launches == 1)
        print(stderr, ", %.0f s left", elapsed * (double)(progress->blocks - done) / (double)done);
    fflush(stderr);
    arena_free(&arena);
    watch->last = now;
    watch->instructions = progress->warp_instructions;
    watch->shown = true;
}

bool watch_progress(void *watcher, const struct launch_progress *progress) {
    struct watch *watch = watcher;
    const struct timespec at_once = {0};
    if (sigtimedwait(&watch->signals, NULL, &at_once) > 0) { /* taken: a second one ends the program as ever */
        watch->interrupted = true;
        return false;
    }
    if (!watch->shows)
        return true;
    const double now = team_clock_seconds();
    if (now - watch->last >= 1)
        show(watch, progress, now);
    return true;
}
