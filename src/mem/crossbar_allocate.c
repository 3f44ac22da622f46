/* SPDX-License-Identifier: Apache-2.0 */
/* Who crosses in a cycle: the two allocators of a crossbar. */
#include <string.h>

#include "base/bits.h"
#include "mem/crossbar_state.h"

/* So that what is compiled for one word, one port and one pass has no loop over them. */
#define ALWAYS_INLINE __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline))

static inline void grant_add(struct crossbar *x, uint32_t input, uint32_t port, uint32_t output) {
    x->grants[x->grant_count++] = (struct grant){input, output};
    if (x->params.iterations > 1) {
        mask_set(x->matched_outputs, output);
        mask_set(x->matched_inputs + (size_t)port * x->input_words, input);
    }
}

/* ---- random, input-first ---- */

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
static inline ALWAYS_INLINE uint32_t port_choices(const struct crossbar *x, uint32_t input, uint32_t port,
                                                  struct pass pass, uint64_t *choice, bool *movable) {
    const uint32_t words = pass.words;
    const uint64_t *requests = x->requests + (size_t)input * words, *started = x->started + (size_t)input * words;
    uint64_t matters = 0;
    uint32_t count = 0;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t mask = requests[w] & x->port_masks[port] & (~(x->partial[w] & x->hold_mask) | started[w]);
        if (pass.number > 0)
            mask &= ~x->matched_outputs[w];
        matters |= mask & (x->room[w] | x->partial[w]);
        choice[w] = mask;
        /* most masks have one bit, and counting bits is slow on the base instruction set */
        count += (mask & (mask - 1)) ? bits_count64(mask) : mask != 0;
    }
    *movable |= matters != 0;
    return matters || pass.count > 1 ? count : 0;
}

