/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/watch.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/team.h"
#include "cli/commands.h"
#include "cli/watch_live.h"
#include "store/child.h"

void watch_begin(struct watch *watch, const struct run *run, unsigned launches, bool quiet) {
    *watch =
        (struct watch){.run = run, .launches = launches, .shows = !quiet && isatty(STDERR_FILENO), .report_to = -1};
    watch->start = watch->last = team_clock_seconds();
    watch_live_begin(watch);
    watch->stops = run->options.in_time;
    if (!watch->stops)
        return;
    sigemptyset(&watch->signals);
    child_add_stops(&watch->signals);
    sigprocmask(SIG_BLOCK, &watch->signals, &watch->before);
}

void watch_end(struct watch *watch) {
    watch_live_end(watch);
    if (watch->shown)
        fputs("\r\033[K", stderr);
    if (watch->stops)
        sigprocmask(SIG_SETMASK, &watch->before, NULL);
}

/* ---- time left ---- */

/* A kernel's launches so far. */
struct kernel_pace {
    const struct function *kernel;
    double instructions, threads;
};

enum { PACES_MAX = 64 };

struct paces {
    struct kernel_pace of[PACES_MAX], all; /* kernels beyond as many go at the pace of all */
    unsigned count;
};

static struct kernel_pace *pace_of(struct paces *paces, const struct function *kernel) {
    unsigned i = 0;
    while (i < paces->count && paces->of[i].kernel != kernel)
        i++;
    if (i == paces->count && i < PACES_MAX)
        paces->of[paces->count++].kernel = kernel;
    return i < PACES_MAX ? &paces->of[i] : &paces->all;
}

static double threads_of(const struct launch *launch) {
    double threads = 1;
    for (unsigned i = 0; i < 3; i++)
        threads *= (double)launch->grid[i] * launch->block[i];
    return threads;
}

static void add(struct paces *paces, const struct launch *launch, double instructions, double share) {
    struct kernel_pace *pace = pace_of(paces, launch->kernel);
    const double threads = threads_of(launch) * share;
    pace->instructions += instructions, pace->threads += threads;
    if (pace != &paces->all)
        paces->all.instructions += instructions, paces->all.threads += threads;
}

/* Warp instructions that the launch will issue, by threads. */
static double expected(struct paces *paces, const struct launch *launch) {
    const struct kernel_pace *pace = pace_of(paces, launch->kernel);
    if (pace->threads <= 0)
        pace = &paces->all;
    return pace->threads > 0 ? pace->instructions / pace->threads * threads_of(launch) : 0;
}

double watch_left(const struct watch *watch, const struct launch_progress *progress, double elapsed) {
    const struct run *run = watch->run;
    struct paces paces = {0};
    double done = 0, left = 0;
    unsigned next = run->done;
    for (unsigned i = 0; i < run->done; i++) {
        const double instructions = (double)run->results[i].stats.warp_instructions;
        done += instructions;
        add(&paces, &run->launches[i], instructions, 1);
    }
    if (progress && progress->blocks_done) {
        const double share = (double)progress->blocks_done / (double)progress->blocks;
        /* those of blocks under way are counted too; what they still will issue is in expected() */
        add(&paces, &run->launches[next], (double)progress->warp_instructions, share);
    }
    if (paces.all.threads <= 0 || paces.all.instructions <= 0)
        return -1;
    if (progress) {
        const double whole = progress->blocks_done ? (double)progress->warp_instructions * (double)progress->blocks /
                                                         (double)progress->blocks_done
                                                   : expected(&paces, &run->launches[next]);
        const double issued = (double)progress->warp_instructions;
        done += issued;
        left += whole > issued ? whole - issued : 0;
        next++;
    }
    for (unsigned i = next; i < watch->launches; i++)
        left += expected(&paces, &run->launches[i]);
    return done > 0 ? elapsed * left / done : -1;
}

/* ---- the terminal ---- */

static void show(struct watch *watch, const struct launch_progress *progress, double now) {
    struct arena arena = {0};
    const double seconds = now - watch->last, left = watch_left(watch, progress, now - watch->start);
    const uint64_t done = progress->blocks_done;
    /* a launch after another starts from nothing again */
    const uint64_t before = progress->warp_instructions >= watch->instructions ? watch->instructions : 0;
    fputs("\r\033[K", stderr);
    if (watch->launches > 1)
        print(stderr, "launch %u of %u: ", watch->run->done + 1, watch->launches);
    print(stderr, "%s cycles, %s of %s blocks, %.2f million warp instructions/s", with_commas(&arena, progress->cycles),
          with_commas(&arena, done), with_commas(&arena, progress->blocks),
          (double)(progress->warp_instructions - before) / seconds * 1e-6);
    if (left >= 0)
        print(stderr, ", %.0f s left", left);
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
    const double now = team_clock_seconds();
    if (watch->shows && now - watch->last >= 1)
        show(watch, progress, now);
    return watch_live_look(watch, progress, now);
}

void watch_between(struct watch *watch) { watch_live_look(watch, NULL, team_clock_seconds()); }
