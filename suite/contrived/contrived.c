/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the contrived loop. Every row and column is taken together once, then each thread's turns follow. */
#include "workload.h"

enum { SIDE = 32 };

static void contrived(struct workload *w) {
    const uint32_t threads = (uint32_t[]){384, 12288, 12288}[w->size];
    const uint32_t iterations = (uint32_t[]){16, 16, 256}[w->size];
    uint32_t *table = WORKLOAD_NEW(w, uint32_t, SIDE * SIDE), row[SIDE] = {0}, column[SIDE] = {0};
    uint32_t *out = WORKLOAD_NEW(w, uint32_t, threads), *expected = WORKLOAD_NEW(w, uint32_t, threads);
    struct random r = {3};
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        table[i] = (uint32_t)random_u64(&r);
        row[i / SIDE] += table[i];
        column[i % SIDE] ^= table[i];
    }
    cl_mem tables = workload_buffer(w, SIDE * SIDE * sizeof *table, table);
    cl_mem outs = workload_buffer(w, threads * sizeof *out, NULL);
    const size_t block = workload_block(w, threads < 768 ? 128 : 768);
    workload_launch(w, "contrived", 1, (size_t[]){threads}, &block, ARGUMENT(tables), ARGUMENT(outs),
                    ARGUMENT(iterations));
    workload_read(w, outs, threads * sizeof *out, out);
    for (uint32_t thread = 0; thread < threads; thread++)
        for (uint32_t i = thread; i < thread + iterations; i++)
            expected[thread] = i % 2 ? expected[thread] + row[i % SIDE] : expected[thread] ^ column[i % SIDE];
    workload_equal_u32(w, "out", out, expected, threads);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "contrived", NULL, contrived); }