/* Ports pick; the best pick of every output is in x->best, the outputs are in x->contested. */
static inline ALWAYS_INLINE uint32_t ports_pick(const struct crossbar *x, uint64_t numbers, struct pass pass,
                                                bool *movable) {
    const uint32_t ports = pass.ports, words = pass.words;
    uint32_t contested = 0;
    uint64_t one_word, *choice = words == 1 ? &one_word : x->choice;
    uint64_t *restrict best = x->best;
    uint32_t *restrict contested_outputs = x->contested;
    for (uint32_t active_word = 0; active_word < x->input_words; active_word++) {
        for (uint64_t rest = x->active[active_word]; rest; rest &= rest - 1) {
            uint32_t input = active_word * 64 + bits_first64(rest);
            for (uint32_t port = 0; port < ports; port++) {
                if (pass.number > 0 && mask_test(x->matched_inputs + (size_t)port * x->input_words, input))
                    continue;
                uint32_t count = port_choices(x, input, port, pass, choice, movable);
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
static inline ALWAYS_INLINE bool allocate_random_as(struct crossbar *x, uint64_t cycle, uint32_t passes, uint32_t ports,
                                                    uint32_t words) {
    bool movable = false;
    uint64_t numbers = mix(x->number_base + cycle * MIX_STEP);
    for (uint32_t pass = 0; pass < passes; pass++) {
        uint32_t contested = ports_pick(x, numbers, (struct pass){pass, passes, ports, words}, &movable);
        if (contested == 0)
            break;
        for (uint32_t i = 0; i < contested; i++) {
            uint32_t output = x->contested[i], id = (uint32_t)x->best[output] - 1;
            x->best[output] = 0;
            grant_add(x, ports == 1 ? id : id / 2, ports == 1 ? 0 : id % 2, output);
        }
        numbers = mix(numbers);
    }
    return movable;
}

/* Apart, so that each has the host's registers to itself. */
static NEVER_INLINE bool allocate_one_port(struct crossbar *x, uint64_t cycle) {
    return allocate_random_as(x, cycle, 1, 1, 1);
}

static NEVER_INLINE bool allocate_two_ports(struct crossbar *x, uint64_t cycle) {
    return allocate_random_as(x, cycle, 1, 2, 1);
}

static NEVER_INLINE bool allocate_any(struct crossbar *x, uint64_t cycle) {
    return allocate_random_as(x, cycle, x->params.iterations, x->ports, x->output_words);
}

static bool allocate_random(struct crossbar *x, uint64_t cycle) {
    if (x->output_words > 1 || x->params.iterations > 1)
        return allocate_any(x, cycle);
    return x->ports == 1 ? allocate_one_port(x, cycle) : allocate_two_ports(x, cycle);
}

/* ---- islip ---- */

/* The first set bit at or after `from`, else the first of all; NO_MESSAGE for an empty mask. */
static inline ALWAYS_INLINE uint32_t mask_in_turn(const uint64_t *mask, uint32_t words, uint32_t from) {
    uint32_t word = words == 1 ? 0 : from / 64;
    uint64_t tail = mask[word] & UINT64_MAX << from % 64;
    if (words == 1)
        return mask[0] ? bits_first64(tail ? tail : mask[0]) : NO_MESSAGE;
    for (uint32_t i = 0; !tail && i < words; i++) {
        word = word + 1 == words ? 0 : word + 1;
        tail = mask[word];
    }
    return tail ? word * 64 + bits_first64(tail) : NO_MESSAGE;
}

static void output_grant(struct crossbar *x, uint32_t output) {
    const uint64_t *asking = x->asking + (size_t)output * x->input_words;
    const uint64_t *begun = x->begun + (size_t)output * x->input_words;
    const uint64_t *matched = x->matched_inputs, *matched_second = matched;
    if (x->ports == 2) {
        matched_second = matched + x->input_words;
        if (x->params.port_choice == CROSSBAR_PORT_SPLIT)
            matched = matched_second = output & 1 ? matched_second : matched;
    }
    bool open = mask_test(x->room, output) && !(x->params.hold && mask_test(x->partial, output));
    for (uint32_t w = 0; w < x->input_words; w++)
        x->choice[w] = (open ? asking[w] : begun[w]) & ~(matched[w] & matched_second[w]);
    uint32_t input = mask_in_turn(x->choice, x->input_words, x->grant_turns[output]);
    if (input == NO_MESSAGE)
        return;
    mask_set(x->granted + (size_t)input * x->output_words, output);
    mask_set(x->granted_inputs, input);
}

static void input_accept(struct crossbar *x, uint32_t input, uint32_t pass) {
    uint64_t *granted = x->granted + (size_t)input * x->output_words;
    for (uint32_t port = 0; port < x->ports; port++) {
        if (mask_test(x->matched_inputs + (size_t)port * x->input_words, input))
            continue;
        for (uint32_t w = 0; w < x->output_words; w++)
            x->choice[w] = granted[w] & x->port_masks[port];
        uint32_t *turn = &x->accept_turns[input * x->ports + port];
        uint32_t output = mask_in_turn(x->choice, x->output_words, *turn);
        if (output == NO_MESSAGE)
            continue;
        mask_clear(granted, output);
        grant_add(x, input, port, output);
        if (pass == 0) {
            *turn = output + 1 == x->shape.outputs ? 0 : output + 1;
            x->grant_turns[output] = input + 1 == x->shape.inputs ? 0 : input + 1;
        }
    }
    memset(granted, 0, x->output_words * sizeof *granted);
}

static NEVER_INLINE bool allocate_islip(struct crossbar *x) {
    for (uint32_t pass = 0; pass < x->params.iterations; pass++) {
        for (uint32_t w = 0; w < x->output_words; w++)
            for (uint64_t rest = x->asked[w] & ~x->matched_outputs[w]; rest; rest &= rest - 1)
                output_grant(x, w * 64 + bits_first64(rest));
        uint32_t before = x->grant_count;
        for (uint32_t w = 0; w < x->input_words; w++) {
            for (uint64_t rest = x->granted_inputs[w]; rest; rest &= rest - 1)
                input_accept(x, w * 64 + bits_first64(rest), pass);
            x->granted_inputs[w] = 0;
        }
        if (x->grant_count == before)
            break;
    }
    return x->grant_count > 0;
}

/* Of the usual kind: one pass, and every input asks for one output, so that a grant is always accepted, whoever is first
 * in the input's turn. */
static inline ALWAYS_INLINE bool islip_single(struct crossbar *x, uint32_t input_words, uint32_t output_words) {
    const uint32_t inputs = x->shape.inputs;
    uint32_t count = 0;
    for (uint32_t w = 0; w < output_words; w++) {
        const uint64_t open = x->room[w] & ~(x->partial[w] & x->hold_mask);
        for (uint64_t rest = x->asked[w]; rest; rest &= rest - 1) {
            const uint32_t bit = bits_first64(rest), output = w * 64 + bit;
            const uint64_t *choice = (open >> bit & 1 ? x->asking : x->begun) + (size_t)output * input_words;
            const uint32_t input = mask_in_turn(choice, input_words, x->grant_turns[output]);
            if (input == NO_MESSAGE)
                continue;
            x->grants[count++] = (struct grant){input, output};
            x->grant_turns[output] = input + 1 == inputs ? 0 : input + 1;
        }
    }
    x->grant_count = count;
    return count > 0;
}

static NEVER_INLINE bool allocate_islip_word(struct crossbar *x) { return islip_single(x, 1, 1); }

static NEVER_INLINE bool allocate_islip_single(struct crossbar *x) {
    return islip_single(x, x->input_words, x->output_words);
}

bool crossbar_allocate(struct crossbar *x, uint64_t cycle) {
    x->grant_count = 0;
    if (x->params.iterations > 1) {
        memset(x->matched_outputs, 0, x->output_words * sizeof *x->matched_outputs);
        memset(x->matched_inputs, 0, (size_t)x->ports * x->input_words * sizeof *x->matched_inputs);
    }
    if (x->params.allocator == CROSSBAR_RANDOM)
        return allocate_random(x, cycle);
    if (!x->single)
        return allocate_islip(x);
    return x->input_words == 1 && x->output_words == 1 ? allocate_islip_word(x) : allocate_islip_single(x);
}
