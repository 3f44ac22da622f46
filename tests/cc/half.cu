// SPDX-License-Identifier: Apache-2.0
// Halves: conversions in every direction of rounding, one rounding for every operation, comparisons, pairs.
#include "check.h"
#include <cuda_fp16.h>

enum { ROUNDED = 256, ALIKE = 16 };

__host__ __device__ static void round_one(unsigned short *out, float x)
{
    out[0] = __half_as_ushort(__float2half_rd(x));
    out[1] = __half_as_ushort(__float2half_ru(x));
    out[2] = __half_as_ushort(__float2half_rz(x));
}
__global__ void round_all(unsigned short *out, const float *in) { round_one(out + 3 * threadIdx.x, in[threadIdx.x]); }

__host__ __device__ static void compare_one(unsigned short *out, unsigned short a, unsigned short b)
{
    const __half x = __ushort_as_half(a), y = __ushort_as_half(b);
    const __half2 first = __halves2half2(x, y), second = __halves2half2(y, x);
    out[0] = __half_as_ushort(__low2half(__hgt2(first, second)));
    out[1] = __half_as_ushort(__high2half(__hgt2(first, second)));
    out[2] = __half_as_ushort(__low2half(__heq2(first, second)));
    out[3] = __hbge2(first, first) | __hltu(x, y) << 1 | __hne(x, y) << 2 | (__hisinf(x) + 1) << 3;
    out[4] = __half_as_ushort(__high2half(__hmax2(first, second)));
    out[5] = __half_as_ushort(__hmin(x, y));
    out[6] = __half_as_ushort(__hadd_sat(x, y));
    out[7] = __half_as_ushort(__low2half(__habs2(-first)));
}
__global__ void compare_all(unsigned short *out, const unsigned short *in)
{
    const int i = threadIdx.x;
    compare_one(out + 8 * i, in[i / ALIKE], in[i % ALIKE]);
}

__global__ void compute(__half *out, const float *a, const float *b, int count)
{
    const int i = threadIdx.x;
    if (i >= count)
        return;
    const __half x = __float2half(a[i]), y = __float2half(b[i]);
    const __half2 pair = __hfma2(__halves2half2(x, y), __float2half2_rn(2), __halves2half2(y, x));
    out[6 * i] = x + y;
    out[6 * i + 1] = __hmul(x, y);
    out[6 * i + 2] = __hdiv(x, y);
    out[6 * i + 3] = __low2half(pair);
    out[6 * i + 4] = __hmax(x, y);
    out[6 * i + 5] = hsqrt(__habs(x));
}

// The order of halves as integers, of which +0 and -0 have neighbours.
static int place_of(unsigned short bits) { return bits >> 15 ? -(bits & 0x7fff) - 1 : bits; }
static float number_at(int place)
{
    return __half2float(__ushort_as_half((unsigned short)(place < 0 ? 0x8000 | (-place - 1) : place)));
}

static void rounds()
{
    Managed<float> in(ROUNDED);
    Managed<unsigned short> out(3 * ROUNDED);
    const float odd[] = {0, -0.0f, 65504, 65519, 65520, 1e9f, -1e9f, INFINITY, -INFINITY, 1e-8f, -1e-8f, 6e-8f, 3e-8f, 6.1e-5f, 1, -1};
    for (int i = 0; i < ROUNDED; i++)
        in[i] = i < 16 ? odd[i] : ldexpf((float)(rand() % 20011 - 10005), rand() % 40 - 30);
    round_all<<<1, ROUNDED>>>(out.data, in.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < ROUNDED; i++) {
        int below = place_of(0xfc00), above = place_of(0x7c00); // a search in all halves, from one infinity to the other
        while (below + 1 < above) {
            const int middle = (below + above) >> 1;
            if (number_at(middle) <= in[i])
                below = middle;
            else
                above = middle;
        }
        const float down = number_at(above) <= in[i] ? number_at(above) : number_at(below);
        const float up = down == in[i] ? down : number_at(above);
        unsigned short host[3];
        round_one(host, in[i]);
        const float expected[3] = {down, up, in[i] < 0 ? up : down};
        for (int k = 0; k < 3; k++)
            EXPECT(__half2float(__ushort_as_half(host[k])) == expected[k] && host[k] == out[3 * i + k]);
    }
}

