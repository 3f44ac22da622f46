/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the neural network: digits drawn with strokes, weights at random as before training. The host goes the other way
 * round, from each input to all that it is tied to, in double precision. */
#include "workload.h"
#include <math.h>

enum {
    IMAGE = 29,
    PIXELS = IMAGE * IMAGE,
    MAPS1 = 6,
    EDGE1 = 13,
    SIZE1 = MAPS1 * EDGE1 * EDGE1,
    MAPS2 = 50,
    EDGE2 = 5,
    SIZE2 = MAPS2 * EDGE2 * EDGE2,
    SIZE3 = 100,
    DIGITS = 10,
};

static const uint32_t image_counts[SIZE_COUNT] = {1, 28, 2800};

struct layer {
    uint32_t weights_per_output, outputs; /* outputs: that have weights of their own */
    float *weights;                       /* of each: the bias, then one for each input */
};

/* Weights as small as the square root of their number is large, so that activations neither vanish nor saturate. */
static struct layer make_layer(struct workload *w, struct random *r, uint32_t inputs, uint32_t outputs) {
    struct layer layer = {inputs + 1, outputs, WORKLOAD_NEW(w, float, (inputs + 1) * outputs)};
    const float scale = 2 / sqrtf((float)inputs);
    for (uint32_t i = 0; i < layer.weights_per_output * outputs; i++)
        layer.weights[i] = (random_unit(r) - 0.5f) * scale;
    return layer;
}

/* A few straight strokes of a pen two pixels wide. */
static void draw(struct random *r, float *image) {
    for (unsigned stroke = 0; stroke < 3; stroke++) {
        float x = 5 + 19 * random_unit(r), y = 5 + 19 * random_unit(r);
        const float dx = random_unit(r) - 0.5f, dy = random_unit(r) - 0.5f;
        for (unsigned step = 0; step < 24; step++, x += dx, y += dy)
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) {
                    const int at = ((int)y + i) * IMAGE + (int)x + j;
                    if (at >= 0 && at < PIXELS)
                        image[at] = 1;
                }
    }
}

static double activation(double x) {
    const double y = fmin(fmax(2 * x / 3, -3), 3);
    return 1.7159 * y * (27 + y * y) / (27 + 9 * y * y);
}

/* 5 x 5 at every second place, of `from` maps. */
static void convolve(const struct layer *l, const double *in, uint32_t from, uint32_t edge, double *out,
                     uint32_t out_edge) {
    for (uint32_t map = 0; map < l->outputs; map++)
        for (uint32_t at = 0; at < out_edge * out_edge; at++)
            out[map * out_edge * out_edge + at] = (double)l->weights[map * l->weights_per_output];
    for (uint32_t k = 0; k < from; k++)
        for (uint32_t y = 0; y < edge; y++)
            for (uint32_t x = 0; x < edge; x++)
                for (uint32_t i = y % 2; i < 5 && i <= y; i += 2)
                    for (uint32_t j = x % 2; j < 5 && j <= x; j += 2) {
                        const uint32_t to_y = (y - i) / 2, to_x = (x - j) / 2;
                        if (to_y >= out_edge || to_x >= out_edge)
                            continue;
                        for (uint32_t map = 0; map < l->outputs; map++)
                            out[(map * out_edge + to_y) * out_edge + to_x] +=
                                in[(k * edge + y) * edge + x] *
                                (double)l->weights[map * l->weights_per_output + 1 + 25 * k + 5 * i + j];
                    }
    for (uint32_t i = 0; i < l->outputs * out_edge * out_edge; i++)
        out[i] = activation(out[i]);
}

static void tie_all(const struct layer *l, const double *in, double *out) {
    for (uint32_t o = 0; o < l->outputs; o++)
        out[o] = (double)l->weights[o * l->weights_per_output];
    for (uint32_t i = 0; i + 1 < l->weights_per_output; i++)
        for (uint32_t o = 0; o < l->outputs; o++)
            out[o] += in[i] * (double)l->weights[o * l->weights_per_output + 1 + i];
    for (uint32_t o = 0; o < l->outputs; o++)
        out[o] = activation(out[o]);
}

