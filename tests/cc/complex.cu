// SPDX-License-Identifier: Apache-2.0
// Complex numbers of cuComplex.h on both sides against wider ones of the host, quotients near both ends of the range too.
#include "check.h"
#include <complex>
#include <cuComplex.h>

enum { RESULTS = 6, CASES = 512 };

__host__ __device__ static void compute(cuFloatComplex *out, cuFloatComplex a, cuFloatComplex b) {
    out[0] = cuCaddf(a, b);
    out[1] = cuCsubf(a, cuConjf(b));
    out[2] = cuCmulf(a, b);
    out[3] = cuCdivf(a, b);
    out[4] = make_cuComplex(cuCabsf(a), cuCrealf(a) - cuCimagf(b));
    out[5] = cuCfmaf(a, b, make_cuFloatComplex(1, -1));
}
__host__ __device__ static void compute(cuDoubleComplex *out, cuDoubleComplex a, cuDoubleComplex b) {
    out[0] = cuCadd(a, b);
    out[1] = cuCsub(a, cuConj(b));
    out[2] = cuCmul(a, b);
    out[3] = cuCdiv(a, b);
    out[4] = make_cuDoubleComplex(cuCabs(a), cuCreal(a) - cuCimag(b));
    out[5] = cuCfma(a, b, make_cuDoubleComplex(1, -1));
}
template <class C> __global__ void compute_all(C *out, const C *in) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    compute(out + RESULTS * i, in[2 * i], in[2 * i + 1]);
}

typedef std::complex<long double> Wide;
template <class C> static Wide wide(C z) { return Wide(z.x, z.y); }
// Within so many roundings of the largest magnitude that takes part.
template <class C> static void expect_near(C is, Wide expected, long double size, long double unit) {
    EXPECT(std::abs(wide(is) - expected) <= 4 * unit * size);
}

template <class C, class T> static void check(T unit, int range) {
    Managed<C> in(2 * CASES), out(RESULTS * CASES);
    unsigned seed = 7;
    for (int i = 0; i < 2 * CASES; i++) {
        T part[2];
        for (T &x : part) {
            seed = seed * 1664525u + 1013904223u;
            x = (T)std::ldexp((seed >> 8 & 0xffff) / 65536.0 + 0.5, (i / 2 % 2 ? 0 : (int)(i / 4 * 97 % (2 * range)) - range) + (int)(seed >> 24) % 5) *
                (seed >> 31 ? -1 : 1);
        }
        in[i].x = part[0], in[i].y = part[1];
    }
    compute_all<<<CASES / 64, 64>>>(out.data, in.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < CASES; i++) {
        C own[RESULTS];
        const Wide a = wide(in[2 * i]), b = wide(in[2 * i + 1]);
        compute(own, in[2 * i], in[2 * i + 1]);
        for (const C *is : {own, out.data + RESULTS * i}) {
            expect_near(is[0], a + b, std::abs(a) + std::abs(b), unit);
            expect_near(is[1], a - std::conj(b), std::abs(a) + std::abs(b), unit);
            expect_near(is[3], a / b, std::abs(a) / std::abs(b), unit);
            EXPECT(std::fabs(is[4].x - std::abs(a)) <= 4 * unit * std::abs(a) && is[4].y == in[2 * i].x - in[2 * i + 1].y);
            if (i % 2) { // products of the others leave the range
                expect_near(is[2], a * b, std::abs(a * b), unit);
                expect_near(is[5], a * b + Wide(1, -1), std::abs(a * b) + 2, unit);
            }
        }
    }
}

int main() {
    check<cuFloatComplex, float>(0x1p-24f, 100);
    check<cuDoubleComplex, double>(0x1p-53, 900);
    const cuDoubleComplex z = cuComplexFloatToDouble(make_cuFloatComplex(0.5f, -3));
    EXPECT(z.x == 0.5 && z.y == -3 && cuComplexDoubleToFloat(z).y == -3);
    return finish();
}
