/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of CUDA's mathematics that C++ does not have, on both sides, and overloads of min and max. */
#ifndef HEDDLE_CUDA_OVERLOADS_H
#define HEDDLE_CUDA_OVERLOADS_H
#pragma GCC system_header

#define HEDDLE_HOST static __inline__ __host__ __attribute__((always_inline, unused))

/* clang's headers have min(int, int) on the device; for one signature there is one function of either side, or one of both. */
HEDDLE_HOST int min(int a, int b) { return b < a ? b : a; }
HEDDLE_HOST int max(int a, int b) { return a < b ? b : a; }
#define HEDDLE_MIN_MAX(T)                                                                                              \
    HEDDLE_BOTH T min(T a, T b) { return b < a ? b : a; }                                                              \
    HEDDLE_BOTH T max(T a, T b) { return a < b ? b : a; }
HEDDLE_MIN_MAX(unsigned int)
HEDDLE_MIN_MAX(long)
HEDDLE_MIN_MAX(unsigned long)
HEDDLE_MIN_MAX(long long)
HEDDLE_MIN_MAX(unsigned long long)
#undef HEDDLE_MIN_MAX
/* A number wins over a NaN. */
HEDDLE_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
HEDDLE_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
HEDDLE_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
HEDDLE_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
#define HEDDLE_MIXED(T, A, B)                                                                                          \
    HEDDLE_BOTH T min(A a, B b) { return min((T)a, (T)b); }                                                            \
    HEDDLE_BOTH T max(A a, B b) { return max((T)a, (T)b); }                                                            \
    HEDDLE_BOTH T min(B a, A b) { return min((T)a, (T)b); }                                                            \
    HEDDLE_BOTH T max(B a, A b) { return max((T)a, (T)b); }
HEDDLE_MIXED(unsigned int, int, unsigned int)
HEDDLE_MIXED(unsigned long, long, unsigned long)
HEDDLE_MIXED(unsigned long long, long long, unsigned long long)
HEDDLE_MIXED(double, float, double)
#undef HEDDLE_MIXED

/* ---- the same names for floats, on the device; the first ones are declared by clang's headers, and not defined ---- */
#define HEDDLE_FLOAT(name) HEDDLE_DEVICE float name(float x) { return name##f(x); }
#define HEDDLE_FLOATS(name) HEDDLE_DEVICE float name(float x, float y) { return name##f(x, y); }
HEDDLE_FLOAT(acosh)
HEDDLE_FLOAT(asinh)
HEDDLE_FLOAT(atanh)
HEDDLE_FLOAT(cbrt)
HEDDLE_FLOAT(erf)
HEDDLE_FLOAT(erfc)
HEDDLE_FLOAT(exp2)
HEDDLE_FLOAT(expm1)
HEDDLE_FLOAT(lgamma)
HEDDLE_FLOAT(log1p)
HEDDLE_FLOAT(log2)
HEDDLE_FLOAT(logb)
HEDDLE_FLOAT(nearbyint)
HEDDLE_FLOAT(rint)
HEDDLE_FLOAT(round)
HEDDLE_FLOAT(tgamma)
HEDDLE_FLOAT(trunc)
HEDDLE_FLOATS(copysign)
HEDDLE_FLOATS(fdim)
HEDDLE_FLOATS(fmax)
HEDDLE_FLOATS(fmin)
HEDDLE_FLOATS(hypot)
HEDDLE_FLOATS(nextafter)
HEDDLE_FLOATS(remainder)
#undef HEDDLE_FLOATS
#undef HEDDLE_FLOAT
HEDDLE_DEVICE float fma(float x, float y, float z) { return fmaf(x, y, z); }
HEDDLE_DEVICE float remquo(float x, float y, int *quotient) { return remquof(x, y, quotient); }
HEDDLE_DEVICE float scalbn(float x, int n) { return scalbnf(x, n); }
HEDDLE_DEVICE float scalbln(float x, long n) { return scalblnf(x, n); }
HEDDLE_DEVICE int ilogb(float x) { return ilogbf(x); }
HEDDLE_DEVICE long lrint(float x) { return lrintf(x); }
HEDDLE_DEVICE long lround(float x) { return lroundf(x); }
HEDDLE_DEVICE long long llrint(float x) { return llrintf(x); }
HEDDLE_DEVICE long long llround(float x) { return llroundf(x); }
HEDDLE_DEVICE float rsqrt(float x) { return rsqrtf(x); }
HEDDLE_DEVICE float rcbrt(float x) { return rcbrtf(x); }
HEDDLE_DEVICE float sinpi(float x) { return sinpif(x); }
HEDDLE_DEVICE float cospi(float x) { return cospif(x); }
HEDDLE_DEVICE float erfinv(float x) { return erfinvf(x); }
HEDDLE_DEVICE float erfcinv(float x) { return erfcinvf(x); }
HEDDLE_DEVICE float erfcx(float x) { return erfcxf(x); }
HEDDLE_DEVICE float normcdf(float x) { return normcdff(x); }
HEDDLE_DEVICE float normcdfinv(float x) { return normcdfinvf(x); }
HEDDLE_DEVICE float exp10(float x) { return exp10f(x); }
HEDDLE_DEVICE void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }

/* ---- and on the host, which lacks them ---- */
HEDDLE_HOST double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
HEDDLE_HOST float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
HEDDLE_HOST float rsqrt(float x) { return rsqrtf(x); }
HEDDLE_HOST double rcbrt(double x) { return 1.0 / __builtin_cbrt(x); }
HEDDLE_HOST float rcbrtf(float x) { return 1.0f / __builtin_cbrtf(x); }
HEDDLE_HOST double sinpi(double x) { return __builtin_sin(x * 3.14159265358979323846); }
HEDDLE_HOST double cospi(double x) { return __builtin_cos(x * 3.14159265358979323846); }
HEDDLE_HOST float sinpif(float x) { return (float)sinpi((double)x); }
HEDDLE_HOST float cospif(float x) { return (float)cospi((double)x); }
HEDDLE_HOST double normcdf(double x) { return 0.5 * __builtin_erfc(-x * 0.70710678118654752440); }
HEDDLE_HOST float normcdff(float x) { return (float)normcdf((double)x); }
HEDDLE_HOST float __int_as_float(int x)
{
    float f;
    __builtin_memcpy(&f, &x, sizeof f);
    return f;
}
HEDDLE_HOST int __float_as_int(float x)
{
    int i;
    __builtin_memcpy(&i, &x, sizeof i);
    return i;
}
#undef HEDDLE_HOST

#endif
