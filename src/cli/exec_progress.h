/* SPDX-License-Identifier: Apache-2.0 */
/* What heddle exec shows of a program that is under way. */
#ifndef HEDDLE_CLI_EXEC_PROGRESS_H
#define HEDDLE_CLI_EXEC_PROGRESS_H

#include <stdbool.h>

struct exec_progress {
    bool launches, compiles; /* is shown at all */
    bool on_line;            /* the terminal's last line is ours */
    char compiling[128];     /* what was said last */
};

/* Ten times a second: compiling for long is said once, how far a launch came every second, on a terminal. `folder`: of the logs. */
void exec_progress_show(struct exec_progress *shown, const char *folder, unsigned turn);
void exec_progress_clear(struct exec_progress *shown);

#endif
