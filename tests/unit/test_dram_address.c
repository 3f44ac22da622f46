/* SPDX-License-Identifier: Apache-2.0 */
/* mem/address_map: the four masks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "mem/address_map.h"

/* The seed's example [000 §5.1.3], written as the table of the source: for address bits 31 to 0 the field's letter
 * (R row, C column, K chip, B bank, X none) and its bit. */
static const struct {
    char field;
    unsigned bit;
} example[32] = {
    {'X', 0},  {'X', 0}, {'X', 0}, {'X', 0}, {'R', 11}, {'R', 10}, {'R', 9}, {'R', 8}, /* 31-24 */
    {'R', 7},  {'R', 6}, {'R', 5}, {'R', 4}, {'R', 3},  {'R', 2},  {'R', 1}, {'R', 0}, /* 23-16 */
    {'C', 10}, {'C', 9}, {'C', 8}, {'K', 2}, {'K', 1},  {'B', 1},  {'K', 0}, {'B', 0}, /* 15-8 */
    {'C', 7},  {'C', 6}, {'C', 5}, {'C', 4}, {'C', 3},  {'C', 2},  {'C', 1}, {'C', 0}, /* 7-0 */
};

static const struct address_masks example_masks = {
    .chip = 0x00001A00, .row = 0x0FFF0000, .column = 0x0000E0FF, .bank = 0x00000500};

static void address_masks_follow_the_example(void **state) {
    (void)state;
    struct address_map map;
    assert_int_equal(address_masks_check(&example_masks, NULL), STATUS_OK);
    address_map_create(&map, &example_masks);
    assert_int_equal(address_map_chips(&map), 8);
    struct rng rng;
    rng_seed(&rng, 5);
    /* Each bit alone, all of them, and random addresses. */
    for (unsigned n = 0; n < 1000; n++) {
        uint64_t address = n < 32 ? UINT64_C(1) << n : n == 32 ? 0xffffffff : rng_u32(&rng);
        struct address_parts expected = {0}, parts;
        for (unsigned i = 0; i < 32; i++) {
            uint32_t value = (uint32_t)(address >> (31 - i) & 1) << example[i].bit;
            switch (example[i].field) {
            case 'R': expected.row |= value; break;
            case 'C': expected.column |= value; break;
            case 'K': expected.chip |= value; break;
            case 'B': expected.bank |= value; break;
            }
        }
        address_map_decode(&map, address, &parts);
        assert_memory_equal(&parts, &expected, sizeof parts);
        assert_int_equal(address_map_chip(&map, address), expected.chip);
    }
}

static void address_masks_contiguous_is_the_reference_order(void **state) {
    (void)state;
    /* gddr5bg of the reference: 5 offset, 6 column, 2 group, 2 bank, 12 row bits. */
    struct address_masks masks = address_masks_contiguous(5, 6, 4, 12);
    assert_int_equal(masks.column, 0x7e0);
    assert_int_equal(masks.bank, 0x7800);
    assert_int_equal(masks.row, 0x7ff8000);
    struct address_map map;
    address_map_create(&map, &masks);
    struct address_parts parts;
    address_map_decode(&map, UINT64_C(0x123) << 15 | 0xb << 11 | 0x2a << 5 | 0x1f, &parts);
    assert_int_equal(parts.row, 0x123);
    assert_int_equal(parts.bank, 0xb);
    assert_int_equal(parts.column, 0x2a);
    assert_int_equal(parts.chip, 0);
}

/* Six channels of 256 B pieces, as on the GTX 480: every place is used once. */
static void address_map_goes_round_any_number_of_chips(void **state) {
    (void)state;
    struct address_masks masks = {.row = 0xfff0000, .bank = 0xe100, .column = 0x1eff, .chips = 6, .chip_bytes = 256};
    struct address_map map;
    assert_int_equal(address_masks_check(&masks, NULL), STATUS_OK);
    address_map_create(&map, &masks);
    assert_int_equal(address_map_chips(&map), 6);
    static unsigned char used[6][1 << 16];
    for (uint64_t address = 0; address < UINT64_C(6) << 16; address++) {
        struct address_parts parts;
        address_map_decode(&map, address, &parts);
        assert_int_equal(parts.chip, address / 256 % 6);
        assert_int_equal(address_map_chip(&map, address), parts.chip);
        assert_int_equal(parts.row, 0);
        assert_true(parts.bank < 16 && parts.column < 1 << 12);
        assert_int_equal(used[parts.chip][parts.bank << 12 | parts.column]++, 0);
    }
}

static void address_masks_are_checked(void **state) {
    (void)state;
    struct report report = {0};
    struct address_masks masks = example_masks;
    masks.bank |= 0x200;
    assert_int_equal(address_masks_check(&masks, &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "the bank mask 0x700 shares bits 0x200 with another mask"));
    masks = example_masks;
    masks.row = UINT64_C(0xffffffffffff0000);
    assert_int_equal(address_masks_check(&masks, &report), STATUS_INVALID);
    assert_non_null(strstr(report_text(&report), "has 48 bits"));
    masks = (struct address_masks){.row = 0xff0000, .chips = 6, .chip_bytes = 100};
    assert_int_equal(address_masks_check(&masks, &report), STATUS_INVALID);
    report_free(&report);
}

/* Hashed channels: a piece of every round meets every channel once, the place within the channel is as without the hash,
 * and strides of powers of two, which meet one channel without it, meet many. */
