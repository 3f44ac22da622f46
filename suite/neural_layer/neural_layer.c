/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the network's first layer: images drawn at random, weights as before training. The host goes from each pixel to
 * all neurons that look at it, in double precision. */
#include "workload.h"
#include <math.h>

enum { IMAGE = 29, PIXELS = IMAGE * IMAGE, MAPS = 6, EDGE = 13, NEURONS = MAPS * EDGE * EDGE, FIELD = 5, WEIGHTS = 26 };

static void add_pixel(const float *weights, uint32_t x, uint32_t y, float pixel, double *sums) {
    for (uint32_t map = 0; map < MAPS; map++)
        for (uint32_t i = y % 2; i < FIELD && i <= y; i += 2)
            for (uint32_t j = x % 2; j < FIELD && j <= x; j += 2) {
                const uint32_t row = (y - i) / 2, column = (x - j) / 2;
                if (row < EDGE && column < EDGE)
                    sums[(map * EDGE + row) * EDGE + column] +=
                        (double)pixel * (double)weights[map * WEIGHTS + 1 + FIELD * i + j];
            }
}

static void neural_layer(struct workload *w) {
    const uint32_t images = (uint32_t[]){1, 28, 1}[w->size];
    float *pixels = WORKLOAD_NEW(w, float, images *PIXELS), *weights = WORKLOAD_NEW(w, float, MAPS *WEIGHTS);
    float *got = WORKLOAD_NEW(w, float, images *NEURONS), *expected = WORKLOAD_NEW(w, float, images *NEURONS);
    struct random r = {33};
    for (uint32_t i = 0; i < images * PIXELS; i++)
        pixels[i] = random_below(&r, 4) ? 1 : -1; /* paper, ink */
    for (uint32_t i = 0; i < MAPS * WEIGHTS; i++)
        weights[i] = (random_unit(&r) - 0.5f) / 4;
    for (uint32_t image = 0; image < images; image++) {
        double sums[NEURONS];
        for (uint32_t n = 0; n < NEURONS; n++)
            sums[n] = (double)weights[n / (EDGE * EDGE) * WEIGHTS];
        for (uint32_t i = 0; i < PIXELS; i++)
            add_pixel(weights, i % IMAGE, i / IMAGE, pixels[image * PIXELS + i], sums);
        for (uint32_t n = 0; n < NEURONS; n++)
            expected[image * NEURONS + n] = (float)(1.7159 * tanh(0.66666667 * sums[n]));
    }
    int32_t places[FIELD * FIELD];
    for (int32_t i = 0; i < FIELD * FIELD; i++)
        places[i] = i / FIELD * IMAGE + i % FIELD;
    cl_mem taps = workload_buffer(w, sizeof places, places);
    cl_mem in = workload_buffer(w, images * PIXELS * sizeof *pixels, pixels);
    cl_mem tied = workload_buffer(w, MAPS * WEIGHTS * sizeof *weights, weights);
    cl_mem out = workload_buffer(w, images * NEURONS * sizeof *got, NULL);
    static const char *const kernels[] = {"layer_unrolled", "layer_rolled"};
    for (unsigned k = 0; k < 2; k++) {
        workload_launch(w, kernels[k], 2, ((size_t[]){MAPS * EDGE, images * EDGE}), ((size_t[]){EDGE, EDGE}),
                        ARGUMENT(in), ARGUMENT(tied), ARGUMENT(taps), ARGUMENT(out));
        workload_read(w, out, images * NEURONS * sizeof *got, got);
        workload_close_f32(w, kernels[k], got, expected, (size_t)images * NEURONS, 1e-4);
    }
}

int main(int argc, char **argv) { return workload_main(argc, argv, "neural_layer", NULL, neural_layer); }
