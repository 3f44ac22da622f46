/* SPDX-License-Identifier: Apache-2.0 */
/* mem/coalesce against code that looks at every byte of every lane. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/rng.h"
#include "mem/coalesce.h"

enum { ROUNDS = 20000 };

/* One transaction for each line in which a lane has a byte, by looking at all bytes one by one. */
static void coalesce_naively(const uint64_t address[32], uint32_t bytes, uint32_t mask, uint64_t line_bytes,
                             struct coalesced *out) {
    out->count = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1))
            continue;
        for (uint64_t at = address[lane]; at != address[lane] + bytes; at++) {
            uint64_t line = at / line_bytes * line_bytes;
            unsigned i = 0;
            while (i < out->count && out->line[i] != line)
                i++;
            if (i == out->count) {
                out->line[out->count] = line;
                out->lanes[i] = 0;
                out->sectors[i] = 0;
                out->count++;
            }
            out->lanes[i] |= UINT32_C(1) << lane;
            out->sectors[i] |= (uint8_t)(1u << (at - line) / 32);
        }
    }
}

static void check(const uint64_t address[32], uint32_t bytes, uint32_t mask, unsigned line_shift) {
    struct coalesced found, expected;
    coalesce(address, bytes, mask, line_shift, &found);
    coalesce_naively(address, bytes, mask, UINT64_C(1) << line_shift, &expected);
    assert_int_equal(found.count, expected.count);
    for (unsigned i = 0; i < found.count; i++) {
        assert_true(found.line[i] == expected.line[i]);
        assert_int_equal(found.lanes[i], expected.lanes[i]);
        assert_int_equal(found.sectors[i], expected.sectors[i]);
        uint32_t masks[COALESCE_SECTORS], naive[COALESCE_SECTORS] = {0};
        coalesce_bytes(address, bytes, found.lanes[i], found.line[i], line_shift, masks);
        for (unsigned lane = 0; lane < 32; lane++)
            for (uint64_t at = address[lane]; mask >> lane & 1 && at != address[lane] + bytes; at++)
                if (at >> line_shift == found.line[i] >> line_shift)
                    naive[(at - found.line[i]) / 32] |= UINT32_C(1) << at % 32;
        for (unsigned s = 0; s < COALESCE_SECTORS; s++) {
            assert_int_equal(masks[s], naive[s]);
            assert_int_equal(masks[s] != 0, found.sectors[i] >> s & 1);
        }
    }
}

/* Addresses of the shapes programs have, and of none: strides up and down, spread over a few bytes to a terabyte. */
static void random_addresses(struct rng *rng, uint64_t address[32], uint32_t bytes) {
    uint64_t base = UINT64_C(0x700000000000) + rng_below(rng, 1 << 20);
    if (rng_below(rng, 4))
        base -= base % bytes;
    uint64_t kind = rng_below(rng, 6);
    uint64_t stride = kind == 0 ? bytes : kind == 1 ? rng_below(rng, 200) : kind == 2 ? -rng_below(rng, 200) : 0;
    uint64_t spread = UINT64_C(1) << rng_below(rng, 40);
    for (unsigned lane = 0; lane < 32; lane++) {
        address[lane] = base + lane * stride;
        if (kind >= 4)
            address[lane] += rng_below(rng, spread) * (kind == 5 ? bytes : 1);
        if (kind == 1 && rng_below(rng, 64) == 0)
            address[lane] += rng_below(rng, 300);
    }
}

static uint32_t random_mask(struct rng *rng) {
    switch (rng_below(rng, 5)) {
    case 0: return rng_u32(rng);
    case 1: return UINT32_C(1) << rng_below(rng, 32);
    case 2: return (UINT32_MAX >> rng_below(rng, 32)) & (UINT32_MAX << rng_below(rng, 32));
    default: return UINT32_MAX;
    }
}

