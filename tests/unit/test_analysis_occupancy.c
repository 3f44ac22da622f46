/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks per SM, against cases worked by hand with the rules of NVIDIA's occupancy calculator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "isa/occupancy.h"

/* Compute capabilities 2.0, 7.0, 8.0, 8.6, as the CUDA programming guide lists them. */
static const struct occupancy_limits cc20 = {.warp_size = 32,
                                             .threads = 1536,
                                             .warps = 48,
                                             .blocks = 8,
                                             .threads_per_block = 1024,
                                             .registers = 32768,
                                             .registers_per_block = 32768,
                                             .registers_per_thread = 63,
                                             .register_unit = 64,
                                             .register_partitions = 2,
                                             .shared_bytes = 49152,
                                             .shared_bytes_per_block = 49152,
                                             .shared_unit_bytes = 128};
static const struct occupancy_limits cc70 = {.warp_size = 32,
                                             .threads = 2048,
                                             .warps = 64,
                                             .blocks = 32,
                                             .threads_per_block = 1024,
                                             .registers = 65536,
                                             .registers_per_block = 65536,
                                             .registers_per_thread = 255,
                                             .register_unit = 256,
                                             .register_partitions = 4,
                                             .shared_bytes = 98304,
                                             .shared_bytes_per_block = 98304,
                                             .shared_unit_bytes = 256};
static const struct occupancy_limits cc80 = {.warp_size = 32,
                                             .threads = 2048,
                                             .warps = 64,
                                             .blocks = 32,
                                             .threads_per_block = 1024,
                                             .registers = 65536,
                                             .registers_per_block = 65536,
                                             .registers_per_thread = 255,
                                             .register_unit = 256,
                                             .register_partitions = 4,
                                             .shared_bytes = 167936,
                                             .shared_bytes_per_block = 166912,
                                             .shared_unit_bytes = 128,
                                             .shared_reserved_bytes = 1024};
static const struct occupancy_limits cc86 = {.warp_size = 32,
                                             .threads = 1536,
                                             .warps = 48,
                                             .blocks = 16,
                                             .threads_per_block = 1024,
                                             .registers = 65536,
                                             .registers_per_block = 65536,
                                             .registers_per_thread = 255,
                                             .register_unit = 256,
                                             .register_partitions = 4,
                                             .shared_bytes = 102400,
                                             .shared_bytes_per_block = 101376,
                                             .shared_unit_bytes = 128,
                                             .shared_reserved_bytes = 1024};

static void expect(const struct occupancy_limits *limits, uint32_t threads, uint32_t registers, uint32_t shared,
                   uint32_t blocks, uint32_t warps, enum occupancy_limit limit) {
    struct occupancy_kernel kernel = {threads, registers, shared};
    struct occupancy occupancy = occupancy_compute(limits, &kernel);
    assert_int_equal(occupancy.blocks, blocks);
    assert_int_equal(occupancy.warps, warps);
    assert_string_equal(occupancy_limit_name(occupancy.limit), occupancy_limit_name(limit));
}

static void registers_limit_in_units_per_warp_and_partition(void **state) {
    (void)state;
    expect(&cc70, 256, 32, 0, 8, 64, LIMIT_WARPS);     /* 1024 a warp: 64 warps fit */
    expect(&cc70, 256, 37, 0, 6, 48, LIMIT_REGISTERS); /* 1184 -> 1280: 12 in each quarter */
    expect(&cc70, 192, 48, 0, 6, 36, LIMIT_REGISTERS); /* 1536: 10 in each quarter, 40 warps hold 6 blocks of 6 */
    expect(&cc70, 1024, 64, 0, 1, 32, LIMIT_REGISTERS);
    expect(&cc70, 1024, 65, 0, 0, 0, LIMIT_REGISTERS); /* 2304 * 32 is more than the file */
    expect(&cc70, 32, 256, 0, 0, 0, LIMIT_REGISTERS);  /* more than a thread can have */
    expect(&cc20, 256, 20, 0, 6, 48, LIMIT_WARPS);     /* 640: 25 in each half */
    expect(&cc20, 256, 21, 0, 5, 40, LIMIT_REGISTERS); /* 672 -> 704: 23 in each half */
}

static void shared_memory_limits_in_its_units(void **state) {
    (void)state;
    expect(&cc70, 128, 16, 20000, 4, 16, LIMIT_SHARED); /* 20224: 4.86 */
    expect(&cc70, 128, 16, 24576, 4, 16, LIMIT_SHARED); /* exactly a quarter */
    expect(&cc70, 128, 16, 24577, 3, 12, LIMIT_SHARED);
    expect(&cc80, 128, 16, 40960, 4, 16, LIMIT_SHARED); /* 1 KiB of the system's: 41984 * 4 = 167936 */
    expect(&cc80, 128, 16, 40961, 3, 12, LIMIT_SHARED);
    expect(&cc70, 128, 16, 98305, 0, 0, LIMIT_SHARED);
}

static void block_and_warp_limits(void **state) {
    (void)state;
    expect(&cc70, 32, 16, 0, 32, 32, LIMIT_BLOCKS);
    expect(&cc70, 768, 16, 0, 2, 48, LIMIT_WARPS); /* 24 warps: the third block does not fit */
    expect(&cc86, 64, 16, 0, 16, 32, LIMIT_BLOCKS);
    expect(&cc86, 1024, 16, 0, 1, 32, LIMIT_WARPS);
    expect(&cc70, 33, 16, 0, 32, 64, LIMIT_BLOCKS); /* two warps, the second with one thread */
    expect(&cc70, 1025, 16, 0, 0, 0, LIMIT_BLOCK_SIZE);
}

static void zero_means_no_limit(void **state) {
    (void)state;
    struct occupancy_limits only_threads = {.warp_size = 32, .threads = 768};
    expect(&only_threads, 192, 100, 100000, 4, 24, LIMIT_THREADS);
    struct occupancy_limits none = {.warp_size = 32};
    struct occupancy_kernel kernel = {256, 32, 1024};
    assert_string_equal(occupancy_limit_name(occupancy_compute(&none, &kernel).limit), "nothing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_limit_in_units_per_warp_and_partition),
        cmocka_unit_test(shared_memory_limits_in_its_units),
        cmocka_unit_test(block_and_warp_limits),
        cmocka_unit_test(zero_means_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
