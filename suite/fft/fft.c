/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the Fourier transform: noise, transformed once more by halving arrays, in another order. */
#include "workload.h"

#include <math.h>
#include <string.h>

struct point {
    double re, im;
};

static struct point times(struct point a, struct point b) {
    return (struct point){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* exp(-2 pi i k / count), by halving angles from a right one: the same bits everywhere, as sin() need not be. */
static void make_roots(struct point *roots, size_t count) {
    struct point turn = {0, -1}; /* a quarter */
    roots[0] = (struct point){1, 0};
    roots[count / 2] = (struct point){-1, 0};
    roots[count / 4] = turn;
    roots[count / 4 * 3] = (struct point){0, 1};
    for (size_t step = count / 8; step; step /= 2) {
        const double cosine = sqrt((1 + turn.re) / 2);
        turn = (struct point){cosine, turn.im / (2 * cosine)};
        for (size_t i = step; i < count; i += 2 * step)
            roots[i] = times(roots[i - step], turn);
    }
}

/* Even and odd frequencies apart, `stride` interleaved transforms of `count` points each (Stockham). Returns which of
 * the two holds the result. */
static const struct point *transform(struct point *in, struct point *out, const struct point *roots, size_t count) {
    for (size_t stride = 1; count > 1; count /= 2, stride *= 2) {
        for (size_t p = 0; p < count / 2; p++)
            for (size_t q = 0; q < stride; q++) {
                const struct point a = in[q + stride * p], b = in[q + stride * (p + count / 2)];
                out[q + stride * 2 * p] = (struct point){a.re + b.re, a.im + b.im};
                out[q + stride * (2 * p + 1)] = times((struct point){a.re - b.re, a.im - b.im}, roots[p * stride]);
            }
        struct point *swap = in;
        in = out;
        out = swap;
    }
    return in;
}

static void fft(struct workload *w) {
    const cl_uint log_side = (cl_uint[]){4, 6, 10}[w->size], turn = 1, no_turn = 0;
    const size_t points = (size_t)1 << 2 * log_side, arrays = (size_t[]){8, 192, 12}[w->size], count = arrays * points;
    struct point *data = WORKLOAD_NEW(w, struct point, count), *got = WORKLOAD_NEW(w, struct point, count);
    struct point *roots = WORKLOAD_NEW(w, struct point, points);
    struct point *scratch[2] = {WORKLOAD_NEW(w, struct point, points), WORKLOAD_NEW(w, struct point, points)};
    struct random r = {29};
    for (size_t i = 0; i < count; i++)
        data[i] = (struct point){2 * (double)random_unit(&r) - 1, 2 * (double)random_unit(&r) - 1};
    make_roots(roots, points);
    cl_mem a = workload_buffer(w, count * sizeof *data, data), b = workload_buffer(w, count * sizeof *data, NULL);
    cl_mem rooted = workload_buffer(w, points * sizeof *roots, roots);
    const size_t threads = arrays << log_side, block = workload_block(w, threads < 12288 ? 128 : 768);
    workload_launch(w, "fft_rows", 1, &threads, &block, ARGUMENT(a), ARGUMENT(b), ARGUMENT(rooted), ARGUMENT(log_side),
                    ARGUMENT(turn));
    workload_launch(w, "fft_rows", 1, &threads, &block, ARGUMENT(b), ARGUMENT(a), ARGUMENT(rooted), ARGUMENT(log_side),
                    ARGUMENT(no_turn));
    workload_launch(w, "fft_transpose", 1, &threads, &block, ARGUMENT(a), ARGUMENT(b), ARGUMENT(log_side));
    workload_read(w, b, count * sizeof *got, got);

    /* Rounding adds up as a random walk: a relative error, over an array, of about 2^-53 times the root of the stages.
     * An element that is simply wrong has an error of 1 over the root of the points: 1e-3 at paper size. */
    for (size_t array = 0; array < arrays; array++) {
        double off = 0, size = 0;
        memcpy(scratch[0], data + array * points, points * sizeof *data);
        const struct point *expected = transform(scratch[0], scratch[1], roots, points);
        for (size_t i = 0; i < points; i++) {
            const struct point g = got[array * points + i], e = expected[i];
            off += (g.re - e.re) * (g.re - e.re) + (g.im - e.im) * (g.im - e.im);
            size += e.re * e.re + e.im * e.im;
        }
        workload_expect(w, sqrt(off / size) <= 1e-14, "an array's transform is off by no more than a part in 10^14");
    }
}

int main(int argc, char **argv) { return workload_main(argc, argv, "fft", NULL, fft); }
