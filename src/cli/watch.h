/* SPDX-License-Identifier: Apache-2.0 */
/* A run seen from outside: progress on standard error, counters for heddle top, and the wish to stop. */
#ifndef HEDDLE_CLI_WATCH_H
#define HEDDLE_CLI_WATCH_H

#ifndef __EMSCRIPTEN__ /* a browser has no sockets */
#include "cli/live.h"
#endif
#include "launch/run.h"
#include <signal.h>

struct watch {
    const struct run *run;
    unsigned launches;              /* of the file */
    bool shows;                     /* standard error is a terminal, and nobody asked for quiet */
    bool interrupted, shown, stops; /* stops: signals wait */
    double start, last;
    uint64_t instructions; /* when last shown */
    sigset_t signals, before;
#ifndef __EMSCRIPTEN__
    struct live live;
#endif
    const char *no_report; /* why there are no partial reports; NULL: there are */
    int report_to;         /* this is a copy of the run, which is to end and report there; -1: it is the run */
};

/* From here to watch_end, signals to stop (store/child.h) only end the launch, at a place where its counts are whole; but where launches run
 * without time, and nobody is asked whether they go on. */
void watch_begin(struct watch *watch, const struct run *run, unsigned launches, bool quiet);
void watch_end(struct watch *watch);
/* A launch has ended: those without time ask nobody while they run. */
void watch_between(struct watch *watch);
/* For struct launch's watch; the watcher is a struct watch. */
bool watch_progress(void *watcher, const struct launch_progress *progress);

/* Seconds until all launches are done, at the pace so far, with each launch's warp instructions by those of its kernel so far;
 * negative: nobody knows yet. `progress` of the launch under way; NULL: none is. */
double watch_left(const struct watch *watch, const struct launch_progress *progress, double elapsed);

#endif
