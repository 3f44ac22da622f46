/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the Haar transform; the host transforms in double precision, level by level over the whole signal. */
#include "workload.h"
#include <math.h>

enum { MOST_THREADS = 512 };

static void transform(struct workload *w, const float *signal, uint32_t count, double *coefficients) {
    double *now = WORKLOAD_NEW(w, double, count), *next = WORKLOAD_NEW(w, double, count);
    for (uint32_t i = 0; i < count; i++)
        now[i] = (double)signal[i];
    for (uint32_t half = count / 2; half; half /= 2) {
        for (uint32_t i = 0; i < half; i++) {
            next[i] = (now[2 * i] + now[2 * i + 1]) * sqrt(0.5);
            coefficients[half + i] = (now[2 * i] - now[2 * i + 1]) * sqrt(0.5);
        }
        double *const held = now;
        now = next;
        next = held;
    }
    coefficients[0] = now[0];
}

static void haar(struct workload *w) {
    const uint32_t count = (uint32_t[]){4096, 1 << 18, 4096}[w->size];
    const size_t bytes = count * sizeof(float);
    float *signal = WORKLOAD_NEW(w, float, count), *got = WORKLOAD_NEW(w, float, count);
    float *expected = WORKLOAD_NEW(w, float, count);
    double *exact = WORKLOAD_NEW(w, double, count);
    struct random r = {32};
    for (uint32_t i = 0; i < count; i++) /* a tone with noise, of mean 0 */
        signal[i] = (float)((i * 37) % 1024) / 1024 - 0.5f + (random_unit(&r) - 0.5f) / 4;
    cl_mem from = workload_buffer(w, bytes, signal), to = workload_buffer(w, bytes, NULL);
    cl_mem coefficients = workload_buffer(w, bytes, NULL);
    for (uint32_t left = count; left > 1;) {
        const size_t threads = left / 2 < MOST_THREADS ? left / 2 : MOST_THREADS;
        uint32_t levels = 0;
        while (2 * threads >> (levels + 1))
            levels++;
        const uint32_t detail = left / 2;
        workload_launch(w, "haar", 1, ((size_t[]){left / 2}), ((size_t[]){threads}), ARGUMENT(from),
                        ARGUMENT(coefficients), ARGUMENT(to), ARGUMENT(levels), ARGUMENT(detail),
                        LOCAL_BYTES(2 * threads * sizeof(float)));
        left >>= levels;
        const cl_mem swapped = from;
        from = to;
        to = swapped;
    }
    workload_read(w, coefficients, bytes, got);
    workload_read(w, from, sizeof *got, got);
    transform(w, signal, count, exact);
    for (uint32_t i = 0; i < count; i++)
        expected[i] = (float)exact[i];
    workload_close_f32(w, "coefficient", got, expected, count, 1e-5);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "haar", NULL, haar); }
