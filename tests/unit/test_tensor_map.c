/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps without a kernel: swizzles only change places, rows of boxes are those that counting element by element gives, and values are
 * filled and rounded as it is said of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "image/tensor_map.h"

enum { LINES = 64, SHARED = 128 * LINES };

/* Every chunk of 16 bytes gets a place of its own, in its line of 128 bytes; bytes of a chunk stay together. */
static void swizzles_only_change_places(void **state) {
    (void)state;
    for (unsigned swizzle = SWIZZLE_NONE; swizzle < SWIZZLES; swizzle++) {
        const struct tensor_map map = {.swizzle = (uint8_t)swizzle};
        const uint32_t span = 16u << swizzle; /* 16: chunks stay where they are */
        uint8_t taken[SHARED] = {0};
        unsigned moved = 0;
        for (uint32_t at = 0; at < SHARED; at++) {
            const uint32_t to = tensor_map_swizzled(&map, at);
            assert_true(to < SHARED && !taken[to]);
            taken[to] = 1;
            assert_int_equal(to / span, at / span);
            assert_int_equal(to % 16, at % 16);
            assert_int_equal(tensor_map_swizzled(&map, to), at);
            moved += to != at;
        }
        /* of lines in a row, one in as many as the swizzle has chunks stays */
        assert_int_equal(moved, SHARED - SHARED * 16 / span);
    }
}

/* Eight rows of 128 bytes: the chunks of one column lie in eight different groups of banks. */
static void a_column_is_spread_over_all_banks(void **state) {
    (void)state;
    for (unsigned swizzle = SWIZZLE_32; swizzle < SWIZZLES; swizzle++) {
        const struct tensor_map map = {.swizzle = (uint8_t)swizzle};
        for (uint32_t column = 0; column < 128; column += 16) {
            uint32_t groups = 0;
            for (uint32_t row = 0; row < 8; row++)
                groups |= UINT32_C(1) << tensor_map_swizzled(&map, 128 * row + column) / 16 % 8;
            assert_int_equal(__builtin_popcount(groups), 1u << swizzle);
        }
    }
}

static struct tensor_map random_map(struct rng *random) {
    struct tensor_map map = {.mark = TENSOR_MAP_MARK};
    map.rank = (uint8_t)(1 + rng_below(random, TENSOR_RANK_MAX));
    map.element = (uint8_t)rng_below(random, TENSOR_ELEMENTS);
    map.address = 16 * rng_below(random, 1 << 20);
    const uint32_t item = tensor_element_bytes((enum tensor_element)map.element);
    for (unsigned d = 0; d < map.rank; d++) {
        map.box[d] = (uint16_t)(d ? 1 + rng_below(random, 6) : 16 / item * (1 + rng_below(random, 4)));
        map.step[d] = (uint8_t)(1 + rng_below(random, 8));
        map.last[d] = (uint32_t)rng_below(random, 12);
        if (d)
            map.stride[d - 1] = 16 * rng_below(random, 1 << 16);
    }
    return map;
}

/* Walks the box dimension by dimension, outermost first. */
static void walk(const struct tensor_map *map, const int32_t *at, unsigned dimension, int64_t *place, uint32_t *row) {
    if (dimension == 0) {
        const struct tensor_row found = tensor_map_row(map, at, (*row)++);
        const uint32_t item = tensor_element_bytes((enum tensor_element)map->element);
        for (uint32_t k = 0; k < map->box[0]; k++) {
            bool is_in = at[0] + (int64_t)k >= 0 && at[0] + (int64_t)k <= map->last[0];
            uint64_t address = map->address + (uint64_t)((at[0] + (int64_t)k) * item);
            for (unsigned d = 1; d < map->rank; d++) {
                is_in &= place[d] >= 0 && place[d] <= map->last[d];
                address += (uint64_t)place[d] * map->stride[d - 1];
            }
            assert_int_equal(k >= found.first && k < found.last, is_in);
            if (is_in)
                assert_int_equal(found.address + (uint64_t)k * item, address);
        }
        return;
    }
    for (place[dimension] = at[dimension]; place[dimension] < (int64_t)at[dimension] + map->box[dimension];
         place[dimension] += map->step[dimension])
        walk(map, at, dimension - 1, place, row);
}

static void rows_are_those_of_a_walk(void **state) {
    (void)state;
    struct rng random;
    rng_seed(&random, 31);
    for (unsigned round = 0; round < 4000; round++) {
        const struct tensor_map map = random_map(&random);
        int32_t at[TENSOR_RANK_MAX];
        int64_t place[TENSOR_RANK_MAX] = {0};
        uint32_t rows = 0;
        assert_null(tensor_map_wrong(&map));
        for (unsigned d = 0; d < TENSOR_RANK_MAX; d++)
            at[d] = rng_below(&random, 16) == 0 ? INT32_MIN : (int32_t)rng_below(&random, 24) - 8;
        walk(&map, at, map.rank - 1u, place, &rows);
        assert_int_equal(rows, tensor_map_bytes(&map) / tensor_map_row_bytes(&map));
    }
}

static float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* tf32: no value with 10 bits of fraction is nearer. */
static void values_are_filled_and_rounded(void **state) {
    (void)state;
    struct rng random;
    rng_seed(&random, 7);
    struct tensor_map map = {.element = TENSOR_TF32};
    for (unsigned round = 0; round < 10000; round++) {
        uint32_t words[4];
        uint8_t chunk[TENSOR_CHUNK];
        for (unsigned k = 0; k < 4; k++)
            words[k] = rng_u32(&random) & ~(UINT32_C(1) << 30); /* finite, and below 2 */
        memcpy(chunk, words, sizeof chunk);
        tensor_map_convert(&map, chunk);
        for (unsigned k = 0; k < 4; k++) {
            uint32_t got;
            memcpy(&got, chunk + 4 * k, sizeof got);
            const uint32_t down = words[k] & ~UINT32_C(0x1fff), up = down + 0x2000;
            const float value = fabsf(as_float(words[k])), low = value - fabsf(as_float(down));
            const float high = fabsf(as_float(up)) - value;
            assert_int_equal(got, low < high ? down : up);
        }
    }
    static const uint8_t expected[] = {0xff, 0x7f, 0xff, 0x7f};
    uint8_t chunk[TENSOR_CHUNK], zeros[TENSOR_CHUNK] = {0};
    map = (struct tensor_map){.element = TENSOR_BF16, .fill = 1};
    tensor_map_fill(&map, chunk);
    assert_memory_equal(chunk, expected, sizeof expected);
    assert_memory_equal(chunk + 12, expected, sizeof expected);
    map.fill = 0;
    tensor_map_fill(&map, chunk);
    assert_memory_equal(chunk, zeros, sizeof chunk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swizzles_only_change_places),
        cmocka_unit_test(a_column_is_spread_over_all_banks),
        cmocka_unit_test(rows_are_those_of_a_walk),
        cmocka_unit_test(values_are_filled_and_rounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
