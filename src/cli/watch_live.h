/* SPDX-License-Identifier: Apache-2.0 */
/* What heddle run tells heddle top: counters, and a copy of itself that writes a partial report. */
#ifndef HEDDLE_CLI_WATCH_LIVE_H
#define HEDDLE_CLI_WATCH_LIVE_H

#include "cli/watch.h"

#ifndef __EMSCRIPTEN__
void watch_live_begin(struct watch *watch);
/* Whoever asks is told. False: this is a copy now (watch->report_to), and the launch is to end as an interrupted one does. */
bool watch_live_look(struct watch *watch, const struct launch_progress *progress, double now);
/* In the copy, which ends here. */
void watch_live_report(const struct watch *watch, const char *text, size_t length);
void watch_live_end(struct watch *watch);
#else /* a browser has no sockets */
static inline void watch_live_begin(struct watch *watch) { (void)watch; }
static inline bool watch_live_look(struct watch *watch, const struct launch_progress *progress, double now) {
    (void)watch, (void)progress, (void)now;
    return true;
}
static inline void watch_live_report(const struct watch *watch, const char *text, size_t length) {
    (void)watch, (void)text, (void)length;
}
static inline void watch_live_end(struct watch *watch) { (void)watch; }
#endif

#endif
