// SPDX-License-Identifier: Apache-2.0
// What a texture gives, by CUDA's programming guide (texture fetching) in integers: coordinates are fractions of UNIT, weights of 256,
// so every texel and every sum is exact; one division at the end. Nothing of Heddle's own sampler is used.
#pragma once

typedef long long Int;
enum { UNIT = 1 << 12, WEIGHT = 256 };

static Int floor_div(Int a, Int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

struct Texels {
    Int size[3]; // 1 where there is no such dimension
    unsigned dimensions;
    const int *values; // x runs fastest
    int border;
};
struct How {
    cudaTextureAddressMode address[3];
    bool linear, normalised;
};

// Texel of one dimension; -1: the border.
static Int settle(Int i, Int size, cudaTextureAddressMode mode, bool normalised) {
    if (i >= 0 && i < size)
        return i;
    if (mode == cudaAddressModeBorder)
        return -1;
    if (mode == cudaAddressModeWrap && normalised)
        return i - floor_div(i, size) * size;
    return i < 0 ? 0 : size - 1;
}

struct Along {
    Int texel[2], weight[2];
};

// s: the coordinate times UNIT.
static Along along(Int s, Int size, cudaTextureAddressMode mode, const How &how) {
    const Int period = UNIT;
    if (how.normalised && mode == cudaAddressModeWrap)
        s -= floor_div(s, period) * period;
    if (how.normalised && mode == cudaAddressModeMirror) {
        const Int turn = floor_div(s, period);
        s -= turn * period;
        if (turn % 2 != 0)
            s = period - s;
    }
    const Int x = how.normalised ? s * size : s; // in texels, times UNIT
    if (!how.linear)
        return {{settle(floor_div(x, UNIT), size, mode, how.normalised), 0}, {WEIGHT, 0}};
    const Int b = x - UNIT / 2, i = floor_div(b, UNIT), rest = (b - i * UNIT) * WEIGHT;
    Int a = rest / UNIT; // to the nearest, ties to even
    const Int left = rest % UNIT * 2;
    a += left > UNIT || (left == UNIT && a % 2);
    return {{settle(i, size, mode, how.normalised), settle(i + 1, size, mode, how.normalised)}, {WEIGHT - a, a}};
}

// The sum, in units of WEIGHT to the power of three.
static Int sample(const Texels &image, const How &how, const Int s[3]) {
    Along at[3] = {{{0, 0}, {WEIGHT, 0}}, {{0, 0}, {WEIGHT, 0}}, {{0, 0}, {WEIGHT, 0}}};
    for (unsigned d = 0; d < image.dimensions; d++)
        at[d] = along(s[d], image.size[d], how.address[d], how);
    Int sum = 0;
    for (unsigned corner = 0; corner < 8; corner++) {
        const unsigned i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
        const Int x = at[0].texel[i], y = at[1].texel[j], z = at[2].texel[k];
        const Int weight = at[0].weight[i] * at[1].weight[j] * at[2].weight[k];
        const bool inside = x >= 0 && y >= 0 && z >= 0;
        if (weight)
            sum += weight * (inside ? image.values[(z * image.size[1] + y) * image.size[0] + x] : image.border);
    }
    return sum;
}
