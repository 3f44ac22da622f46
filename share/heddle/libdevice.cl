/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that clang's CUDA headers call, by the names of libdevice, over OpenCL's mathematics: that of math.cl, builtins.cl
 * and libclc. Only what a kernel uses is linked to it. Bessel functions and the inverse error functions of libdevice are not
 * here: a kernel that calls one is refused by its name. */

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define ONE(name, function)                                                                                            \
    float __nv_##name##f(float x) { return function(x); }                                                              \
    double __nv_##name(double x) { return function(x); }
#define TWO(name, function)                                                                                            \
    float __nv_##name##f(float x, float y) { return function(x, y); }                                                  \
    double __nv_##name(double x, double y) { return function(x, y); }
ONE(acos, acos)
ONE(acosh, acosh)
ONE(asin, asin)
ONE(asinh, asinh)
ONE(atan, atan)
ONE(atanh, atanh)
ONE(cbrt, cbrt)
ONE(ceil, ceil)
ONE(cos, cos)
ONE(cosh, cosh)
ONE(cospi, cospi)
ONE(erf, erf)
ONE(erfc, erfc)
ONE(exp, exp)
ONE(exp2, exp2)
ONE(exp10, exp10)
ONE(expm1, expm1)
ONE(fabs, fabs)
ONE(floor, floor)
ONE(log, log)
ONE(log2, log2)
ONE(log10, log10)
ONE(log1p, log1p)
ONE(logb, logb)
ONE(lgamma, lgamma)
ONE(rint, rint)
ONE(round, round)
ONE(rsqrt, rsqrt)
ONE(sin, sin)
ONE(sinh, sinh)
ONE(sinpi, sinpi)
ONE(sqrt, sqrt)
ONE(tan, tan)
ONE(tanh, tanh)
ONE(tgamma, tgamma)
ONE(trunc, trunc)
ONE(nearbyint, rint)
TWO(atan2, atan2)
TWO(copysign, copysign)
TWO(fdim, fdim)
TWO(fmax, fmax)
TWO(fmin, fmin)
TWO(fmod, fmod)
TWO(hypot, hypot)
TWO(nextafter, nextafter)
TWO(pow, pow)
TWO(remainder, remainder)

#define TYPED(T, f, s)                                                                                                 \
    T __nv_fma##f(T a, T b, T c) { return fma(a, b, c); }                                                              \
    T __nv_ldexp##f(T x, int n) { return ldexp(x, n); }                                                                \
    T __nv_scalbn##f(T x, int n) { return ldexp(x, n); }                                                               \
    T __nv_powi##f(T x, int n) { return pown(x, n); }                                                                  \
    T __nv_rcbrt##f(T x) { return 1 / cbrt(x); }                                                                       \
    T __nv_rhypot##f(T x, T y) { return 1 / hypot(x, y); }                                                             \
    T __nv_norm3d##f(T x, T y, T z) { return hypot(hypot(x, y), z); }                                                  \
    T __nv_rnorm3d##f(T x, T y, T z) { return 1 / hypot(hypot(x, y), z); }                                             \
    T __nv_norm4d##f(T x, T y, T z, T w) { return hypot(hypot(x, y), hypot(z, w)); }                                   \
    T __nv_rnorm4d##f(T x, T y, T z, T w) { return 1 / hypot(hypot(x, y), hypot(z, w)); }                              \
    T __nv_norm##f(int n, const T *v)                                                                                  \
    {                                                                                                                  \
        T sum = 0;                                                                                                     \
        for (int i = 0; i < n; i++)                                                                                    \
            sum = hypot(sum, v[i]);                                                                                    \
        return sum;                                                                                                    \
    }                                                                                                                  \
    T __nv_rnorm##f(int n, const T *v) { return 1 / __nv_norm##f(n, v); }                                              \
    T __nv_normcdf##f(T x) { return (T)0.5 * erfc(-x * (T)0.70710678118654752440); }                                   \
    T __nv_erfcx##f(T x) { return exp(x * x) * erfc(x); }                                                              \
    int __nv_ilogb##f(T x) { return ilogb(x); }                                                                        \
    long __nv_llrint##f(T x) { return convert_long_rte(x); }                                                           \
    long __nv_llround##f(T x) { return convert_long_rtz(round(x)); }                                                   \
    T __nv_frexp##f(T x, int *out)                                                                                     \
    {                                                                                                                  \
        __private int e;                                                                                               \
        const T r = frexp(x, &e);                                                                                      \
        *out = e;                                                                                                      \
        return r;                                                                                                      \
    }                                                                                                                  \
    T __nv_modf##f(T x, T *out)                                                                                        \
    {                                                                                                                  \
        *out = trunc(x);                                                                                               \
        return isinf(x) ? copysign((T)0, x) : copysign(x - trunc(x), x);                                               \
    }                                                                                                                  \
    T __nv_remquo##f(T x, T y, int *out)                                                                               \
    {                                                                                                                  \
        __private int q;                                                                                               \
        const T r = remquo(x, y, &q);                                                                                  \
        *out = q;                                                                                                      \
        return r;                                                                                                      \
    }                                                                                                                  \
    void __nv_sincos##f(T x, T *s, T *c) { *s = sin(x), *c = cos(x); }                                                 \
    void __nv_sincospi##f(T x, T *s, T *c) { *s = sinpi(x), *c = cospi(x); }                                           \
    T __nv_nan##f(const char *text) { return (T)NAN; }
