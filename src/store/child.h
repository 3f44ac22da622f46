/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is watched: it stands in a process group of its own, dies when we do, and can be ended with all it
 * started. Signals are waited for, so there are no handlers. */
#ifndef HEDDLE_STORE_CHILD_H
#define HEDDLE_STORE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Signals that ask a process to come to its end: of a user, of timeout and batch schedulers, of a terminal that is closed. */
bool child_is_stop(int number);
/* Those of them that whoever started us has not turned off. */
void child_add_stops(sigset_t *set);

/* Set for children that have a folder: who started them keeps what they leave, and clears up behind them. */
#define CHILD_IN_CARE "HEDDLE_IN_CARE"

/* From child_watch to child_unwatch these and SIGCHLD wait until they are asked for. */
struct child_watch {
    sigset_t signals, before;
    uint64_t memory_bytes; /* that a child may have of its own; 0: as much as there is */
};
void child_watch(struct child_watch *watch);
void child_unwatch(const struct child_watch *watch);
/* The next of them within so many seconds; 0: none. */
int child_wait(const struct child_watch *watch, double seconds);

/* Starts this program, arguments[0] is its name. folder: where its temporary files go, and what it says, as "log"; so whoever
 * removes the folder removes all that is left of it. NULL: it does as we do. death_signal is what it gets when this process ends before it. -1: the host refused. */
pid_t child_start(const struct child_watch *watch, const char *const *arguments, const char *folder, int death_signal);
/* Whether it has ended, with the wait status. */
bool child_has_ended(pid_t child, int *state);

enum child_end { CHILD_ENDED, CHILD_INTERRUPTED, CHILD_REFUSED };
/* Starts one as above, to die with us, and waits for its end. Signals to stop end it and all that is in its group.
 * alive, where given, is called every minute. */
enum child_end child_run(const struct child_watch *watch, const char *const *arguments, const char *folder,
                         void (*alive)(const void *context), const void *context, int *state);

#endif
