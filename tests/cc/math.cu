// SPDX-License-Identifier: Apache-2.0
// How far the functions of mathematics are off, in ulp, against the host's in a wider type.
#include "check.h"
#include <cstring>

enum { COUNT = 2048 };

#define ONE(name, from, to, uf, ud)                                                                                    \
    __global__ void name##_float(float *out, const float *x, const float *)                                            \
    {                                                                                                                  \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
        static_assert(sizeof(name(x[i])) == sizeof(float), "the overload for floats, which calls " #name "f");        \
        out[i] = name(x[i]);                                                                                           \
    }                                                                                                                  \
    __global__ void name##_double(double *out, const double *x, const double *)                                        \
    {                                                                                                                  \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
        out[i] = name(x[i]);                                                                                           \
    }
#define TWO(name, from, to, from2, to2, uf, ud)                                                                        \
    __global__ void name##_float(float *out, const float *x, const float *y)                                           \
    {                                                                                                                  \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
        static_assert(sizeof(name(x[i], y[i])) == sizeof(float), "the overload for floats, which calls " #name "f");  \
        out[i] = name(x[i], y[i]);                                                                                     \
    }                                                                                                                  \
    __global__ void name##_double(double *out, const double *x, const double *y)                                       \
    {                                                                                                                  \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
        out[i] = name(x[i], y[i]);                                                                                     \
    }
#include "math.def"
#undef ONE
#undef TWO

static double next_random()
{
    static unsigned long long state = 12345;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* |got - right| in units of the last place of `right` as a T. */
template <class T> static double ulps(T got, long double right)
{
    if (got == (T)right || (got != got && right != right))
        return 0;
    int exponent;
    frexpl(right, &exponent);
    const int digits = sizeof(T) == 4 ? 24 : 53, least = sizeof(T) == 4 ? -148 : -1073;
    if (exponent - digits < least - 1)
        exponent = least - 1 + digits;
    return (double)(fabsl((long double)got - right) / ldexpl(1, exponent - digits));
}

template <class T> struct Range {
    double from, to, from2, to2, limit;
};

template <class T, class Kernel, class Right>
static void test(const char *name, Kernel kernel, Right right, Range<T> range)
{
    Managed<T> x(COUNT), y(COUNT), out(COUNT);
    double worst = 0;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (T)(range.from + (range.to - range.from) * (i % 2 ? next_random() : next_random() * next_random()));
        y[i] = (T)(range.from2 + (range.to2 - range.from2) * next_random());
    }
    kernel<<<COUNT / 128, 128>>>(out.data, x.data, y.data);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++) {
        const double off = ulps(out[i], right((long double)x[i], (long double)y[i]));
        if (off > worst)
            worst = off;
    }
    printf("%-10s %-6s %8.3f ulp of %g\n", name, sizeof(T) == 4 ? "float" : "double", worst, range.limit);
    EXPECT(worst <= range.limit);
}

static long double exp10_l(long double x) { return powl(10, x); }
#define exp10l exp10_l

int main()
{
#define ONE(name, from, to, uf, ud)                                                                                    \
    test(#name, name##_float, [](long double x, long double) { return name##l(x); },                                   \
         Range<float>{from, to, 0, 0, uf + 0.001});                                                                     \
    test(#name, name##_double, [](long double x, long double) { return name##l(x); },                                  \
         Range<double>{from, to, 0, 0, ud + 0.001});
#define TWO(name, from, to, from2, to2, uf, ud)                                                                        \
    test(#name, name##_float, [](long double x, long double y) { return name##l(x, y); },                              \
         Range<float>{from, to, from2, to2, uf + 0.001});                                                               \
    test(#name, name##_double, [](long double x, long double y) { return name##l(x, y); },                             \
         Range<double>{from, to, from2, to2, ud + 0.001});
#include "math.def"
    return finish();
}