static void transactions_equal_a_byte_by_byte_search(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    static const uint32_t widths[] = {1, 2, 4, 8, 16, 3, 12};
    unsigned most = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t address[32];
        uint32_t bytes = widths[rng_below(&rng, sizeof widths / sizeof widths[0])];
        random_addresses(&rng, address, bytes);
        uint32_t mask = random_mask(&rng);
        for (unsigned lane = 0; lane < 32; lane++)
            if (!(mask >> lane & 1))
                address[lane] = rng_u64(&rng); /* must not be looked at */
        unsigned line_shift = 5 + (unsigned)rng_below(&rng, 4);
        check(address, bytes, mask, line_shift);
        struct coalesced out;
        coalesce(address, bytes, mask, line_shift, &out);
        most = out.count > most ? out.count : most;
    }
    assert_true(most > 32); /* lanes that cross into a second line were among them */
}

static void a_warp_of_words_is_one_line_with_four_sectors(void **state) {
    (void)state;
    uint64_t address[32];
    struct coalesced out;
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = 0x10000 + 4 * lane;
    coalesce(address, 4, UINT32_MAX, 7, &out);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.sectors[0], 0xf);
    assert_int_equal(out.lanes[0], UINT32_MAX);
    assert_true(out.line[0] == 0x10000);
}

static void lanes_known_to_be_packed_need_no_search(void **state) {
    (void)state;
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
        for (unsigned line_shift = 5; line_shift <= 8; line_shift++)
            for (uint64_t start = 0x10000; start < 0x10100; start += bytes) {
                uint64_t address[32];
                struct coalesced searched = {0}, packed = {0};
                for (unsigned lane = 0; lane < 32; lane++)
                    address[lane] = start + bytes * lane;
                coalesce(address, bytes, UINT32_MAX, line_shift, &searched);
                coalesce_packed(start, bytes, line_shift, &packed);
                assert_memory_equal(&packed, &searched, sizeof packed);
            }
}

static void every_lane_can_need_two_lines_of_its_own(void **state) {
    (void)state;
    uint64_t address[32];
    struct coalesced out;
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = UINT64_C(0x100000) * (32 - lane) + 120;
    coalesce(address, 16, UINT32_MAX, 7, &out);
    assert_int_equal(out.count, 64);
    for (unsigned i = 0; i < 64; i++) {
        assert_int_equal(out.lanes[i], UINT32_C(1) << i / 2);
        assert_int_equal(out.sectors[i], i % 2 ? 1 : 8);
    }
    check(address, 16, UINT32_MAX, 7);
}

static void no_lanes_need_nothing(void **state) {
    (void)state;
    uint64_t address[32] = {0};
    struct coalesced out;
    coalesce(address, 4, 0, 7, &out);
    assert_int_equal(out.count, 0);
    assert_int_equal(coalesce_distinct(address, 0), 0);
}

static void distinct_addresses_equal_a_search_over_pairs(void **state) {
    (void)state;
    struct rng rng;
    rng_seed(&rng, 4);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t address[32], values = 1 + rng_below(&rng, 64);
        for (unsigned lane = 0; lane < 32; lane++)
            address[lane] = 4096 + 4 * rng_below(&rng, values);
        uint32_t mask = random_mask(&rng);
        unsigned expected = 0;
        for (unsigned i = 0; i < 32; i++) {
            bool seen = !(mask >> i & 1);
            for (unsigned j = 0; j < i; j++)
                seen |= mask >> j & 1 && address[j] == address[i];
            expected += !seen;
        }
        assert_int_equal(coalesce_distinct(address, mask), expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transactions_equal_a_byte_by_byte_search),
        cmocka_unit_test(a_warp_of_words_is_one_line_with_four_sectors),
        cmocka_unit_test(lanes_known_to_be_packed_need_no_search),
        cmocka_unit_test(every_lane_can_need_two_lines_of_its_own),
        cmocka_unit_test(no_lanes_need_nothing),
        cmocka_unit_test(distinct_addresses_equal_a_search_over_pairs),
    };
    return cmocka_run_group_tests_name("coalesce", tests, NULL, NULL);
}
