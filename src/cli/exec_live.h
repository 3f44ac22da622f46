/* SPDX-License-Identifier: Apache-2.0 */
/* What heddle exec tells heddle top of the program that it waits for. */
#ifndef HEDDLE_CLI_EXEC_LIVE_H
#define HEDDLE_CLI_EXEC_LIVE_H

#include "cli/live.h"

struct exec_live {
    struct live live;
    const char *name, *gpu;
    bool in_time;
    const char *no_report; /* why there are no partial reports; NULL: there are */
    /* In a copy of this process: the result file of what has run. */
    char *(*report)(void *context, size_t *length);
    void *context;
    double start;
    unsigned round; /* of --sample: how many times the program has been started; 1 the first */
};

void exec_live_begin(struct exec_live *live);
/* Whoever asks is told; `folder`: of the logs of the program under way. */
void exec_live_look(struct exec_live *live, const char *folder);
void exec_live_end(struct exec_live *live, const char *folder);
/* Until the process may have ended (or a tenth of a second, where `is_shown`), answering meanwhile. */
void exec_live_wait(struct exec_live *live, const char *folder, int process, bool is_shown);

#endif
