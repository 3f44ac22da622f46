/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the matrix product, computed once more by outer products. The floats are small integers, so that no sum is
 * ever rounded. */
#include "workload.h"

static void matmul(struct workload *w) {
    const uint32_t rows = (uint32_t[]){16, 16, 1024}[w->size], inner = (uint32_t[]){32, 768, 1024}[w->size];
    const uint32_t columns = (uint32_t[]){128, 768, 1024}[w->size];
    const size_t left = (size_t)rows * inner, right = (size_t)inner * columns, count = (size_t)rows * columns;
    float *a = WORKLOAD_NEW(w, float, left), *b = WORKLOAD_NEW(w, float, right), *sum = WORKLOAD_NEW(w, float, count);
    float *got = WORKLOAD_NEW(w, float, count);
    struct random r = {11};
    for (size_t i = 0; i < left; i++)
        a[i] = (float)random_below(&r, 128) - 64;
    for (size_t i = 0; i < right; i++)
        b[i] = (float)random_below(&r, 128) - 64;
    cl_mem as = workload_buffer(w, left * sizeof *a, a), bs = workload_buffer(w, right * sizeof *b, b);
    cl_mem cs = workload_buffer(w, count * sizeof *got, NULL);
    const size_t block = workload_block(w, w->size == SIZE_TEST ? 128 : 768);
    workload_launch(w, "matmul", 2, ((size_t[]){workload_round_up(columns, block), rows}), ((size_t[]){block, 1}),
                    ARGUMENT(as), ARGUMENT(bs), ARGUMENT(cs), ARGUMENT(columns), ARGUMENT(inner));
    workload_read(w, cs, count * sizeof *got, got);
    for (size_t k = 0; k < inner; k++)
        for (size_t row = 0; row < rows; row++)
            for (size_t column = 0; column < columns; column++)
                sum[row * columns + column] += a[row * inner + k] * b[k * columns + column];
    workload_close_f32(w, "element", got, sum, count, 0);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "matmul", NULL, matmul); }
