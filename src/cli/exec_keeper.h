/* SPDX-License-Identifier: Apache-2.0 */
/* A process beside `heddle exec` that outlives it: when heddle is killed, and nobody is asked before SIGKILL, it ends the
 * program and saves what the program's launches left. */
#ifndef HEDDLE_CLI_EXEC_KEEPER_H
#define HEDDLE_CLI_EXEC_KEEPER_H

#include <sys/types.h>

struct keeper {
    pid_t process; /* 0: there is none */
    int told;      /* what it is told; that it closes tells of our end */
};

/* `save` is called in the keeper, with the program ended, if this process ends without keeper_dismiss. No keeper can be started:
 * there is none, and nothing else changes. */
void keeper_start(struct keeper *keeper, void (*save)(void *context), void *context);
/* The program that it ends; told by the program's process itself, before it is the program. */
void keeper_tell(const struct keeper *keeper, pid_t program);
/* All is saved. */
void keeper_dismiss(struct keeper *keeper);

#endif
