// SPDX-License-Identifier: Apache-2.0
// Halves: conversions, one rounding for every operation, pairs.
#include "check.h"
#include <cuda_fp16.h>

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

int main()
{
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
