/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the tiled matrix product, computed once more by outer products. The floats are small integers, so that no sum
 * is ever rounded. */
#include "workload.h"

enum { TILE = 16, WIDTH = 16, COUNT = WIDTH * WIDTH, BYTES = COUNT * sizeof(float), MOST = 16 };

static void matmul_tiled(struct workload *w) {
    const unsigned products = (unsigned[]){1, MOST, 1}[w->size];
    struct random r = {31};
    for (unsigned p = 0; p < products; p++) {
        float a[COUNT], b[COUNT], got[COUNT], sum[COUNT] = {0};
        for (size_t i = 0; i < COUNT; i++) {
            a[i] = (float)random_below(&r, 128) - 64;
            b[i] = (float)random_below(&r, 128) - 64;
        }
        cl_mem as = workload_buffer(w, BYTES, a), bs = workload_buffer(w, BYTES, b);
        cl_mem cs = workload_buffer(w, BYTES, NULL);
        workload_launch(w, "matmul_tiled", 2, ((size_t[]){WIDTH, WIDTH}), ((size_t[]){TILE, TILE}), ARGUMENT(as),
                        ARGUMENT(bs), ARGUMENT(cs));
        workload_read(w, cs, BYTES, got);
        for (size_t k = 0; k < WIDTH; k++)
            for (size_t row = 0; row < WIDTH; row++)
                for (size_t column = 0; column < WIDTH; column++)
                    sum[row * WIDTH + column] += a[row * WIDTH + k] * b[k * WIDTH + column];
        workload_close_f32(w, "element", got, sum, COUNT, 0);
    }
}

int main(int argc, char **argv) { return workload_main(argc, argv, "matmul_tiled", NULL, matmul_tiled); }