static void read_on_host(struct workload *w, const struct layer *layers, const float *images, uint32_t count,
                         float *out) {
    double *pixels = WORKLOAD_NEW(w, double, PIXELS), *one = WORKLOAD_NEW(w, double, SIZE1);
    double *two = WORKLOAD_NEW(w, double, SIZE2), three[SIZE3], four[DIGITS];
    for (uint32_t image = 0; image < count; image++) {
        for (uint32_t i = 0; i < PIXELS; i++)
            pixels[i] = (double)images[image * PIXELS + i];
        convolve(&layers[0], pixels, 1, IMAGE, one, EDGE1);
        convolve(&layers[1], one, MAPS1, EDGE1, two, EDGE2);
        tie_all(&layers[2], two, three);
        tie_all(&layers[3], three, four);
        for (uint32_t i = 0; i < DIGITS; i++)
            out[image * DIGITS + i] = (float)four[i];
    }
}

static cl_mem floats(struct workload *w, size_t count, const float *from) {
    return workload_buffer(w, count * sizeof(float), from);
}

static void neural(struct workload *w) {
    const uint32_t count = image_counts[w->size];
    struct random r = {29};
    const struct layer layers[] = {make_layer(w, &r, 25, MAPS1), make_layer(w, &r, 25 * MAPS1, MAPS2),
                                   make_layer(w, &r, SIZE2, SIZE3), make_layer(w, &r, SIZE3, DIGITS)};
    float *images = WORKLOAD_NEW(w, float, (size_t)count *PIXELS);
    for (uint32_t i = 0; i < count; i++)
        draw(&r, images + i * PIXELS);
    cl_mem weights[4];
    for (unsigned i = 0; i < 4; i++)
        weights[i] = floats(w, (size_t)layers[i].weights_per_output * layers[i].outputs, layers[i].weights);
    cl_mem in = floats(w, (size_t)count * PIXELS, images), one = floats(w, (size_t)count * SIZE1, NULL);
    cl_mem two = floats(w, (size_t)count * SIZE2, NULL), three = floats(w, (size_t)count * SIZE3, NULL);
    cl_mem four = floats(w, (size_t)count * DIGITS, NULL), digits = floats(w, count, NULL);
    const cl_int size2 = SIZE2, size3 = SIZE3, size4 = DIGITS;
    workload_launch(w, "layer1", 2, ((size_t[]){MAPS1 * EDGE1, count * EDGE1}), ((size_t[]){EDGE1, EDGE1}),
                    ARGUMENT(in), ARGUMENT(weights[0]), ARGUMENT(one));
    workload_launch(w, "layer2", 2, ((size_t[]){MAPS2 * EDGE2, count * EDGE2}), ((size_t[]){EDGE2, EDGE2}),
                    ARGUMENT(one), ARGUMENT(weights[1]), ARGUMENT(two));
    workload_launch(w, "full", 1, ((size_t[]){(size_t)count * 128}), (size_t[]){128}, ARGUMENT(two),
                    ARGUMENT(weights[2]), ARGUMENT(three), ARGUMENT(size2), ARGUMENT(size3));
    workload_launch(w, "full", 1, ((size_t[]){(size_t)count * 32}), (size_t[]){32}, ARGUMENT(three),
                    ARGUMENT(weights[3]), ARGUMENT(four), ARGUMENT(size3), ARGUMENT(size4));
    workload_launch(w, "classify", 1, ((size_t[]){workload_round_up(count, 32)}), (size_t[]){32}, ARGUMENT(four),
                    ARGUMENT(count), ARGUMENT(digits));
    float *got = WORKLOAD_NEW(w, float, count *DIGITS), *expected = WORKLOAD_NEW(w, float, count *DIGITS);
    uint32_t *classes = WORKLOAD_NEW(w, uint32_t, count);
    workload_read(w, four, count * DIGITS * sizeof *got, got);
    workload_read(w, digits, count * sizeof *classes, classes);
    read_on_host(w, layers, images, count, expected);
    workload_close_f32(w, "activation", got, expected, count * DIGITS,
                       1e-4); /* 1,250 terms of 1 at most, four layers */
    bool right = true;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t digit = 0; digit < DIGITS; digit++)
            right &= got[i * DIGITS + classes[i]] >= got[i * DIGITS + digit];
    workload_expect(w, right, "the class is that of the most active neuron");
}

int main(int argc, char **argv) { return workload_main(argc, argv, "neural", NULL, neural); }