TYPED(float, f, f)
TYPED(double, , d)

/* ---- classes of numbers ---- */
int __nv_finitef(float x) { return isfinite(x) != 0; }
int __nv_isfinited(double x) { return isfinite(x) != 0; }
int __nv_isinff(float x) { return isinf(x) != 0; }
int __nv_isinfd(double x) { return isinf(x) != 0; }
int __nv_isnanf(float x) { return isnan(x) != 0; }
int __nv_isnand(double x) { return isnan(x) != 0; }
int __nv_signbitf(float x) { return as_int(x) < 0; }
int __nv_signbitd(double x) { return as_long(x) < 0; }

/* ---- fast and less exact: what the hardware has ---- */
float __nv_fast_sinf(float x) { return __nvvm_sin_approx_f(x); }
float __nv_fast_cosf(float x) { return __nvvm_cos_approx_f(x); }
float __nv_fast_tanf(float x) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)); }
void __nv_fast_sincosf(float x, float *s, float *c) { *s = __nvvm_sin_approx_f(x), *c = __nvvm_cos_approx_f(x); }
float __nv_fast_log2f(float x) { return __nvvm_lg2_approx_f(x); }
float __nv_fast_logf(float x) { return __nvvm_lg2_approx_f(x) * 0.693147182f; }
float __nv_fast_log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.301029986f; }
float __nv_fast_expf(float x) { return __nvvm_ex2_approx_f(x * 1.44269502f); }
float __nv_fast_exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.32192802f); }
float __nv_fast_powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
float __nv_fast_fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
float __nv_saturatef(float x) { return __nvvm_saturate_f(x); }

