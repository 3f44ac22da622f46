/* SPDX-License-Identifier: Apache-2.0 */
/* Host threads that work together: one of them asks, those who come in time help, and the call returns when all who came
 * are done. Nobody waits for one that the host has not given a processor meanwhile. Between turns the others spin for some
 * microseconds, then sleep. */
#ifndef HEDDLE_BASE_TEAM_H
#define HEDDLE_BASE_TEAM_H

#include <stdint.h>

#include "base/arena.h"

struct team;

/* Time of the host, from an arbitrary start. */
uint64_t team_clock_ns(void);
double team_clock_seconds(void);
/* Processors that this process may run on. */
unsigned team_processors(void);
/* As many threads as are wanted; 0: as there are processors. */
unsigned team_threads(unsigned wanted);
/* The calling thread and up to `threads` - 1 others, fewer where the host gives no more. They have its floating-point
 * environment and receive no signals. */
struct team *team_create(struct arena *arena, unsigned threads);
/* How many they are, the caller of team_run included. */
unsigned team_size(const struct team *team);
/* work(self, 0) on the calling thread, and work(self, i) at most once on others: which of them is left to the host, so work is
 * cut in pieces that whoever comes takes, and the caller takes all that are left. What was written before is seen by all,
 * and what they wrote is seen behind it. */
void team_run(struct team *team, void (*work)(void *self, unsigned thread), void *self);
/* Ends the threads; NULL is allowed. The memory stays the arena's. */
void team_destroy(struct team *team);

#endif
