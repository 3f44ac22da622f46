/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the integer matrix product, computed once more by outer products. */
#include "workload.h"

enum { BLOCK = 256 };

static void matmul_int(struct workload *w) {
    const uint32_t rows = (uint32_t[]){16, 64, 256}[w->size], inner = (uint32_t[]){32, 256, 256}[w->size];
    const uint32_t columns = (uint32_t[]){128, 256, 256}[w->size], count = rows * columns;
    const size_t threads = w->size == SIZE_TEST ? 2 * BLOCK : 4 * BLOCK;
    int32_t *a = WORKLOAD_NEW(w, int32_t, (size_t)rows * inner), *b = WORKLOAD_NEW(w, int32_t, (size_t)inner * columns);
    uint32_t *sum = WORKLOAD_NEW(w, uint32_t, count), *got = WORKLOAD_NEW(w, uint32_t, count);
    struct random r = {11};
    for (uint32_t i = 0; i < rows * inner; i++)
        a[i] = (int32_t)random_below(&r, 128) - 64;
    for (uint32_t i = 0; i < inner * columns; i++)
        b[i] = (int32_t)random_below(&r, 128) - 64;
    cl_mem as = workload_buffer(w, (size_t)rows * inner * sizeof *a, a);
    cl_mem bs = workload_buffer(w, (size_t)inner * columns * sizeof *b, b);
    cl_mem cs = workload_buffer(w, count * sizeof *got, NULL);
    const size_t block = workload_warp_block(w, "matmul_int", BLOCK, threads);
    workload_launch(w, "matmul_int", 1, &threads, &block, ARGUMENT(as), ARGUMENT(bs), ARGUMENT(cs), ARGUMENT(rows),
                    ARGUMENT(columns), ARGUMENT(inner));
    workload_read(w, cs, count * sizeof *got, got);
    for (uint32_t k = 0; k < inner; k++)
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t column = 0; column < columns; column++)
                sum[row * columns + column] += (uint32_t)(a[row * inner + k] * b[k * columns + column]);
    workload_equal_u32(w, "element", got, sum, count);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "matmul_int", NULL, matmul_int); }