static void hash_spreads_and_keeps_places(void **state) {
    (void)state;
    enum { CHIPS = 32, PIECE = 256 };
    const struct address_masks plain = {
        .row = 0x7fffffff8000, .bank = 0x7100, .column = 0xeff, .chips = CHIPS, .chip_bytes = PIECE};
    struct address_masks hashed = plain;
    hashed.chip_hash = true;
    struct report report = {0};
    assert_int_equal(address_masks_check(&hashed, &report), STATUS_OK);
    struct address_map without, with;
    address_map_create(&without, &plain);
    address_map_create(&with, &hashed);
    for (uint64_t round = 0; round < 3000; round += 7) {
        uint32_t met = 0;
        for (uint64_t i = 0; i < CHIPS; i++) {
            const uint64_t address = (round * CHIPS + i) * PIECE;
            met |= UINT32_C(1) << address_map_chip(&with, address);
            assert_int_equal(address_map_inside(&with, address), address_map_inside(&without, address));
            assert_int_equal(address_map_unturned(&with, address_map_chip(&with, address), round), i);
        }
        assert_int_equal(met, UINT32_MAX);
    }
    for (unsigned shift = 13; shift < 24; shift++) {
        uint32_t met = 0;
        for (uint64_t i = 0; i < 4 * CHIPS; i++)
            met |= UINT32_C(1) << address_map_chip(&with, i << shift);
        assert_int_equal(met, UINT32_MAX);
    }
    hashed.chips = 257;
    assert_int_equal(address_masks_check(&hashed, &report), STATUS_INVALID);
    report_free(&report);
}

/* The same for numbers of channels that are no power of two: every round meets every channel, the way back is the way there, and no
 * stride leaves a channel more than twice what it should have. */
static void any_number_of_channels_is_hashed(void **state) {
    (void)state;
    enum { PIECE = 256, ROUNDS = 64 };
    static const uint32_t counts[] = {6, 10, 12, 22, 24, 40, 48};
    for (unsigned n = 0; n < sizeof counts / sizeof *counts; n++) {
        const uint32_t chips = counts[n];
        const struct address_masks masks = {.row = 0x7fffffff8000,
                                            .bank = 0x7100,
                                            .column = 0xeff,
                                            .chips = chips,
                                            .chip_bytes = PIECE,
                                            .chip_hash = true};
        struct address_map map;
        assert_int_equal(address_masks_check(&masks, NULL), STATUS_OK);
        address_map_create(&map, &masks);
        for (uint64_t round = 0; round < 1000; round += 3) {
            uint64_t met = 0;
            for (uint32_t i = 0; i < chips; i++) {
                const uint32_t chip = address_map_chip(&map, (round * chips + i) * PIECE);
                met |= UINT64_C(1) << chip;
                assert_int_equal(address_map_unturned(&map, chip, round), i);
            }
            assert_true(met == (UINT64_C(1) << chips) - 1);
        }
        for (unsigned k = 0; k < 28; k++) {
            const uint64_t stride = UINT64_C(256) * (1 + 2 * (k % 2)) << k / 2;
            uint32_t met[64] = {0}, most = 0;
            for (uint64_t i = 0; i < ROUNDS * chips; i++)
                met[address_map_chip(&map, i * stride)]++;
            for (uint32_t i = 0; i < chips; i++)
                most = met[i] > most ? met[i] : most;
            if (most >= 2 * ROUNDS)
                fail_msg("%u channels, stride %llu: %u of %u on one", chips, (unsigned long long)stride, most,
                         ROUNDS * chips);
        }
    }
}

/* Hashed banks: the rows of a bank's width meet every bank once, and what is apart by a power of two meets many. */
static void banks_are_hashed_by_the_row(void **state) {
    (void)state;
    enum { BANKS = 8, ROW = 4096 };
    const struct address_masks masks = {.row = 0x7fffffff8000, .bank = 0x7000, .column = 0xfff, .bank_hash = true};
    struct address_map map;
    struct address_parts parts;
    assert_int_equal(address_masks_check(&masks, NULL), STATUS_OK);
    address_map_create(&map, &masks);
    for (uint64_t row = 0; row < 3000; row += 7) {
        uint32_t met = 0;
        for (uint64_t bank = 0; bank < BANKS; bank++) {
            address_map_decode(&map, (row * BANKS + bank) * ROW + 5, &parts);
            assert_int_equal(parts.row, row);
            assert_int_equal(parts.column, 5);
            met |= UINT32_C(1) << parts.bank;
        }
        assert_int_equal(met, 0xff);
    }
    for (unsigned shift = 15; shift < 28; shift++) {
        uint32_t met = 0;
        for (uint64_t i = 0; i < BANKS; i++) {
            address_map_decode(&map, i << shift, &parts);
            met |= UINT32_C(1) << parts.bank;
        }
        assert_int_equal(met, 0xff);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(address_masks_follow_the_example),
        cmocka_unit_test(address_masks_contiguous_is_the_reference_order),
        cmocka_unit_test(address_map_goes_round_any_number_of_chips),
        cmocka_unit_test(address_masks_are_checked),
        cmocka_unit_test(hash_spreads_and_keeps_places),
        cmocka_unit_test(any_number_of_channels_is_hashed),
        cmocka_unit_test(banks_are_hashed_by_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
