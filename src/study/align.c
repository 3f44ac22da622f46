/* SPDX-License-Identifier: Apache-2.0 */
#include "study/align.h"

#include <string.h>

uint64_t sequence_weight(const struct sequence *sequence, const uint32_t *weights) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < sequence->count; i++)
        sum += weights[sequence->symbols[i]];
    return sum;
}

enum align_step { STEP_BOTH, STEP_A, STEP_B };

/* The middle of both, what begins and ends them alike taken off. steps[i * (b->count + 1) + j]: how the lightest alignment
 * of what follows i in a and j in b begins. */
static uint8_t *plan(struct arena *arena, const struct sequence *a, const struct sequence *b, const uint32_t *weights) {
    const size_t width = (size_t)b->count + 1;
    uint8_t *steps = arena_alloc(arena, ((size_t)a->count + 1) * width);
    uint64_t *below = ARENA_ARRAY(arena, uint64_t, width), *here = ARENA_ARRAY(arena, uint64_t, width);
    for (uint32_t j = b->count; j-- > 0;) {
        below[j] = below[j + 1] + weights[b->symbols[j]];
        steps[a->count * width + j] = STEP_B;
    }
    for (uint32_t i = a->count; i-- > 0;) {
        const uint64_t weight = weights[a->symbols[i]];
        here[b->count] = below[b->count] + weight;
        steps[i * width + b->count] = STEP_A;
        for (uint32_t j = b->count; j-- > 0;) {
            const uint64_t by_a = below[j] + weight, by_b = here[j + 1] + weights[b->symbols[j]];
            if (a->symbols[i] == b->symbols[j]) {
                here[j] = below[j + 1] + weight;
                steps[i * width + j] = STEP_BOTH;
            } else {
                here[j] = by_a <= by_b ? by_a : by_b;
                steps[i * width + j] = by_a <= by_b ? STEP_A : STEP_B;
            }
        }
        uint64_t *swap = below;
        below = here, here = swap;
    }
    return steps;
}

struct sequence align_pair(struct arena *arena, const struct sequence *a, const struct sequence *b,
                           const uint32_t *weights) {
    struct arena scratch = {0};
    uint32_t *out = ARENA_ARRAY(arena, uint32_t, (size_t)a->count + b->count), count = 0;
    uint32_t head = 0, tail = 0;
    while (head < a->count && head < b->count && a->symbols[head] == b->symbols[head])
        head++;
    while (head + tail < a->count && head + tail < b->count &&
           a->symbols[a->count - tail - 1] == b->symbols[b->count - tail - 1])
        tail++;
    const struct sequence left = {a->symbols + head, a->count - head - tail};
    const struct sequence right = {b->symbols + head, b->count - head - tail};
    const uint8_t *steps = plan(&scratch, &left, &right, weights);
    for (; count < head; count++)
        out[count] = a->symbols[count];
    for (uint32_t i = 0, j = 0; i < left.count || j < right.count;) {
        const uint8_t step = steps[i * ((size_t)right.count + 1) + j];
        out[count++] = step == STEP_B ? right.symbols[j] : left.symbols[i];
        i += step != STEP_B, j += step != STEP_A;
    }
    for (uint32_t i = 0; i < tail; i++)
        out[count++] = a->symbols[a->count - tail + i];
    arena_free(&scratch);
    return (struct sequence){out, count};
}

static uint64_t lightest(struct arena *arena, const struct sequence *sequences, unsigned count,
                         const uint32_t *weights) {
    if (count == 1)
        return sequence_weight(&sequences[0], weights);
    uint64_t best = UINT64_MAX;
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = i + 1; j < count; j++) {
            struct sequence rest[ALIGN_SEQUENCES_MAX];
            unsigned kept = 0;
            rest[kept++] = align_pair(arena, &sequences[i], &sequences[j], weights);
            for (unsigned k = 0; k < count; k++)
                if (k != i && k != j)
                    rest[kept++] = sequences[k];
            const uint64_t weight = lightest(arena, rest, kept, weights);
            best = weight < best ? weight : best;
        }
    return best;
}

static bool same(const struct sequence *a, const struct sequence *b) {
    return a->count == b->count && (!a->count || memcmp(a->symbols, b->symbols, a->count * sizeof *a->symbols) == 0);
}

uint64_t align_all(const struct sequence *sequences, unsigned count, const uint32_t *weights) {
    struct arena arena = {0};
    struct sequence distinct[ALIGN_SEQUENCES_MAX]; /* one more that is equal adds nothing */
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        bool known = false;
        for (unsigned k = 0; k < kept; k++)
            known |= same(&sequences[i], &distinct[k]);
        if (!known)
            distinct[kept++] = sequences[i];
    }
    const uint64_t weight = kept ? lightest(&arena, distinct, kept, weights) : 0;
    arena_free(&arena);
    return weight;
}
