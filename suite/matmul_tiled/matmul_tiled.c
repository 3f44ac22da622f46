/* Host side of the tiled matrix product, computed once more by outer products. The floats are small integers, so that no sum
 * is ever rounded. */
#include "workload.h"

enum { TILE = 16 };

static const char *const options[SIZE_COUNT] = {"-D WIDTH=16", "-D WIDTH=128", "-D WIDTH=16"};
static const uint32_t widths[SIZE_COUNT] = {16, 128, 16};

static void matmul_tiled(struct workload *w) {
    const size_t width = widths[w->size], count = width * width, bytes = count * sizeof(float);
    float *a = WORKLOAD_NEW(w, float, count), *b = WORKLOAD_NEW(w, float, count);
    float *got = WORKLOAD_NEW(w, float, count), *sum = WORKLOAD_NEW(w, float, count);
    struct random r = {31};
    for (size_t i = 0; i < count; i++) {
        a[i] = (float)random_below(&r, 128) - 64;
        b[i] = (float)random_below(&r, 128) - 64;
    }
    cl_mem as = workload_buffer(w, bytes, a), bs = workload_buffer(w, bytes, b), cs = workload_buffer(w, bytes, NULL);
    workload_launch(w, "matmul_tiled", 2, ((size_t[]){width, width}), ((size_t[]){TILE, TILE}), ARGUMENT(as),
                    ARGUMENT(bs), ARGUMENT(cs));
    workload_read(w, cs, bytes, got);
    for (size_t k = 0; k < width; k++)
        for (size_t row = 0; row < width; row++)
            for (size_t column = 0; column < width; column++)
                sum[row * width + column] += a[row * width + k] * b[k * width + column];
    workload_close_f32(w, "element", got, sum, count, 0);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "matmul_tiled", options, matmul_tiled); }
