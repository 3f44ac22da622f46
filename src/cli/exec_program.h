/* SPDX-License-Identifier: Apache-2.0 */
/* The program of `heddle exec` as a process: started so that the keeper knows it, waited for, and handed the signals. */
#ifndef HEDDLE_CLI_EXEC_PROGRAM_H
#define HEDDLE_CLI_EXEC_PROGRAM_H

#include <signal.h>

#include "base/status.h"
#include "cli/exec_keeper.h"
#include "cli/exec_live.h"
#include "cli/exec_progress.h"

enum { SIGNALS_ENDING = 4 };

struct signals {
    struct sigaction before[SIGNALS_ENDING];
    sigset_t handed_on, mask;
};

/* From here on no such signal ends this process; signals that whoever started us has turned off stay off. They wait until
 * the program is there. */
void signals_take(struct signals *s);
void signals_give_back(const struct signals *s);

struct exec_program {
    const char *const *words; /* and its arguments; NULL ends them */
    const char *results;      /* the folder of the logs of this run */
    const struct keeper *keeper;
    struct exec_progress shown; /* what of its progress */
    struct exec_live *live;     /* who is told of it */
    bool is_silent;             /* it reads nothing, and what it prints is thrown away */
};

/* The exit status a shell would show; -1: the program could not be started. */
int exec_program_run(const struct exec_program *program, const struct signals *signals, struct report *report);

#endif
