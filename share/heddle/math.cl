/* Math functions that libclc lacks for this target or gets wrong. What each is held to, and how far off it is at worst:
 * docs/opencl-math.md, written by tests/builtins/math. What is not here is libclc's, and within the limits too.
 *
 * A definition hides the compiler's own declarations of the name, so forms that libclc has are declared again. */
#include "builtins.h"

/* ---- native functions: the hardware's own; libclc's make the back end fail ---- */

#define NATIVE1(name, expression)                                                                                      \
    OVERLOAD float native_##name(float x) { return expression; }                                                       \
    SPREAD1(float, float, native_##name)
NATIVE1(sin, __nvvm_sin_approx_f(x))
NATIVE1(cos, __nvvm_cos_approx_f(x))
NATIVE1(tan, __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)))
NATIVE1(exp2, __nvvm_ex2_approx_f(x))
NATIVE1(exp, __nvvm_ex2_approx_f(x * 0x1.715476p+0f))
NATIVE1(exp10, __nvvm_ex2_approx_f(x * 0x1.a934f0p+1f))
NATIVE1(log2, __nvvm_lg2_approx_f(x))
NATIVE1(log, __nvvm_lg2_approx_f(x) * 0x1.62e430p-1f)
NATIVE1(log10, __nvvm_lg2_approx_f(x) * 0x1.344136p-2f)
NATIVE1(sqrt, __nvvm_sqrt_approx_f(x))
NATIVE1(rsqrt, __nvvm_rsqrt_approx_f(x))
NATIVE1(recip, __nvvm_div_approx_f(1.0f, x))
OVERLOAD float native_divide(float a, float b) { return __nvvm_div_approx_f(a, b); }
SPREAD2(float, float, float, native_divide)
OVERLOAD float native_powr(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
SPREAD2(float, float, float, native_powr)

/* ---- floats: libclc's ldexp takes float denormals for zero, and loses NaN of double ---- */

/* The factors keep the one rounding for the last product, also of a denormal result. */
OVERLOAD float ldexp(float x, int n)
{
    for (int i = 0; i < 2 && n > 127; i++, n -= 127)
        x *= 0x1p127f;
    for (int i = 0; i < 2 && n < -126; i++, n += 102)
        x *= 0x1p-102f;
    n = n > 127 ? 127 : n < -126 ? -126 : n;
    return x * as_float((127 + n) << 23);
}
OVERLOAD double ldexp(double x, int n)
{
    for (int i = 0; i < 2 && n > 1023; i++, n -= 1023)
        x *= 0x1p1023;
    for (int i = 0; i < 2 && n < -1022; i++, n += 969)
        x *= 0x1p-969;
    n = n > 1023 ? 1023 : n < -1022 ? -1022 : n;
    return x * as_double((long)(1023 + n) << 52);
}
LDEXP_VECTORS(float)
LDEXP_VECTORS(double)

/* ---- bits: neighbours, fractions, remainders ---- */

NEXTAFTER(float, int, INT_MIN) /* libclc's goes from the least negative number to +0 */
NEXTAFTER(double, long, LONG_MIN)

/* libclc's loses the sign of zero. */
#define FRACT(T, BELOW_ONE)                                                                                            \
    OVERLOAD T fract(T x, __private T *out)                                                                            \
    {                                                                                                                  \
        T whole = __builtin_elementwise_floor(x), rest = x - whole;                                                    \
        *out = whole;                                                                                                  \
        if (x == 0)                                                                                                    \
            return x;                                                                                                  \
        if (__builtin_elementwise_abs(x) == (T)INFINITY)                                                               \
            return __builtin_elementwise_copysign((T)0, x);                                                            \
        return rest >= 1 ? (T)BELOW_ONE : rest;                                                                        \
    }                                                                                                                  \
    OUT1(T, T, fract)
FRACT(float, 0x1.fffffep-1f)
FRACT(double, 0x1.fffffffffffffp-1)

OVERLOAD double nan(ulong code) { return as_double(0x7ff8000000000000ul | (code & 0x7fffffffffffful)); } /* libclc's makes an infinity of 0 */
SPREAD1(double, ulong, nan)

/* |x| mod |y| without a rounding, and the low bits of the quotient: long division of the significands, STEP bits at a
 * time. libclc's take float denormals for zero, and overflow on the way where x is far beyond y. */
#define REST(T, U, FRACTION, STEP)                                                                                     \
    HELPER __attribute__((overloadable)) T rest_of(U x, U y, uint *quotient)                                           \
    {                                                                                                                  \
        const ulong one = 1ul << FRACTION;                                                                             \
        int at = (int)(x >> FRACTION), to = (int)(y >> FRACTION);                                                      \
        ulong rest = (x & (one - 1)) | (at ? one : 0), by = (y & (one - 1)) | (to ? one : 0);                          \
        at = at ? at : 1;                                                                                              \
        to = to ? to : 1;                                                                                              \
        *quotient = 0;                                                                                                 \
        if (at < to)                                                                                                   \
            return as_##T(x);                                                                                          \
        uint q = (uint)(rest / by);                                                                                    \
        rest %= by;                                                                                                    \
        for (int left = at - to; left > 0; left -= STEP) {                                                             \
            int step = left < STEP ? left : STEP;                                                                      \
            ulong wide = rest << step;                                                                                 \
            q = (q << step) + (uint)(wide / by);                                                                       \
            rest = wide % by;                                                                                          \
        }                                                                                                              \
        *quotient = q;                                                                                                 \
        int up = rest ? __builtin_clzl(rest) - (63 - FRACTION) : 0;                                                    \
        up = up < to - 1 ? up : to - 1;                                                                                \
        rest <<= up;                                                                                                   \
        return as_##T((U)(rest < one ? rest : (rest & (one - 1)) | (ulong)(to - up) << FRACTION));                     \
    }
REST(float, uint, 23, 31)
REST(double, ulong, 52, 11)

#define REMAINDERS(T, U, SIGN)                                                                                         \
    HELPER __attribute__((overloadable)) bool has_no_rest(T x, T y)                                                    \
    {                                                                                                                  \
        return !(__builtin_elementwise_abs(x) < (T)INFINITY) || y != y || y == 0;                                      \
    }                                                                                                                  \
    PROTOTYPE T fmod(T x, T y)                                                                                          \
    {                                                                                                                  \
        uint quotient;                                                                                                 \
        if (has_no_rest(x, y))                                                                                         \
            return (T)NAN;                                                                                             \
        if (__builtin_elementwise_abs(y) == (T)INFINITY)                                                               \
            return x;                                                                                                  \
        T rest = rest_of(as_##U(x) & ~SIGN, as_##U(y) & ~SIGN, &quotient);                                             \
        return as_##T(as_##U(rest) | (as_##U(x) & SIGN));                                                              \
    }                                                                                                                  \
    SPREAD2(T, T, T, fmod)                                                                                             \
    PROTOTYPE T remquo(T x, T y, __private int *out)                                                                    \
    {                                                                                                                  \
        uint quotient;                                                                                                 \
        *out = 0;                                                                                                      \
        if (has_no_rest(x, y))                                                                                         \
            return (T)NAN;                                                                                             \
        T size = __builtin_elementwise_abs(y);                                                                         \
        if (size == (T)INFINITY)                                                                                       \
            return x;                                                                                                  \
        T rest = rest_of(as_##U(x) & ~SIGN, as_##U(size), &quotient);                                                  \
        if (rest > size - rest || (rest == size - rest && (quotient & 1))) { /* to the nearest, ties to even */        \
            rest -= size;                                                                                              \
            quotient++;                                                                                                \
        }                                                                                                              \
        quotient &= 0x7fffffff;                                                                                        \
        *out = (as_##U(x) ^ as_##U(y)) & SIGN ? -(int)quotient : (int)quotient;                                        \
        return as_##T(as_##U(rest) ^ (as_##U(x) & SIGN));                                                              \
    }                                                                                                                  \
    OUT2(T, int, remquo)                                                                                               \
    OVERLOAD T remainder(T x, T y)                                                                                     \
    {                                                                                                                  \
        int quotient;                                                                                                  \
        return remquo(x, y, &quotient);                                                                                \
    }                                                                                                                  \
    SPREAD2(T, T, T, remainder)
REMAINDERS(float, uint, 0x80000000u)
REMAINDERS(double, ulong, 0x8000000000000000ul)

/* ---- exponentials ---- */

/* y * 2^n for y near 1, in two factors, so that a denormal result is rounded once. */
HELPER float scaled(float y, int n)
{
    int some = n >> 1;
    return y * as_float((127 + some) << 23) * as_float((127 + n - some) << 23);
}
/* e^r for |r| <= ln(2) / 2: the series. */
HELPER float exp_series(float r)
{
    float p = 0x1.a01a02p-13f; /* 1/7! */
    p = __builtin_fmaf(p, r, 0x1.6c16c2p-10f);
    p = __builtin_fmaf(p, r, 0x1.111112p-7f);
    p = __builtin_fmaf(p, r, 0x1.555556p-5f);
    p = __builtin_fmaf(p, r, 0x1.555556p-3f);
    p = __builtin_fmaf(p, r, 0.5f);
    return __builtin_fmaf(r * r, p, r) + 1.0f;
}
/* libclc's take denormal results for zero. */
OVERLOAD float exp(float x)
{
    float y = x > 89.0f ? 89.0f : x < -104.0f ? -104.0f : x; /* beyond: infinity and zero */
    float n = __builtin_rintf(y * 0x1.715476p+0f);
    float r = __builtin_fmaf(n, 0x1.05c610p-29f, __builtin_fmaf(n, -0x1.62e430p-1f, y)); /* ln(2) in two parts */
    return scaled(exp_series(r), (int)n);
}
OVERLOAD float exp2(float x)
{
    float y = x > 129.0f ? 129.0f : x < -151.0f ? -151.0f : x;
    float n = __builtin_rintf(y);
    return scaled(exp_series((y - n) * 0x1.62e430p-1f), (int)n);
}
OVERLOAD float half_exp(float x) { return exp(x); }
OVERLOAD float half_exp2(float x) { return exp2(x); }
SPREAD1(float, float, exp)
SPREAD1(float, float, exp2)
SPREAD1(float, float, half_exp)
SPREAD1(float, float, half_exp2)

PROTOTYPE double exp(double x);
/* libclc's loses -0. Where e^x is beyond 2 or below 2/3 the difference from 1 costs nothing; between, the series. */
OVERLOAD double expm1(double x)
{
    if (x > 0.7 || x < -0.4)
        return exp(x) - 1.0;
    double p = 1.0 / 355687428096000.0 / 18.0; /* 1/18! */
    for (int n = 17; n >= 2; n--) {
        const double below[] = {1.0 / 2,         1.0 / 6,          1.0 / 24,          1.0 / 120,
                                1.0 / 720,       1.0 / 5040,       1.0 / 40320,       1.0 / 362880,
                                1.0 / 3628800,   1.0 / 39916800,   1.0 / 479001600,   1.0 / 6227020800,
                                1.0 / 87178291200, 1.0 / 1307674368000, 1.0 / 20922789888000, 1.0 / 355687428096000};
        p = __builtin_fma(p, x, below[n - 2]);
    }
    return x == 0 ? x : __builtin_fma(x * x, p, x);
}
SPREAD1(double, double, expm1)

/* libclc's read behind the end of their tables where the result is infinite. */
OVERLOAD double cosh(double x)
{
    double a = __builtin_fabs(x);
    if (a < 1.0) {
        double e = expm1(a);
        return 1.0 + e * e / (2.0 + 2.0 * e);
    }
    double e = exp(a < 709.0 ? a : 0.5 * a);
    return a < 22.0 ? 0.5 * e + 0.5 / e : a < 709.0 ? 0.5 * e : 0.5 * e * e;
}
OVERLOAD double sinh(double x)
{
    double a = __builtin_fabs(x), r = a;
    if (a >= 22.0) {
        double e = exp(a < 709.0 ? a : 0.5 * a);
        r = a < 709.0 ? 0.5 * e : 0.5 * e * e;
    } else if (a >= 0x1p-28) {
        double e = expm1(a);
        r = 0.5 * (e + e / (e + 1.0));
    }
    return x != x ? x : __builtin_copysign(r, x);
}
SPREAD1(double, double, cosh)
SPREAD1(double, double, sinh)

/* ---- angles ---- */

/* sin and cos of pi * r for |r| <= 1/4: the series, with pi in two parts where it counts. */
HELPER __attribute__((overloadable)) float sin_quarter(float r)
{
    float z = r * r, p = 0x1.507834p-4f;
    p = __builtin_fmaf(p, z, -0x1.32d2ccp-1f);
    p = __builtin_fmaf(p, z, 0x1.466bc6p+1f);
    p = __builtin_fmaf(p, z, -0x1.4abbcep+2f);
    p = __builtin_fmaf(p, z, -0x1.777a5cp-24f);
    return __builtin_fmaf(r, 0x1.921fb6p+1f, r * p);
}
HELPER __attribute__((overloadable)) float cos_quarter(float r)
{
    float z = r * r, p = -0x1.a6d1f2p-6f;
    p = __builtin_fmaf(p, z, 0x1.e1f506p-3f);
    p = __builtin_fmaf(p, z, -0x1.55d3c8p+0f);
    p = __builtin_fmaf(p, z, 0x1.03c1f0p+2f);
    p = __builtin_fmaf(p, z, -0x1.3bd3ccp+2f);
    return __builtin_fmaf(p, z, 1.0f);
}
HELPER __attribute__((overloadable)) double sin_quarter(double r)
{
    double z = r * r, p = 0x1.aaec32af93359p-21;
    p = __builtin_fma(p, z, -0x1.6fadb9f155744p-16);
    p = __builtin_fma(p, z, 0x1.e8f434d018d63p-12);
    p = __builtin_fma(p, z, -0x1.e3074fde8871fp-8);
    p = __builtin_fma(p, z, 0x1.50783487ee782p-4);
    p = __builtin_fma(p, z, -0x1.32d2cce62bd86p-1);
    p = __builtin_fma(p, z, 0x1.466bc6775aae2p+1);
    p = __builtin_fma(p, z, -0x1.4abbce625be53p+2);
    p = __builtin_fma(p, z, 0x1.1a62633145c07p-53);
    return __builtin_fma(r, 0x1.921fb54442d18p+1, r * p);
}
HELPER __attribute__((overloadable)) double cos_quarter(double r)
{
    double z = r * r, p = 0x1.20c62c2f2d7f5p-18;
    p = __builtin_fma(p, z, -0x1.b6e24f44b128fp-14);
    p = __builtin_fma(p, z, 0x1.f9d38a3763cc3p-10);
    p = __builtin_fma(p, z, -0x1.a6d1f2a204a8cp-6);
    p = __builtin_fma(p, z, 0x1.e1f506891babbp-3);
    p = __builtin_fma(p, z, -0x1.55d3c7e3cbffap+0);
    p = __builtin_fma(p, z, 0x1.03c1f081b5ac4p+2);
    p = __builtin_fma(p, z, -0x1.3bd3cc9be45dep+2);
    return __builtin_fma(p, z, 1.0);
}
/* |x| = quarter / 2 + rest, nothing rounded; what is beyond EVEN is an even number. libclc's have the wrong zeros. */
#define PI_FUNCTIONS(T, EVEN)                                                                                          \
    HELPER __attribute__((overloadable)) T pi_rest(T x, int *quarter)                                                  \
    {                                                                                                                  \
        T a = __builtin_elementwise_abs(x);                                                                            \
        if (a >= (T)EVEN)                                                                                              \
            a = a < (T)INFINITY ? (T)0 : (T)NAN;                                                                       \
        T n = __builtin_elementwise_rint(a + a);                                                                       \
        *quarter = (int)(n - 4 * __builtin_elementwise_floor(n * (T)0.25));                                            \
        return a - (T)0.5 * n;                                                                                         \
    }                                                                                                                  \
    OVERLOAD T sinpi(T x)                                                                                              \
    {                                                                                                                  \
        int q;                                                                                                         \
        T r = pi_rest(x, &q);                                                                                          \
        T y = q & 1 ? cos_quarter(r) : sin_quarter(r);                                                                 \
        y = (q & 2 ? -y : y) + 0; /* no -0 */                                                                          \
        return __builtin_elementwise_copysign((T)1, x) < 0 ? -y : y;                                                   \
    }                                                                                                                  \
    OVERLOAD T cospi(T x)                                                                                              \
    {                                                                                                                  \
        int q;                                                                                                         \
        T r = pi_rest(x, &q);                                                                                          \
        T y = q & 1 ? sin_quarter(r) : cos_quarter(r);                                                                 \
        return ((q + 1) & 2 ? -y : y) + 0;                                                                             \
    }                                                                                                                  \
    OVERLOAD T tanpi(T x)                                                                                              \
    {                                                                                                                  \
        int q;                                                                                                         \
        T r = pi_rest(x, &q), s = sin_quarter(r), c = cos_quarter(r);                                                  \
        T y = q & 1 ? -c / s : s / c;                                                                                  \
        if (r == 0) {                                                                                                  \
            y = q & 1 ? (T)INFINITY : (T)0;                                                                            \
            y = q & 2 ? -y : y;                                                                                        \
        }                                                                                                              \
        return __builtin_elementwise_copysign((T)1, x) < 0 ? -y : y;                                                   \
    }                                                                                                                  \
    SPREAD1(T, T, sinpi)                                                                                               \
    SPREAD1(T, T, cospi)                                                                                               \
    SPREAD1(T, T, tanpi)
PI_FUNCTIONS(float, 0x1p24)
PI_FUNCTIONS(double, 0x1p53)

/* libclc's reduction and series; its own functions around them lose -0. */
void __clc_remainder_piby2_medium(double x, __private double *rest, __private double *tail, __private int *quarter);
void __clc_remainder_piby2_large(double x, __private double *rest, __private double *tail, __private int *quarter);
double2 __clc_sincos_piby4(double rest, double tail);
HELPER double2 sine_cosine(double a, __private int *quarter)
{
    double rest, tail;
    if (a < 0x1p30)
        __clc_remainder_piby2_medium(a, &rest, &tail, quarter);
    else
        __clc_remainder_piby2_large(a, &rest, &tail, quarter);
    double2 both = __clc_sincos_piby4(rest, tail);
    return *quarter & 1 ? (double2)(both.hi, -both.lo) : both;
}
PROTOTYPE double sincos(double x, __private double *cosine)
{
    int quarter = 0;
    double a = __builtin_fabs(x);
    if (!(a < (double)INFINITY))
        return *cosine = (double)NAN;
    double2 both = sine_cosine(a, &quarter);
    both = quarter & 2 ? -both : both;
    *cosine = both.hi;
    return a < 0x1p-27 ? x : x < 0 ? -both.lo : both.lo;
}
OVERLOAD double sin(double x)
{
    double cosine;
    return sincos(x, &cosine);
}
OVERLOAD double tan(double x)
{
    double cosine, sine = sincos(x, &cosine);
    return sine / cosine;
}
SPREAD1(double, double, sin)
SPREAD1(double, double, tan)
OUT1(double, double, sincos)

PROTOTYPE double atan2(double y, double x);
PROTOTYPE double atan2pi(double y, double x);
OVERLOAD double atan(double x) { return atan2(x, 1.0); } /* libclc's own lose -0 */
OVERLOAD double atanpi(double x) { return atan2pi(x, 1.0); }
SPREAD1(double, double, atan)
SPREAD1(double, double, atanpi)

/* ---- erf, gamma, roots ---- */

PROTOTYPE double erfc(double x);
OVERLOAD float erfc(float x) { return (float)erfc((double)x); } /* libclc's takes denormal results for zero */
SPREAD1(float, float, erfc)

/* libclc's loses -0. erf(x) / x as a polynomial of x^2, Chebyshev's approximation on [0, 0.72], below 2^-68 off. */
OVERLOAD double erf(double x)
{
    double a = __builtin_fabs(x), z = x * x, p = 0x1.29a056e9a44b8p-34;
    if (!(a < 0.84375))
        return __builtin_copysign(1.0 - erfc(a), x);
    p = __builtin_fma(p, z, -0x1.4397b3e7c1984p-30);
    p = __builtin_fma(p, z, 0x1.faafd62c39b32p-27);
    p = __builtin_fma(p, z, -0x1.5f5ab484cb7bap-23);
    p = __builtin_fma(p, z, 0x1.b9e522f91e41dp-20);
    p = __builtin_fma(p, z, -0x1.f4d2495c03916p-17);
    p = __builtin_fma(p, z, 0x1.f9a32665b493fp-14);
    p = __builtin_fma(p, z, -0x1.c02db3fd3654ap-11);
    p = __builtin_fma(p, z, 0x1.565bcd0e600e4p-8);
    p = __builtin_fma(p, z, -0x1.b82ce312888bcp-6);
    p = __builtin_fma(p, z, 0x1.ce2f21a042bdcp-4);
    p = __builtin_fma(p, z, -0x1.812746b0379e7p-2);
    p = __builtin_fma(p, z, 0x1.06eba8214db69p-3);
    return __builtin_fma(x, p, x);
}
SPREAD1(double, double, erf)

/* Gamma on [1, 2], as a polynomial of x - 3/2: Chebyshev's approximation, below 2^-60 off. */
HELPER double gamma_one_two(double x)
{
    const double c[] = {0x1.c5bf891b4ef6bp-1,   0x1.08ea88ee561b2p-5,   0x1.a8c4dba620d62p-2,   -0x1.b77ac1ca2ebc4p-4,
                        0x1.283bd374ea140p-3,   -0x1.3d88cfe504937p-4,  0x1.e022b74492dadp-5,   -0x1.374fd5cd6a141p-5,
                        0x1.a752c64df56b9p-6,   -0x1.1a2c293acbda4p-6,  0x1.7991ee81016cfp-7,   -0x1.f7fc6d20efc03p-8,
                        0x1.504cc8c4c0843p-8,   -0x1.c09fa693cbfc4p-9,  0x1.2b52a6fbf3048p-9,   -0x1.8f2be63625a54p-10,
                        0x1.084be8db95414p-10,  -0x1.606b57e7334acp-11, 0x1.f4d423febd85dp-12,  -0x1.4de4bab1d6d22p-12,
                        0x1.192c9a82f15fdp-13,  -0x1.76e75bc4d1b5ap-14, 0x1.76e8b52b8ad09p-13,  -0x1.f3e1335b1f73ap-14};
    double t = x - 1.5, p = c[23];
#pragma unroll
    for (int i = 22; i >= 0; i--)
        p = __builtin_fma(p, t, c[i]);
    return p;
}
PROTOTYPE double pow(double x, double y);
/* Gamma of x > 0 as the product of two numbers, neither of which is infinite where 1 / Gamma is not 0. */
HELPER double2 gamma_factors(double x)
{
    if (x < 18.0) { /* Gamma(x) = (x - 1) Gamma(x - 1) down to [1, 2]; every x - k is exact */
        double product = 1.0;
        for (; x >= 2.0; x -= 1.0)
            product *= x - 1.0;
        return x < 1.0 ? (double2)(gamma_one_two(x + 1.0), 1.0 / x) : (double2)(gamma_one_two(x), product);
    }
    /* Stirling: sqrt(2 pi) x^(x - 1/2) e^-x (1 + 1/12x + ...), the power as a square; its exponent is exact */
    double z = 1.0 / x, root = pow(x, 0.5 * x - 0.25), p = 432261921612371.0 / 514904800886784000.0;
    p = __builtin_fma(p, z, -4483131259.0 / 86684309913600.0);
    p = __builtin_fma(p, z, -534703531.0 / 902961561600.0);
    p = __builtin_fma(p, z, 5246819.0 / 75246796800.0);
    p = __builtin_fma(p, z, 163879.0 / 209018880.0);
    p = __builtin_fma(p, z, -571.0 / 2488320.0);
    p = __builtin_fma(p, z, -139.0 / 51840.0);
    p = __builtin_fma(p, z, 1.0 / 288.0);
    p = __builtin_fma(p, z, 1.0 / 12.0);
    p = __builtin_fma(p, z, 1.0);
    return (double2)(root, root * exp(-x) * p * 0x1.40d931ff62706p+1);
}
/* libclc's are up to 40 ulp off for float, more than the 16 allowed, and wrong for zero and below. */
PROTOTYPE double tgamma(double x)
{
    double a = __builtin_fabs(x);
    if (x != x || x == (double)INFINITY)
        return x;
    if (a < 0x1p-54)
        return 1.0 / x;
    if (x < 0 && x == __builtin_floor(x))
        return (double)NAN;
    double2 factors = gamma_factors(a < 200.0 ? a : 200.0);
    if (x > 0)
        return factors.x * factors.y;
    return -0x1.921fb54442d18p+1 / (a * sinpi(a)) / factors.x / factors.y; /* Gamma(-a) = -pi / (a sin(pi a) Gamma(a)) */
}
SPREAD1(double, double, tgamma)
OVERLOAD float tgamma(float x) { return (float)tgamma((double)x); }
SPREAD1(float, float, tgamma)

/* libclc's for float has the wrong end at -infinity. */
PROTOTYPE double lgamma_r(double x, __private int *sign);
OVERLOAD float lgamma_r(float x, __private int *sign) { return (float)lgamma_r((double)x, sign); }
OVERLOAD float lgamma(float x)
{
    int sign;
    return lgamma_r(x, &sign);
}
SPREAD1(float, float, lgamma)
OUT1(float, int, lgamma_r)

/* libclc's for float takes denormals for zero. */
PROTOTYPE float __clc_rootn(float x, int n);
PROTOTYPE double rootn(double x, int n);
OVERLOAD float rootn(float x, int n)
{
    if (__builtin_fabsf(x) < 0x1p-100f || n == 1 || n == -1)
        return (float)rootn((double)x, n);
    return __clc_rootn(x, n);
}
SPREAD2(float, float, int, rootn)
// SPDX-License-Identifier: Apache-2.0
