/* SPDX-License-Identifier: Apache-2.0 */
/* A run in time seen from the terminal: progress on standard error, and the wish to stop. */
#ifndef HEDDLE_CLI_WATCH_H
#define HEDDLE_CLI_WATCH_H

#include "launch/run.h"
#include <signal.h>

struct watch {
    const struct run *run;
    unsigned launches; /* of the file */
    bool shows;        /* standard error is a terminal, and nobody asked for quiet */
    bool interrupted, shown;
    double start, last;
    uint64_t instructions; /* when last shown */
    sigset_t signals, before;
};

/* From here to watch_end, signals to stop (store/child.h) only end the launch, at a place where its counts are whole. */
void watch_begin(struct watch *watch, const struct run *run, unsigned launches, bool quiet);
void watch_end(struct watch *watch);
/* For struct launch's watch; the watcher is a struct watch. */
bool watch_progress(void *watcher, const struct launch_progress *progress);

#endif