/* ---- with a rounding: _rn to nearest, _rz to zero, _rd down, _ru up ---- */
#define ROUNDED(r, m)                                                                                                  \
    float __nv_fadd_##r(float a, float b) { return __nvvm_add_##m##_f(a, b); }                                         \
    float __nv_fsub_##r(float a, float b) { return __nvvm_add_##m##_f(a, -b); }                                        \
    float __nv_fmul_##r(float a, float b) { return __nvvm_mul_##m##_f(a, b); }                                         \
    float __nv_fdiv_##r(float a, float b) { return __nvvm_div_##m##_f(a, b); }                                         \
    float __nv_frcp_##r(float a) { return __nvvm_rcp_##m##_f(a); }                                                     \
    float __nv_fsqrt_##r(float a) { return __nvvm_sqrt_##m##_f(a); }                                                   \
    float __nv_fmaf_##r(float a, float b, float c) { return __nvvm_fma_##m##_f(a, b, c); }                             \
    float __nv_fmaf_ieee_##r(float a, float b, float c) { return __nvvm_fma_##m##_f(a, b, c); }                        \
    double __nv_dadd_##r(double a, double b) { return __nvvm_add_##m##_d(a, b); }                                      \
    double __nv_dsub_##r(double a, double b) { return __nvvm_add_##m##_d(a, -b); }                                     \
    double __nv_dmul_##r(double a, double b) { return __nvvm_mul_##m##_d(a, b); }                                      \
    double __nv_ddiv_##r(double a, double b) { return __nvvm_div_##m##_d(a, b); }                                      \
    double __nv_drcp_##r(double a) { return __nvvm_rcp_##m##_d(a); }                                                   \
    double __nv_dsqrt_##r(double a) { return __nvvm_sqrt_##m##_d(a); }                                                 \
    double __nv_fma_##r(double a, double b, double c) { return __nvvm_fma_##m##_d(a, b, c); }                          \
    int __nv_float2int_##r(float a) { return __nvvm_f2i_##m(a); }                                                      \
    uint __nv_float2uint_##r(float a) { return __nvvm_f2ui_##m(a); }                                                   \
    int __nv_double2int_##r(double a) { return __nvvm_d2i_##m(a); }                                                    \
    uint __nv_double2uint_##r(double a) { return __nvvm_d2ui_##m(a); }                                                 \
    float __nv_double2float_##r(double a) { return __nvvm_d2f_##m(a); }
ROUNDED(rn, rn)
ROUNDED(rz, rz)
ROUNDED(rd, rm)
ROUNDED(ru, rp)
/* clang's functions have long long for these, which has 128 bits in OpenCL C; and LLVM takes int to float with _rz for one with _rn. */
#define CONVERTED(name, to, from, instruction, t, f)                                                                   \
    to name(from a)                                                                                                    \
    {                                                                                                                  \
        to result;                                                                                                     \
        __asm__(instruction " %0, %1;" : "=" t(result) : f(a));                                                        \
        return result;                                                                                                 \
    }
