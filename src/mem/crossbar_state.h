/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a crossbar, shared by crossbar.c (buffers, crossing, time) and crossbar_allocate.c (who crosses). */
#ifndef HEDDLE_MEM_CROSSBAR_STATE_H
#define HEDDLE_MEM_CROSSBAR_STATE_H

#include <stdalign.h>

#include "mem/crossbar.h"

#define NO_MESSAGE UINT32_MAX

/* A message stays in its slot from push to pop; buffers are lists of slots and counts of flits. A slot is named by where it
 * begins in `messages`, so that it is found without multiplying. */
struct message {
    uint32_t next; /* in its buffer, or in the list of free slots */
    uint32_t output, bytes;
    uint32_t flits, flits_left; /* left: those that have not crossed */
    alignas(8) unsigned char item[];
};

struct buffer {
    alignas(16) uint32_t first;
    uint32_t last;    /* slots; NO_MESSAGE when empty */
    uint32_t credits; /* flits of room */
};

struct grant {
    uint32_t input, output;
};

/* Masks over outputs have `output_words` words, masks over inputs `input_words`. At most one queue of an input asks for
 * an output, so (input, output) names a request. */
struct crossbar {
    struct crossbar_params params;
    struct crossbar_shape shape;
    uint32_t ports, queues_per_input, output_words, input_words, largest_flits;
    uint64_t port_masks[2]; /* the outputs a port serves, in each word */
    uint64_t number_base;   /* of the random numbers */

    uint64_t next_cycle; /* the first not advanced through */
    bool wake;           /* something changed since a cycle in which nothing could cross */
    bool was_waiting;    /* flits were left at inputs by the last cycle advanced through */
    uint32_t active_inputs;
    uint64_t *active;   /* inputs that ask for anything */
    uint64_t *freed;    /* inputs, see crossbar_freed */
    uint64_t *ready;    /* outputs with a whole message */
    uint64_t *room;     /* outputs that the largest message fits in */
    uint64_t *partial;  /* outputs with a message of which some flits have crossed */
    uint64_t hold_mask; /* all ones with `hold`: nothing new begins at a partial output */
    uint32_t *used;     /* [input]: queues with a message */
    uint64_t *requests; /* random, [input]: outputs asked for */
    uint64_t *started;  /* random, [input]: those of them whose message has begun to cross */
    /* With `hold` and one queue and port, nobody can come between the flits of a message once the first has crossed: the
     * others follow one a cycle. Such an input is in `streams` and asks for nothing. */
    bool streaming;
    bool single; /* one queue, port and pass */
    uint64_t *streams;
    uint32_t stream_count;
    struct buffer *queues; /* [input][queue] */
    struct buffer *outputs;
    uint32_t *partial_counts; /* [output] */

    /* a cycle's allocation; between cycles `best` is 0 */
    struct grant *grants;
    uint32_t grant_count;
    uint64_t *best;            /* random, [output]: draw << 32 | port + 1 of the winner so far */
    uint32_t *contested;       /* random: outputs with a best */
    uint64_t *matched_outputs; /* cleared at each cycle when there are several passes */
    uint64_t *matched_inputs;  /* [port] */
    uint64_t *choice;          /* one mask over outputs or inputs */
    uint64_t *asking, *begun;  /* islip, [output]: inputs, as requests and started the other way round */
    uint64_t *asked;           /* islip: outputs with a request */
    uint64_t *granted;         /* islip, [input]: outputs; between cycles 0 */
    uint64_t *granted_inputs;  /* islip: inputs with a grant; between cycles 0 */
    uint32_t *grant_turns;     /* islip, [output]: the input first in turn */
    uint32_t *accept_turns;    /* islip, [input][port]: the output first in turn */

    unsigned char *messages;
    uint32_t message_bytes;                  /* of a slot */
    uint32_t unused_messages, free_messages; /* slots never used yet begin here; list of slots given back */
    struct crossbar_stats stats;
};

static inline void mask_set(uint64_t *mask, uint32_t n) { mask[n / 64] |= UINT64_C(1) << n % 64; }
static inline void mask_clear(uint64_t *mask, uint32_t n) { mask[n / 64] &= ~(UINT64_C(1) << n % 64); }
static inline bool mask_test(const uint64_t *mask, uint32_t n) { return (mask[n / 64] >> n % 64 & 1) != 0; }

static inline struct message *message_at(const struct crossbar *x, uint32_t slot) {
    return (struct message *)(void *)(x->messages + slot);
}

static inline struct buffer *queue_of(const struct crossbar *x, uint32_t input, uint32_t output) {
    uint32_t queue = x->params.queues == CROSSBAR_FIFO ? 0 : x->params.queues == CROSSBAR_SPLIT ? output & 1 : output;
    return &x->queues[input * x->queues_per_input + queue];
}

/* The finalizer of splitmix64: every bit of the result depends on every bit of n. */
static inline uint64_t mix(uint64_t n) {
    n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
    return n ^ n >> 31;
}

#define MIX_STEP UINT64_C(0x9e3779b97f4a7c15)

/* Fills x->grants for the cycle; false when no flit could cross, whatever the picks. */
bool crossbar_allocate(struct crossbar *crossbar, uint64_t cycle);

#endif
