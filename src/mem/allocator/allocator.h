/* SPDX-License-Identifier: Apache-2.0 */
/* Which input of a crossbar sends a flit to which output in a cycle: one file per allocator, chosen by exact name.
 * The crossbar has the buffers and says what is asked for; an allocator only matches. In a cycle
 *   an input has a grant for each of its ports at most, by a port that serves the output,
 *   an output has one at most,
 *   a grant is for an output that the input asks for, and with `hold` not between the flits of another's message.
 * A grant for an output without room is lost, unless the message has begun: its room is taken when its first flit crosses.
 * A crossbar in which nothing can cross is not asked again before something changes. So what an allocator does in turn moves
 * with its grants, and what it draws or rotates is computed from the cycle. */
#ifndef HEDDLE_MEM_ALLOCATOR_ALLOCATOR_H
#define HEDDLE_MEM_ALLOCATOR_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"

struct grant {
    uint32_t input, output;
};

/* What an allocator sees, and its answer. Masks over outputs have `output_words` words, masks over inputs `input_words`. At most
 * one message of an input asks for an output, so (input, output) names a request. */
struct matching {
    /* set before matching_create, the same in every cycle */
    uint32_t inputs, outputs;
    uint32_t ports;         /* of an input: 1 or 2 */
    uint32_t iterations;    /* passes of a cycle; a later one matches what the earlier left */
    uint64_t port_masks[2]; /* the outputs a port serves, in each word */
    uint64_t hold_mask;     /* all ones with `hold`: nothing new begins at a partial output */
    uint64_t seed, stream;  /* of random numbers: crossbars with one seed have a stream each */
    bool single;            /* one port and pass, and an input asks for one output at most */
    /* kept by the crossbar, only read by allocators */
    uint32_t input_words, output_words;
    uint64_t *active;  /* inputs with a message; every input that asks is among them */
    uint64_t *room;    /* outputs that any message fits in */
    uint64_t *partial; /* outputs with a message of which some flits have crossed */
    /* by input, [input]: outputs asked for; those of them whose message has begun to cross */
    uint64_t *requests, *started;
    /* by output, [output]: inputs, the same the other way round; and outputs with a request */
    uint64_t *asking, *begun, *asked;
    /* the answer */
    struct grant *grants; /* room for one of each output */
    uint32_t grant_count; /* 0 when the allocator is asked */
    /* with several passes, what matching_grant has matched, inputs by port; 0 when the allocator is asked */
    uint64_t *matched_outputs, *matched_inputs;
};

/* Fills the answer. False only when no flit can cross however the requests are matched: it is then not asked again before a
 * request is new or an output has room again. */
typedef bool allocate_function(void *self, struct matching *matching, uint64_t cycle);

struct allocator_ops {
    const char *name, *help;
    bool by_output; /* it reads asking, begun and asked; else requests and started. The others are NULL. */
    /* Its own memory; nothing is allocated later. */
    void *(*create)(struct arena *arena, const struct matching *matching);
    allocate_function *allocate;
    /* One that knows the kind of crossbar, in place of `allocate`. NULL: that is for all kinds. */
    allocate_function *(*choose)(const struct matching *matching);
};

/* The allocator of that exact name; NULL, with those that there are in the report: there is none. */
const struct allocator_ops *allocator_find(const char *name, struct report *report);
/* No requests, room everywhere. */
void matching_create(struct matching *matching, struct arena *arena, const struct allocator_ops *allocator);

static inline void mask_set(uint64_t *mask, uint32_t n) { mask[n / 64] |= UINT64_C(1) << n % 64; }
static inline void mask_clear(uint64_t *mask, uint32_t n) { mask[n / 64] &= ~(UINT64_C(1) << n % 64); }
static inline bool mask_test(const uint64_t *mask, uint32_t n) { return (mask[n / 64] >> n % 64 & 1) != 0; }

/* ---- for allocators ---- */

/* So that what is compiled for one word, one port and one pass has no loop over them. */
#define ALWAYS_INLINE __attribute__((always_inline))

/* May a message begin to cross to this output? One that has begun may always go on. */
static inline bool matching_open(const struct matching *m, uint32_t output) {
    return mask_test(m->room, output) && !(m->hold_mask && mask_test(m->partial, output));
}

static inline void matching_grant(struct matching *m, uint32_t input, uint32_t port, uint32_t output) {
    m->grants[m->grant_count++] = (struct grant){input, output};
    if (m->iterations > 1) {
        mask_set(m->matched_outputs, output);
        mask_set(m->matched_inputs + (size_t)port * m->input_words, input);
    }
}

/* ---- for the crossbar ---- */

/* What asks the allocator about a crossbar of this kind. */
static inline allocate_function *allocator_function(const struct allocator_ops *allocator, const struct matching *m) {
    return allocator->choose ? allocator->choose(m) : allocator->allocate;
}

/* Asks it, and answers as it does. */
static inline bool matching_fill(struct matching *m, allocate_function *allocate, void *self, uint64_t cycle) {
    m->grant_count = 0;
    if (m->iterations > 1) {
        memset(m->matched_outputs, 0, m->output_words * sizeof *m->matched_outputs);
        memset(m->matched_inputs, 0, (size_t)m->ports * m->input_words * sizeof *m->matched_inputs);
    }
    return allocate(self, m, cycle);
}

static inline void matching_ask(struct matching *m, uint32_t input, uint32_t output) {
    if (!m->asking) {
        mask_set(m->requests + (size_t)input * m->output_words, output);
        return;
    }
    mask_set(m->asking + (size_t)output * m->input_words, input);
    mask_set(m->asked, output);
}

static inline void matching_withdraw(struct matching *m, uint32_t input, uint32_t output) {
    if (!m->asking) {
        mask_clear(m->requests + (size_t)input * m->output_words, output);
        return;
    }
    uint64_t *asking = m->asking + (size_t)output * m->input_words, rest = 0;
    mask_clear(asking, input);
    for (uint32_t w = 0; w < m->input_words; w++)
        rest |= asking[w];
    if (!rest)
        mask_clear(m->asked, output);
}

/* The first flit of several has crossed; the last has. */
static inline void matching_begin(struct matching *m, uint32_t input, uint32_t output) {
    if (m->begun)
        mask_set(m->begun + (size_t)output * m->input_words, input);
    else
        mask_set(m->started + (size_t)input * m->output_words, output);
}

static inline void matching_end(struct matching *m, uint32_t input, uint32_t output) {
    if (m->begun)
        mask_clear(m->begun + (size_t)output * m->input_words, input);
    else
        mask_clear(m->started + (size_t)input * m->output_words, output);
}

#endif
