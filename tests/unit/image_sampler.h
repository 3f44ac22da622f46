/* SPDX-License-Identifier: Apache-2.0 */
/* A sampler of the tests' own, in integers: coordinates are fractions of 4096, so that every texel, every weight and every sum is exact.
 * Written from OpenCL 1.2 §8.2 and CUDA's appendix on texture fetching. */
#ifndef HEDDLE_TESTS_IMAGE_SAMPLER_H
#define HEDDLE_TESTS_IMAGE_SAMPLER_H

#include <string.h>

#include "image/image.h"

enum { UNIT = 4096 };

static inline float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t as_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
static inline int64_t between(int64_t a, int64_t low, int64_t high) { return a < low ? low : a > high ? high : a; }

/* n / d to the nearest, ties to even */
static inline int64_t nearest(int64_t n, int64_t d) {
    const int64_t low = floor_of(n, d), rest = n - low * d;
    return low + (2 * rest > d || (2 * rest == d && low % 2 != 0));
}

struct pick {
    int64_t texel[2];
    int64_t weight[2]; /* of 256 */
};

/* One dimension: s in units of 1/4096, of the whole image where it is normalised. Texels outside: the border. */
static inline struct pick pick(int64_t s, int64_t size, enum image_addressing mode, bool is_normalised,
                               bool is_linear) {
    int64_t u = is_normalised ? s * size : s; /* of 1/4096 texels */
    if (is_normalised && mode == ADDRESSING_REPEAT)
        u = (s - floor_of(s, UNIT) * UNIT) * size;
    if (is_normalised && mode == ADDRESSING_MIRROR) {
        const int64_t far = 2 * nearest(s, 2 * UNIT);
        u = (s - far * UNIT < 0 ? far * UNIT - s : s - far * UNIT) * size;
    }
    struct pick out = {{floor_of(u, UNIT), 0}, {256, 0}};
    if (is_linear) {
        const int64_t below = floor_of(u - UNIT / 2, UNIT);
        const int64_t part = nearest((u - UNIT / 2 - below * UNIT) * 256, UNIT);
        out = (struct pick){{below, below + 1}, {256 - part, part}};
    }
    for (unsigned i = 0; i < 2; i++) {
        if (mode == ADDRESSING_REPEAT && is_normalised)
            out.texel[i] = out.texel[i] < 0          ? out.texel[i] + size
                           : out.texel[i] > size - 1 ? out.texel[i] - size
                                                     : out.texel[i];
        else if (mode != ADDRESSING_BORDER && mode != ADDRESSING_NONE)
            out.texel[i] = between(out.texel[i], 0, size - 1);
    }
    return out;
}

#endif
