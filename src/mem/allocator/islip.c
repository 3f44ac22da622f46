/* SPDX-License-Identifier: Apache-2.0 */
/* iSLIP (McKeown): every output grants the asking input next in its turn, every port accepts the granting output next in its
 * turn, and turns move only with a first-pass acceptance. Full outputs make no grants, as in the simulators whose descriptions
 * name it. */
#include "base/bits.h"
#include "mem/allocator/allocator.h"

#define NOBODY UINT32_MAX

struct islip {
    uint64_t *granted;        /* [input]: outputs; between cycles 0 */
    uint64_t *granted_inputs; /* inputs with a grant; between cycles 0 */
    uint32_t *grant_turns;    /* [output]: the input first in turn */
    uint32_t *accept_turns;   /* [input][port]: the output first in turn */
    uint64_t *choice;         /* one mask over outputs or inputs */
};

static void *islip_create(struct arena *arena, const struct matching *m) {
    struct islip *self = ARENA_NEW(arena, struct islip);
    self->granted = ARENA_ARRAY(arena, uint64_t, (size_t)m->inputs * m->output_words);
    self->granted_inputs = ARENA_ARRAY(arena, uint64_t, m->input_words);
    self->grant_turns = ARENA_ARRAY(arena, uint32_t, m->outputs);
    self->accept_turns = ARENA_ARRAY(arena, uint32_t, (size_t)m->inputs * m->ports);
    self->choice = ARENA_ARRAY(arena, uint64_t, m->output_words > m->input_words ? m->output_words : m->input_words);
    return self;
}

/* The first set bit at or after `from`, else the first of all; NOBODY for an empty mask. */
static inline ALWAYS_INLINE uint32_t mask_in_turn(const uint64_t *mask, uint32_t words, uint32_t from) {
    uint32_t word = words == 1 ? 0 : from / 64;
    uint64_t tail = mask[word] & UINT64_MAX << from % 64;
    if (words == 1)
        return mask[0] ? bits_first64(tail ? tail : mask[0]) : NOBODY;
    for (uint32_t i = 0; !tail && i < words; i++) {
        word = word + 1 == words ? 0 : word + 1;
        tail = mask[word];
    }
    return tail ? word * 64 + bits_first64(tail) : NOBODY;
}

static void output_grant(struct islip *self, const struct matching *m, uint32_t output) {
    const uint64_t *asking = m->asking + (size_t)output * m->input_words;
    const uint64_t *begun = m->begun + (size_t)output * m->input_words;
    const uint64_t *matched = m->matched_inputs, *matched_second = matched;
    if (m->ports == 2) {
        matched_second = matched + m->input_words;
        if (m->port_masks[0] != UINT64_MAX) /* one port serves the even outputs, one the odd */
            matched = matched_second = output & 1 ? matched_second : matched;
    }
    const bool open = matching_open(m, output);
    for (uint32_t w = 0; w < m->input_words; w++)
        self->choice[w] = (open ? asking[w] : begun[w]) & ~(matched[w] & matched_second[w]);
    uint32_t input = mask_in_turn(self->choice, m->input_words, self->grant_turns[output]);
    if (input == NOBODY)
        return;
    mask_set(self->granted + (size_t)input * m->output_words, output);
    mask_set(self->granted_inputs, input);
}

static void input_accept(struct islip *self, struct matching *m, uint32_t input, uint32_t pass) {
    uint64_t *granted = self->granted + (size_t)input * m->output_words;
    for (uint32_t port = 0; port < m->ports; port++) {
        if (mask_test(m->matched_inputs + (size_t)port * m->input_words, input))
            continue;
        for (uint32_t w = 0; w < m->output_words; w++)
            self->choice[w] = granted[w] & m->port_masks[port];
        uint32_t *turn = &self->accept_turns[input * m->ports + port];
        uint32_t output = mask_in_turn(self->choice, m->output_words, *turn);
        if (output == NOBODY)
            continue;
        mask_clear(granted, output);
        matching_grant(m, input, port, output);
        if (pass == 0) {
            *turn = output + 1 == m->outputs ? 0 : output + 1;
            self->grant_turns[output] = input + 1 == m->inputs ? 0 : input + 1;
        }
    }
    memset(granted, 0, m->output_words * sizeof *granted);
}

static bool allocate_any(void *state, struct matching *m, uint64_t cycle) {
    struct islip *self = state;
    (void)cycle;
    for (uint32_t pass = 0; pass < m->iterations; pass++) {
        for (uint32_t w = 0; w < m->output_words; w++)
            for (uint64_t rest = m->asked[w] & ~m->matched_outputs[w]; rest; rest &= rest - 1)
                output_grant(self, m, w * 64 + bits_first64(rest));
        uint32_t before = m->grant_count;
        for (uint32_t w = 0; w < m->input_words; w++) {
            for (uint64_t rest = self->granted_inputs[w]; rest; rest &= rest - 1)
                input_accept(self, m, w * 64 + bits_first64(rest), pass);
            self->granted_inputs[w] = 0;
        }
        if (m->grant_count == before)
            break;
    }
    return m->grant_count > 0;
}

/* Of the usual kind: one pass, and every input asks for one output, so that a grant is always accepted, whoever is first
 * in the input's turn. */
static inline ALWAYS_INLINE bool allocate_single_as(struct islip *self, struct matching *m, uint32_t input_words,
                                                    uint32_t output_words) {
    const uint32_t inputs = m->inputs;
    uint32_t count = 0;
    for (uint32_t w = 0; w < output_words; w++) {
        const uint64_t open = m->room[w] & ~(m->partial[w] & m->hold_mask);
        for (uint64_t rest = m->asked[w]; rest; rest &= rest - 1) {
            const uint32_t bit = bits_first64(rest), output = w * 64 + bit;
            const uint64_t *choice = (open >> bit & 1 ? m->asking : m->begun) + (size_t)output * input_words;
            const uint32_t input = mask_in_turn(choice, input_words, self->grant_turns[output]);
            if (input == NOBODY)
                continue;
            m->grants[count++] = (struct grant){input, output};
            self->grant_turns[output] = input + 1 == inputs ? 0 : input + 1;
        }
    }
    m->grant_count = count;
    return count > 0;
}

static bool allocate_word(void *self, struct matching *m, uint64_t cycle) {
    (void)cycle;
    return allocate_single_as(self, m, 1, 1);
}

static bool allocate_single(void *self, struct matching *m, uint64_t cycle) {
    (void)cycle;
    return allocate_single_as(self, m, m->input_words, m->output_words);
}

static allocate_function *islip_choose(const struct matching *m) {
    if (!m->single)
        return allocate_any;
    return m->input_words == 1 && m->output_words == 1 ? allocate_word : allocate_single;
}

const struct allocator_ops allocator_islip = {.name = "islip",
                                              .help =
                                                  "outputs grant and inputs accept in turn, full outputs stand back",
                                              .by_output = true,
                                              .create = islip_create,
                                              .choose = islip_choose};
