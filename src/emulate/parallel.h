/* SPDX-License-Identifier: Apache-2.0 */
/* Functional launches on several host threads.
 *
 * Each thread runs blocks over a view of memory of its own and notes what it loads and stores. Where no sector that one
 * stored was touched by another, the stores together are what one thread would have done, and go to memory. Else nothing has
 * reached memory, and one thread runs those blocks: results do not depend on the number of threads. */
#ifndef HEDDLE_EMULATE_PARALLEL_H
#define HEDDLE_EMULATE_PARALLEL_H

#include "emulate/emulate.h"

struct parallel;

/* For that memory, which outlives it. Threads begin with the first launch that is long enough: `alone_ns` on one thread. */
struct parallel *parallel_create(struct arena *arena, struct memory *memory, unsigned threads, uint64_t alone_ns);
void parallel_destroy(struct parallel *parallel); /* NULL is allowed; the memory stays the arena's */
unsigned parallel_threads(const struct parallel *parallel);
/* Launches of which blocks ran side by side. */
uint64_t parallel_launches(const struct parallel *parallel);
/* As `emulate`, of a whole launch. `linked`: of its kernel; a kernel whose blocks were found to depend on each other is
 * not tried again. */
enum status parallel_emulate(struct parallel *parallel, struct arena *arena, struct linked *linked,
                             const struct emulation *emulation, struct report *report);
/* Have all threads together, of which each issued so many more, kept within the limit? 0: there is none. */
bool parallel_is_within(uint64_t limit, uint64_t issued, const uint64_t *more, unsigned count);

#endif
