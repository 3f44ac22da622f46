/* SPDX-License-Identifier: Apache-2.0 */
/* Random, inputs first: every port of an input picks one of the outputs that its queues ask for, every output picks one of the
 * ports that picked it, both uniformly. It is blind to full outputs: a grant for one is lost.
 * Random numbers belong to (seed, cycle, pass, port), not to a history: a port that cannot move need not be looked at, and a
 * crossbar that cannot move need not be visited. */
#include "base/bits.h"
#include "mem/allocator/allocator.h"

struct random_allocator {
    uint64_t number_base;
    uint64_t *best;      /* [output]: draw << 32 | port + 1 of the winner so far; between cycles 0 */
    uint32_t *contested; /* outputs with a best */
    uint64_t *choice;    /* one mask over outputs */
};

#define MIX_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The finalizer of splitmix64: every bit of the result depends on every bit of n. */
static inline uint64_t mix(uint64_t n) {
    n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
    return n ^ n >> 31;
}

static void *random_create(struct arena *arena, const struct matching *m) {
    struct random_allocator *self = ARENA_NEW(arena, struct random_allocator);
    self->number_base = mix(mix(m->seed + MIX_STEP) + m->stream * MIX_STEP);
    self->best = ARENA_ARRAY(arena, uint64_t, m->outputs);
    self->contested = ARENA_ARRAY(arena, uint32_t, m->outputs);
    self->choice = ARENA_ARRAY(arena, uint64_t, m->output_words);
    return self;
}

/* The bit of the mask with `rank` set bits below it. */
static inline uint32_t mask_select(const uint64_t *mask, uint32_t words, uint32_t rank) {
    uint32_t w = 0;
    if (words > 1)
        for (uint32_t count; rank >= (count = bits_count64(mask[w])); w++)
            rank -= count;
    uint64_t rest = mask[w];
    while (rank--)
        rest &= rest - 1;
    return w * 64 + bits_first64(rest);
}

/* A pass of the allocator, of so many, over so many ports of an input and words of outputs. */
struct pass {
    uint32_t number, count, ports, words;
};

/* What the port may pick from, and how many; 0 when no pick of it could matter: with one pass, a pick of a full output
 * at which nobody can continue changes nothing for anyone. If no port has one that matters nothing can cross, since
 * whoever has begun a message can continue it. */
static inline ALWAYS_INLINE uint32_t port_choices(const struct matching *m, uint32_t input, uint32_t port,
                                                  struct pass pass, uint64_t *choice, bool *movable) {
    const uint32_t words = pass.words;
    const uint64_t *requests = m->requests + (size_t)input * words, *started = m->started + (size_t)input * words;
    uint64_t matters = 0;
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t mask = requests[w] & m->port_masks[port] & (~(m->partial[w] & m->hold_mask) | started[w]);
        if (pass.number > 0)
            mask &= ~m->matched_outputs[w];
        matters |= mask & (m->room[w] | m->partial[w]);
        choice[w] = mask;
        /* most masks have one bit, and counting bits is slow on the base instruction set */
        count += (mask & (mask - 1)) ? bits_count64(mask) : mask != 0;
    }
    *movable |= matters != 0;
    return matters || pass.count > 1 ? count : 0;
}

/* Ports pick; the best pick of every output is in `best`, the outputs are in `contested`. */
static inline ALWAYS_INLINE uint32_t ports_pick(const struct random_allocator *self, const struct matching *m,
                                                uint64_t numbers, struct pass pass, bool *movable) {
    const uint32_t ports = pass.ports, words = pass.words;
    uint32_t contested = 0;
    uint64_t one_word, *choice = words == 1 ? &one_word : self->choice;
    uint64_t *restrict best = self->best;
    uint32_t *restrict contested_outputs = self->contested;
    for (uint32_t active_word = 0; active_word < m->input_words; active_word++) {
        for (uint64_t rest = m->active[active_word]; rest; rest &= rest - 1) {
            uint32_t input = active_word * 64 + bits_first64(rest);
            for (uint32_t port = 0; port < ports; port++) {
                if (pass.number > 0 && mask_test(m->matched_inputs + (size_t)port * m->input_words, input))
                    continue;
                uint32_t count = port_choices(m, input, port, pass, choice, movable);
                if (count == 0)
                    continue;
                uint64_t id = (uint64_t)input * ports + port;
                uint64_t number = mix(numbers + id * MIX_STEP);
                /* the upper half picks the output, the lower half is the port's bid there */
                uint32_t output = mask_select(choice, words, (uint32_t)((number >> 32) * count >> 32));
                uint64_t bid = number << 32 | (id + 1), highest = best[output];
                if (highest == 0)
                    contested_outputs[contested++] = output;
                if (bid > highest)
                    best[output] = bid;
            }
        }
    }
    return contested;
}

/* Whether any flit could have crossed. */
static inline ALWAYS_INLINE bool allocate_as(struct random_allocator *self, struct matching *m, uint64_t cycle,
                                             struct pass pass) {
    bool movable = false;
    uint64_t numbers = mix(self->number_base + cycle * MIX_STEP);
    for (; pass.number < pass.count; pass.number++) {
        uint32_t contested = ports_pick(self, m, numbers, pass, &movable);
        if (contested == 0)
            break;
        for (uint32_t i = 0; i < contested; i++) {
            uint32_t output = self->contested[i], id = (uint32_t)self->best[output] - 1;
            self->best[output] = 0;
            matching_grant(m, pass.ports == 1 ? id : id / 2, pass.ports == 1 ? 0 : id % 2, output);
        }
        numbers = mix(numbers);
    }
    return movable;
}

static bool allocate_one_port(void *self, struct matching *m, uint64_t cycle) {
    return allocate_as(self, m, cycle, (struct pass){.count = 1, .ports = 1, .words = 1});
}

static bool allocate_two_ports(void *self, struct matching *m, uint64_t cycle) {
    return allocate_as(self, m, cycle, (struct pass){.count = 1, .ports = 2, .words = 1});
}

static bool allocate_any(void *self, struct matching *m, uint64_t cycle) {
    return allocate_as(self, m, cycle,
                       (struct pass){.count = m->iterations, .ports = m->ports, .words = m->output_words});
}

static allocate_function *random_choose(const struct matching *m) {
    if (m->output_words > 1 || m->iterations > 1)
        return allocate_any;
    return m->ports == 1 ? allocate_one_port : allocate_two_ports;
}

const struct allocator_ops allocator_random = {
    .name = "random",
    .help = "inputs pick one output, then outputs one input, blind to full outputs",
    .create = random_create,
    .choose = random_choose};
