/* SPDX-License-Identifier: Apache-2.0 */
/* mem/banks against counting over all pairs of words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "mem/banks.h"

enum { ROUNDS = 40000 };

static struct banks make(uint32_t count, uint32_t word_bytes) {
    struct banks banks;
    assert_int_equal(banks_create(&banks, count, word_bytes, "shared", NULL), STATUS_OK);
    return banks;
}

/* Largest number of different words that one bank must give: a word counts where no earlier one equals it. */
static uint32_t worst_naively(const uint64_t *words, unsigned count, uint32_t banks) {
    uint32_t worst = 0, words_of[BANKS_MAX] = {0};
    for (unsigned i = 0; i < count; i++) {
        bool counts = true;
        for (unsigned j = 0; j < i; j++)
            counts &= words[j] != words[i];
        words_of[words[i] % banks] += counts;
        if (words_of[words[i] % banks] > worst)
            worst = words_of[words[i] % banks];
    }
    return worst;
}

static uint32_t passes_naively(const uint64_t address[32], uint32_t bytes, uint32_t mask, uint32_t banks,
                               uint32_t word_bytes) {
    unsigned lanes = 32;
    for (uint32_t width = word_bytes; width < bytes; width *= 2)
        lanes /= 2;
    uint32_t passes = 0;
    for (unsigned first = 0; first < 32; first += lanes) {
        uint64_t words[32 * 16];
        unsigned count = 0;
        for (unsigned lane = first; lane < first + lanes; lane++)
            for (uint32_t b = 0; mask >> lane & 1 && b < bytes; b++)
                if (b == 0 || (address[lane] + b) % word_bytes == 0)
                    words[count++] = (address[lane] + b) / word_bytes;
        passes += worst_naively(words, count, banks);
    }
    return passes;
}

static void passes_equal_a_count_over_all_pairs(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 5);
    static const uint32_t widths[] = {1, 2, 4, 8, 16, 4, 4, 8, 12};
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t count = UINT32_C(1) << rng_below(&rng, 8), word_bytes = UINT32_C(1) << (2 + rng_below(&rng, 2));
        if (rng_below(&rng, 2)) {
            count = 32;
            word_bytes = 4;
        }
        struct banks banks = make(count, word_bytes);
        uint32_t bytes = widths[rng_below(&rng, sizeof widths / sizeof widths[0])];
        uint64_t address[32], base = 65536 + bytes * rng_below(&rng, 4096) + (rng_below(&rng, 8) == 0);
        uint64_t kind = rng_below(&rng, 4), spread = 1 + rng_below(&rng, UINT64_C(1) << rng_below(&rng, 14));
        uint64_t stride = rng_below(&rng, 3) ? bytes * rng_below(&rng, 70) : rng_below(&rng, 300);
        for (unsigned lane = 0; lane < 32; lane++) {
            address[lane] = kind == 0   ? base + lane * stride
                            : kind == 1 ? base + 10000 - lane * stride
                            : kind == 2 ? base + bytes * rng_below(&rng, spread)
                                        : base + rng_below(&rng, spread);
        }
        uint32_t mask = rng_below(&rng, 2) ? UINT32_MAX : rng_u32(&rng) & rng_u32(&rng);
        uint32_t found = banks_passes(&banks, address, bytes, mask);
        uint32_t expected = passes_naively(address, bytes, mask, count, word_bytes);
        if (found != expected)
            fail_msg("round %u: %u banks of %u, %u bytes, stride %lu, mask %x: %u passes, not %u", round, count,
                     word_bytes, bytes, (unsigned long)(address[1] - address[0]), mask, found, expected);
    }
}