#define ROUNDED_OTHERS(r, m)                                                                                           \
    CONVERTED(__nv_int2float_##r, float, int, "cvt." m ".f32.s32", "f", "r")                                           \
    CONVERTED(__nv_uint2float_##r, float, uint, "cvt." m ".f32.u32", "f", "r")                                         \
    CONVERTED(__nv_float2ll_##r, long, float, "cvt." m "i.s64.f32", "l", "f")                                          \
    CONVERTED(__nv_float2ull_##r, ulong, float, "cvt." m "i.u64.f32", "l", "f")                                        \
    CONVERTED(__nv_double2ll_##r, long, double, "cvt." m "i.s64.f64", "l", "d")                                        \
    CONVERTED(__nv_double2ull_##r, ulong, double, "cvt." m "i.u64.f64", "l", "d")                                      \
    CONVERTED(__nv_ll2float_##r, float, long, "cvt." m ".f32.s64", "f", "l")                                           \
    CONVERTED(__nv_ull2float_##r, float, ulong, "cvt." m ".f32.u64", "f", "l")                                         \
    CONVERTED(__nv_ll2double_##r, double, long, "cvt." m ".f64.s64", "d", "l")                                         \
    CONVERTED(__nv_ull2double_##r, double, ulong, "cvt." m ".f64.u64", "d", "l")
ROUNDED_OTHERS(rn, "rn")
ROUNDED_OTHERS(rz, "rz")
ROUNDED_OTHERS(rd, "rm")
ROUNDED_OTHERS(ru, "rp")
double __nv_int2double_rn(int a) { return a; }
double __nv_uint2double_rn(uint a) { return a; }
float __nv_frsqrt_rn(float x) { return (float)(1 / sqrt((double)x)); }
double __nv_rcp64h(double x) { return as_double(as_long(1 / x) & 0xffffffff00000000L); }

/* ---- bits ---- */
int __nv_float_as_int(float x) { return as_int(x); }
uint __nv_float_as_uint(float x) { return as_uint(x); }
float __nv_int_as_float(int x) { return as_float(x); }
float __nv_uint_as_float(uint x) { return as_float(x); }
long __nv_double_as_longlong(double x) { return as_long(x); }
double __nv_longlong_as_double(long x) { return as_double(x); }
int __nv_double2hiint(double x) { return (int)(as_ulong(x) >> 32); }
int __nv_double2loint(double x) { return (int)as_ulong(x); }
double __nv_hiloint2double(int high, int low) { return as_double((ulong)(uint)high << 32 | (uint)low); }
float __nv_half2float(ushort x) { return (float)as_half(x); }
ushort __nv_float2half_rn(float x) { return as_ushort((half)x); }

/* ---- integers ---- */
int __nv_abs(int x) { return x < 0 ? -x : x; }
long __nv_llabs(long x) { return x < 0 ? -x : x; }
int __nv_brev(int x) { return (int)__builtin_bitreverse32((uint)x); }
long __nv_brevll(long x) { return (long)__builtin_bitreverse64((ulong)x); }
int __nv_byte_perm(int a, int b, int s) { return __nvvm_prmt(a, b, s); }
int __nv_clz(int x) { return (int)clz((uint)x); }
int __nv_clzll(long x) { return (int)clz((ulong)x); }
int __nv_ffs(int x) { return x ? 1 + (int)popcount(((uint)x & -(uint)x) - 1) : 0; }
int __nv_ffsll(long x) { return x ? 1 + (int)popcount(((ulong)x & -(ulong)x) - 1) : 0; }
int __nv_popc(uint x) { return (int)popcount(x); }
int __nv_popcll(ulong x) { return (int)popcount(x); }
int __nv_hadd(int a, int b) { return hadd(a, b); }
int __nv_rhadd(int a, int b) { return rhadd(a, b); }
int __nv_uhadd(uint a, uint b) { return (int)hadd(a, b); }
uint __nv_urhadd(uint a, uint b) { return rhadd(a, b); }
int __nv_min(int a, int b) { return a < b ? a : b; }
int __nv_max(int a, int b) { return a > b ? a : b; }
uint __nv_umin(uint a, uint b) { return a < b ? a : b; }
uint __nv_umax(uint a, uint b) { return a > b ? a : b; }
long __nv_llmin(long a, long b) { return a < b ? a : b; }
long __nv_llmax(long a, long b) { return a > b ? a : b; }
ulong __nv_ullmin(ulong a, ulong b) { return a < b ? a : b; }
ulong __nv_ullmax(ulong a, ulong b) { return a > b ? a : b; }
int __nv_mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
uint __nv_umul24(uint a, uint b) { return (uint)__nvvm_mul24_ui(a, b); }
int __nv_mulhi(int a, int b) { return mul_hi(a, b); }
uint __nv_umulhi(uint a, uint b) { return mul_hi(a, b); }
long __nv_mul64hi(long a, long b) { return mul_hi(a, b); }
ulong __nv_umul64hi(ulong a, ulong b) { return mul_hi(a, b); }
int __nv_sad(int a, int b, int c) { return (int)((a > b ? (uint)a - (uint)b : (uint)b - (uint)a) + (uint)c); }
uint __nv_usad(uint a, uint b, uint c) { return (a > b ? a - b : b - a) + c; }

/* What stands in the table of an abstract class where a function is to come: whoever calls it has none. */
void __cxa_pure_virtual(void) { __builtin_trap(); }
