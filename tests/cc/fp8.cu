// SPDX-License-Identifier: Apache-2.0
// Numbers of 8 bits on both sides: all 256 of both kinds by their meaning, and from them every fifth half and the floats where rounding
// decides, against distances in double, which are exact.
#include "check.h"
#include <cstring>
#include <cuda_fp8.h>
#include <vector>

enum { KINDS = 4 }; // of both interpretations, with and without an end at the largest

__host__ __device__ static void convert(unsigned char *out, float x) {
    out[0] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    out[1] = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3);
    out[2] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
    out[3] = __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2);
}
__global__ void convert_all(unsigned char *out, const float *in, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        convert(out + KINDS * i, in[i]);
}
__global__ void back(float *out) {
    out[threadIdx.x] = __half2float(__half(__nv_cvt_fp8_to_halfraw((unsigned char)threadIdx.x, __NV_E4M3)));
    out[256 + threadIdx.x] = __half2float(__half(__nv_cvt_fp8_to_halfraw((unsigned char)threadIdx.x, __NV_E5M2)));
}

static double meaning(unsigned bits, bool is_e4m3) { // infinity and NaN as the numbers that would be there
    const int mantissa_bits = is_e4m3 ? 3 : 2, bias = is_e4m3 ? 7 : 15;
    const int exponent = (int)(bits & 0x7f) >> mantissa_bits, mantissa = (int)bits & ((1 << mantissa_bits) - 1);
    const double x = std::ldexp((exponent ? 1 << mantissa_bits : 0) + mantissa, (exponent ? exponent : 1) - bias - mantissa_bits);
    return bits >> 7 ? -x : x;
}

static unsigned nearest(double x, bool is_e4m3, bool is_finite) {
    const unsigned largest = is_e4m3 ? 0x7e : 0x7b, sign = std::signbit(x) ? 0x80 : 0;
    if (std::isnan(x))
        return 0x7f;
    unsigned best = 0;
    for (unsigned i = 0; i <= largest + 1; i++) {
        const double is = std::fabs(meaning(i, is_e4m3) - std::fabs(x)), was = std::fabs(meaning(best, is_e4m3) - std::fabs(x));
        if (is < was || (is == was && i % 2 == 0))
            best = i;
    }
    if (std::fabs(x) > 1e6) // distances to it are too wide for a double
        best = largest + 1;
    return (best > largest && is_finite ? largest : best) | sign;
}

int main() {
    std::vector<float> values = {0.0f, -0.0f, 1e30f, -1e30f, 1e-30f, INFINITY, -INFINITY, NAN};
    for (unsigned bits = 0; bits < 0x10000; bits++)
        if (bits % 5 == 0) // halves; the rest by the places between two
            values.push_back(__half2float(__ushort_as_half((unsigned short)bits)));
    for (int kind = 0; kind < 2; kind++)
        for (unsigned i = 0; i < (kind ? 0x7f : 0x7c); i++) {
            const float middle = (float)((meaning(i, kind) + meaning(i + 1, kind)) / 2);
            for (float x : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f), (float)meaning(i, kind)})
                values.push_back(x), values.push_back(-x);
        }
    Managed<float> in(values.size()), numbers(512);
    Managed<unsigned char> out(KINDS * values.size());
    memcpy(in.data, values.data(), values.size() * sizeof(float));
    convert_all<<<(values.size() + 255) / 256, 256>>>(out.data, in.data, (int)values.size());
    back<<<1, 256>>>(numbers.data);
    CHECK(cudaDeviceSynchronize());
    for (size_t i = 0; i < values.size(); i++) {
        unsigned char own[KINDS];
        convert(own, values[i]);
        for (int k = 0; k < KINDS; k++)
            EXPECT(out[KINDS * i + k] == own[k] && own[k] == nearest(values[i], k < 2, k % 2 == 0));
    }
    for (unsigned i = 0; i < 256; i++) {
        const bool e4m3_is_nan = (i & 0x7f) == 0x7f, e5m2_is_nan = (i & 0x7f) > 0x7c, is_infinite = (i & 0x7f) == 0x7c;
        EXPECT(e4m3_is_nan ? std::isnan(numbers[i]) : numbers[i] == meaning(i, true) && std::signbit(numbers[i]) == i >> 7);
        EXPECT(e5m2_is_nan   ? std::isnan(numbers[256 + i])
               : is_infinite ? numbers[256 + i] == (i >> 7 ? -INFINITY : INFINITY)
                             : numbers[256 + i] == meaning(i, false));
    }
    const __nv_fp8x4_e4m3 four(make_float4(1, -2, 448, 0.001953125f));
    const float4 again = (float4)four;
    EXPECT(four.__x == 0x017ec038 && again.x == 1 && again.y == -2 && again.z == 448 && again.w == 0.001953125f);
    EXPECT(__nv_fp8x4_e4m3(__nv_bfloat162(1.0f, -2.0f), __nv_bfloat162(1000.0f, 0.002f)).__x == 0x017ec038);
    EXPECT(__nv_fp8x2_e5m2(__half2(__half(1.0f), __half(-2.0f))).__x == 0xc03c && (float)__nv_fp8_e5m2(3.0) == 3);
    return finish();
}
