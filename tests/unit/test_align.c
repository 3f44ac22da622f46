/* SPDX-License-Identifier: Apache-2.0 */
/* Alignments against a search that tries everything, on short random sequences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "study/align.h"

enum { LENGTH = 7, SYMBOLS = 3 };

/* The least weight of any sequence that all of them can be had from: whatever symbol comes next, all that can take it do.
 * No table, no pairs: every order is tried. */
static uint64_t search(const struct sequence *sequences, unsigned count, const uint32_t *weights) {
    uint64_t best = UINT64_MAX;
    bool ended = true;
    for (unsigned i = 0; i < count; i++)
        ended &= sequences[i].count == 0;
    if (ended)
        return 0;
    for (uint32_t symbol = 0; symbol < SYMBOLS; symbol++) {
        struct sequence rest[ALIGN_SEQUENCES_MAX];
        bool taken = false;
        for (unsigned i = 0; i < count; i++) {
            rest[i] = sequences[i];
            if (rest[i].count && rest[i].symbols[0] == symbol)
                rest[i].symbols++, rest[i].count--, taken = true;
        }
        const uint64_t weight = taken ? weights[symbol] + search(rest, count, weights) : UINT64_MAX;
        best = weight < best ? weight : best;
    }
    return best;
}

static bool contains(const struct sequence *whole, const struct sequence *part) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < whole->count && at < part->count; i++)
        at += whole->symbols[i] == part->symbols[at];
    return at == part->count;
}

struct sample {
    uint32_t symbols[ALIGN_SEQUENCES_MAX][LENGTH], weights[SYMBOLS];
    struct sequence sequences[ALIGN_SEQUENCES_MAX];
};

static void draw(struct sample *sample, struct rng *rng, unsigned longest) {
    for (unsigned i = 0; i < SYMBOLS; i++)
        sample->weights[i] = 1 + (uint32_t)rng_below(rng, 5);
    for (unsigned i = 0; i < ALIGN_SEQUENCES_MAX; i++) {
        for (unsigned k = 0; k < LENGTH; k++)
            sample->symbols[i][k] = (uint32_t)rng_below(rng, SYMBOLS);
        sample->sequences[i] = (struct sequence){sample->symbols[i], (uint32_t)rng_below(rng, longest + 1)};
    }
}

static void two_are_aligned_as_well_as_can_be(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 4);
    for (unsigned round = 0; round < 2000; round++) {
        struct arena arena = {0};
        struct sample sample;
        draw(&sample, &rng, LENGTH);
        const struct sequence both = align_pair(&arena, &sample.sequences[0], &sample.sequences[1], sample.weights);
        assert_true(contains(&both, &sample.sequences[0]) && contains(&both, &sample.sequences[1]));
        assert_int_equal(sequence_weight(&both, sample.weights), search(sample.sequences, 2, sample.weights));
        assert_int_equal(sequence_weight(&both, sample.weights), align_all(sample.sequences, 2, sample.weights));
        arena_free(&arena);
    }
}

/* Two at a time cannot be better than all at once, and is seldom worse. */
static void four_are_aligned_two_at_a_time(void **state) {
    (void)state;
    enum { ROUNDS = 300 };
    struct rng rng;
    unsigned as_good = 0;
    rng_seed(&rng, 5);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct sample sample;
        draw(&sample, &rng, 5);
        const uint64_t best = search(sample.sequences, 4, sample.weights);
        const uint64_t found = align_all(sample.sequences, 4, sample.weights);
        assert_true(found >= best && found <= best + best / 2);
        as_good += found == best;
    }
    assert_true(as_good >= ROUNDS * 9 / 10);
}

/* The order in which threads are named does not matter, nor one that is there twice. */
static void order_and_repetition_change_nothing(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 6);
    for (unsigned round = 0; round < 200; round++) {
        struct sample sample;
        draw(&sample, &rng, LENGTH);
        const struct sequence *s = sample.sequences;
        const struct sequence twice[] = {s[0], s[1], s[0], s[1]};
        assert_int_equal(align_all(twice, 4, sample.weights), align_all(s, 2, sample.weights));
        assert_int_equal(align_all(s, 1, sample.weights), sequence_weight(&s[0], sample.weights));
        const struct sequence one[] = {s[0], s[0], s[0], s[0]};
        assert_int_equal(align_all(one, 4, sample.weights), sequence_weight(&s[0], sample.weights));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_are_aligned_as_well_as_can_be),
        cmocka_unit_test(four_are_aligned_two_at_a_time),
        cmocka_unit_test(order_and_repetition_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
