/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the Fourier transform: noise, transformed once more by halving arrays in double precision. */
#include "workload.h"

#include <math.h>

struct point {
    float re, im;
};
struct wide {
    double re, im;
};

static struct wide times(struct wide a, struct wide b) {
    return (struct wide){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* exp(-2 pi i k / count), by halving angles from a right one: the same bits everywhere, as sin() need not be. */
static void make_roots(struct wide *roots, size_t count) {
    struct wide turn = {0, -1}; /* a quarter */
    roots[0] = (struct wide){1, 0};
    roots[count / 2] = (struct wide){-1, 0};
    roots[count / 4] = turn;
    roots[count / 4 * 3] = (struct wide){0, 1};
    for (size_t step = count / 8; step; step /= 2) {
        const double cosine = sqrt((1 + turn.re) / 2);
        turn = (struct wide){cosine, turn.im / (2 * cosine)};
        for (size_t i = step; i < count; i += 2 * step)
            roots[i] = times(roots[i - step], turn);
    }
}

/* Even and odd frequencies apart, `stride` interleaved transforms of `count` points each (Stockham). Returns which of
 * the two holds the result. */
static const struct wide *transform(struct wide *in, struct wide *out, const struct wide *roots, size_t count) {
    for (size_t stride = 1; count > 1; count /= 2, stride *= 2) {
        for (size_t p = 0; p < count / 2; p++)
            for (size_t q = 0; q < stride; q++) {
                const struct wide a = in[q + stride * p], b = in[q + stride * (p + count / 2)];
                out[q + stride * 2 * p] = (struct wide){a.re + b.re, a.im + b.im};
                out[q + stride * (2 * p + 1)] = times((struct wide){a.re - b.re, a.im - b.im}, roots[p * stride]);
            }
        struct wide *swap = in;
        in = out;
        out = swap;
    }
    return in;
}

static void fft(struct workload *w) {
    const cl_uint log_side = (cl_uint[]){4, 6, 10}[w->size], turn = 1, no_turn = 0;
    const size_t points = (size_t)1 << 2 * log_side, arrays = (size_t[]){8, 192, 12}[w->size], count = arrays * points;
    struct point *data = WORKLOAD_NEW(w, struct point, count), *got = WORKLOAD_NEW(w, struct point, count);
    struct point *table = WORKLOAD_NEW(w, struct point, points);
    struct wide *roots = WORKLOAD_NEW(w, struct wide, points);
    struct wide *wide[2] = {WORKLOAD_NEW(w, struct wide, points), WORKLOAD_NEW(w, struct wide, points)};
    struct random r = {29};
    for (size_t i = 0; i < count; i++)
        data[i] = (struct point){2 * random_unit(&r) - 1, 2 * random_unit(&r) - 1};
    make_roots(roots, points);
    for (size_t i = 0; i < points; i++)
        table[i] = (struct point){(float)roots[i].re, (float)roots[i].im};
    cl_mem a = workload_buffer(w, count * sizeof *data, data), b = workload_buffer(w, count * sizeof *data, NULL);
    cl_mem rooted = workload_buffer(w, points * sizeof *table, table);
    const size_t threads = arrays << log_side, block = workload_block(w, threads < 12288 ? 128 : 768);
    workload_launch(w, "fft_rows", 1, &threads, &block, ARGUMENT(a), ARGUMENT(b), ARGUMENT(rooted), ARGUMENT(log_side),
                    ARGUMENT(turn));
    workload_launch(w, "fft_rows", 1, &threads, &block, ARGUMENT(b), ARGUMENT(a), ARGUMENT(rooted), ARGUMENT(log_side),
                    ARGUMENT(no_turn));
    workload_launch(w, "fft_transpose", 1, &threads, &block, ARGUMENT(a), ARGUMENT(b), ARGUMENT(log_side));
    workload_read(w, b, count * sizeof *got, got);

    /* Rounding adds up as a random walk: a relative error, over an array, of about 2^-24 times the root of the stages.
     * An element that is simply wrong has an error of 1 over the root of the points: 1e-3 at paper size. */
    for (size_t array = 0; array < arrays; array++) {
        double off = 0, size = 0;
        for (size_t i = 0; i < points; i++)
            wide[0][i] = (struct wide){(double)data[array * points + i].re, (double)data[array * points + i].im};
        const struct wide *expected = transform(wide[0], wide[1], roots, points);
        for (size_t i = 0; i < points; i++) {
            const struct point g = got[array * points + i];
            const double re = expected[i].re, im = expected[i].im;
            off += ((double)g.re - re) * ((double)g.re - re) + ((double)g.im - im) * ((double)g.im - im);
            size += re * re + im * im;
        }
        workload_expect(w, sqrt(off / size) <= 1e-6, "an array's transform is off by no more than a part in a million");
    }
}

int main(int argc, char **argv) { return workload_main(argc, argv, "fft", NULL, fft); }
