// SPDX-License-Identifier: Apache-2.0
// Conversions between floats and integers with a rounding that is said, against the host's rounding modes; and overloads for floats that
// give integers or take several arguments.
#include "check.h"
#include <cfenv>
#include <cstdint>
#include <vector>

#define ROUNDINGS(X) X(rn) X(rz) X(rd) X(ru)
enum { COUNT = 256 };

struct Row {
    int i[2];
    unsigned u[2];
    long long l[2];
    unsigned long long ul[2];
    float f[4];
    double d[2];
};

#define KERNEL(r)                                                                                                      \
    __global__ void convert_##r(const float *f, const double *d, const int *i, const long long *l, Row *out) {         \
        const int t = threadIdx.x;                                                                                     \
        out[t].i[0] = __float2int_##r(f[t]), out[t].i[1] = __double2int_##r(d[t]);                                     \
        out[t].u[0] = __float2uint_##r(fabsf(f[t])), out[t].u[1] = __double2uint_##r(fabs(d[t]));                      \
        out[t].l[0] = __float2ll_##r(f[t]), out[t].l[1] = __double2ll_##r(d[t]);                                       \
        out[t].ul[0] = __float2ull_##r(fabsf(f[t])), out[t].ul[1] = __double2ull_##r(fabs(d[t]));                      \
        out[t].f[0] = __int2float_##r(i[t]), out[t].f[1] = __uint2float_##r(i[t]);                                     \
        out[t].f[2] = __ll2float_##r(l[t]), out[t].f[3] = __ull2float_##r(l[t]);                                       \
        out[t].d[0] = __ll2double_##r(l[t]), out[t].d[1] = __ull2double_##r(l[t]);                                     \
    }
ROUNDINGS(KERNEL)

struct Overloads {
    long l[2];
    long long ll[2];
    int i[2];
    float f[8];
};

__global__ void overloads(const float *f, Overloads *out) {
    const int t = threadIdx.x;
    const float x = f[t], y = f[(t + 1) % COUNT], z = f[(t + 2) % COUNT];
    out[t].l[0] = lrint(x), out[t].l[1] = lround(x), out[t].ll[0] = llrint(x), out[t].ll[1] = llround(x);
    out[t].i[0] = ilogb(x);
    const auto sum = fma(x, y, z);
    static_assert(sizeof sum == sizeof(float), "of floats");
    out[t].f[0] = sum, out[t].f[1] = remquo(x, y, &out[t].i[1]), out[t].f[2] = scalbn(x, 3), out[t].f[3] = scalbln(x, -3L);
    out[t].f[4] = logb(x), out[t].f[5] = nearbyint(x), out[t].f[6] = nextafter(x, y), out[t].f[7] = lgamma(fabs(x) + 1);
}

// The host rounds while it runs, not while it is compiled.
template <class To, class From> static To plain(From value) {
    volatile From x = value;
    volatile To result = static_cast<To>(x);
    return result;
}
template <class From> static From whole(From value) {
    volatile From x = value, result = std::nearbyint(x);
    return result;
}

int main() {
    Managed<float> f(COUNT);
    Managed<double> d(COUNT);
    Managed<int> i(COUNT);
    Managed<long long> l(COUNT);
    Managed<Row> out(COUNT);
    Managed<Overloads> other(COUNT);
    unsigned long long state = 1;
    for (int t = 0; t < COUNT; t++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        d[t] = static_cast<double>(static_cast<long long>(state)) / (1ull << (34 + t % 20));
        f[t] = t % 16 ? static_cast<float>(d[t]) : static_cast<float>(t) + 0.5f; // ties too
        i[t] = static_cast<int>(state >> 32), l[t] = static_cast<long long>(state >> (t % 3));
    }
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    int mode = 0;
#define RUN(r)                                                                                                         \
    convert_##r<<<1, COUNT>>>(f.data, d.data, i.data, l.data, out.data);                                               \
    CHECK(cudaDeviceSynchronize());                                                                                    \
    for (int t = 0; t < COUNT; t++) {                                                                                  \
        fesetround(modes[mode]);                                                                                       \
        const float g = std::fabs(f[t]);                                                                               \
        const double e = std::fabs(d[t]);                                                                              \
        const bool is_right =                                                                                          \
            out[t].i[0] == (int)whole(f[t]) && out[t].i[1] == (int)whole(d[t]) && out[t].u[0] == (unsigned)whole(g) && \
            out[t].u[1] == (unsigned)whole(e) && out[t].l[0] == (long long)whole(f[t]) &&                              \
            out[t].l[1] == (long long)whole(d[t]) && out[t].ul[0] == (unsigned long long)whole(g) &&                   \
            out[t].ul[1] == (unsigned long long)whole(e) && out[t].f[0] == plain<float>(i[t]) &&                       \
            out[t].f[1] == plain<float>((unsigned)i[t]) && out[t].f[2] == plain<float>(l[t]) &&                        \
            out[t].f[3] == plain<float>((unsigned long long)l[t]) && out[t].d[0] == plain<double>(l[t]) &&             \
            out[t].d[1] == plain<double>((unsigned long long)l[t]);                                                    \
        fesetround(FE_TONEAREST);                                                                                      \
        EXPECT(is_right);                                                                                              \
    }                                                                                                                  \
    mode++;
    ROUNDINGS(RUN)
    overloads<<<1, COUNT>>>(f.data, other.data);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < COUNT; t++) {
        const float x = f[t], y = f[(t + 1) % COUNT], z = f[(t + 2) % COUNT];
        const Overloads &o = other[t];
        int quotient;
        EXPECT(o.l[0] == std::lrint(x) && o.l[1] == std::lround(x) && o.ll[0] == std::llrint(x) && o.ll[1] == std::llround(x));
        EXPECT(o.i[0] == std::ilogb(x) && o.f[0] == std::fma(x, y, z) && o.f[1] == std::remquo(x, y, &quotient));
        EXPECT((o.i[1] & 7) == (quotient & 7) && o.f[2] == std::scalbn(x, 3) && o.f[3] == std::scalbln(x, -3L));
        EXPECT(o.f[4] == std::logb(x) && o.f[5] == std::nearbyint(x) && o.f[6] == std::nextafter(x, y));
        EXPECT(isfinite(o.f[0]) && !isnan(d[t])); // without std::, though <cmath> is all that is included
        EXPECT(std::fabs(o.f[7] - std::lgamma(std::fabs(x) + 1)) <= 1e-5 * (1 + std::fabs(o.f[7])));
    }
    return finish();
}
