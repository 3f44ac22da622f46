/* SPDX-License-Identifier: Apache-2.0 */
/* Stores that reach memory late, as a memory model without order between them allows: heddle check --explore.
 *
 * Where a watch asks for it, a store may wait while others of its thread pass it. Stores of a thread to one place keep their order, and
 * it sees its own. A fence, a barrier, a warp-level operation that waits for lanes, an access with release order and the end of
 * the launch let all of them go, and none waits for ever. */
#ifndef HEDDLE_EXEC_DELAYED_H
#define HEDDLE_EXEC_DELAYED_H

#include "base/rng.h"

struct exec;

enum {
    DELAYED_MAX = 128,
    DELAYED_STEPS_MAX = 400
}; /* stores that wait at a time, and for how many accesses of the launch */

/* In struct exec_watch: all that waits, in the order in which it was executed. */
struct exec_delays {
    struct rng rng;
    unsigned chance; /* of 256: that a store waits */
    uint64_t steps;
    unsigned count;
    struct delayed_store {
        uint8_t *memory;
        uint64_t value, since, block;
        unsigned thread, bytes;
    } items[DELAYED_MAX];
};

/* A thread of the block stores. */
void delayed_put(struct exec *exec, unsigned thread, uint8_t *memory, uint64_t value, unsigned bytes);
/* A thread is about to access that memory: what it has stored there goes first. */
void delayed_access(struct exec *exec, unsigned thread, const uint8_t *memory, unsigned bytes);
/* All stores of these lanes of a warp go. */
void delayed_release(struct exec *exec, unsigned warp, uint32_t lanes);
/* Those to the shared memory of the block, which ends. */
void delayed_block_end(struct exec *exec);
/* The launch has ended. */
void delayed_end(struct exec_delays *delays);

#endif
