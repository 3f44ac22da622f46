/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of reduction: random booleans; the host counts the bits from which they were made. */
#include "workload.h"

enum { BLOCK = 256 };

static void reduction(struct workload *w) {
    const uint32_t count = (uint32_t[]){1 << 18, 1 << 23, 1 << 25}[w->size];
    const size_t threads = w->size == SIZE_TEST ? 2 * BLOCK : 4 * BLOCK;
    const size_t block = workload_warp_block(w, "reduce_booleans", BLOCK, threads);
    const uint32_t groups = (uint32_t)(threads / block);
    uint8_t *booleans = WORKLOAD_NEW(w, uint8_t, count);
    uint32_t expected = 0, got = 0;
    struct random r = {1};
    for (uint32_t i = 0; i < count; i += 64) {
        const uint64_t bits = random_u64(&r);
        for (uint32_t bit = 0; bit < 64; bit++)
            booleans[i + bit] = bits >> bit & 1;
        for (uint64_t left = bits; left; left &= left - 1)
            expected++;
    }
    cl_mem from = workload_buffer(w, count, booleans), totals = workload_buffer(w, groups * sizeof got, NULL);
    cl_mem result = workload_buffer(w, sizeof got, NULL);
    workload_launch(w, "reduce_booleans", 1, &threads, &block, ARGUMENT(from), ARGUMENT(count), ARGUMENT(totals),
                    LOCAL_BYTES(block * sizeof got));
    workload_launch(w, "reduce_totals", 1, &block, &block, ARGUMENT(totals), ARGUMENT(groups), ARGUMENT(result),
                    LOCAL_BYTES(block * sizeof got));
    workload_read(w, result, sizeof got, &got);
    workload_equal_u32(w, "sum", &got, &expected, 1);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "reduction", NULL, reduction); }
