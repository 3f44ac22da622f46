/* SPDX-License-Identifier: Apache-2.0 */
/* A crossbar, one way (seed 000, 5.1.2): messages wait in input buffers as flits, one flit crosses per grant, and
 * messages are put together again at the output buffer. It knows nothing of a message but its size.
 *
 * Both buffers are finite and counted in credits of one flit. A sender asks for room before it pushes. The first flit
 * of a message takes the output's room for all of them, so that messages that mix at an output can always be completed;
 * it crosses only when the largest message would fit (one number per output, whichever message is picked).
 *
 * In a cycle: push what comes in, crossbar_advance, pop what is ready. A single flit pushed, carried and popped in one
 * cycle has spent one cycle here; further latency belongs to the links.
 *
 * Which input sends to which output in a cycle is decided by an allocator, mem/allocator/. */
#ifndef HEDDLE_MEM_CROSSBAR_H
#define HEDDLE_MEM_CROSSBAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/param.h"
#include "base/stat.h"
#include "base/status.h"
#include "mem/request.h"

enum crossbar_queues { CROSSBAR_FIFO, CROSSBAR_SPLIT, CROSSBAR_VOQ };
enum crossbar_port_choice { CROSSBAR_PORT_SPLIT, CROSSBAR_PORT_FREE };

#define PARAM PARAM_FIELD
struct crossbar_params {
#include "mem/crossbar_params.def"
};
#undef PARAM

#define STAT(field, unit, help) uint64_t field;
#define RATIO(...)
struct crossbar_stats {
#include "mem/crossbar_stats.def"
};
#undef STAT
#undef RATIO
extern const struct stat_description crossbar_stat_table[];

/* What the wiring gives, beside the keys. */
struct crossbar_shape {
    uint32_t inputs, outputs;
    uint32_t item_bytes;            /* what is copied for a message, not what it counts for */
    uint32_t largest_message_bytes; /* without the header */
    uint64_t stream;                /* tells the random numbers of crossbars with one seed apart */
};

struct crossbar;

/* Refuses allocators that there are not, and buffers that the largest message does not fit in: it would wait for ever.
 * Allocates for the last time. */
enum status crossbar_create(struct crossbar **out, struct arena *arena, const struct crossbar_params *params,
                            const struct crossbar_shape *shape, struct report *report);

/* Flits of a message of that many bytes, its header included; at least 1. */
uint32_t crossbar_flits(const struct crossbar *crossbar, uint32_t bytes);
/* Whether a message of that size for that output can be pushed at that input now. */
bool crossbar_room(const struct crossbar *crossbar, uint32_t input, uint32_t output, uint32_t bytes);
/* Copies the item. False, and nothing is pushed, without room or for a message above the largest. */
bool crossbar_push(struct crossbar *crossbar, uint32_t input, uint32_t output, uint32_t bytes, const void *item);
/* The oldest whole message at the output, NULL when there is none; its size in *bytes unless NULL. Good until popped. */
const void *crossbar_peek(const struct crossbar *crossbar, uint32_t output, uint32_t *bytes);
/* Takes what crossbar_peek shows. False when there is none. */
bool crossbar_pop(struct crossbar *crossbar, uint32_t output);

/* Outputs 64 * word to 64 * word + 63 with a whole message, as a mask. */
uint64_t crossbar_ready(const struct crossbar *crossbar, uint32_t word);
/* Inputs 64 * word to 64 * word + 63 that gave up room since this was last asked, as a mask: who waits there may ask
 * again, and need not before. */
uint64_t crossbar_freed(struct crossbar *crossbar, uint32_t word);

/* mem/request.h; the cycle named is the first not yet advanced through, which may lie in the past of a crossbar that
 * slept until a push or pop. Advancing through the last cycle of a run settles the counters. */
uint64_t crossbar_next(const struct crossbar *crossbar);
void crossbar_advance(struct crossbar *crossbar, uint64_t cycle);
/* Whether a message pushed has not been popped. */
bool crossbar_busy(const struct crossbar *crossbar);
/* Advances from `cycle` until nothing more can cross without a pop; the first cycle after. */
uint64_t crossbar_drain(struct crossbar *crossbar, uint64_t cycle);

const struct crossbar_stats *crossbar_stats(const struct crossbar *crossbar);
/* Whether messages, flits and bytes in are those out and those inside, and credits and the room in use make up every
 * buffer. Walks everything: for checks, not for the cycle loop. */
bool crossbar_conserves(const struct crossbar *crossbar);

#endif