/* A guide's warning and a vendor's words: a load of 16 bytes by all lanes is 4 passes, of one address 2, of 8 bytes 1. */
static void lanes_that_are_pairs_halve_wide_loads(void **state) {
    (void)state;
    const struct banks banks = make(32, 4);
    static const unsigned ones[] = {1, 2}, width[] = {8, 16};
    uint64_t address[32];
    for (unsigned w = 0; w < 2; w++) {
        const uint32_t bytes = width[w];
        for (unsigned lane = 0; lane < 32; lane++)
            address[lane] = 1024;
        assert_int_equal(banks_passes(&banks, address, bytes, UINT32_MAX), bytes / 4);
        assert_int_equal(banks_passes_paired(&banks, address, bytes, UINT32_MAX), bytes / 8);
        for (unsigned lane = 0; lane < 32; lane++)
            address[lane] = 1024 + lane * bytes;
        assert_int_equal(banks_passes_paired(&banks, address, bytes, UINT32_MAX), bytes / 4);
        for (unsigned i = 0; i < 2; i++) {
            /* 16 addresses: two parts together ask for each bank's word once if the addresses are neighbours */
            for (unsigned lane = 0; lane < 32; lane++)
                address[lane] = 1024 + (ones[i] == 1 ? lane / 2 : lane / 4 * 2 + lane % 2) * bytes;
            assert_int_equal(banks_passes_paired(&banks, address, bytes, UINT32_MAX), bytes / 8);
            address[5] += 2048; /* conflicts, and is no longer one of a pair */
            assert_true(banks_passes_paired(&banks, address, bytes, UINT32_MAX) >= bytes / 4);
            address[5] -= 2048;
            assert_int_equal(banks_passes_paired(&banks, address, bytes, UINT32_MAX & ~32u), bytes / 8);
        }
        for (unsigned lane = 0; lane < 32; lane++)
            address[lane] = 1024 + lane / 2 * 128; /* the same bank for all: a pass for each address */
        assert_int_equal(banks_passes_paired(&banks, address, bytes, UINT32_MAX), 16);
    }
}

static void the_worst_bank_of_lines_equals_a_count_over_all_pairs(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 6);
    for (unsigned round = 0; round < ROUNDS / 4; round++) {
        struct banks banks = make(16, 64);
        uint64_t address[BANKS_ADDRESSES_MAX], words[BANKS_ADDRESSES_MAX], spread = 1 + rng_below(&rng, 40000);
        uint32_t count = (uint32_t)rng_below(&rng, BANKS_ADDRESSES_MAX + 1);
        for (uint32_t i = 0; i < count; i++) {
            address[i] = rng_below(&rng, spread);
            words[i] = address[i] / 64;
        }
        assert_int_equal(banks_worst(&banks, address, count), worst_naively(words, count, 16));
    }
}

static uint32_t passes_of_stride(uint64_t stride, uint32_t bytes) {
    struct banks banks = make(32, 4);
    uint64_t address[32];
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = 1024 + lane * stride;
    return banks_passes(&banks, address, bytes, UINT32_MAX);
}

/* The textbook cases of 32 banks of 4 bytes. */
static void strides_conflict_as_known(void **state) {
    (void)state;
    assert_int_equal(passes_of_stride(0, 4), 1); /* broadcast */
    assert_int_equal(passes_of_stride(4, 4), 1);
    assert_int_equal(passes_of_stride(8, 4), 2);
    assert_int_equal(passes_of_stride(12, 4), 1);
    assert_int_equal(passes_of_stride(64, 4), 16);
    assert_int_equal(passes_of_stride(128, 4), 32);
    assert_int_equal(passes_of_stride(132, 4), 1); /* the padded tile */
    assert_int_equal(passes_of_stride(1, 1), 1);
    assert_int_equal(passes_of_stride(8, 8), 2); /* two half warps */
    assert_int_equal(passes_of_stride(16, 16), 4);
    assert_int_equal(passes_of_stride(16, 8), 4);
}

static void what_is_no_power_of_two_is_refused(void **state) {
    (void)state;
    struct banks banks;
    struct report report = {0};
    assert_int_equal(banks_create(&banks, 24, 4, "shared", &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "shared.banks is 24"));
    assert_int_equal(banks_create(&banks, 512, 4, "shared", &report), STATUS_INVALID);
    assert_int_equal(banks_create(&banks, 32, 6, "shared", &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "shared.bank_bytes is 6"));
    report_free(&report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_equal_a_count_over_all_pairs),
        cmocka_unit_test(lanes_that_are_pairs_halve_wide_loads),
        cmocka_unit_test(the_worst_bank_of_lines_equals_a_count_over_all_pairs),
        cmocka_unit_test(strides_conflict_as_known),
        cmocka_unit_test(what_is_no_power_of_two_is_refused),
    };
    return cmocka_run_group_tests_name("banks", tests, NULL, NULL);
}
