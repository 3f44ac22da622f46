/* Host side of the matrix product: one in floats, one in integers. Both are computed once more by outer products; the
 * floats are small integers, so that no sum is ever rounded. */
#include "workload.h"

struct shape {
    uint32_t rows, inner, columns;
};

static void multiply(struct workload *w, bool real, struct shape s, size_t most) {
    const char *kernel = real ? "matmul" : "matmul_int";
    const size_t left = (size_t)s.rows * s.inner, right = (size_t)s.inner * s.columns;
    const size_t count = (size_t)s.rows * s.columns;
    int32_t *a = WORKLOAD_NEW(w, int32_t, left), *b = WORKLOAD_NEW(w, int32_t, right);
    uint32_t *sum = WORKLOAD_NEW(w, uint32_t, count), *got = WORKLOAD_NEW(w, uint32_t, count);
    float *fa = WORKLOAD_NEW(w, float, left), *fb = WORKLOAD_NEW(w, float, right), *fc = WORKLOAD_NEW(w, float, count);
    struct random r = {11};
    for (size_t i = 0; i < left; i++)
        fa[i] = (float)(a[i] = (int32_t)random_below(&r, 128) - 64);
    for (size_t i = 0; i < right; i++)
        fb[i] = (float)(b[i] = (int32_t)random_below(&r, 128) - 64);
    cl_mem as = workload_buffer(w, left * sizeof *a, real ? (void *)fa : (void *)a);
    cl_mem bs = workload_buffer(w, right * sizeof *b, real ? (void *)fb : (void *)b);
    cl_mem cs = workload_buffer(w, count * sizeof *got, NULL);
    const size_t block = workload_block(w, most);
    workload_launch(w, kernel, 2, ((size_t[]){workload_round_up(s.columns, block), s.rows}), ((size_t[]){block, 1}),
                    ARGUMENT(as), ARGUMENT(bs), ARGUMENT(cs), ARGUMENT(s.columns), ARGUMENT(s.inner));
    workload_read(w, cs, count * sizeof *got, real ? (void *)fc : (void *)got);
    for (size_t i = 0; i < count && real; i++)
        got[i] = (uint32_t)(int32_t)fc[i];
    for (size_t k = 0; k < s.inner; k++)
        for (size_t row = 0; row < s.rows; row++)
            for (size_t column = 0; column < s.columns; column++)
                sum[row * s.columns + column] += (uint32_t)(a[row * s.inner + k] * b[k * s.columns + column]);
    workload_equal_u32(w, kernel, got, sum, count);
}

static void matmul(struct workload *w) {
    static const struct shape reals[] = {{16, 32, 128}, {16, 768, 768}, {1024, 1024, 1024}};
    static const struct shape integers[] = {{16, 32, 128}, {64, 128, 256}, {256, 256, 256}};
    multiply(w, true, reals[w->size], w->size == SIZE_TEST ? 128 : 768);
    multiply(w, false, integers[w->size], w->size == SIZE_TEST ? 128 : 256);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "matmul", NULL, matmul); }