static void compares()
{
    const unsigned short some[ALIKE] = {0,      0x8000, 0x3c00, 0xbc00, 0x0001, 0x8001, 0x7bff, 0xfbff,
                                        0x7c00, 0xfc00, 0x7e00, 0x3800, 0x3c01, 0x4248, 0xc248, 0x0400};
    Managed<unsigned short> in(ALIKE), out(8 * ALIKE * ALIKE);
    for (int i = 0; i < ALIKE; i++)
        in[i] = some[i];
    compare_all<<<1, ALIKE * ALIKE>>>(out.data, in.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < ALIKE * ALIKE; i++) {
        const unsigned short a = some[i / ALIKE], b = some[i % ALIKE], one = 0x3c00;
        const float x = __half2float(__ushort_as_half(a)), y = __half2float(__ushort_as_half(b));
        const bool ordered = x == x && y == y;
        const unsigned short larger = !(x == x) ? b : !(y == y) ? a : place_of(a) < place_of(b) ? b : a;
        const unsigned short smaller = !(x == x) ? b : !(y == y) ? a : place_of(a) < place_of(b) ? a : b;
        const float sum = x + y < 0 || x + y != x + y ? 0 : x + y > 1 ? 1 : (float)(_Float16)(x + y);
        const int flags = (ordered ? 1 : 0) | (!ordered || x < y ? 2 : 0) | (ordered && x != y ? 4 : 0);
        const unsigned short *got = &out[8 * i];
        unsigned short host[8];
        compare_one(host, a, b);
        for (int k = 0; k < (x == x ? 8 : 7); k++) // but the sign of a NaN
            EXPECT(host[k] == got[k]);
        EXPECT(got[0] == (x > y ? one : 0) && got[1] == (y > x ? one : 0) && got[2] == (x == y ? one : 0));
        EXPECT((got[3] & 7) == flags && (got[3] >> 3) - 1 == (std::isinf(x) ? (x < 0 ? -1 : 1) : 0));
        EXPECT(x != x && y != y ? got[4] == 0x7fff && got[5] == 0x7fff : got[4] == larger && got[5] == smaller);
        EXPECT(__half2float(__ushort_as_half(got[6])) == sum && (x != x || got[7] == (a & 0x7fff)));
    }
    EXPECT(__half2int_rn(__half(2.5f)) == 2 && __half2int_ru(__half(2.5f)) == 3 && __half2uint_rz(__half(-3.0f)) == 0);
    EXPECT(__half2short_rd(__half(-2.5f)) == -3 && __half2short_rz(__half(INFINITY)) == 32767 && __half2ll_rn(__half(65504.0f)) == 65504);
    EXPECT(__half2int_rz(__ushort_as_half(0x7e00)) == 0 && __half2float(__ushort2half_rn(65535)) == INFINITY);
}

int main()
{
    rounds();
    compares();
    enum { COUNT = 32 };
    Managed<float> a(COUNT), b(COUNT);
    Managed<__half> out(6 * COUNT);
    for (int i = 0; i < COUNT; i++)
        a[i] = 0.37f * i - 3, b[i] = 1.0f / (i + 1);
    compute<<<1, COUNT>>>(out.data, a.data, b.data, COUNT);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++) {
        const float x = (float)(_Float16)a[i], y = (float)(_Float16)b[i];
        const float expected[6] = {x + y, x * y, x / y, (float)((double)x * 2 + y), x < y ? y : x, sqrtf(fabsf(x))};
        for (int k = 0; k < 6; k++)
            EXPECT(__half2float(out[6 * i + k]) == (float)(_Float16)expected[k]);
    }
    return finish();
}
